"""C4.5 by its own name: a preset of the decision tree for classes."""

from __future__ import annotations

from .classifier import TreeClassifier


class C45Classifier(TreeClassifier, criterion="c45", nominal="multiway", min_objs=2):
    """C4.5 Release 8: `TreeClassifier` with the defaults of Quinlan's program (docs/estimators.md, "C4.5").

    Parameters
    ----------
    min_objs : float, default=2
        C4.5's -m: a test needs two branches with so many known rows.
    criterion : default="c45"
    nominal : default="multiway"
    nominal_features, max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, competitors,
    class_weight, cost_matrix, random_state, n_jobs
        As in `TreeClassifier`.

    Attributes
    ----------
    tree_, classes_, n_classes_, n_features_in_, n_outputs_, feature_names_in_, feature_importances_, schema_
        As in `TreeClassifier`.
    """
