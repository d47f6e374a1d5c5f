"""The meter: phases are timed and told, rows counted, and the time left follows the pace."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam.boat import meter
from hornbeam.boat.meter import Meter, PeakMemory, Progress
from hornbeam.boat.stats import SourceStats, seconds_text
from tests.unit.table.sources.rows import people


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(meter, "perf_counter", made)
    return made


def test_rows_pace_and_time_left_are_told(clock: Clock) -> None:
    heard: list[Progress] = []
    counted = Meter(hb.source(people(1000)), heard.append)
    with counted.scan("survey") as report:
        clock.now += 2
        report(400)
        clock.now += 0.01
        report(500)  # too soon after the last
        clock.now += 1.99
        report(1000)
    assert [(news.rows, news.finished) for news in heard] == [
        (0, False),
        (400, False),
        (1000, False),
        (1000, True),
    ]
    told = heard[1]
    assert (told.scan, told.phase, told.total_rows, told.share) == (1, "survey", 1000, 0.4)
    assert told.rows_per_second == 200
    assert told.seconds_left == pytest.approx(3.0)
    assert heard[0].seconds_left is None
    assert heard[-1].seconds_left == 0
    assert counted.seconds == {"survey": pytest.approx(4.0)}


def test_scans_are_numbered_and_phases_of_one_name_add_up(clock: Clock) -> None:
    heard: list[Progress] = []
    counted = Meter(hb.source(people(10)), heard.append)
    for seconds in (1, 2):
        with counted.scan("cleanup"):
            clock.now += seconds
    with counted.phase("growing") as share:
        clock.now += 3
        share(0.75)
    assert [news.scan for news in heard if news.finished] == [1, 2, 0]
    assert heard[-2].seconds_left == pytest.approx(1.0)
    assert counted.seconds == {"cleanup": 3, "growing": 3}


def test_where_rows_are_unknown_no_time_left_is_made_up(clock: Clock) -> None:
    rows, heard = people(30), []
    counted = Meter(hb.source(lambda: rows.to_batches()), heard.append)
    with counted.scan("survey") as report:
        clock.now += 1
        report(10)
    assert (heard[1].total_rows, heard[1].share, heard[1].seconds_left) == (None, None, None)
    assert heard[-1].finished


def test_a_phase_that_fails_is_timed_and_not_finished(clock: Clock) -> None:
    heard: list[Progress] = []
    counted = Meter(hb.source(people(10)), heard.append)

    def fail() -> None:
        with counted.phase("growing"):
            clock.now += 5
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert counted.seconds == {"growing": 5}
    assert not any(news.finished for news in heard)


def test_the_record_counts_from_when_the_meter_began() -> None:
    source = hb.source(people(100))
    list(source.scan())
    counted = Meter(source)
    list(source.scan())
    counted.alarms, counted.held_rows = 3, 7
    record = counted.stats("boat", "why", 10**8)
    assert (record.scans, record.rows, record.alarms, record.held_rows) == (1, 100, 3, 7)
    assert record.peak_memory > 10**7


def test_a_peak_that_passed_between_two_looks_is_seen_where_it_is_the_highest() -> None:
    peak = PeakMemory()
    before = peak.value
    filled = np.ones(2**26, dtype=np.uint8)  # 64 MB
    peak.look()
    del filled
    assert peak.value >= before + 2**25 or peak.value >= before  # an earlier peak of the process may hide it
    assert peak.value > 10**7


def test_a_record_reads_as_a_table() -> None:
    record = SourceStats(
        "boat",
        "it was asked for",
        2,
        20_000_000,
        3 * 10**8,
        1,
        150_000,
        0,
        4,
        6 * 10**8,
        10**9,
        {"survey": 0.5},
    )
    lines = record.to_text().splitlines()
    assert lines == [
        "algorithm    boat: it was asked for",
        "scans        2 (20,000,000 rows, 300 MB read)",
        "alarms       1",
        "rows held    150,000 rows; 4 families finished in memory",
        "peak memory  600 MB of the process (limit 1 GB)",
        "seconds      survey 500 ms",
    ]
    assert record.total_seconds == 0.5
    assert [seconds_text(s) for s in (0.0004, 2.34, 345.6)] == ["0 ms", "2.3 s", "346 s"]


def test_columns_gathered_chunk_by_chunk_are_those_of_the_whole() -> None:
    from hornbeam.boat.memory import GatheredTable
    from hornbeam.errors import DataError
    from hornbeam.table import MAX_ROWS, from_data

    rows = people(1000).append_column("none", pa.nulls(1000))
    for known in (1000, None):
        gathered = GatheredTable(hb.source(rows).schema, {"age"}, known)
        for chunk in hb.source(rows).scan(chunk_rows=77):
            gathered.add(chunk)
        table, whole = gathered.table(), from_data(rows, nominal_features=["age"])
        assert table.schema == whole.schema
        for a, b in zip(table.columns, whole.columns, strict=True):
            assert a.kind == b.kind
            np.testing.assert_array_equal(a.values, b.values)
            assert (a.missing is None) == (b.missing is None)
            if b.missing is not None:
                np.testing.assert_array_equal(a.missing, b.missing)
    gathered.n_rows = MAX_ROWS
    with pytest.raises(DataError, match="rows; so many are allowed in memory"):
        gathered.add(chunk)
