"""Rows arrive at the leaf that a plain walk finds, whatever the layout of their columns."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import numpy as np
import pytest

from hornbeam import _core
from hornbeam.errors import DataError
from hornbeam.growth import ClassTarget, Parameters, grow_tree
from hornbeam.model.routing import RoutedTable, attribute_kinds
from hornbeam.table import Attribute, Column, Schema, Table
from tests.unit.model.builder import chain, float_schema, mixed_schema, plain_path, random_table, random_tree


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("schema", [mixed_schema(), float_schema(4)], ids=["mixed", "floats"])
def test_apply_finds_the_leaf_of_a_plain_walk(seed: int, schema: Schema) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, schema, n_tests=int(rng.integers(0, 40)), breadth_first=bool(seed % 2))
    table = random_table(rng, schema, 83)
    expected = [plain_path(tree, table, row)[-1] for row in range(table.n_rows)]
    assert tree.apply(table).dtype == np.int32
    assert tree.apply(table).tolist() == expected


@pytest.mark.parametrize("seed", range(6))
def test_decision_path_lists_the_nodes_of_a_plain_walk(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, mixed_schema(), n_tests=seed * 3, breadth_first=False)
    table = random_table(rng, mixed_schema(), 40)
    paths = tree.decision_path(table)
    assert paths.shape == (40, tree.n_nodes)
    for row in range(40):
        assert paths[[row]].indices.tolist() == plain_path(tree, table, row)


def layouts(matrix: np.ndarray) -> Iterator[tuple[str, list[np.ndarray]]]:
    n, m = matrix.shape
    yield "row-major", [matrix[:, j] for j in range(m)]
    yield "column-major", [np.asfortranarray(matrix)[:, j] for j in range(m)]
    yield "own arrays", [matrix[:, j].copy() for j in range(m)]
    wide = np.full((n, m + 3), np.nan)
    wide[:, 3:] = matrix
    yield "part of a wider matrix", [wide[:, j + 3] for j in range(m)]
    backwards = np.ascontiguousarray(matrix[::-1])
    yield "backwards", [backwards[::-1, j] for j in range(m)]
    yield (
        "columns from right to left",
        [np.ascontiguousarray(matrix[:, ::-1])[:, m - 1 - j] for j in range(m)],
    )
    mixed = [matrix[:, j] for j in range(m)]
    mixed[1] = matrix[:, 1].copy()
    yield "different strides", mixed


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1000])
def test_the_layout_of_the_columns_does_not_matter(n: int) -> None:
    rng = np.random.default_rng(n)
    schema = float_schema(5)
    tree = random_tree(rng, schema, n_tests=30)
    matrix = np.column_stack([column.values for column in random_table(rng, schema, n).columns])
    results = {
        name: tree.apply(Table(schema, tuple(Column("float", c) for c in columns), n)).tolist()
        for name, columns in layouts(matrix)
    }
    assert all(result == results["row-major"] for result in results.values()), results


def test_threads_give_the_same_leaves() -> None:
    rng = np.random.default_rng(5)
    tree = random_tree(rng, mixed_schema(), n_tests=200)
    table = random_table(rng, mixed_schema(), 150_000)
    one = tree.apply(table)
    for threads in (2, 3, 8):
        assert np.array_equal(tree.apply(table, threads), one)


def test_categories_spread_over_a_million_codes_are_found() -> None:
    labels = tuple(f"{i:07d}" for i in range(1_000_000))
    schema = Schema((Attribute("id", "nominal", "nominal", labels),))
    tree = random_tree(np.random.default_rng(3), schema, n_tests=60)
    codes = np.concatenate([tree.arrays["branch_code"], tree.arrays["branch_code"] + 1, [-1, -2, 0, 999_999]])
    codes = np.clip(codes, -2, 999_999).astype(np.int32)
    table = Table(schema, (Column("nominal", codes),), len(codes))
    assert tree.apply(table).tolist() == [plain_path(tree, table, row)[-1] for row in range(len(codes))]


@pytest.mark.parametrize("n_labels", [2, 9, 64, 65, 300])
@pytest.mark.parametrize("nominal", ["subset", "value", "multiway"])
def test_labels_alone_find_the_leaf_of_a_plain_walk(nominal: str, n_labels: int) -> None:
    rng = np.random.default_rng(n_labels)
    labels = tuple(f"{i:03d}" for i in range(n_labels))
    schema = Schema(tuple(Attribute(name, "nominal", "nominal", labels) for name in "abc"))
    grown_from, other = random_table(rng, schema, 400), random_table(rng, schema, 150)
    known = [Column("nominal", np.maximum(column.values, -1)) for column in grown_from.columns]
    codes = (sum(column.values for column in known) % 5 > 2).astype(np.int32)
    table = Table(schema, tuple(known), 400)
    tree = grow_tree(table, ClassTarget(codes, np.array([0, 1])), Parameters(nominal=nominal, max_depth=6))
    assert tree.depth > 1
    expected = [plain_path(tree, other, row)[-1] for row in range(150)]
    assert tree.apply(other).tolist() == expected
    rows = rng.integers(0, 150, 77)
    assert RoutedTable(other).leaves(tree, rows).tolist() == [expected[row] for row in rows]


def test_a_single_leaf_takes_every_row() -> None:
    tree = random_tree(np.random.default_rng(0), mixed_schema(), n_tests=0)
    table = random_table(np.random.default_rng(0), mixed_schema(), 20)
    assert tree.apply(table).tolist() == [0] * 20
    assert tree.decision_path(table).toarray().tolist() == [[1]] * 20


def test_predictions_are_those_of_the_leaf() -> None:
    rng = np.random.default_rng(8)
    table = random_table(rng, mixed_schema(), 50)
    tree = random_tree(rng, mixed_schema(), n_tests=20, n_classes=4)
    leaves = tree.apply(table)
    for row, leaf in enumerate(leaves):
        counts = tree.counts(leaf)
        assert tree.predict_codes(table)[row] == counts.argmax()
        assert np.array_equal(tree.predict_shares(table)[row], counts / counts.sum())
    regression = random_tree(rng, mixed_schema(), n_tests=20, n_targets=2)
    means = regression.arrays["mean"].reshape(-1, 2)
    assert np.array_equal(regression.predict_means(table), means[regression.apply(table)])


def test_a_table_of_another_width_is_refused() -> None:
    tree = random_tree(np.random.default_rng(0), float_schema(3))
    with pytest.raises(DataError, match="2 attributes; the tree was grown on 3"):
        tree.apply(random_table(np.random.default_rng(0), float_schema(2), 5))


@pytest.mark.parametrize(
    "column",
    [
        (1, np.zeros(4), None, 0),
        (0, np.zeros(4, np.float32), None, 0),
        (0, np.zeros((4, 1)), None, 0),
        (0, np.zeros(3), None, 0),
        (0, None, None, 0),
        (0, np.zeros(4)),
        "text",
        None,
    ],
)
def test_the_core_refuses_a_wrong_column_by_number(column: object) -> None:
    tree = random_tree(np.random.default_rng(0), float_schema(2))
    with pytest.raises(ValueError, match="column 1"):
        tree.router.apply([(0, np.zeros(4), None, 0), column], 4)


def test_the_core_refuses_a_mask_of_another_length() -> None:
    schema = Schema((Attribute("n", "numeric", "int64"),))
    tree = random_tree(np.random.default_rng(0), schema)
    with pytest.raises(ValueError, match="column 0"):
        tree.router.apply([(1, np.zeros(4, np.int64), np.zeros(3, np.uint8), 0)], 4)


def test_the_router_itself_refuses_an_invalid_tree() -> None:
    tree = random_tree(np.random.default_rng(0), float_schema(2))
    arrays = tree.native()
    arrays["first_child"] = arrays["first_child"].copy()
    arrays["first_child"][0] = 10**9
    with pytest.raises(ValueError, match="node 0"):
        _core.Router(arrays, attribute_kinds(tree.schema))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_leaves_the_walk(threads: int) -> None:
    schema = float_schema(1)
    tree = chain(200_000, schema)
    table = Table(schema, (Column("float", np.full(200_000, np.inf)),), 200_000)
    tree.apply(Table(schema, (Column("float", np.zeros(1)),), 1))

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            tree.apply(table, threads)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
