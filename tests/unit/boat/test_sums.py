"""Exact sums of weights and targets in scans: the same however rows come, and refused where they change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hornbeam import _core

ROWS = 3000


def numbers(seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 50, ROWS)
    weights = 2.0 ** rng.uniform(-40, 40, ROWS)
    targets = rng.normal(size=(ROWS, 2)) * 2.0 ** rng.integers(-30, 30, (ROWS, 2))
    return keys, weights, targets


def scan_of(weights: Any, targets: Any) -> _core.SourceScan:
    spans = _core.exponent_span(weights), _core.exponent_span(targets)
    layout = _core.RowLayout([(1, 0, 49)], 1, 1, *spans, 2, ROWS)
    grid = _core.Grid(layout, [np.array([9, 49], dtype=np.uint64)])
    place = {"counted": [0], "watches": [(0, None)], "keeps": True, "tests": [], "sums": False}
    return _core.SourceScan(layout, grid, [place])


def add(scan: _core.SourceScan, keys: Any, weights: Any, targets: Any) -> None:
    scan.add([(keys, None)], None, None, weights, targets)


def test_parts_in_any_order_sum_up_to_the_whole() -> None:
    keys, weights, targets = numbers(1)
    whole = scan_of(weights, targets)
    add(whole, keys, weights, targets)
    order = np.random.default_rng(2).permutation(ROWS)
    parts = [scan_of(weights, targets) for _ in range(3)]
    for i, rows in enumerate(np.array_split(order, 3)):
        add(parts[i], keys[rows], weights[rows], np.ascontiguousarray(targets[rows]))
    parts[0].merge(parts[1])
    parts[0].merge_bytes(parts[2].to_bytes())
    assert parts[0].total_sums(0).tolist() == whole.total_sums(0).tolist()
    assert any(whole.total_sums(0))
    assert parts[0].counts(0, 0).tolist() == whole.counts(0, 0).tolist()


def test_rows_that_were_kept_sum_up_to_the_same() -> None:
    keys, weights, targets = numbers(3)
    whole, again = scan_of(weights, targets), scan_of(weights, targets)
    add(whole, keys, weights, targets)
    again.add_kept(whole.take_rows(0))
    assert again.total_sums(0).tolist() == whole.total_sums(0).tolist()
    table, values, kept_weights, folds = again.take_rows(0).encode()
    assert (table.n_rows, folds) == (ROWS, None)
    np.testing.assert_array_equal(kept_weights, weights)
    np.testing.assert_array_equal(values.reshape(-1, 2), targets)


def test_numbers_that_sums_have_no_room_for_are_refused() -> None:
    keys, weights, targets = numbers(5)
    scan = scan_of(weights, targets)
    with pytest.raises(ValueError, match="the source has changed"):
        add(scan, keys, weights * 2.0**200, targets)
    with pytest.raises(ValueError, match="not those of the layout"):
        scan.add([(keys, None)], None, None, None, targets)


def test_the_exponents_of_numbers() -> None:
    assert _core.exponent_span(np.zeros(3)) is None
    assert _core.exponent_span(np.array([0.0, 1.0])) == (0, 1)
    assert _core.exponent_span(np.array([-6.0, 0.375])) == (-3, 3)
    assert _core.exponent_span(np.array([5e-324])) == (-1074, -1073)
