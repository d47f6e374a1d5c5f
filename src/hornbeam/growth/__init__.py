"""Growth: from a table, a target and parameters to a tree, by the native grower (papers 000 and 003)."""

from hornbeam.growth.grow import ClassTarget, NumericTarget, grow_forest, grow_tree
from hornbeam.growth.parameters import CRITERIA, Engine, Parameters

__all__ = ["CRITERIA", "ClassTarget", "Engine", "NumericTarget", "Parameters", "grow_forest", "grow_tree"]
