"""The face of the native grower: one call grows the trees of one or many training sets of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import DataError, UsageError
from hornbeam.growth.costs import ClassCosts
from hornbeam.growth.parameters import Engine, Parameters
from hornbeam.model import Tree, costs_of
from hornbeam.table import Schema, Table

MAX_CLASSES = 2**16
MAX_TARGET = 1e100  # squares of sums stay finite
MAX_CATEGORY_CLASSES = 2**28  # categories of a column times classes: the counts of one node


Weights = npt.NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """The class of each row, as a code into `labels`; what rows and classes weigh and mistakes cost."""

    codes: npt.NDArray[np.int32]
    labels: npt.NDArray[Any]
    weights: Weights = None
    costs: ClassCosts = field(default_factory=ClassCosts)

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many rows there are of each class."""
        return np.bincount(self.codes, minlength=len(self.labels))

    def take(self, rows: npt.NDArray[np.int64]) -> ClassTarget:
        """The target of some rows, in their order."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, codes=self.codes[rows], weights=weights)


@dataclass(frozen=True, eq=False)
class NumericTarget:
    """The numeric targets of each row, [rows, targets]; what rows weigh."""

    values: npt.NDArray[np.float64]
    names: tuple[str, ...]
    weights: Weights = None
    labels: ClassVar[None] = None
    """Numbers have no classes."""

    @property
    def n_rows(self) -> int:
        return len(self.values)

    def take(self, rows: npt.NDArray[np.int64]) -> NumericTarget:
        """The target of some rows, in their order."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, values=np.ascontiguousarray(self.values[rows]), weights=weights)


Target = ClassTarget | NumericTarget


class Admission(NamedTuple):
    """What admits a test: rows in every branch, and C4.5's size."""

    leaf: int | float
    objs: float | None

    @classmethod
    def of(cls, parameters: Parameters) -> Admission:
        return cls(parameters.min_samples_leaf, parameters.min_objs)


class WholeSet(NamedTuple):
    """A training set as a whole: its mass as qualities see it, its weight, for each attribute whether it has
    so many categories that C4.5's average leaves it out, and what its class sums are multiplied by."""

    mass: float
    weight: float
    many_valued: list[int]
    factors: list[float] = []  # noqa: RUF012 - read only


class TableGrower:
    """A table that is encoded once, whatever number of training sets is grown from it."""

    def __init__(
        self,
        table: Table,
        target: Target,
        parameters: Parameters,
        *,
        threads: int = 1,
        engine: Engine | None = None,
        encoded: _core.EncodedTable | None = None,
    ) -> None:
        self.table, self.target, self.parameters = table, target, parameters
        self.threads, self.engine = threads, engine or Engine()
        self._values, self._n_classes = _native_target(table, target)
        if parameters.criterion == "quest" and _weighs(target):
            raise quest_counts()
        self._encoded = encoded
        kernels = self.engine.kernels
        if kernels != "auto" and kernels not in _core.kernels():
            known = ", ".join(("auto", *_core.kernels()))
            raise UsageError(f"kernels {kernels!r} are not available here; use one of {known}")

    @property
    def encoded(self) -> _core.EncodedTable:
        """The table as the core reads it; growers of the same table may share it."""
        if self._encoded is None:
            self._encoded = _core.encode(self.table.native(), self.table.n_rows, self.threads)
        return self._encoded

    def grow(
        self,
        multiplicity: npt.NDArray[np.uint8] | None = None,
        settings: Sequence[Admission] = (),
        *,
        last: bool = True,
        report: Callable[[float], None] | None = None,
        whole: Sequence[WholeSet] = (),
    ) -> _core.Forest:
        """The forest of training sets, `multiplicity[row, set]` being how often a row counts; None: of all
        rows. Under each of the `settings`, which ask for more and more, or that of the parameters. The
        `last` growth needs no copy of the encoded table and uses it up. `whole` tells what each set is as a
        whole where the table has only the rows of one of its nodes."""
        parameters, target, engine = self.parameters, self.target, self.engine
        weights = target.weights
        costs = target.costs if isinstance(target, ClassTarget) else ClassCosts()
        encoded = self.encoded
        if last:
            self._encoded = None
        try:
            return _core.grow(
                encoded,
                self._values,
                self._n_classes,
                **parameters.native,
                settings=list(settings) or [Admission.of(parameters)],
                multiplicity=multiplicity,
                threads=self.threads,
                kernels=engine.kernels,
                accelerate=engine.accelerate,
                joint=engine.joint,
                twigs=engine.twigs,
                counting=engine.counting,
                algorithm=engine.algorithm,
                consume=last,
                report=report,
                weights=weights,
                class_weight=costs.weights,
                costs=None if costs.matrix is None else costs.matrix.ravel(),
                whole=list(whole),
            )
        except ValueError as error:  # the core says in one line what it cannot take
            raise DataError(str(error)) from None

    def tree(self, forest: _core.Forest, i: int, setting: int = 0, *, collapse: bool = True) -> Tree:
        """The tree of one of the training sets that were grown, under one of the settings; without `collapse`
        as it was before C4.5's last step."""
        tree = self._read(forest, i, forest.tree(i, setting))
        collapse = collapse and self.parameters.criterion == "c45" and tree.n_nodes > 1
        return collapsed(tree) if collapse else tree

    def nodes(self, forest: _core.Forest, i: int) -> Tree:
        """The nodes of a training set's trees under all settings, as so many leaves."""
        return self._read(forest, i, forest.nodes(i))

    def _read(self, forest: _core.Forest, i: int, arrays: dict[str, Any]) -> Tree:
        target, schema = self.target, self.table.schema
        kept, weighted = arrays.get("competitors"), _weighs(target)
        if isinstance(target, NumericTarget):
            tree = Tree.trusted(schema, arrays, targets=target.names, competitors=kept)
        else:
            costs = costs_of(forest.class_weight(i), target.costs.rows) if weighted else None
            classes = target.labels.tolist()
            tree = Tree.trusted(schema, arrays, classes=classes, costs=costs, competitors=kept)
        return check_finite(tree) if weighted else tree


