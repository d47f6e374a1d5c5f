"""Growth: from a table, a target and parameters to a tree, by the native grower; and pruning."""

from hornbeam.arguments import MAX_THREADS
from hornbeam.growth.costs import ClassCosts, check_class_weight
from hornbeam.growth.cuts import Cut, Cuts, reads_gains
from hornbeam.growth.forest import Forest, grow_and_prune, grow_sets
from hornbeam.growth.grow import (
    ClassTarget,
    NumericTarget,
    TableGrower,
    Target,
    WholeSet,
    grow_in_order,
    grow_tree,
)
from hornbeam.growth.memory import bytes_of
from hornbeam.growth.parameters import CRITERIA, Engine, HowToGrow, Parameters
from hornbeam.growth.prune import (
    Pair,
    Pruner,
    Pruning,
    SetRows,
    complexity_path,
    draw_seed,
    hold_out,
    prune_tree,
)
from hornbeam.growth.sets import ALGORITHMS, DrawnSets, TrainingSet, TrainingSets
from hornbeam.growth.settings import Answers, SettingForest, grow_settings
from hornbeam.growth.stability import Bifurcation, Stability, bifurcations_of, stability_of, tests_by_level

__all__ = [
    "ALGORITHMS",
    "CRITERIA",
    "MAX_THREADS",
    "Answers",
    "Bifurcation",
    "ClassCosts",
    "ClassTarget",
    "Cut",
    "Cuts",
    "DrawnSets",
    "Engine",
    "Forest",
    "HowToGrow",
    "NumericTarget",
    "Pair",
    "Parameters",
    "Pruner",
    "Pruning",
    "SetRows",
    "SettingForest",
    "Stability",
    "TableGrower",
    "Target",
    "TrainingSet",
    "TrainingSets",
    "WholeSet",
    "bifurcations_of",
    "bytes_of",
    "check_class_weight",
    "complexity_path",
    "draw_seed",
    "grow_and_prune",
    "grow_in_order",
    "grow_sets",
    "grow_settings",
    "grow_tree",
    "hold_out",
    "prune_tree",
    "reads_gains",
    "stability_of",
    "tests_by_level",
]
