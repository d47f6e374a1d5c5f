"""C4.5 by its own name: a preset of the decision tree for classes."""

from __future__ import annotations

from dataclasses import dataclass

from .classifier import TreeClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class C45Classifier(TreeClassifier):
    """C4.5 Release 8: `TreeClassifier` with the defaults of Quinlan's program (docs/estimators.md, "C4.5").

    Parameters
    ----------
    min_objs : float, default=2
        C4.5's -m: a test needs two branches with so many known rows.
    confidence : float, default=0.25
        C4.5's -c, above 0 up to 1: the smaller, the smaller the tree.
    criterion : default="c45"
    nominal : default="multiway"
    prune : default="error_based"
        None leaves the tree as C4.5 has it before pruning.
    nominal_features, max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, ccp_alpha,
    validation_fraction, competitors, cv, class_weight, cost_matrix, random_state, n_jobs
        As in `TreeClassifier`.

    Attributes
    ----------
    tree_, unpruned_tree_, cv_results_, forest_, classes_, n_classes_, n_features_in_, n_outputs_,
    feature_names_in_, feature_importances_, schema_, scan_stats_
        As in `TreeClassifier`.
    """

    criterion: str = "c45"
    nominal: str = "multiway"
    min_objs: float | None = 2
    prune: str | None = "error_based"
