"""Section 3.5: how often the rows of a node were looked at before, behind another test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hornbeam.growth import Forest, TrainingSets
from hornbeam.growth.joint_walk import walk_together
from hornbeam.model import Tree
from hornbeam.table import Table
from hornbeam_experiments.cross_validation import TEN, TenFolds
from hornbeam_experiments.growths import folds_of
from hornbeam_experiments.records import Cell, Sheet

Hashes = npt.NDArray[np.uint64]


def hashes_of(tree: Tree, leaves: npt.NDArray[np.int32], own: Hashes) -> Hashes:
    """For each node the sum of its rows' random numbers: equal for equal sets of rows."""
    sums = np.zeros(tree.n_nodes, dtype=np.uint64)
    np.add.at(sums, leaves, own)
    first, many = tree.arrays["first_child"], tree.arrays["n_children"]
    for node in np.flatnonzero(many)[::-1].tolist():  # children come after their parents
        sums[node] += sums[first[node] : first[node] + many[node]].sum(dtype=np.uint64)
    return sums


def repeated(forest: Forest, sets: TrainingSets, table: Table) -> tuple[float, float, int]:
    """(share of nodes, share of their rows, nodes) of the inner nodes of all trees whose rows another arm of
    the forest had: neither the same node, nor one that asks the same at the same place."""
    trees = list(forest.trees())
    drawn = np.random.default_rng(0).integers(0, 2**64, table.n_rows, dtype=np.uint64)
    arm_of = _arms(trees)
    first_arm: dict[int, int] = {}
    nodes = again = 0
    rows = rows_again = 0
    for i, tree in enumerate(trees):
        some = sets[i].rows
        hashes = hashes_of(tree, tree.apply(table)[some], drawn[some])
        for node in np.flatnonzero(tree.arrays["n_children"]).tolist():
            size, key, arm = int(tree.arrays["rows"][node]), int(hashes[node]), arm_of[i][node]
            nodes, rows = nodes + 1, rows + size
            if first_arm.setdefault(key, arm) != arm:
                again, rows_again = again + 1, rows_again + size
    return again / max(nodes, 1), rows_again / max(rows, 1), nodes


def _arms(trees: Sequence[Tree]) -> list[list[int]]:
    """The arm of every node of every tree; one that stands alone is an arm of its own."""
    joint = walk_together(trees)
    arms, begin = [], -1
    for tree in trees:
        arms.append(list(range(begin, begin - tree.n_nodes, -1)))
        begin -= tree.n_nodes
    number = np.repeat(np.arange(len(joint.arm_start) - 1), np.diff(joint.arm_start))
    for i, node, arm in zip(joint.set.tolist(), joint.node.tolist(), number.tolist(), strict=True):
        arms[i][node] = arm
    return arms


def redundancy(all_runs: Sequence[TenFolds]) -> Sheet:
    """One dealing of ten folds of each set."""
    records: list[dict[str, Cell]] = []
    for runs in all_runs:
        loaded = runs.loaded
        share, rows, nodes = repeated(runs.forest, folds_of(loaded, TEN, 0), loaded.table)
        records.append(
            {"set": loaded.title, "nodes": nodes, "nodes seen before": share, "rows seen before": rows}
        )
    return Sheet.of("section-3.5", records)
