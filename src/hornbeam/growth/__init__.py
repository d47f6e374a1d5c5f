"""Growth: from a table, a target and parameters to a tree, by the native grower."""

from hornbeam.growth.grow import ClassTarget, NumericTarget, grow_forest, grow_tree
from hornbeam.growth.parameters import CRITERIA, MAX_THREADS, Engine, Parameters

__all__ = [
    "CRITERIA",
    "MAX_THREADS",
    "ClassTarget",
    "Engine",
    "NumericTarget",
    "Parameters",
    "grow_forest",
    "grow_tree",
]
