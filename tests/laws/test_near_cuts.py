"""Near cuts of several sets share a node until its frame is full: each set still grows its own tree.

Rows between the cuts go both ways, and need room. Each test reaches nodes where there is none left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hornbeam.growth import ClassTarget, Engine, Parameters, TableGrower
from hornbeam.table import Table, from_data

Codes = npt.NDArray[np.int32]
Times = npt.NDArray[np.uint8]
SERIAL = Engine(algorithm="serial")


def codes_of(classes: npt.NDArray[np.int64]) -> Codes:
    return classes.astype(np.int32)


def grown(
    table: Table,
    codes: Codes,
    parameters: Parameters,
    times: Times,
    engine: Engine,
    threads: int,
) -> tuple[list[str], Mapping[str, Any]]:
    """The digests of all trees, and by depth how many nodes were shared by near cuts."""
    target = ClassTarget(codes, np.arange(codes.max() + 1))
    grower = TableGrower(table, target, parameters.checked("classification"), engine=engine, threads=threads)
    forest = grower.grow(times)
    return [grower.tree(forest, i).digest for i in range(forest.n_sets)], forest.levels()


def assert_same_trees(
    case: Callable[[np.random.Generator], tuple[Table, Codes, Times]], engine: Engine, *, seeds: int
) -> None:
    """Sets that grow together grow the trees of each alone, and some of them find no room."""
    bands = apart = 0
    for seed in range(seeds):
        table, codes, times = case(np.random.default_rng(seed))
        alone, _ = grown(table, codes, Parameters(), times, SERIAL, threads=1)
        together, levels = grown(table, codes, Parameters(), times, engine, threads=1)
        assert together == alone, f"seed {seed}"
        bands, apart = bands + sum(levels["bands"]), apart + sum(levels["bands_apart"])
    assert bands > 0
    assert apart > 0


@pytest.mark.parametrize("sets", [31, 61])
@pytest.mark.parametrize("algorithm", ["auto", "overlapping"])
def test_sets_that_find_no_room_beside_nodes_that_wait_for_a_worker_grow_their_own_trees(
    algorithm: str, sets: int
) -> None:
    random = np.random.default_rng(sets)
    rows = (
        40_000  # more than a narrow frame holds: smaller nodes wait, and so do their rows that go both ways
    )
    table, codes = from_data(random.random((rows, 1))), codes_of(random.integers(0, 2, rows))
    times = (random.random((rows, sets)) < 0.5).astype(np.uint8)
    times[:, 0] = 1
    parameters = Parameters(min_samples_leaf=rows // 20, max_depth=6)
    alone, _ = grown(table, codes, parameters, times, SERIAL, threads=2)
    together, levels = grown(table, codes, parameters, times, Engine(algorithm=algorithm), threads=2)
    assert together == alone
    assert sum(levels["bands"]) > 0
    assert sum(levels["bands_apart"]) > 0


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("algorithm", ["auto", "folds"])
def test_folds_of_counted_values_that_find_no_room_grow_their_own_trees(algorithm: str, gaps: bool) -> None:
    def case(random: np.random.Generator) -> tuple[Table, Codes, Times]:
        rows, folds = int(random.integers(4, 40)), int(random.integers(2, 9))
        numbers = random.integers(0, random.integers(2, 30), (rows, random.integers(1, 3))).astype(float)
        if gaps:
            numbers[random.random(numbers.shape) < 0.2] = np.nan
        few = random.integers(0, random.integers(5, 300), rows)
        times = np.ones((rows, 1 + folds), dtype=np.uint8)
        times[np.arange(rows), 1 + random.permutation(rows) % folds] = 0
        return from_data(numbers), codes_of(np.arange(rows) if random.random() < 0.5 else few), times

    assert_same_trees(case, Engine(algorithm=algorithm, counting="always"), seeds=120)


def test_many_sets_whose_values_pay_to_be_counted_and_that_find_no_room_grow_their_own_trees() -> None:
    def case(random: np.random.Generator) -> tuple[Table, Codes, Times]:
        rows = int(random.integers(300, 2000))
        numbers = random.integers(0, random.integers(5, 30), (rows, random.integers(1, 3))).astype(float)
        codes = codes_of(random.integers(0, random.integers(2, 5), rows))
        return from_data(numbers), codes, (random.random((rows, 52)) < 0.6).astype(np.uint8)

    assert_same_trees(case, Engine(), seeds=40)
