"""Near thresholds keep sets in one node whose rows lie apart in its lists: each still finds its own cut."""

import numpy as np
import pytest

from hornbeam.growth import ClassTarget, Engine, Parameters
from hornbeam.table import from_data
from tests.forests import grow_forest

LONE = Engine(algorithm="serial", accelerate=False)


@pytest.mark.parametrize("algorithm", ["overlapping", "folds", "auto"])
def test_a_set_whose_rows_come_late_in_a_list_keeps_its_cuts(algorithm: str) -> None:
    for seed in range(60):
        random = np.random.default_rng(seed)
        rows, sets = int(random.integers(30, 200)), int(random.integers(3, 12))
        column = random.permutation(rows).astype(float)
        codes = np.where(random.random(rows) < 0.5, random.integers(0, 3, rows), 3 * column // rows)
        times = np.ones((rows, sets), dtype=np.uint8)
        times[np.arange(rows), 1 + random.integers(0, sets - 1, rows)] = 0
        table, target = from_data(column[:, None]), ClassTarget(codes.astype(np.int32), np.arange(3))
        parameters = Parameters(min_samples_leaf=1).checked("classification")
        alone = grow_forest(table, target, parameters, times, engine=LONE)
        together = grow_forest(table, target, parameters, times, engine=Engine(algorithm=algorithm))
        assert [t.digest for t in together] == [t.digest for t in alone], f"seed {seed}"


def test_rows_that_repeat_beyond_a_narrow_frame_grow_the_tree_of_the_plain_scan() -> None:
    random = np.random.default_rng(1)
    rows = 32000
    numbers = random.random((rows, 3))
    codes = np.where(numbers[:, 0] > 0.93, 1, 0)
    codes = np.where(numbers[:, 1] > 0.95, 2, codes)
    codes = np.where(random.random(rows) < 0.02, random.integers(0, 3, rows), codes)
    table, target = from_data(numbers), ClassTarget(codes.astype(np.int32), np.arange(3))
    parameters = Parameters(min_samples_leaf=200).checked("classification")
    times = np.full((rows, 1), 5, dtype=np.uint8)
    fast = grow_forest(table, target, parameters, times)
    plain = grow_forest(table, target, parameters, times, engine=Engine(accelerate=False))
    assert [t.digest for t in fast] == [t.digest for t in plain]
