"""Growth: from a table, a target and parameters to a tree, by the native grower; and pruning."""

from hornbeam.growth.costs import ClassCosts, check_class_weight
from hornbeam.growth.grow import (
    ClassTarget,
    NumericTarget,
    Target,
    grow_forest,
    grow_in_order,
    grow_tree,
)
from hornbeam.growth.parameters import CRITERIA, MAX_THREADS, Engine, Parameters
from hornbeam.growth.prune import Pruning, complexity_path, grow_and_prune, hold_out, prune_tree
from hornbeam.growth.stability import Bifurcation, Stability, bifurcations_of, stability_of, tests_by_level

__all__ = [
    "CRITERIA",
    "MAX_THREADS",
    "Bifurcation",
    "ClassCosts",
    "ClassTarget",
    "Engine",
    "NumericTarget",
    "Parameters",
    "Pruning",
    "Stability",
    "Target",
    "bifurcations_of",
    "check_class_weight",
    "complexity_path",
    "grow_and_prune",
    "grow_forest",
    "grow_in_order",
    "grow_tree",
    "hold_out",
    "prune_tree",
    "stability_of",
    "tests_by_level",
]
