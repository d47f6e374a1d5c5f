"""The law of growth by scans: whatever was guessed and whatever fits in memory, the tree is that of `fit`."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbeam as hb
from hornbeam import TreeClassifier
from hornbeam.boat import cleanup
from hornbeam.boat.growth import SCANNING
from hornbeam.boat.task import Sampling
from hornbeam.datasets import generate
from tests.depth import DEEP
from tests.laws.source_cases import random_case
from tests.laws.source_growing import LITERAL, digest_of_case, fitted, grow_case, grow_table, recording

BATCH, BATCHES = 50, 6
# What guesses goes all ways in all batches; exact counts go the same few in each.
GUESSING = ("boat", LITERAL)
GROWN = [
    (algorithm, batch)
    for algorithm in [*sorted(SCANNING), LITERAL]
    for batch in range(BATCHES if DEEP or algorithm in GUESSING else BATCHES // 2)
]


@functools.cache
def grow_batch(algorithm: str, batch: int) -> tuple[list[int], Counter[str]]:
    """The seeds of a batch whose trees differ, and the ways that the others went."""
    differing, seen = [], Counter[str]()
    with recording() as ways:
        for seed in range(batch * BATCH, (batch + 1) * BATCH):
            case = random_case(seed)
            grown = grow_case(case, algorithm)
            if grown.trees[0].digest != digest_of_case(seed):
                differing.append(seed)
            stats = grown.stats
            seen["alarms"] += stats.alarms
            seen["further scans"] += stats.scans - 2
            seen["spills"] += stats.spilled_bytes > 0
            seen["families"] += stats.families
            seen["never more than 3 scans"] += stats.scans <= 3
    return differing, seen + ways


@pytest.mark.parametrize(("algorithm", "batch"), GROWN)
def test_the_tree_is_that_of_fit(algorithm: str, batch: int) -> None:
    differing, _ = grow_batch(algorithm, batch)
    assert not differing


def test_every_way_was_gone() -> None:
    """The cases above are only worth something if guesses fail in them, and memory does not suffice."""
    seen: Counter[str] = sum((grow_batch("boat", batch)[1] for batch in range(BATCHES)), Counter())
    print(dict(seen))
    assert seen["never more than 3 scans"] == BATCH * BATCHES
    least = {
        "guesses": 120,
        "alarms": 40,
        "looked into": 1000,
        "refuted guesses whose rows were kept": 4,
        "refuted guesses whose rows were let go": 1,
        "reopened nodes": 20,
        "further scans": 10,
        "spills": 50,
        "over-large families": 1000,
        "families": 100,
    }
    assert {way: n for way, n in least.items() if seen[way] < n} == {}


def test_the_letter_of_the_paper_scans_more_often() -> None:
    """It discards where guesses fail, and comes back to where bootstraps disagree."""
    literal: Counter[str] = sum((grow_batch(LITERAL, batch)[1] for batch in range(BATCHES)), Counter())
    ours: Counter[str] = sum((grow_batch("boat", batch)[1] for batch in range(BATCHES)), Counter())
    assert literal["alarms"] >= 20
    assert literal["further scans"] > 10 * ours["further scans"]


@st.composite
def small_tables(draw: st.DrawFn) -> pa.Table:
    """Two or three columns of few rows, which shrink."""
    rows = draw(st.integers(1, 60))

    def column(cell: st.SearchStrategy[Any], type_: pa.DataType) -> pa.Array:
        return pa.array(draw(st.lists(st.none() | cell, min_size=rows, max_size=rows)), type_)

    values = st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0, 5e-324, 1e300, float("inf"), float("-inf")])
    columns = {
        "x": column(values | st.floats(-4, 4, width=16), pa.float64()),
        "i": column(st.integers(-3, 400) | st.sampled_from([-(2**62), 2**62]), pa.int64()),
        "s": column(st.sampled_from("abcdefghijklmnop"), pa.string()),
    }
    kept = draw(st.lists(st.sampled_from(sorted(columns)), min_size=1, unique=True))
    classes = draw(st.lists(st.sampled_from("uvw"), min_size=rows, max_size=rows))
    return pa.table({name: columns[name] for name in kept} | {"class": classes})


@pytest.mark.parametrize("algorithm", [*sorted(SCANNING), LITERAL])
@given(
    table=small_tables(),
    criterion=st.sampled_from(["gini", "entropy", "gain_ratio", "correlation"]),
    least=st.sampled_from([1, 3, 0.1]),
    decrease=st.sampled_from([0.0, 1e-12, 0.01]),
    buckets=st.sampled_from([1, 3, 8]),
    memory_limit=st.sampled_from([100, 3000, 10**7]),
)
def test_small_tables(
    algorithm: str,
    table: pa.Table,
    criterion: str,
    least: float,
    decrease: float,
    buckets: int,
    memory_limit: int,
) -> None:
    parameters = {"criterion": criterion, "min_samples_leaf": least, "min_impurity_decrease": decrease}
    sampling = Sampling(bootstraps=3, rows=20, buckets=buckets, least=1, sure=1)
    grown = grow_table(
        table, parameters, algorithm, memory_limit=memory_limit, sample=20, sampling=sampling, piece=7
    )
    assert grown.trees[0].digest == fitted(table, parameters).digest


# ---- what broke the prototype ----


def two_numbers(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    return {"x": rng.normal(size=rows), "z": rng.integers(0, 500, rows)}


def noise_only(rows: int = 6000) -> pa.Table:
    """Half of the rows are of one class, the others of any."""
    rng = np.random.default_rng(1)
    columns = two_numbers(rng, rows)
    return pa.table(columns | {"class": np.where(columns["x"] < 0, 0, rng.integers(0, 2, rows))})


def end_cut_chain(rows: int = 8000) -> pa.Table:
    """So few rows of the other class that every cut splits off an end."""
    rng = np.random.default_rng(2)
    return pa.table(two_numbers(rng, rows) | {"class": (rng.random(rows) < 0.004).astype(int)})


def tied_stamps(rows: int = 8000) -> pa.Table:
    """No commission from a salary of 75,000 on: a cut of either parts the rows alike."""
    rng = np.random.default_rng(3)
    salary = rng.integers(20_000, 150_000, rows)
    commission = np.where(salary >= 75_000, 0, rng.integers(10_000, 75_000, rows))
    classes = np.where(rng.random(rows) < 0.05, rng.integers(0, 2, rows), salary >= 75_000)
    return pa.table({"salary": salary, "commission": commission, "class": classes})


def flat_minimum(rows: int = 8000) -> pa.Table:
    """The more of x, the likelier the class: around the best cut all are about as good."""
    rng = np.random.default_rng(4)
    x = rng.random(rows)
    chance = 1 / (1 + np.exp(5 - 10 * x))
    return pa.table({"x": x, "z": rng.random(rows), "class": (rng.random(rows) < chance).astype(int)})


BROKEN = [noise_only, end_cut_chain, tied_stamps, flat_minimum]


@pytest.mark.parametrize("bootstraps", [3, 4, 5, 20])
@pytest.mark.parametrize("buckets", [8, 64, 4096])
@pytest.mark.parametrize("memory_limit", [30_000, 10**9])
@pytest.mark.parametrize("table", BROKEN)
def test_what_broke_the_prototype(table: Any, memory_limit: int, buckets: int, bootstraps: int) -> None:
    rows = table()
    sampling = Sampling(bootstraps=bootstraps, rows=400, buckets=buckets, least=50, sure=50)
    grown = grow_table(rows, {"max_depth": 6}, memory_limit=memory_limit, sampling=sampling)
    assert grown.trees[0].digest == fitted(rows, {"max_depth": 6}).digest
    assert grown.stats.scans <= 3


@pytest.mark.parametrize("watching", [False, True])
def test_a_false_alarm_at_the_root_keeps_the_guess(watching: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few buckets, and a curve that is flat at its top: the bound cannot tell, the rows that are held can.
    With the values of doubtful buckets watched from the start there is no alarm at all."""
    if not watching:
        monkeypatch.setattr(cleanup, "watch_doubtful", lambda *given: None)
    rows = flat_minimum(20_000)
    sampling = Sampling(bootstraps=20, rows=5000, buckets=48, least=2000, sure=1000, depth=1)
    with recording() as ways:
        grown = grow_table(rows, {"max_depth": 2}, sample=20_000, sampling=sampling)
    assert grown.trees[0].digest == fitted(rows, {"max_depth": 2}).digest
    alarms = 0 if watching else 1
    assert (ways["guesses"], grown.stats.alarms, ways["looked into"]) == (1, alarms, alarms)
    assert ways["refuted guesses whose rows were kept"] == ways["reopened nodes"] == 0
    assert grown.stats.scans == 2


