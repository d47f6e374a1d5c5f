"""The trees that grow over a source: nodes settled from counts, and subtrees finished from rows in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.chunks import Chunks
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.reading import Report
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.growth import ClassTarget, Grower, Parameters, WholeSet
from hornbeam.growth.memory import least_rows
from hornbeam.growth.rest import collapsed
from hornbeam.model import Tree
from hornbeam.table import Table

Counts = npt.NDArray[np.int64]

# What growing takes of memory for a cell, nominal or by how many values its attribute may have, and for a
# row; measured from above. Few are counted instead of listed; some have codes of two bytes.
_NOMINAL, _FEW, _SOME, _MANY, _ROW = 10, 8, 12, 20, 24
_FEW_VALUES, _SOME_VALUES = 512, 65_535
_ENTRY = 24  # bytes of a value that is counted, and of each of its classes a sixth of that
# Of the memory: what rows and counts may take while a scan keeps them, the counts alone, which cannot be put
# away, and a family while it grows.
KEPT_PART, COUNTS_PART, FAMILY_PART = 0.5, 0.25, 0.75
_SEVERAL = 3  # times as much, where trees of several training sets grow together


def family_bytes(survey: Survey, layout: _core.RowLayout, folds: int = 1) -> int:
    """What a row of a family takes while it is encoded and the grower works on it."""
    size = _ROW + layout.stride
    for i, attribute in enumerate(survey.schema.attributes):
        values = layout.missing_key(i)
        cell = _FEW if values <= _FEW_VALUES else _SOME if values <= _SOME_VALUES else _MANY
        size += _NOMINAL if attribute.kind == "nominal" else cell
    return size if folds == 1 else _SEVERAL * size


def too_large(task: SourceTask, row_bytes: int, rows: float, kept: float) -> bool:
    """Whether so many rows are too many for the grower, where `kept` bytes are in use already."""
    if task.family_rows is not None and rows > task.family_rows:
        return True
    return rows * row_bytes > task.budget - kept


def avc_buffer(task: SourceTask, survey: Survey) -> int:
    """How many values may be counted at once, by class and fold."""
    if task.avc_entries is not None:
        return task.avc_entries
    joint = len(survey.labels) * (task.folds or 1)
    return max(1, int(task.budget * KEPT_PART) // (_ENTRY * max(1, joint // 2)))


class Nodes:
    """The trees of all training sets: set 0 is of all rows, set i leaves fold i - 1 out. `present` tells how
    many categories of each attribute a set has, where that is not all."""

    def __init__(
        self,
        task: SourceTask,
        survey: Survey,
        layout: _core.RowLayout,
        wholes: Sequence[Counts],
        present: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.task, self.survey, self.layout = task, survey, layout
        labels = [len(attribute.labels) for attribute in survey.schema.attributes]
        rows = [int(counts.sum()) for counts in wholes]
        self._wholes = [
            WholeSet(float(n), float(n), [int(c > 0 and c >= 0.3 * n) for c in categories])
            for n, categories in zip(rows, present or [labels] * len(rows), strict=True)
        ]
        self._row_bytes = family_bytes(survey, layout)
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
            many_valued=[whole.many_valued for whole in self._wholes],
        )

    @property
    def by_sums(self) -> bool:
        """Whether the criterion goes by sums of values, so that it has no use for bounds."""
        return self.task.parameters.criterion == "quest"

    def counting(self, *, keeps: bool = False) -> PlaceRecord:
        """A place where all that the criterion goes by is counted."""
        return PlaceRecord(range(len(self.survey.schema)), keeps=keeps, sums=self.by_sums)

    def too_large(self, rows: int) -> bool:
        """Whether so many rows are too many for the grower, were all others put away."""
        return too_large(self.task, self._row_bytes, rows, self.task.budget * (1 - FAMILY_PART))

    def family_bytes(self, rows: int) -> int:
        """What so many rows take while the grower works on them."""
        return rows * self._row_bytes

    def chunks(self, report: Report) -> Chunks:
        """A scan of the source."""
        return Chunks(self.task.reading, self.survey, report, self.task.folds, self.task.seed)

    def finish(
        self,
        nodes: Mapping[int, int],
        encoded: _core.EncodedTable,
        classes: npt.NDArray[np.uint16],
        folds: npt.NDArray[np.uint16] | None = None,
    ) -> None:
        """Grow the rest of the trees below nodes, one of each training set, from all rows that come there."""
        target = ClassTarget(classes, self.survey.labels)  # type: ignore[arg-type]
        table = Table(self.survey.schema, (), len(classes))
        groups = self._alike(nodes)
        for together in groups:
            below = self.below(*next(iter(together.items())))
            grower = Grower(table, target, below, threads=self.task.threads, encoded=encoded)
            times = None
            if folds is not None:
                left_out = np.array([of_set - 1 for of_set in together])
                times = (folds[:, None] != left_out[None, :]).astype(np.uint8)
            forest = grower.grow(
                times, whole=[self._wholes[of_set] for of_set in together], last=together is groups[-1]
            )
            for i, node in enumerate(together.values()):
                self.settling.graft(node, forest, i)

    def _alike(self, nodes: Mapping[int, int]) -> list[dict[int, int]]:
        """Sets whose sizes mean as many rows, which can grow together."""
        p = self.task.parameters
        if not isinstance(p.min_samples_leaf, float) and not isinstance(p.min_samples_split, float):
            return [dict(nodes)]
        return [{of_set: node} for of_set, node in nodes.items()]

    def below(self, of_set: int, node: int) -> Parameters:
        """The parameters for what is below a node of a set."""
        p, rows = self.task.parameters, int(self._wholes[of_set].mass)
        return replace(
            p,
            max_depth=None if p.max_depth is None else p.max_depth - self.settling.depth(node),
            min_samples_split=max(2, least_rows(p.min_samples_split, rows)),
            min_samples_leaf=least_rows(p.min_samples_leaf, rows),
        )

    def tree(self, of_set: int = 0) -> Tree:
        """The tree of a training set, once all of its nodes are settled."""
        labels = self.survey.labels.tolist()
        tree = Tree.trusted(self.survey.schema, self.settling.tree(of_set), classes=labels)
        return collapsed(tree) if self.task.parameters.criterion == "c45" and tree.n_nodes > 1 else tree
