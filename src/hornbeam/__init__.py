"""Hornbeam: one readable decision tree that you can trust."""

# Types are in __init__.pyi: an import here, even one for types only, would tie every room to the topmost.
__version__ = "0.1.0"

# Where each public name lives; nothing is imported before it is asked for.
_HOMES = {
    "AnytimeTreeClassifier": "hornbeam.estimators.anytime",
    "BaggedTreesClassifier": "hornbeam.estimators.bagging",
    "BaggedTreesRegressor": "hornbeam.estimators.bagging",
    "C45Classifier": "hornbeam.estimators.trees",
    "CrossValidatedC45": "hornbeam.estimators.cross_validated_c45",
    "LookaheadTreeClassifier": "hornbeam.estimators.lookahead",
    "MaintainedTree": "hornbeam.estimators.maintained",
    "RelationalBagging": "hornbeam.estimators.relational_bagging",
    "RelationalData": "hornbeam.relational.data",
    "RelationalTree": "hornbeam.relational.tree",
    "RelationalTreeClassifier": "hornbeam.estimators.relational_tree",
    "RelationalTreeRegressor": "hornbeam.estimators.relational_tree",
    "Tree": "hornbeam.model",
    "TreeClassifier": "hornbeam.estimators.trees",
    "TreeRegressor": "hornbeam.estimators.trees",
    "load": "hornbeam.estimators.store",
    "save": "hornbeam.estimators.store",
    "source": "hornbeam.distributed.opening",
}

__all__ = [
    "AnytimeTreeClassifier",
    "BaggedTreesClassifier",
    "BaggedTreesRegressor",
    "C45Classifier",
    "CrossValidatedC45",
    "LookaheadTreeClassifier",
    "MaintainedTree",
    "RelationalBagging",
    "RelationalData",
    "RelationalTree",
    "RelationalTreeClassifier",
    "RelationalTreeRegressor",
    "Tree",
    "TreeClassifier",
    "TreeRegressor",
    "__version__",
    "load",
    "save",
    "source",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hornbeam' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