@pytest.mark.parametrize("function", [1, 6, 7])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_every_column_twice_needs_no_further_scan(function: int, noise: float) -> None:
    rows = pa.table(generate("agrawal", 20_000, function=function, noise=noise, seed=1))
    names = rows.column_names
    doubled = {f"{name} again": rows[name] for name in names if name != "class"}
    twice = pa.table({name: rows[name] for name in names} | doubled)
    sampling = Sampling(bootstraps=20, rows=2000, least=300, sure=300)
    grown = grow_table(twice, {"max_depth": 6}, sample=8000, sampling=sampling, piece=5000)
    assert grown.trees[0].digest == fitted(twice, {"max_depth": 6}).digest
    assert grown.stats.scans == 2


@pytest.mark.parametrize("function", [1, 6, 7])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_two_scans_grow_the_functions_of_the_paper(function: int, noise: float) -> None:
    rows = pa.table(generate("agrawal", 200_000, function=function, noise=noise, seed=function))
    model = TreeClassifier(max_depth=8, min_samples_leaf=50)
    whole = model.fit(rows.drop_columns(["class"]), rows["class"]).tree_.digest
    grown = model.fit_source(hb.source(rows), target="class", memory_limit="200MB", algorithm="boat")
    assert grown.tree_.digest == whole
    stats = grown.scan_stats_
    assert stats.scans == 2 if stats.alarms == 0 else stats.scans <= 3
