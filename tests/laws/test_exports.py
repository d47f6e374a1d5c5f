"""Whatever a tree is turned into says for every row what the tree says."""

from __future__ import annotations

import math
import warnings
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hornbeam.model import Tree
from hornbeam.model.rules import leaf_regions
from hornbeam.table import Table, conform
from tests import strategies
from tests.databases import DuckDB, PostgreSQL, SQLite
from tests.dot_grammar import read_dot
from tests.laws.random_cases import random_cases
from tests.laws.reading import fit, frame, needs_package
from tests.oracle.table import Column
from tests.strategies import LABELS, Case
from tests.typed_tables import tree_over, typed_rows

pytestmark = needs_package
ANY = st.one_of(strategies.cases(), random_cases)
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=max(20, settings.default.max_examples // 4))  # type: ignore[union-attr]
HALF = settings(max_examples=max(20, settings.default.max_examples // 2))  # type: ignore[union-attr]
Engine = DuckDB | SQLite | PostgreSQL
ENGINES: list[Engine] = [DuckDB(), SQLite()]
by_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


def hostile_rows(case: Case) -> pa.Table:
    """The training rows, and as many with cells from anywhere: missing, infinite, never seen."""
    rng = np.random.default_rng(case.n)
    columns = []
    for column in case.columns:
        strange: dict[str, list[Any]] = {
            "float": [None, math.inf, -math.inf, -0.0, 5e-324, 1e308],
            "integer": [None, 0, 1, 2**63 - 1],
            "nominal": [None, "", "never seen", "'", *LABELS[:6]],
        }
        pool = [*column.values, *strange[column.kind]]
        drawn = [pool[i] for i in rng.integers(0, len(pool), case.n + 5)]
        columns.append(Column(column.name, column.kind, (*column.values, *drawn)))
    return pa.Table.from_pandas(frame(columns), preserve_index=False)


def with_nan(rows: pa.Table) -> pa.Table:
    """Every second missing float as NaN, which SQL tells from NULL."""
    for place, name in enumerate(rows.column_names):
        if pa.types.is_floating(rows.column(name).type):
            cells = rows.column(name).to_pylist()
            mixed = [math.nan if cell is None and row % 2 else cell for row, cell in enumerate(cells)]
            rows = rows.set_column(place, name, pa.array(mixed, pa.float64()))
    return rows


def fits_sqlite(tree: Tree) -> bool:
    """Integers from 2^63 on are beyond it."""
    attributes = tree.schema.attributes
    inner = [node for node in range(tree.n_nodes) if not tree.is_leaf(node)]
    tests = [tree.tests[node] for node in inner]
    return all(attributes[test.attribute].type != "uint64" or test.bound < 0 for test in tests)


def assert_same_answers(engine: Engine, tree: Tree, rows: pa.Table, table: Table) -> None:
    """Leaf, prediction and one share of every row, by the database and by the tree."""
    if tree.classes is None:
        assert tree.targets is not None
        expressions = [tree.to_sql(engine.name, of=target) for target in tree.targets]
        expected = tree.predict_means(table).tolist()
    else:
        of = tree.classes[-1]
        expressions = [tree.to_sql(engine.name), tree.to_sql(engine.name, "probability", of=of)]
        shares = tree.predict_shares(table)[:, -1].tolist()
        labels = [tree.classes[code] for code in tree.predict_codes(table)]
        expected = [list(pair) for pair in zip(labels, shares, strict=True)]
    found = engine.ask(rows, [tree.to_sql(engine.name, "leaf"), *expressions])
    assert [int(leaf) for leaf, *_ in found] == tree.apply(table).tolist()
    if engine.name == "postgresql":  # cells come as text
        read = str if tree.classes is not None else float
        assert [[read(row[1]), *map(float, row[2:])] for row in found] == expected
    else:
        assert [list(row[1:]) for row in found] == expected


@by_engine
@HALF
@given(case=ANY)
def test_the_sql_of_a_fitted_tree_predicts_alike(engine: Engine, case: Case) -> None:
    rows = with_nan(hostile_rows(case))
    model = fit(case)
    if engine.name == "sqlite" and not fits_sqlite(model.tree_):
        return
    assert_same_answers(engine, model.tree_, rows, conform(rows, model.tree_.schema))


def check_every_type(engine: Engine, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = typed_rows(rng, 60, engine.name)
    shape: dict[str, Any] = {"n_targets": seed % 3, "breadth_first": bool(seed % 2)}
    tree, table = tree_over(rng, rows, int(rng.integers(1, 60)), **shape)
    assert_same_answers(engine, tree, rows, table)


@by_engine
@FEW
@given(seed=SEEDS)
def test_the_sql_of_any_tree_over_any_types_predicts_alike(engine: Engine, seed: int) -> None:
    check_every_type(engine, seed)


@FEW
@given(seed=SEEDS)
def test_the_sql_predicts_alike_in_postgresql(postgresql: PostgreSQL, seed: int) -> None:
    check_every_type(postgresql, seed)


def cell(table: Table, attribute: int, row: int) -> Any:
    """A value as regions hold it: a code, a double, None where a number is missing."""
    column = table.columns[attribute]
    value = column.values[row].item()
    if column.kind == "nominal":
        return value
    gone = math.isnan(value) if column.kind == "float" else column.missing is not None and column.missing[row]
    return None if gone else value


@FEW
@given(seed=SEEDS)
def test_every_row_meets_the_rule_of_its_leaf_and_no_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree, table = tree_over(rng, typed_rows(rng, 30), int(rng.integers(1, 40)))
    leaves = tree.apply(table)
    regions = dict(leaf_regions(tree))
    for row in range(table.n_rows):
        met = [
            leaf
            for leaf, region in regions.items()
            if all(cell(table, attribute, row) in part for attribute, part in region.items())
        ]
        assert met == [leaves[row]]
    assert [rule.leaf for rule in tree.rules()] == list(regions)


@FEW
@given(seed=SEEDS)
def test_every_tree_is_drawn_as_well_formed_svg_and_dot(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape: dict[str, Any] = {"n_targets": seed % 3, "n_classes": 2 + seed % 30}
    tree, _ = tree_over(rng, typed_rows(rng, 30), int(rng.integers(0, 40)), **shape)
    for depth in (0, 2, None):
        root = ElementTree.fromstring(tree.to_svg(depth, missing=bool(seed % 2)))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        graph = read_dot(tree.to_dot(depth))
        drawn = tree.node_depths <= (tree.depth if depth is None else depth)
        assert sum(name.startswith("n") for name in graph.nodes) == int(drawn.sum())


def exported(tree: Tree, rows: Any = None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tree.to_sklearn(rows)


@FEW
@given(seed=SEEDS)
def test_the_pipeline_for_scikit_learn_counts_the_rows_that_change_leaf(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = typed_rows(rng, 60)
    tree, table = tree_over(rng, rows, int(rng.integers(0, 40)), n_targets=seed % 3)
    leaves = tree.binary.place[tree.apply(table)]
    chosen = exported(tree, rows)
    same = chosen[-1].apply(chosen[0].transform(rows)) == leaves
    assert chosen[-1].changed_rows_ == np.count_nonzero(~same)
    if tree.classes is not None:
        assert np.array_equal(chosen.predict_proba(rows)[same], tree.predict_shares(table)[same])
    else:
        expected = tree.predict_means(table)[same]
        assert np.array_equal(np.reshape(chosen.predict(rows)[same], expected.shape), expected)


@FEW
@given(case=strategies.classification(kinds=["float"]), data=st.data())
def test_numbers_of_float32_never_change_leaf_in_scikit_learn(case: Case, data: st.DataObject) -> None:
    """Training rows, and any others."""
    with np.errstate(over="ignore"):
        X = np.array(
            [[np.nan if v is None else v for v in c.values] for c in case.columns], dtype=np.float32
        ).T
    X[np.isinf(X)] = 1.0
    model = fit(case, X)
    others = data.draw(
        arrays(np.float32, (20, X.shape[1]), elements=st.floats(width=32, allow_infinity=False))
    )
    for tree in (exported(model.tree_), exported(model.tree_, X)):
        for rows in (X, others):
            assert np.array_equal(tree.predict_proba(rows), model.predict_proba(rows))
    assert exported(model.tree_, X).changed_rows_ == 0
