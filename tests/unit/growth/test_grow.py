"""The faces of the native grower: one tree, several sets, the engine's switches, the progress it reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hornbeam import _core
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassTarget, Engine, NumericTarget, Parameters, grow_tree
from hornbeam.model import Tree
from hornbeam.table import Table, from_data
from hornbeam.table.columns import Column
from hornbeam.table.schema import Attribute, Schema
from tests.forests import grow_forest

CLASSES = np.array(["a", "b", "c"], dtype=object)
N = 120


def some_table() -> Table:
    """Ties, gaps, a nominal and an integer column."""
    random = np.random.default_rng(5)
    numbers = random.integers(0, 9, (N, 2)).astype(float)
    numbers[random.random((N, 2)) < 0.1] = np.nan
    rows = [
        [*pair, label, whole]
        for pair, label, whole in zip(
            numbers.tolist(),
            random.choice(["x", "y", "z", None], N).tolist(),
            random.integers(-3, 3, N).tolist(),
            strict=True,
        )
    ]
    return from_data(rows)


TABLE = some_table()
CODES = np.random.default_rng(6).integers(0, 3, N).astype(np.int32)
VALUES = np.random.default_rng(7).normal(size=(N, 2))
TARGETS = [
    (ClassTarget(CODES, CLASSES), "gini"),
    (ClassTarget(CODES, CLASSES), "entropy"),
    (ClassTarget(CODES, CLASSES), "gain_ratio"),
    (NumericTarget(VALUES[:, :1].copy(), ("y",)), "variance"),
    (NumericTarget(VALUES, ("u", "v")), "variance"),
]


@pytest.mark.parametrize(("target", "criterion"), TARGETS)
@pytest.mark.parametrize("nominal", ["subset", "value", "multiway"])
def test_no_switch_of_the_engine_changes_a_tree(target: Any, criterion: str, nominal: str) -> None:
    parameters = Parameters(criterion, nominal, min_samples_leaf=2)
    plain = grow_tree(TABLE, target, parameters, engine=Engine("plain", accelerate=False))
    assert plain.n_leaves > 5
    for kernels in ("auto", *_core.kernels()):
        for threads in (1, 2):
            fast = grow_tree(TABLE, target, parameters, threads=threads, engine=Engine(kernels))
            assert fast == plain
            assert fast.arrays["impurity"].tobytes() == plain.arrays["impurity"].tobytes()


def test_the_tree_knows_its_classes_or_targets() -> None:
    tree = grow_tree(TABLE, TARGETS[0][0], Parameters())
    assert (tree.classes, tree.targets) == (("a", "b", "c"), None)
    tree = grow_tree(TABLE, TARGETS[4][0], Parameters("variance"))
    assert (tree.classes, tree.targets) == (None, ("u", "v"))
    assert tree.schema is TABLE.schema


def rows_of(table: Table, rows: Any) -> Table:
    """The table of some rows: only its columns are cut, its schema stays."""
    columns = [
        Column(c.kind, c.values[rows].copy(), None if c.missing is None else c.missing[rows].copy())
        for c in table.columns
    ]
    return Table(table.schema, tuple(columns), len(rows))


@pytest.mark.parametrize(("target", "criterion"), TARGETS)
def test_each_tree_of_a_forest_is_the_tree_of_its_rows_alone(target: Any, criterion: str) -> None:
    times = np.random.default_rng(8).integers(0, 3, (N, 4)).astype(np.uint8)
    times[:, 0] = 1
    parameters = Parameters(criterion, max_depth=4)
    trees = grow_forest(TABLE, target, parameters, times)
    assert len(trees) == 4
    assert trees[0] == grow_tree(TABLE, target, parameters)
    for tree, count in zip(trees, times.T, strict=True):
        rows = np.repeat(np.arange(N), count)
        alone: Any = (
            ClassTarget(CODES[rows], CLASSES)
            if isinstance(target, ClassTarget)
            else NumericTarget(target.values[rows], target.names)
        )
        assert tree == grow_tree(rows_of(TABLE, rows), alone, parameters)


def test_a_set_without_rows_is_refused() -> None:
    times = np.ones((N, 2), dtype=np.uint8)
    times[:, 1] = 0
    with pytest.raises(DataError, match="a training set has no rows"):
        grow_forest(TABLE, TARGETS[0][0], Parameters(), times)


def test_unknown_kernels_are_refused_with_those_that_are_there() -> None:
    with pytest.raises(UsageError, match="kernels 'quantum' are not available here; use one of auto, plain"):
        grow_tree(TABLE, TARGETS[0][0], Parameters(), engine=Engine("quantum"))


def test_targets_beyond_the_limits_are_refused_in_one_line() -> None:
    far = VALUES.copy()
    far[3, 1] = -1e101
    with pytest.raises(DataError, match=r"the target reaches 1e\+101; up to 1e\+100 is allowed"):
        grow_tree(TABLE, NumericTarget(far, ("u", "v")), Parameters("variance"))
    many = np.arange(2**16 + 1)
    with pytest.raises(DataError, match="65537 classes; up to 65536 are allowed"):
        grow_tree(TABLE, ClassTarget(CODES, many), Parameters())
    labels = tuple(f"{i:06d}" for i in range(2**13))
    wide = Table(
        Schema((Attribute("town", "nominal", "nominal", labels),)),
        (Column("nominal", np.zeros(N, dtype=np.int32)),),
        N,
    )
    with pytest.raises(DataError, match="'town' has 8192 categories for 65536 classes"):
        grow_tree(wide, ClassTarget(CODES, many[:-1]), Parameters())


def noise(rows: int) -> tuple[Table, ClassTarget]:
    """Labels that no column explains: a large tree, so that growing takes its time."""
    random = np.random.default_rng(9)
    table = from_data(random.random((rows, 4)))
    return table, ClassTarget(random.integers(0, 2, rows).astype(np.int32), CLASSES[:2])


def test_progress_only_grows_and_leaves_the_tree_as_it_is() -> None:
    for rows in (200_000, 800_000, 3_200_000):  # until the growth is long enough for this machine
        heard: list[float] = []
        table, target = noise(rows)
        told = grow_tree(table, target, Parameters(), report=heard.append)
        if len(heard) > 1:
            break
    assert len(heard) > 1
    assert heard == sorted(heard)
    assert all(0.0 <= share <= 1.0 for share in heard)
    alone = grow_tree(table, target, Parameters())
    assert all(told.arrays[name].tobytes() == array.tobytes() for name, array in alone.arrays.items())


def test_an_error_in_the_report_ends_the_growth() -> None:
    def refuse(_: float) -> None:
        raise RuntimeError("enough")

    def grow_until_refused() -> None:
        for rows in (100_000, 400_000, 1_600_000):
            grow_tree(*noise(rows), Parameters(), report=refuse)

    with pytest.raises(RuntimeError, match="enough"):
        grow_until_refused()


def test_a_tree_of_the_core_is_a_valid_tree() -> None:
    for target, criterion in TARGETS:
        tree = grow_tree(TABLE, target, Parameters(criterion))
        again = Tree(tree.schema, tree.arrays, classes=tree.classes, targets=tree.targets)
        assert again == tree
