"""Parameters of scikit-learn's trees that these do not have: refused with what to use instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable

INSTEAD = {
    "splitter": "every split is the best one; leave it out",
    "max_features": "every attribute is looked at; leave it out, or choose columns of X",
    "max_leaf_nodes": "limit the tree by max_depth, min_samples_leaf or min_impurity_decrease",
    "min_weight_fraction_leaf": "use min_samples_leaf with a fraction",
    "class_weight": "numbers have no classes; weigh rows with fit(X, y, sample_weight=...)",
    "monotonic_cst": "monotonic constraints are not supported; leave it out",
}


def refuse_foreign(estimator: str, names: Iterable[str], own: Collection[str]) -> None:
    """Raise a TypeError for the first of the names that is scikit-learn's and not ours."""
    for name in names:
        if name in INSTEAD and name not in own:
            raise TypeError(f"{estimator} has no parameter {name!r}: {INSTEAD[name]}")
