"""The law of bags over sources: the tree of each is the one that its rows grow alone, whoever scans the rows,
however they are cut into parts, and however often these arrive."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from hornbeam.boat import bags as together
from hornbeam.boat.growth import SCANNING, grow_source
from hornbeam.boat.task import SourceTask
from hornbeam.ensemble import Committee, OutsideSums
from hornbeam.growth import ClassTarget, NumericTarget, TableGrower
from hornbeam.table import encode_classes, encode_targets, from_data
from hornbeam.table.sources.draws import RowDraws, numbered_row_words
from tests.depth import seeds
from tests.laws import number_cases
from tests.laws.cluster_growing import grow_by_cluster
from tests.laws.source_cases import random_case
from tests.laws.source_growing import case_task

LEVELS = sorted(set(SCANNING) - {"boat"})
SEEDS = seeds(0, 12, 24)


def drawn(seed: int) -> RowDraws:
    """A few bags of some share of the rows."""
    draw = random.Random(seed)
    seeds = tuple(draw.randrange(2**31) for _ in range(draw.randrange(1, 5)))
    return (
        RowDraws(seeds, draw.choice([1.0, 1.0, 0.5, 2.5]), draw.random() < 0.8)
        if seed % 4
        else RowDraws(seeds)
    )


def once(draws: RowDraws) -> RowDraws:
    return draws if draws.replace else replace(draws, rate=min(draws.rate, 1.0))


def tasks(seed: int, algorithm: str) -> tuple[SourceTask, Any]:
    """A task, and the table of its rows; every other predicts numbers or weighs classes."""
    if seed % 2:
        case = number_cases.random_case(seed)
        if case.table.num_rows < 60:
            case = number_cases.random_case(seed + 1000)
        names = [name for name in case.table.column_names if name != "weight"]
        plain = replace(case, table=case.table.select(names), weighted=False)
        task: SourceTask = plain.source_task(algorithm)
        table = plain.table
    else:
        large = random_case(seed)
        task, table = case_task(large, algorithm), large.table
    return replace(task, bags=once(drawn(seed))), table


def alone(task: SourceTask, table: Any) -> list[str]:
    """The digests of the trees that the rows of each bag grow by themselves."""
    assert task.bags is not None
    reading = task.reading
    X = from_data(table.select(list(reading.attributes)))
    target: Any
    if reading.classification:
        codes, labels = encode_classes(table[reading.targets[0]])
        target = ClassTarget(codes, labels, None, task.costs(labels))
    else:
        target = NumericTarget(encode_targets(table.select(list(reading.targets))), reading.targets)
    words, digests = numbered_row_words(0, table.num_rows), []
    for bag in range(len(task.bags)):
        rows = task.bags.rows(words, bag)
        grower = TableGrower(X.take(rows), target.take(rows), task.parameters)
        digests.append(grower.tree(grower.grow(), 0).digest)
    return digests


@pytest.fixture
def all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All bags grow in the same scans, however little memory there is."""
    monkeypatch.setattr(together, "LEAST_MEMORY", 1)


@pytest.mark.usefixtures("all_at_once")
@pytest.mark.parametrize("algorithm", ["memory", *LEVELS])
def test_the_trees_are_those_of_the_rows_of_each_bag(algorithm: str) -> None:
    differing = []
    spilled = 0
    for seed in SEEDS:
        task, table = tasks(seed, algorithm)
        limit = None if algorithm == "memory" else task.memory_limit
        grown = grow_source(replace(task, memory_limit=limit, threads=1 + seed % 3))
        if [tree.digest for tree in grown.trees] != alone(task, table):
            differing.append(seed)
        spilled += grown.stats.spilled_bytes > 0
    assert not differing
    assert spilled > 2 or algorithm == "memory"


@pytest.mark.usefixtures("all_at_once")
@pytest.mark.parametrize("algorithm", LEVELS)
def test_a_cluster_grows_the_same_trees(algorithm: str) -> None:
    differing = []
    for seed in SEEDS:
        task, table = tasks(seed, algorithm)
        if [tree.digest for tree in grow_by_cluster(task, table, seed).trees] != alone(task, table):
            differing.append(seed)
    assert not differing


def test_bags_that_memory_has_no_room_for_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at a time, so that there are more scans."""
    task, table = tasks(2, "rf_read")
    task = replace(task, bags=RowDraws(tuple(range(5))), memory_limit=64_000_000)
    few = grow_source(task)
    monkeypatch.setattr(together, "LEAST_MEMORY", 10_000_000)
    many = grow_source(task)
    assert [tree.digest for tree in few.trees] == [tree.digest for tree in many.trees] == alone(task, table)
    assert few.stats.scans > many.stats.scans


def test_all_bags_grow_in_the_scans_of_one() -> None:
    task, _ = tasks(4, "rf_hybrid")
    scans = {
        n: grow_source(replace(task, bags=RowDraws(tuple(range(n))), memory_limit=10**9)).stats.scans
        for n in (1, 6)
    }
    assert scans[1] <= scans[6] <= scans[1] + 1


def test_rows_outside_say_the_same_wherever_they_are() -> None:
    for seed in range(1, 16, 2):
        task, table = tasks(seed, "rf_hybrid")
        draws = RowDraws((5, 6, 7, 8))

        def asked(trees: Any, draws: RowDraws = draws) -> OutsideSums:
            return OutsideSums(Committee(trees, "soft"), draws)

        task = replace(task, bags=draws, outside=asked)
        here, there = grow_source(task).outside, grow_by_cluster(task, table, seed).outside
        assert isinstance(here, OutsideSums)
        assert isinstance(there, OutsideSums)
        assert (here.rows, here.known) == (there.rows, there.known)
        np.testing.assert_allclose(there.score, here.score, rtol=1e-6)


def test_a_bag_depends_on_nothing_but_its_seed_and_the_row() -> None:
    words = numbered_row_words(0, 5000)
    draws = RowDraws((3, 1, 2))
    for bag, seed in enumerate(draws.seeds):
        whole = draws.times(words, bag)
        parts = [numbered_row_words(first, 1000) for first in range(0, 5000, 1000)]
        assert np.array_equal(whole, np.concatenate([draws.times(part, bag) for part in parts]))
        assert np.array_equal(whole, RowDraws((seed,)).times(words, 0))


def test_growths_that_end_early_do_not_hold_up_the_others() -> None:
    """A bag of one class is a leaf after the first scan."""
    task, table = tasks(6, "rf_read")
    task = replace(task, bags=RowDraws(tuple(range(4)), rate=0.004), parameters=task.parameters)
    make = partial(grow_source, task)
    assert [tree.digest for tree in make().trees] == alone(task, table)
