"""Some rows of one table down many trees, and the class that a node says."""

from __future__ import annotations

import numpy as np
import pytest

from hornbeam import _core
from hornbeam.model import RoutedTable
from hornbeam.table import Schema
from tests.unit.model.builder import float_schema, mixed_schema, plain_path, random_table, random_tree


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("schema", [mixed_schema(), float_schema(4)], ids=["mixed", "floats"])
def test_the_rows_that_are_named_find_the_leaves_of_a_plain_walk(seed: int, schema: Schema) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, schema, 83)
    routed = RoutedTable(table)
    for _ in range(3):
        tree = random_tree(rng, schema, n_tests=int(rng.integers(0, 40)), breadth_first=bool(seed % 2))
        rows = rng.integers(0, 83, int(rng.integers(0, 60)))  # in any order, some of them twice
        leaves = [plain_path(tree, table, row)[-1] for row in rows.tolist()]
        assert routed.leaves(tree, rows).tolist() == leaves
        assert routed.leaves(tree, rows, threads=3).tolist() == leaves
        assert routed.classes(tree, rows).tolist() == tree.leaf_class[leaves].tolist()


def test_a_table_row_by_row_is_walked_too() -> None:
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(50, 4)).round(1)
    tree = random_tree(rng, float_schema(4), n_tests=30, breadth_first=True)
    native = [(0, matrix[:, j], None, 0) for j in range(4)]
    routed = _core.RoutedTable(native, 50, np.zeros(4, np.uint8))
    native.clear()  # it keeps what it needs
    rows = np.arange(49, -1, -1)
    plain = tree.router.apply([(0, matrix[:, j], None, 0) for j in range(4)], 50)
    assert routed.leaves(dict(tree.arrays), rows).tolist() == plain[rows].tolist()


@pytest.mark.parametrize("row", [-1, 50])
def test_rows_that_are_not_there_are_refused(row: int) -> None:
    rng = np.random.default_rng(5)
    tree = random_tree(rng, float_schema(2), n_tests=3, breadth_first=True)
    routed = RoutedTable(random_table(rng, float_schema(2), 50))
    with pytest.raises(IndexError, match="a row is not one of the table's"):
        routed.leaves(tree, np.array([3, row]))


def test_columns_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="column 0: the values are not as long as the table"):
        _core.RoutedTable([(0, np.zeros(4), None, 0)], 5, np.zeros(1, np.uint8))


def heaviest(start: list[int], classes: list[int], sums: list[float]) -> list[int]:
    return _core.heaviest_classes(
        np.array(start, dtype=np.int64), np.array(classes, dtype=np.int32), np.array(sums)
    ).tolist()


def test_the_class_of_the_largest_sum_is_said_and_among_equals_the_first() -> None:
    assert heaviest([0, 3, 5, 6], [1, 4, 6, 1, 4, 6], [2, 5, 5, 3, 1, 0.5]) == [4, 1, 6]
    assert heaviest([0, 2, 4], [1, 2, 2, 3], [1, 1, 0, 0]) == [1, 1]  # nothing of it left in a double
    assert heaviest([0], [], []) == []


@pytest.mark.parametrize(
    ("start", "classes"), [([], [0]), ([1, 1], [0]), ([0, 0, 1], [0]), ([0, 2], [0]), ([0, 5, 1], [0])]
)
def test_sums_that_do_not_fit_are_refused(start: list[int], classes: list[int]) -> None:
    with pytest.raises(ValueError, match="tree: "):
        heaviest(start, classes, [1.0] * len(classes))
