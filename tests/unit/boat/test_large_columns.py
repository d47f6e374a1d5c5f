"""Columns whose distinct values alone are more than the memory."""

import numpy as np
import pyarrow as pa
import pytest

from hornbeam.boat import rainforest
from hornbeam.errors import DataError
from tests.laws.source_growing import fitted, grow_table

LIMIT = 4_000_000
SCANNING = ("rf_hybrid", "rf_vertical", "rf_write", "rf_read")


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> pa.Table:
    """400,000 numbers without ties, with a limit that has no room for all their counts."""
    monkeypatch.setattr(rainforest, "LEAST_MEMORY", LIMIT)
    rng = np.random.default_rng(3)
    values = rng.permutation(400_000) / 70
    return pa.table({"x": values, "class": (values > 2000 + 900 * rng.normal(size=400_000)).astype(str)})


@pytest.mark.parametrize("way", SCANNING)
def test_whoever_counts_all_values_says_that_there_is_no_room(rows: pa.Table, way: str) -> None:
    with pytest.raises(DataError, match=f"memory_limit=4 MB, and algorithm='{way}' .*use algorithm='boat'"):
        grow_table(rows, {"max_depth": 3}, way, memory_limit=LIMIT)


def test_where_bounds_do_not_serve_more_memory_is_all_there_is_to_say(rows: pa.Table) -> None:
    with pytest.raises(DataError, match=r"counts all of them; allow more$"):
        grow_table(rows, {"max_depth": 3, "criterion": "c45"}, "rf_hybrid", memory_limit=LIMIT)


def test_boat_looks_for_values_where_there_is_room(rows: pa.Table) -> None:
    grown = grow_table(rows, {"max_depth": 3}, memory_limit=LIMIT)
    assert grown.trees[0].digest == fitted(rows, {"max_depth": 3}).digest


@pytest.mark.parametrize("way", SCANNING)
def test_repeated_values_take_no_more_room_however_wide_their_range(rows: pa.Table, way: str) -> None:
    few = rows.set_column(0, "x", pa.array(np.floor(rows["x"].to_numpy() / 10) * 1e5))
    assert (
        grow_table(few, {"max_depth": 3}, way, memory_limit=LIMIT).trees[0].digest
        == fitted(few, {"max_depth": 3}).digest
    )
