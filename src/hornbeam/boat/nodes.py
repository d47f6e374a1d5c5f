"""The trees that grow over a source: nodes settled from counts, and subtrees finished from rows in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.buffer import Encoded
from hornbeam.boat.plan import PlaceRecord
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.errors import DataError
from hornbeam.growth import ClassCosts, ClassTarget, NumericTarget, Parameters, TableGrower, Target, WholeSet
from hornbeam.growth.grow import check_finite, collapsed, quest_counts
from hornbeam.growth.memory import least_rows
from hornbeam.model import Tree, costs_of
from hornbeam.table import Schema, Table

Counts = npt.NDArray[np.int64]

# What growing takes of memory for a cell, nominal or by how many values its attribute may have, for a row,
# and for a target or weight; measured from above. Few are counted instead of listed; some have short codes.
_NOMINAL, _FEW, _SOME, _MANY, _ROW, _NUMBER = 10, 8, 12, 20, 24, 24
_FEW_VALUES, _SOME_VALUES = 512, 65_535
_ENTRY = 24  # bytes of a value that is counted, and of each of its classes a sixth of that
# Of the memory: what rows and counts may take while a scan keeps them, the counts alone, which cannot be put
# away, and a family while it grows.
KEPT_PART, COUNTS_PART, FAMILY_PART = 0.5, 0.25, 0.75
_SEVERAL = 3  # times as much, where trees of several training sets grow together


def family_bytes(survey: Survey, layout: _core.RowLayout, folds: int = 1) -> int:
    """What a row of a family takes while it is encoded and the grower works on it."""
    size = _ROW + layout.stride + _NUMBER * survey.numbers
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


def avc_buffer(task: SourceTask, survey: Survey, layout: _core.RowLayout) -> int:
    """How many values may be counted at once, by class and fold, with their sums."""
    if task.avc_entries is not None:
        return task.avc_entries
    joint = len(survey.row_counts) * (task.folds or 1)
    entry = _ENTRY * max(1, joint // 2) + 2 * 8 * layout.sum_words * joint
    return max(1, int(task.budget * KEPT_PART) // entry)


class SetsTogether(NamedTuple):
    """Training sets that grow together below their nodes, by such parameters, and what each is as a whole."""

    parameters: Parameters
    wholes: dict[int, WholeSet]


@dataclass(frozen=True, eq=False)
class FamilyTask:
    """All that growing from the rows of a family needs beside them. `targets` are numbers; without any, rows
    have one of the classes `labels`."""

    schema: Schema
    labels: npt.NDArray[Any]
    targets: tuple[str, ...]
    costs: ClassCosts
    together: tuple[SetsTogether, ...]
    threads: int


def grow_family(task: FamilyTask, rows: Encoded) -> Iterator[tuple[int, _core.Forest, int]]:
    """The trees of all training sets: the set, the forest that has its tree, and the tree's number there."""
    target = _target(task, rows)
    table = Table(task.schema, (), target.n_rows)
    for parameters, wholes in task.together:
        grower = TableGrower(table, target, parameters, threads=task.threads, encoded=rows.table)
        times = None
        if rows.folds is not None:
            left_out = np.array([of_set - 1 for of_set in wholes])
            times = (rows.folds[:, None] != left_out[None, :]).astype(np.uint8)
        last = wholes is task.together[-1].wholes
        forest = grower.grow(times, whole=list(wholes.values()), last=last)
        yield from ((of_set, forest, i) for i, of_set in enumerate(wholes))


def _target(task: FamilyTask, rows: Encoded) -> Target:
    if task.targets:
        return NumericTarget(rows.target.reshape(-1, len(task.targets)), task.targets, rows.weights)
    return ClassTarget(rows.target, task.labels, rows.weights, task.costs)


