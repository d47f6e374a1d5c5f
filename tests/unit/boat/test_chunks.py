"""Chunks of a scan: folds, bounded sizes, and rows that are not those of the survey."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam.boat import Chunks, Reading, reading, survey
from hornbeam.errors import DataError, SourceChanged, UsageError
from hornbeam.table.sources import fold_of
from tests.unit.boat.tables import KINDS, chunked, staff


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folds", [10, 300])
def test_folds_go_by_the_key_which_is_no_attribute(kind: str, folds: int, tmp_path: Path) -> None:
    table = staff()
    what = Reading(KINDS[kind](table, tmp_path), ("y",), True, key="job")
    found = survey(what, 5, 1)
    assert "job" not in found.schema.names
    everything = chunked(what, found, folds=folds, seed=3)
    np.testing.assert_array_equal(everything["folds"], fold_of(table["job"], folds, 3))
    assert everything["folds"].dtype == (np.uint8 if folds == 10 else np.uint16)
    assert chunked(what, found)["folds"] is None


@pytest.mark.parametrize("weight", [None, "weight"])
def test_folds_go_by_the_row_where_rows_have_numbers(
    weight: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CHUNK_ROWS", 17)
    table = staff()
    what = Reading(hb.source(table, weight=weight), ("y",), True)
    found = chunked(what, survey(what, 5, 1), folds=7)["folds"]
    wanted = fold_of(np.arange(500), 7)
    np.testing.assert_array_equal(
        found, wanted if weight is None else wanted[table["weight"].to_numpy() != 0]
    )


def test_queries_need_a_key(tmp_path: Path) -> None:
    what = Reading(KINDS["sqlite"](staff(), tmp_path), ("y",), True)
    with pytest.raises(UsageError, match="folds need a key"):
        Chunks(what, survey(what, 5, 1), folds=3)


def test_a_missing_key_is_refused_in_the_survey() -> None:
    table = pa.table({"a": [1, 2, 3], "k": ["u", None, "v"], "y": [0, 1, 0]})
    with pytest.raises(DataError, match=r"the Table of 3 rows.*the key is missing in 1 of 3 rows"):
        survey(Reading(hb.source(table), ("y",), True, key="k"), 1, 1)


@pytest.mark.parametrize("limit", [None, 32 * 10**6, 10**6])
def test_chunks_are_a_small_part_of_the_memory(limit: int | None) -> None:
    rows = 300_000
    table = pa.table({f"x{i}": np.zeros(rows) for i in range(20)} | {"y": np.zeros(rows, np.int8)})
    what = Reading(hb.source(table), ("y",), True, memory_limit=limit)
    chunks = list(Chunks(what, survey(what, 1, 1)))
    most = max(sum(column[1].nbytes for column in chunk.columns) for chunk in chunks)
    assert most <= (2**24 if limit is None else max(limit // 16, 2**16))
    assert max(chunk.n_rows for chunk in chunks) <= reading.CHUNK_ROWS


class Turning:
    """A table that is another from the second time on."""

    def __init__(self, *tables: pa.Table) -> None:
        self._tables, self._asked = tables, 0

    def __call__(self) -> pa.RecordBatchReader:
        table = self._tables[min(self._asked // 2, len(self._tables) - 1)]  # opening asks once too
        self._asked += 1
        return table.to_reader()


BEFORE = pa.table({"a": ["p", "q"], "n": [1, 2], "b": [True, False], "y": [5, 7]})


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("a", ["p", "new"], "column 'a' has 'new' now"),
        ("n", [1, 3], "column 'n' has '3' now"),
        ("n", [0, 2], "column 'n' has '0' now"),
        ("n", [1, None], "column 'n' has missing cells now"),
        ("b", [True, None], "column 'b' has missing cells now"),
        ("y", [5, 6], "column 'y' has '6' now"),
        ("y", [5, 8], "column 'y' has '8' now"),
        ("y", [5, None], "column 'y' has missing cells now"),
    ],
)
def test_what_the_survey_did_not_see_is_refused_at_once(name: str, values: list[object], said: str) -> None:
    after = BEFORE.set_column(BEFORE.column_names.index(name), name, pa.array(values, BEFORE[name].type))
    what = Reading(hb.source(Turning(BEFORE, after)), ("y",), True)
    found = survey(what, 2, 1)
    with pytest.raises(SourceChanged, match=said):
        next(iter(Chunks(what, found)))


def test_other_changes_are_found_at_the_end_of_the_scan() -> None:
    after = BEFORE.set_column(1, "n", pa.array([1, 1]))
    what = Reading(hb.source(Turning(BEFORE, after)), ("y",), True)
    found = survey(what, 2, 1)
    chunks = iter(Chunks(what, found))
    next(chunks)
    with pytest.raises(SourceChanged, match="changed between two scans"):
        next(chunks)
