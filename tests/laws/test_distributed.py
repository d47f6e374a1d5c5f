"""The law of clusters: however the rows are cut into parts, whatever the order in which these are scanned and
merged, and however often they arrive, the trees are those of `fit`."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hornbeam.boat.growth import SCANNING
from tests.depth import DEEP, seeds
from tests.laws import number_cases
from tests.laws.cluster_growing import grow_by_cluster
from tests.laws.source_cases import random_case
from tests.laws.source_growing import LITERAL, case_task, digest_of_case, recording

BATCH, BATCHES = 25, 4
GROWN = [
    (algorithm, batch)
    for algorithm in [*sorted(SCANNING), LITERAL]
    for batch in range(BATCHES if DEEP or algorithm == "boat" else BATCHES // 2)
]
FOLDS = 3
LEVELS = sorted(set(SCANNING) - {"boat"})


@functools.cache
def grow_batch(algorithm: str, batch: int) -> tuple[list[int], Counter[str]]:
    """The seeds of a batch whose trees differ, and the ways that the others went."""
    differing = []
    with recording() as ways:
        for seed in range(batch * BATCH, (batch + 1) * BATCH):
            case = random_case(seed)
            grown = grow_by_cluster(case_task(case, algorithm), case.table, seed)
            if grown.trees[0].digest != digest_of_case(seed):
                differing.append(seed)
    return differing, ways


@pytest.mark.parametrize(("algorithm", "batch"), GROWN)
def test_the_tree_is_that_of_fit(algorithm: str, batch: int) -> None:
    differing, _ = grow_batch(algorithm, batch)
    assert not differing


def test_every_way_was_gone() -> None:
    """Guesses fail in these cases, rows are looked into and gathered, and families are too large."""
    seen: Counter[str] = sum((grow_batch("boat", batch)[1] for batch in range(BATCHES)), Counter())
    print(dict(seen))
    least = {
        "guesses": 40,
        "looked into": 300,
        "refuted guesses whose rows were kept": 1,
        "reopened nodes": 5,
        "over-large families": 300,
    }
    assert {way: n for way, n in least.items() if seen[way] < n} == {}


@pytest.mark.parametrize("algorithm", sorted(SCANNING))
def test_weights_and_numbers_are_summed_exactly(algorithm: str) -> None:
    differing = []
    for seed in seeds(0, 8, 15):
        case = number_cases.random_case(seed)
        grown = grow_by_cluster(case.source_task(algorithm), case.table, seed)
        if grown.trees[0].digest != case.fit():
            differing.append(seed)
    assert not differing


@pytest.mark.parametrize("algorithm", LEVELS)
def test_the_trees_of_folds_and_their_scores_are_those_of_rows_in_memory(algorithm: str) -> None:
    differing = []
    for seed in seeds(1000, 6, 12):
        case = number_cases.random_case(seed)
        if case.table.num_rows < 60:  # a fold might have no row
            continue
        here = case.grow("memory", FOLDS, memory_limit=None)
        there = grow_by_cluster(replace(case.source_task(algorithm), folds=FOLDS), case.table, seed)
        assert here.estimate is not None
        assert there.estimate is not None
        if [tree.digest for tree in there.trees] != [tree.digest for tree in here.trees]:
            differing.append(seed)
        np.testing.assert_allclose(there.estimate.scores, here.estimate.scores, rtol=1e-6)
    assert not differing
