"""Subtrees of few rows that are grown over lists of bytes are those of every other path."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import _core
from hornbeam.growth import ClassTarget, Engine, Parameters, TrainingSets, grow_sets, grow_tree
from hornbeam.table import Table, encode_classes, from_data
from tests.laws.engine_tables import assert_same, take

KERNELS = _core.kernels()
TWIG = 256  # rows
CRITERIA = ("gini", "entropy", "gain_ratio")


def drawn(seed: int, n: int, classes: int) -> tuple[Table, ClassTarget]:
    """Numbers without ties, with many and with few values, one of them constant; the classes lean on them."""
    rng = np.random.default_rng([seed, n, classes])
    values = np.column_stack(
        [
            rng.normal(size=n),
            rng.normal(size=n).round(1),
            rng.integers(0, 3, n),
            np.full(n, 4.0),
            rng.integers(0, 40, n),
        ]
    )
    lean = values[:, 1] + (values[:, 2] > 1) * values[:, 0] + rng.normal(size=n) / 2
    codes = np.argsort(np.argsort(lean)) * classes // n if n else lean
    codes = np.where(rng.random(n) < 0.15, rng.integers(0, classes, n), codes)
    return from_data(values), ClassTarget(*encode_classes(codes.astype(np.int64)))


def folds(n: int, k: int) -> npt.NDArray[np.uint8]:
    times = np.ones((n, k + 1), dtype=np.uint8)
    times[np.arange(n), 1 + np.arange(n) * 7 % k] = 0
    return times


@pytest.mark.parametrize("classes", [2, 3, 26])
@pytest.mark.parametrize("n", [2, 3, 31, 63, 64, 65, 127, 128, 129, 191, 192, 255, 256, 257, 600])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_twig_of_any_size_is_the_tree_of_the_plain_path(criterion: str, n: int, classes: int) -> None:
    table, target = drawn(0, n, classes)
    for leaf in (1, 2, 10, 70):
        parameters = Parameters(criterion, min_samples_leaf=leaf)
        expected = grow_tree(table, target, parameters, engine=Engine(accelerate=False))
        for kernels in KERNELS:
            for twigs in (True, False):
                tree = grow_tree(table, target, parameters, engine=Engine(kernels, twigs=twigs))
                assert_same(tree, expected, (n, leaf, kernels, twigs))


@given(
    st.integers(0, 10**6),
    st.integers(2, TWIG + 10),
    st.sampled_from([2, 2, 3, 5, 12, 40]),
    st.sampled_from([1, 1, 2, 5, 20]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([0.0, 0.02]),
    st.sampled_from(KERNELS),
    st.sampled_from(CRITERIA),
)
def test_twigs_change_no_tree(
    seed: int, n: int, classes: int, leaf: int, depth: int | None, decrease: float, kernels: str, rule: str
) -> None:
    table, target = drawn(seed, n, classes)
    parameters = Parameters(rule, min_samples_leaf=leaf, max_depth=depth, min_impurity_decrease=decrease)
    expected = grow_tree(table, target, parameters, engine=Engine(kernels, twigs=False))
    tree = grow_tree(table, target, parameters, engine=Engine(kernels))
    assert_same(tree, expected, (seed, n, classes))
    assert tree.digest == expected.digest


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("classes", [2, 7])
@pytest.mark.parametrize("n", [40, 128, 256, 900])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_sets_that_end_in_twigs_are_grown_as_each_alone(
    criterion: str, n: int, classes: int, kernels: str
) -> None:
    table, target = drawn(1, n, classes)
    parameters = Parameters(criterion, min_samples_leaf=3).checked("classification")
    rng = np.random.default_rng(n)
    rows_of_folds = [np.flatnonzero(set_) for set_ in folds(n, 10).T]
    rows_of_bags = [np.sort(rng.integers(0, n, n)) for _ in range(5)]
    for rows in (rows_of_folds, rows_of_bags):
        for algorithm in ("auto", "serial", "overlapping"):
            engine = Engine(kernels, algorithm=algorithm)
            forest = grow_sets(table, target, parameters, TrainingSets.of_rows(n, rows), engine=engine)
            for i, own in enumerate(rows):
                alone = grow_tree(*take(table, target, own), parameters, engine=Engine(twigs=False))
                assert forest.tree(i).digest == alone.digest, (algorithm, i)


@pytest.mark.parametrize("wide", [4096, 4097])
def test_tables_too_wide_for_twigs_give_the_same_tree(wide: int) -> None:
    rng = np.random.default_rng(wide)
    values = rng.normal(size=(40, wide))
    target = ClassTarget(*encode_classes((values[:, 0] + values[:, -1] > 0).astype(np.int64)))
    tree, without = (
        grow_tree(from_data(values), target, Parameters(), engine=Engine(twigs=twigs))
        for twigs in (True, False)
    )
    assert tree.n_nodes > 1
    assert tree.digest == without.digest


def test_entries_that_a_lone_tree_reads_are_counted_alike() -> None:
    table, target = drawn(2, 700, 3)
    parameters = Parameters().checked("classification")
    sets = TrainingSets.of_rows(700, [np.arange(700)])
    with_twigs, without = (
        grow_sets(table, target, parameters, sets, engine=Engine(counting="never", twigs=twigs)).levels
        for twigs in (True, False)
    )
    for told in ("nodes", "entries", "own_entries"):
        assert np.array_equal(getattr(with_twigs, told), getattr(without, told)), told
