"""A case as the growth room sees it: table, target and parameters, with weights and costs; lone growths."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from hypothesis import assume, reject

from hornbeam.errors import DataError
from hornbeam.growth import ClassCosts, ClassTarget, NumericTarget, Parameters, TableGrower, Target, grow_tree
from hornbeam.model import Tree, costs_of
from hornbeam.table import Table, from_data
from tests.laws.reading import frame, target_array
from tests.laws.test_weights import weights_of, with_costs
from tests.oracle.growth import Growth
from tests.oracle.table import AllParameters, Classes
from tests.strategies import Case

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Call:
    """One call of the grower; the parameters may be exchanged."""

    table: Table
    target: Target
    parameters: Parameters

    @property
    def task(self) -> str:
        return "classification" if isinstance(self.target, ClassTarget) else "regression"

    def having(self, **changes: Any) -> Call:
        return replace(self, parameters=replace(self.parameters, **changes).checked(self.task))

    def of(self, rows: Rows | None) -> Call:
        """The same call with some of the rows."""
        if rows is None:
            return self
        return Call(self.table.take(rows), self.target.take(rows), self.parameters)

    def grown(self) -> Tree:
        """What a lone growth gives; the example is dropped where weights leave the range of doubles."""
        with_finite_weights = self.target.weights is None and self.target_costs.weights is None
        try:
            return grow_tree(self.table, self.target, self.parameters)
        except DataError:
            if with_finite_weights and self.target_costs.matrix is None:
                raise
            reject()
            raise

    @property
    def target_costs(self) -> ClassCosts:
        return self.target.costs if isinstance(self.target, ClassTarget) else ClassCosts()

    def before_collapse(self) -> Tree:
        """The tree as the core grew it: C4.5's collapse has not happened."""
        grower = TableGrower(self.table, self.target, self.parameters)
        forest = grower.grow()
        if isinstance(self.target, NumericTarget):
            return Tree.trusted(self.table.schema, forest.tree(0), targets=self.target.names)
        costs = costs_of(forest.class_weight(0), self.target.costs.rows)
        classes = self.target.labels.tolist()
        return Tree.trusted(self.table.schema, forest.tree(0), classes=classes, costs=costs)


def call_of(case: Case, weights: Sequence[float] | None = None) -> Call:
    """The call of a case, its parameters checked."""
    p = AllParameters.of(case.parameters)
    values, held = target_array(case), None if weights is None else np.array(weights, dtype=np.float64)
    target: Target
    if isinstance(case.target, Classes):
        labels, codes = np.unique(values, return_inverse=True)
        costs = ClassCosts.checked(p.class_weight, p.cost_matrix, labels)
        target = ClassTarget(codes.astype(np.int32), labels, held, costs)
    else:
        rows = np.ascontiguousarray(values.reshape(case.n, -1))
        target = NumericTarget(rows, tuple(f"y{i}" for i in range(rows.shape[1])), held)
    sizes = (p.criterion, p.nominal, p.max_depth, p.min_samples_split, p.min_samples_leaf)
    call = Call(
        from_data(frame(case.columns)), target, Parameters(*sizes, p.min_impurity_decrease, p.min_objs)
    )
    return call.having()


def weighed_call(case: Case, seed: int) -> Call:
    """The case with weights, class weights and costs as the seed has them; C4.5 among its criteria."""
    weights = weights_of(seed, case.n)
    assume(weights is None or any(weights))
    case = with_costs(case, seed)
    source = random.Random(seed)
    changes: dict[str, Any] = {"min_objs": source.choice([None, None, 1.0, 2.0, 1.5])}
    if isinstance(case.target, Classes) and seed % 3 == 0:
        changes["criterion"] = "c45"
    case = Case(case.columns, case.target, replace(AllParameters.of(case.parameters), **changes))
    costs = Growth.of(case.columns, case.target, case.parameters, None, weights).costs
    assume(costs is None or all(0.0 < costs.factor[k] < math.inf for k in costs.present))
    return call_of(case, weights)


def strangers(table: Table, seed: int) -> Table:
    """Rows that are not in the table: every column in an order of its own."""
    rng = np.random.default_rng(seed)
    columns = [table.take(rng.permutation(table.n_rows)).columns[i] for i in range(len(table.columns))]
    return Table(table.schema, tuple(columns), table.n_rows)


def assert_equal(tree: Tree, expected: Tree) -> None:
    """The same digest, and to the last bit the numbers that it does not cover."""
    assert tree.digest == expected.digest
    for name in ("rows", "weight", "impurity", "gain", "kind", "attribute", "first_child", "n_children"):
        assert tree.arrays[name].tobytes() == expected.arrays[name].tobytes(), name
    assert tree.depth == expected.depth
    if tree.classes is not None:
        assert tree.leaf_class.tobytes() == expected.leaf_class.tobytes()
        assert tree.costs == expected.costs


DEFAULT = Parameters()


def known_call() -> Call:
    """x = 0 .. 7 and the classes a b a a b b b b."""
    table = from_data(pd.DataFrame({"x": range(8)}))
    codes = np.array([0, 1, 0, 0, 1, 1, 1, 1], dtype=np.int32)
    return Call(table, ClassTarget(codes, np.array(["a", "b"])), DEFAULT)
