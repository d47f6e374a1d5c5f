"""Bounds from exact sums: no cut inside a bucket is better, and those who ignore them grow other trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hornbeam import _core
from hornbeam.boat.plan import PlaceRecord
from tests.laws.number_cases import random_case
from tests.laws.source_growing import ignore_alarms, is_another

Random = np.random.Generator


def settle_by(
    keys: Any, said: Any, weights: Any, criterion: str, edges: Any, least: int, highest: int
) -> _core.Settled | None:
    """The root of one integer attribute, summed by some buckets; -1 is a missing value."""
    of_classes = said.dtype == np.uint16
    k = int(said.max()) + 1 if of_classes else 1
    spans = None if weights is None else _core.exponent_span(weights)
    targets = None if of_classes else _core.exponent_span(said)
    columns = 0 if of_classes else said.shape[1]
    layout = _core.RowLayout([(1, 0, highest)], k, 1, spans, targets, columns, len(keys))
    scan = _core.SourceScan(layout, _core.Grid(layout, [edges]), [PlaceRecord([0]).native()])
    cells = [(keys, (keys < 0).astype(np.uint8))]
    scan.add(cells, said if of_classes else None, None, weights, None if of_classes else said)
    settling = _core.Settling(
        criterion=criterion,
        nominal="subset",
        layout=layout,
        wholes=[scan.totals(0).astype(np.int64).tolist()],
        max_depth=-1,
        min_samples_split=2,
        min_samples_leaf=least,
        min_objs=None,
        min_impurity_decrease=0.0,
        many_valued=[[0]],
        sums=[scan.total_sums(0)],
    )
    root = settling.open_root(0)
    return settling.settle(root, scan, 0) if root >= 0 else None


def targets_of(rng: Random, keys: Any, highest: int) -> Any:
    """One to three numbers: some follow the keys, so that their cuts are at the bound."""
    n, q = len(keys), int(rng.integers(1, 4))
    steps = (keys[:, None] > rng.integers(highest + 1, size=q)) * rng.normal(size=q)
    noise = rng.normal(size=(n, q)) * rng.choice([0.0, 0.01, 1.0])
    shift, scale = rng.choice([0.0, 0.0, 1e6]), 2.0 ** rng.choice([0, 0, 100, -100])
    return np.ascontiguousarray((steps + noise + shift) * scale)


def classes_of(rng: Random, keys: Any, highest: int) -> Any:
    k = int(rng.choice([2, 2, 3, 5]))
    ordered = keys * k // (highest + 1) if rng.random() < 0.5 else keys > rng.integers(highest + 1)
    noisy = rng.random(len(keys)) < rng.choice([0.0, 0.1, 1.0])
    return np.where(noisy, rng.integers(0, k, len(keys)), ordered).astype(np.uint16)


CRITERIA = ["variance", "gini", "entropy", "gain_ratio", "correlation"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_cut_is_better_than_the_bound_of_its_bucket(criterion: str, weighted: bool) -> None:
    if criterion != "variance" and not weighted:
        pytest.skip("classes of rows that weigh the same are counted")
    rng = np.random.default_rng(7)
    tight = inside = 0
    for _ in range(1500):
        n, highest = int(rng.integers(4, 80)), int(rng.choice([3, 10, 60]))
        keys = rng.integers(0, highest + 1, n)
        said = (targets_of if criterion == "variance" else classes_of)(rng, keys, highest)
        keys[rng.random(n) < rng.choice([0.0, 0.0, 0.3])] = -1
        spread = rng.choice([0.0, 3.0, 40.0])
        weights = 2.0 ** rng.uniform(-spread, spread, n) * rng.uniform(0.5, 1, n) if weighted else None
        inner = np.unique(rng.integers(0, highest, int(rng.integers(0, 4)))) if rng.random() < 0.9 else []
        edges = np.array([*inner, highest], dtype=np.uint64)
        least = int(rng.choice([1, 1, 4]))
        given = keys, said, weights, criterion
        coarse = settle_by(*given, edges, least, highest)
        exact = settle_by(*given, None, least, highest)
        if coarse is None or exact is None or exact.state != "test":
            continue
        slack = 1e-12 * max(1e-300, exact.quality if criterion == "variance" else 1.0)
        assert exact.quality <= max(coarse.quality, coarse.bound) + slack
        better = exact.quality > coarse.quality + slack or coarse.state == "leaf"
        inside += better
        assert not better or coarse.state == "open"  # such a bucket raises the alarm
        tight += better and exact.quality > 0.9 * coarse.bound
    print(criterion, weighted, inside, tight)
    assert inside > 300
    assert tight > 10


def test_ignored_alarms_grow_other_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the alarms the law would not hold: so the tests of it notice."""
    ignore_alarms(monkeypatch)
    cases = [random_case(seed) for seed in range(30)]
    assert sum(is_another(lambda case=case: case.grow("boat"), case.fit()) for case in cases) >= 5
