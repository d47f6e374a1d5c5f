"""What a scan has found, as bytes: the same from whichever parts it was merged, and refused when damaged."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from hornbeam import _core

ROWS = 20_000


@pytest.fixture(params=["numbers", "far apart", "few"])
def rows(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    values = {
        "numbers": rng.normal(size=ROWS).round(3),
        "far apart": rng.normal(size=ROWS) * 10.0 ** rng.integers(-200, 200, ROWS),
        "few": rng.integers(0, 3, ROWS).astype(float),
    }
    return values[request.param], rng.integers(0, 5, ROWS).astype(np.uint16)


def scan_of(values: Any, classes: Any, all_values: Any) -> _core.SourceScan:
    """Two places, of which one sees nothing; the other counts three buckets and lists every value."""
    layout = _core.RowLayout([(0, all_values.min(), all_values.max())], 5)
    highest = layout.missing_key(0) - 1
    grid = _core.Grid(layout, [np.array([highest // 3, highest // 2, highest], dtype=np.uint64)])
    place = {"counted": [0], "watches": [(0, None)], "keeps": False, "tests": [], "sums": False}
    scan = _core.SourceScan(layout, grid, [place, place])
    scan.add([(values, None)], classes)
    return scan


@pytest.mark.parametrize("parts", [1, 2, 3, 8, 70])
def test_parts_give_the_bytes_of_the_whole(rows: tuple[Any, Any], parts: int) -> None:
    values, classes = rows
    whole = scan_of(values, classes, values)
    merged = whole.fresh()
    order = np.random.default_rng(parts).permutation(ROWS)
    for some in np.array_split(order, parts):
        merged.merge_bytes(scan_of(values[some], classes[some], values).to_bytes())
    assert merged.to_bytes() == whole.to_bytes()
    assert merged.counts(0, 0).sum() == ROWS


def test_damaged_bytes_are_refused_or_mean_something_else(rows: tuple[Any, Any]) -> None:
    values, classes = (given[:50] for given in rows)
    scan = scan_of(values, classes, values)
    found = scan.to_bytes()
    for size in range(len(found)):
        with pytest.raises(ValueError, match="no result of a scan"):
            scan.fresh().merge_bytes(found[:size])
    with pytest.raises(ValueError, match="no result of a scan"):
        scan.fresh().merge_bytes(found + b"\0")
    for place in range(len(found)):
        damaged = bytearray(found)
        damaged[place] ^= 0x81
        with suppress(ValueError):
            scan.fresh().merge_bytes(bytes(damaged))
