"""The trees that grow over a source: nodes settled from counts, and subtrees finished from rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.growth import ClassTarget, Grower, WholeSet
from hornbeam.growth.memory import least_rows
from hornbeam.growth.rest import collapsed
from hornbeam.model import Tree
from hornbeam.table import Table

Counts = npt.NDArray[np.int64]

# What growing takes of memory for a cell of each kind of attribute and for a row; measured from above. Few
# are the values that the grower counts instead of listing rows.
_NOMINAL, _FEW, _MANY, _ROW = 10, 8, 20, 24
_FEW_VALUES = 512


class Nodes:
    """The trees of all training sets: set 0 is of all rows, set i leaves fold i - 1 out."""

    def __init__(
        self, task: SourceTask, survey: Survey, layout: _core.RowLayout, wholes: Sequence[Counts]
    ) -> None:
        self.task, self.survey, self.layout = task, survey, layout
        self._wholes = [int(counts.sum()) for counts in wholes]
        self._many_valued = [self._find_many_valued(rows) for rows in self._wholes]
        p = task.parameters
        self.settling = _core.Settling(
            criterion=p.criterion,
            nominal=p.nominal,
            layout=layout,
            wholes=[counts.tolist() for counts in wholes],
            max_depth=-1 if p.max_depth is None else p.max_depth,
            min_samples_split=p.min_samples_split,
            min_samples_leaf=p.min_samples_leaf,
            min_objs=p.min_objs,
            min_impurity_decrease=p.min_impurity_decrease,
            many_valued=self._many_valued,
        )

    def _find_many_valued(self, rows: int) -> list[int]:
        """Of all rows every label is the label of some row."""
        return [
            int(attribute.kind == "nominal" and len(attribute.labels) >= 0.3 * rows)
            for attribute in self.survey.schema.attributes
        ]

    @property
    def family_bytes(self) -> int:
        """What a row of a family takes while it is encoded and the grower works on it."""
        size = _ROW + self.layout.stride
        for i, attribute in enumerate(self.survey.schema.attributes):
            few = self.layout.missing_key(i) <= _FEW_VALUES
            size += _NOMINAL if attribute.kind == "nominal" else _FEW if few else _MANY
        return size

    def finish(
        self, node: int, encoded: _core.EncodedTable, classes: npt.NDArray[np.uint16], of_set: int = 0
    ) -> None:
        """Grow the rest of the tree below a node from all of its rows."""
        table = Table(self.survey.schema, (), len(classes))
        p, rows = self.task.parameters, self._wholes[of_set]
        depth = None if p.max_depth is None else p.max_depth - self.settling.depth(node)
        below = replace(
            p,
            max_depth=depth,
            min_samples_split=max(2, least_rows(p.min_samples_split, rows)),
            min_samples_leaf=least_rows(p.min_samples_leaf, rows),
        )
        target = ClassTarget(classes, self.survey.labels)  # type: ignore[arg-type]
        grower = Grower(table, target, below, threads=self.task.threads, encoded=encoded)
        whole = WholeSet(float(rows), float(rows), self._many_valued[of_set])
        self.settling.graft(node, grower.grow(whole=[whole]), 0)

    def tree(self, of_set: int = 0) -> Tree:
        """The tree of a training set, once all of its nodes are settled."""
        labels = self.survey.labels.tolist()
        tree = Tree.trusted(self.survey.schema, self.settling.tree(of_set), classes=labels)
        return collapsed(tree) if self.task.parameters.criterion == "c45" and tree.n_nodes > 1 else tree