class Nodes:
    """The trees of all training sets: set 0 is of all rows, set i leaves fold i - 1 out. They are `opened`
    once it is known what all rows of each set have in common."""

    settling: _core.Settling

    def __init__(self, task: SourceTask, survey: Survey, layout: _core.RowLayout) -> None:
        self.task, self.survey, self.layout = task, survey, layout
        self._costs = task.costs(survey.labels) if task.reading.classification else ClassCosts()
        self._row_bytes = family_bytes(survey, layout)
        self._rows: list[int] = []
        self._counts: list[Counts] = []
        self._wholes: list[WholeSet] = []
        if task.parameters.criterion == "quest" and (
            task.reading.source.weight is not None or self.costs_differ
        ):
            raise quest_counts()

    @property
    def costs_differ(self) -> bool:
        """Whether classes or mistakes do."""
        return self._costs.weights is not None or self._costs.matrix is not None

    @property
    def balanced(self) -> bool:
        """Whether classes weigh by their numbers."""
        return isinstance(self._costs.weights, str)

    @property
    def counts(self) -> Counts:
        """The rows of each class of the first training set."""
        return self._counts[0]

    @property
    def rows(self) -> int:
        """The rows of the first training set."""
        return self._rows[0]

    @property
    def opened(self) -> bool:
        return bool(self._wholes)

    def open(
        self,
        wholes: Sequence[Counts],
        sums: Sequence[npt.NDArray[np.uint64]] = (),
        present: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Begin with training sets of so many rows of each class, and their sums where they have some.
        `present` tells how many categories of each attribute a set has, where that is not all."""
        p, costs = self.task.parameters, self._costs
        try:
            self.settling = _core.Settling(
                criterion=p.criterion,
                nominal=p.nominal,
                layout=self.layout,
                wholes=[counts.tolist() for counts in wholes],
                max_depth=-1 if p.max_depth is None else p.max_depth,
                min_samples_split=p.min_samples_split,
                min_samples_leaf=p.min_samples_leaf,
                min_objs=p.min_objs,
                min_impurity_decrease=p.min_impurity_decrease,
                many_valued=[],
                sums=list(sums),
                class_weight=costs.weights,
                costs=None if costs.matrix is None else costs.matrix.ravel(),
            )
        except ValueError as error:  # the core says in one line what it cannot take
            raise DataError(str(error)) from None
        labels = [len(attribute.labels) for attribute in self.survey.schema.attributes]
        self._rows, self._counts = [int(counts.sum()) for counts in wholes], list(wholes)
        for i, categories in enumerate(present or [labels] * len(wholes)):
            weight = self.settling.whole(i)[1]
            self.settling.set_many_valued(i, [int(c > 0 and c >= 0.3 * weight) for c in categories])
            self._wholes.append(WholeSet(*self.settling.whole(i)))

    def weighed(self, target: Target) -> Target:
        """A target whose classes and mistakes weigh what they do."""
        return replace(target, costs=self._costs) if isinstance(target, ClassTarget) else target

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

    def finish(self, nodes: Mapping[int, int], rows: Encoded) -> None:
        """Grow the rest of the trees below nodes, one of each training set, from all rows that come there."""
        for of_set, forest, i in grow_family(self.family(nodes), rows):
            self.settling.graft(nodes[of_set], forest, i)

    def family(self, nodes: Mapping[int, int]) -> FamilyTask:
        """How the trees below nodes are grown, for whoever has the rows."""
        return FamilyTask(
            schema=self.survey.schema,
            labels=self.survey.labels,
            targets=() if self.task.reading.classification else self.task.reading.targets,
            costs=self._costs,
            together=tuple(
                SetsTogether(self.below(*next(iter(sets.items()))), {i: self._wholes[i] for i in sets})
                for sets in self._same_sizes(nodes)
            ),
            threads=self.task.threads,
        )

    def graft(self, node: int, arrays: dict[str, Any]) -> None:
        """Put a tree that was grown from the rows of a node elsewhere in its place."""
        self.settling.graft_kept(arrays, [(node, 0)])

    def _same_sizes(self, nodes: Mapping[int, int]) -> list[dict[int, int]]:
        """Sets whose sizes mean as many rows, which can grow together."""
        p = self.task.parameters
        if not isinstance(p.min_samples_leaf, float) and not isinstance(p.min_samples_split, float):
            return [dict(nodes)]
        return [{of_set: node} for of_set, node in nodes.items()]

    def below(self, of_set: int, node: int) -> Parameters:
        """The parameters for what is below a node of a set."""
        p, rows = self.task.parameters, self._rows[of_set]
        return replace(
            p,
            max_depth=None if p.max_depth is None else p.max_depth - self.settling.depth(node),
            min_samples_split=max(2, least_rows(p.min_samples_split, rows)),
            min_samples_leaf=least_rows(p.min_samples_leaf, rows),
        )

    def tree(self, of_set: int = 0) -> Tree:
        """The tree of a training set, once all of its nodes are settled."""
        arrays, schema = self.settling.tree(of_set), self.survey.schema
        if not self.task.reading.classification:
            tree = Tree.trusted(schema, arrays, targets=self.task.reading.targets)
        else:
            costs = costs_of(self.settling.class_weight(of_set), self._costs.rows)
            tree = Tree.trusted(schema, arrays, classes=self.survey.labels.tolist(), costs=costs)
        if self.survey.weighted or tree.costs is not None:
            check_finite(tree)
        return collapsed(tree) if self.task.parameters.criterion == "c45" and tree.n_nodes > 1 else tree