def grow_tree(
    table: Table,
    target: Target,
    parameters: Parameters,
    *,
    threads: int = 1,
    engine: Engine | None = None,
    report: Callable[[float], None] | None = None,
) -> Tree:
    """The tree of all rows. `report` hears ten times a second which share of them rests in a leaf."""
    grower = TableGrower(table, target, parameters, threads=threads, engine=engine)
    return grower.tree(grower.grow(report=report), 0)


def grow_in_order(
    table: Table,
    target: Target,
    parameters: Parameters,
    *,
    threads: int = 1,
    report: Callable[[float], None] | None = None,
) -> tuple[Tree, npt.NDArray[np.uint32]]:
    """The tree of all rows, and the rows leaf after leaf in preorder, those of weight 0 left out."""
    grower = TableGrower(table, target, parameters, threads=threads)
    forest = grower.grow(report=report)
    return grower.tree(forest, 0), forest.take_order()


def _weighs(target: Target) -> bool:
    """Whether rows, classes or mistakes differ in what they count."""
    costs = target.costs if isinstance(target, ClassTarget) else ClassCosts()
    return target.weights is not None or costs.weights is not None or costs.matrix is not None


def quest_counts() -> UsageError:
    """The one line for weights that QUEST is given."""
    return UsageError(
        "criterion 'quest' tests hypotheses about rows, and a weight is no number of rows: leave out "
        "sample_weight, class_weight and cost_matrix, or use criterion 'gini'"
    )


def check_finite(tree: Tree) -> Tree:
    """The tree, unless weights are so far from 1 that powers of their sums are no doubles."""
    if not all(np.isfinite(tree.arrays[name]).all() for name in ("weight", "impurity", "gain")):
        raise DataError(
            "the weights leave the range of doubles where they are squared; scale them to numbers around 1"
        )
    return tree


def _native_target(table: Table, target: Target) -> tuple[npt.NDArray[Any], int]:
    if isinstance(target, NumericTarget):
        values = np.ascontiguousarray(target.values)
        check_largest(float(np.abs(values).max(initial=0.0)))
        return values, 0
    n_classes = len(target.labels)
    check_classes(table.schema, n_classes)
    return target.codes.astype(np.uint16), n_classes


def check_largest(largest: float) -> None:
    """Refuse targets so large that sums of their squares are no doubles."""
    if largest > MAX_TARGET:
        raise DataError(f"the target reaches {largest:g}; up to {MAX_TARGET:g} is allowed, so rescale it")


def check_classes(schema: Schema, n_classes: int) -> None:
    """Refuse more classes, or categories times classes, than a node can count."""
    if n_classes > MAX_CLASSES:
        raise DataError(
            f"the target has {n_classes} classes; up to {MAX_CLASSES} are allowed; "
            "for a number use TreeRegressor"
        )
    for attribute in schema.attributes:
        n_categories = len(attribute.labels)
        if n_categories * n_classes > MAX_CATEGORY_CLASSES:
            raise DataError(
                f"attribute {attribute.name!r} has {n_categories} categories for {n_classes} classes; "
                f"categories times classes may reach {MAX_CATEGORY_CLASSES}: leave it out or merge categories"
            )


def reshaped(tree: Tree, arrays: dict[str, Any]) -> Tree:
    """The tree of arrays that the core made of a tree; `origin` says whose tests its nodes ask."""
    kept = tree.kept_competitors
    return Tree.trusted(
        tree.schema,
        arrays,
        classes=tree.classes,
        targets=tree.targets,
        costs=tree.costs,
        competitors=None if kept is None else kept.take(arrays["origin"]).arrays,
    )


def collapsed(tree: Tree) -> Tree:
    """A subtree that makes no fewer errors than a leaf becomes one."""
    arrays = _core.collapse(tree.native(), tree.leaf_class)
    return tree if len(arrays["kind"]) == tree.n_nodes else reshaped(tree, arrays)


def leaf_places(tree: Tree) -> npt.NDArray[np.int32]:
    """How many leaves come before each node, from left to right."""
    return _core.leaf_places(tree.native())
