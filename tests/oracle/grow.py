"""Growth of one tree from one training set: a list of nodes in preorder, children in branch order."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.growth import Growth, TreeNode, means, minimum
from tests.oracle.prune import collapse
from tests.oracle.table import Column, Parameters, Target

__all__ = ["TreeNode", "grow", "means", "minimum"]

DEFAULTS = Parameters()


def grow(
    columns: Sequence[Column],
    target: Target,
    parameters: Parameters = DEFAULTS,
    times: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
) -> list[TreeNode]:
    """The tree of the rows with `times` and `weights` above 0, each counted that often (once without)."""
    growth = Growth.of(columns, target, parameters, times, weights)
    nodes = growth.grow()
    return collapse(growth, nodes) if parameters.criterion == "c45" else nodes
