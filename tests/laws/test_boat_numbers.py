"""The law of growth by scans where rows, classes and mistakes weigh differently, and where numbers are
predicted: whatever was guessed and whatever fits in memory, the trees are those of rows in memory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.boat.growth import SCANNING
from hornbeam.boat.task import Sampling
from hornbeam.errors import HornbeamError
from tests.laws.number_cases import Case, random_case

BATCH, BATCHES = 20, 3
FOLDS = 3
LEVELS = sorted(set(SCANNING) - {"boat"})


@functools.cache
def digests(seed: int, folds: int | None) -> list[str]:
    """Of the trees of all rows in memory."""
    grown = random_case(seed).grow("memory", folds, memory_limit=None)
    return [tree.digest for tree in grown.trees]


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("algorithm", sorted(SCANNING))
def test_the_tree_is_that_of_fit(algorithm: str, batch: int) -> None:
    differing = []
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        case = random_case(seed)
        grown = case.grow(algorithm).trees[0].digest
        if not grown == digests(seed, None)[0] == case.fit():
            differing.append(seed)
    assert not differing


@pytest.mark.parametrize("algorithm", LEVELS)
def test_the_trees_of_folds_are_those_of_rows_in_memory(algorithm: str) -> None:
    differing = []
    for seed in range(1000, 1000 + BATCH):
        case = random_case(seed)
        if case.table.num_rows < 60:  # a fold might have no row
            continue
        grown = [tree.digest for tree in case.grow(algorithm, FOLDS).trees]
        if grown != digests(seed, FOLDS):
            differing.append(seed)
    assert not differing


def test_threads_and_the_order_of_parts_change_nothing() -> None:
    differing = []
    for seed in range(2000, 2000 + BATCH):
        for algorithm in ("boat", "rf_hybrid"):
            if random_case(seed).grow(algorithm, threads=2).trees[0].digest != digests(seed, None)[0]:
                differing.append((seed, algorithm))
    assert not differing


@pytest.mark.parametrize("algorithm", LEVELS)
def test_folds_are_judged_as_rows_in_memory_are(algorithm: str) -> None:
    for seed in range(1000, 1000 + BATCH):
        case = random_case(seed)
        if case.table.num_rows < 60:
            continue
        scores = [case.grow(way, FOLDS, memory_limit=None).estimate.scores for way in (algorithm, "memory")]
        np.testing.assert_allclose(*scores, rtol=1e-6, err_msg=f"seed {seed}")


# ---- small tables, which shrink ----

TARGETS: dict[str, st.SearchStrategy[float]] = {
    "ties": st.sampled_from([0.0, -0.0, 1.0, 1.0, 2.5]),
    "constant": st.just(0.1),
    "plain": st.floats(-4, 4, width=16),
    "any": st.floats(-1e9, 1e9, allow_subnormal=False),
    "small": st.sampled_from([5e-324, -5e-324, 1e-300, -3e-160, 0.0]),
    "huge": st.sampled_from([1e150, -1e150, 1.0000000001e150, 1.0, 0.0]),
    "far apart": st.sampled_from([1e100, -1e100, 1.0, -1.0, 1e-100]),
    "beyond": st.sampled_from([1.7e308, -1.7e308, 1.0]),
}
WEIGHTS: dict[str, st.SearchStrategy[float]] = {
    "parts": st.sampled_from([0.1, 0.5, 1.0, 2.75, 1 / 3]),
    "zeros": st.sampled_from([0.0, 0.0, 1.0]),
    "ratio": st.sampled_from([1e-60, 1.0, 1e60, 3e60, 0.0]),
    "beyond": st.sampled_from([1e-300, 1e300, 1.0]),
}
COSTS = [[0, 0.5, 7.7], [1, 0, 3], [0.25, 2, 0]]


@st.composite
def small_cases(draw: st.DrawFn) -> Case:
    rows = draw(st.integers(3, 50))

    def column(cell: st.SearchStrategy[Any], type_: pa.DataType) -> pa.Array:
        return pa.array(draw(st.lists(cell, min_size=rows, max_size=rows)), type_)

    values = st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1e300, float("inf")]) | st.floats(-4, 4, width=16)
    columns = {
        "x": column(st.none() | values, pa.float64()),
        "i": column(st.none() | st.integers(-3, 400), pa.int64()),
        "s": column(st.none() | st.sampled_from("abcdefghijklmnop"), pa.string()),
    }
    table = {name: columns[name] for name in draw(st.lists(st.sampled_from("xis"), min_size=1, unique=True))}
    weights = draw(st.none() | st.sampled_from(sorted(WEIGHTS)))
    if weights is not None:
        table["weight"] = column(WEIGHTS[weights], pa.float64())
    parameters: dict[str, Any] = {
        "criterion": "variance",
        "nominal": draw(st.sampled_from(["subset", "value", "multiway"])),
        "min_samples_leaf": draw(st.sampled_from([1, 3, 0.1])),
        "min_impurity_decrease": draw(st.sampled_from([0.0, 1e-12, 0.01])),
    }
    balance, costs = None, None
    if draw(st.booleans()):
        targets = ("y", "z", "v")[: draw(st.integers(1, 3))]
        kinds = draw(st.lists(st.sampled_from(sorted(TARGETS)), min_size=3, max_size=3))
        table |= {name: column(TARGETS[kinds[i]], pa.float64()) for i, name in enumerate(targets)}
    else:
        targets = ("class",)
        parameters["criterion"] = draw(
            st.sampled_from(["gini", "entropy", "gain_ratio", "correlation", "c45"])
        )
        codes = ["u", "v", "w", *draw(st.lists(st.sampled_from("uvw"), min_size=rows - 3, max_size=rows - 3))]
        table["class"] = pa.array(codes)
        balance = draw(st.sampled_from([None, "balanced", {"u": 2.5, "w": 0.1}, {"v": 1e-40}]))
        costs = draw(st.sampled_from([None, COSTS]))
    task = {
        "memory_limit": draw(st.sampled_from([100, 3000, 10**7])),
        "sample": 20,
        "sampling": Sampling(
            bootstraps=3, rows=20, buckets=draw(st.sampled_from([1, 3, 8])), least=1, sure=1
        ),
        "threads": draw(st.sampled_from([1, 2])),
    }
    return Case(pa.table(table), targets, weights is not None, parameters, balance, costs, task, 7)


def outcome(grow: Callable[[], Any]) -> Any:
    """What was grown, or that it was refused: targets and weights may leave the range of doubles."""
    try:
        return grow()
    except HornbeamError as error:
        return type(error)


@pytest.mark.parametrize("algorithm", sorted(SCANNING))
@given(case=small_cases())
def test_small_tables(algorithm: str, case: Case) -> None:
    assert outcome(lambda: case.grow(algorithm).trees[0].digest) == outcome(case.fit)


@pytest.mark.parametrize("algorithm", ["rf_hybrid", "rf_vertical"])
@given(case=small_cases())
def test_folds_of_small_tables(algorithm: str, case: Case) -> None:
    def grown(way: str, **given: Any) -> list[str]:
        return [tree.digest for tree in case.grow(way, 2, **given).trees]

    assert outcome(lambda: grown(algorithm)) == outcome(lambda: grown("memory", memory_limit=None))
