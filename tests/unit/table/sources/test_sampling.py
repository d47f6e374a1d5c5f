"""Samples: uniform over all rows, and the same for the same rows and seed whatever they come in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from scipy import stats

import hornbeam as hb
from hornbeam.errors import UsageError
from hornbeam.table.sources import ScanStats
from hornbeam.table.sources.sampling import sample_rows
from tests.unit.table.sources.rows import people, plain, write_files


def test_equal_rows_and_seeds_give_equal_samples_from_any_source(tmp_path: Path) -> None:
    table = people(3000)
    table = table.set_column(3, "job", pa.array(["a", None, "b"] * 1000))
    pc.write_csv(table, tmp_path / "a.csv")
    pc.write_csv(table.slice(0, 1234), tmp_path / "a0.csv")
    pc.write_csv(table.slice(1234), tmp_path / "a1.csv")
    one = hb.source(write_files(table, tmp_path / "one", 1, 3000))
    wanted = one.sample(100, 7)
    assert wanted.schema == one.schema
    assert wanted.num_rows == 100
    others = [
        (write_files(table, tmp_path / "many", 7, 50), 65536),
        (write_files(table, tmp_path / "many", 7, 50), 13),
        (table, 100),
        (lambda: table.to_batches(77), 10),
        (lambda: table.to_batches(501), 65536),
    ]
    for given, chunk_rows in others:
        assert hb.source(given).sample(100, 7, chunk_rows=chunk_rows).equals(wanted)
    for csv in (tmp_path / "a.csv", [tmp_path / "a0.csv", tmp_path / "a1.csv"]):
        assert plain(hb.source(csv).sample(100, 7)) == plain(wanted)
    assert not one.sample(100, 8).equals(wanted)
    assert one.sample(100, 7, ["y", "id"]).equals(wanted.select(["y", "id"]))


def test_a_sample_has_different_rows_in_their_order_and_all_where_there_are_fewer(tmp_path: Path) -> None:
    table = people(1000)
    for given in (table, lambda: table.to_batches(90)):
        numbers = hb.source(given).sample(300, 1).column("id").to_pylist()
        assert numbers == sorted(set(numbers))
        assert (
            plain(hb.source(given).sample(1000, 1))
            == plain(hb.source(given).sample(10**6, 1))
            == plain(table)
        )
    with pytest.raises(UsageError, match="n=0; whole numbers from 1"):
        hb.source(table).sample(0)


@pytest.mark.parametrize("known", [True, False])
def test_every_row_is_as_likely_as_every_other(known: bool) -> None:
    n, total, draws = 20, 200, 500
    table = pa.table({"id": np.arange(total)})
    source = hb.source(table if known else (lambda: table.to_batches(33)))
    counts, firsts = np.zeros(total), np.zeros(total)
    together = np.zeros(2)
    for seed in range(draws):
        rows = source.sample(n, seed).column("id").to_numpy()
        counts[rows] += 1
        firsts[rows[0]] += 1
        together += [np.isin([3, 4], rows).all(), np.isin([3, 150], rows).all()]
    # Draws without replacement vary less than a chi-square by the share that is not drawn.
    statistic = ((counts - draws * n / total) ** 2 / (draws * n / total)).sum() / (1 - n / total)
    assert 0.001 < stats.chi2.sf(statistic, total - 1) < 0.999
    # The least row of a sample is no later than that of any uniform one.
    expected = (total + 1) / (n + 1) - 1
    assert abs((firsts * np.arange(total)).sum() / draws - expected) < 4 * expected / draws**0.5
    # Neighbours come together as rarely as others: 20 * 19 / (200 * 199) of 500 draws are 4.8.
    assert (together < 16).all()


def test_rows_are_spread_over_blocks_larger_than_one() -> None:
    rows = sample_rows(10_000, 1, 3_500_000)
    counts = np.histogram(rows, bins=35, range=(0, 3_500_000))[0]
    assert len(rows) == 10_000
    assert 0.001 < stats.chisquare(counts).pvalue < 0.999


def test_only_row_groups_with_some_of_the_sample_are_read(tmp_path: Path) -> None:
    source = hb.source(write_files(people(3000), tmp_path / "a", 3, 100))
    found = source.sample(2, 5)
    assert found.num_rows == 2
    assert source.stats.scans == 1
    assert source.stats.rows in (100, 200)
    whole = hb.source(write_files(people(3000), tmp_path / "b", 3, 3000))
    whole.sample(3000)
    assert whole.stats == ScanStats(1, 3000, whole.stats.bytes)
