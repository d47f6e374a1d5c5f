"""Hashes of cells and rows, and folds by a key."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from hornbeam import _core
from hornbeam.errors import DataError, UsageError
from hornbeam.table.sources import fold_of
from hornbeam.table.sources.hashing import Checksum
from tests.unit.table.sources.rows import every_type, people


def checksum(table: pa.Table | dict[str, object], chunk: int = 10**9) -> int:
    found = Checksum()
    for batch in pa.table(table).to_batches(max_chunksize=chunk):
        found.add(batch)
    return found.value


def test_the_checksum_is_the_same_on_every_machine() -> None:
    assert checksum(every_type().drop_columns(["null"])) == 0xEDF4EF42C2118342
    assert checksum({"a": [1, 2, 3], "b": ["x", None, ""]}) == 0x3D9C6F77A36B4517


def test_neither_chunks_nor_orders_nor_offsets_matter() -> None:
    table = every_type(200).drop_columns(["view"])  # Arrow takes no rows of it
    wanted = checksum(table)
    assert checksum(table, 1) == checksum(table, 17) == wanted
    order = np.random.default_rng(1).permutation(200)
    assert checksum(table.take(order).select(table.column_names[::-1])) == wanted
    padded = pa.concat_tables([table.slice(0, 3), table]).combine_chunks()
    assert checksum(padded.slice(3)) == wanted


def test_what_the_table_takes_for_one_value_has_one_hash() -> None:
    same = [
        [{"a": [0.0, 1.0]}, {"a": [-0.0, 1.0]}, {"a": pa.array([0.0, 1.0], pa.float32())}],
        [{"a": [1.0, math.nan]}, {"a": [1.0, None]}, {"a": np.array([1.0, -np.nan])}],
        [{"a": pa.array([1, None], t)} for t in (pa.int8(), pa.uint16(), pa.int64(), pa.uint64())],
        [
            {"a": pa.array(["x", None, "é"], t)}
            for t in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()))
        ],
        [
            {"a": pa.array([5, 6], pa.date32())},
            {"a": pa.array([5 * 86_400_000, 6 * 86_400_000], pa.date64())},
        ],
        [{"a": pa.DictionaryArray.from_arrays([0, 1], ["x", "y"])}, {"a": ["x", "y"]}],
        [{"a": pa.DictionaryArray.from_arrays([1, 0, 0], ["x", "y", "unused"])}, {"a": ["y", "x", "x"]}],
    ]
    for tables in same:
        assert len({checksum(table) for table in tables}) == 1, tables


def test_what_differs_differs() -> None:
    different = [
        {"a": [1, 2], "b": [1, 2]},
        {"a": [1, 2], "b": [2, 1]},
        {"a": [1, 2], "c": [1, 2]},
        {"a": [1, 1], "b": [1, 2]},
        {"a": [1, 2, 2], "b": [1, 2, 2]},
        {"a": [None, 2], "b": [1, 2]},
        {"a": [0, 2], "b": [1, 2]},
        {"a": [1.0, 2.0], "b": [2.0, 1.0]},
        {"a": [1.0, 2.0], "b": [1.0, 2.0]},
        {"a": ["", "b"]},
        {"a": ["", "b\0"]},
        {"a": ["\0", "b"]},
        {"a": [None, "b"]},
        {"a": ["b", "bb"]},
        {"a": ["bb", "bb"]},
        {"a": ["x" * 4096]},
        {"a": ["x" * 4097]},
        {"a": ["x" * 4096 + "y"]},
        {"a": ["x" * 100_000]},
        {"a": ["y" + "x" * 99_999]},
    ]
    assert len({checksum(table) for table in different}) == len(different)


def test_floats_that_differ_in_high_bits_only_do_not_cancel() -> None:
    powers = 2.0 ** np.arange(-30, 30)
    found = {checksum({"a": [a], "b": [b]}) for a in powers for b in powers}
    assert len(found) == len(powers) ** 2


def test_one_changed_cell_changes_the_checksum() -> None:
    table = people(500)
    wanted = checksum(table)
    for row in range(0, 500, 7):
        ages = table.column("age").to_pylist()
        ages[row] = 17 if ages[row] is None else None
        assert checksum(table.set_column(1, "age", pa.array(ages, pa.int32()))) != wanted


def test_texts_hash_alone_as_among_many() -> None:
    rng = np.random.default_rng(3)
    texts = ["x" * int(n) + str(i) for i, n in enumerate(rng.choice([0, 1, 9, 4090, 4096, 70_000], 300))]
    wanted = sum(checksum({"a": [text]}) for text in texts) % 2**64
    assert checksum({"a": texts}) == wanted


def plain_checksum(columns: list[list[int]]) -> int:
    """The definition, in Python's integers."""
    total, most = 0, 2**64 - 1
    for row in zip(*columns, strict=True):
        word = sum(row) & most
        word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & most
        word = ((word ^ word >> 27) * 0x94D049BB133111EB) & most
        total += word ^ word >> 31
    return total & most


@pytest.mark.parametrize("rows", [0, 1, 1023, 1024, 3000])
def test_the_core_counts_as_the_definition_does(rows: int) -> None:
    rng = np.random.default_rng(rows)
    missing = (rng.random(rows) < 0.5).astype(np.uint8)
    table = rng.integers(0, 2**64, 5, dtype=np.uint64)
    given, wanted = [], []
    for dtype in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
        ends = np.iinfo(dtype)
        values, factor = (
            rng.integers(ends.min, ends.max, rows, dtype, endpoint=True),
            int(rng.integers(2**60)),
        )
        given += [(values, None, factor, None), (values, missing, factor, None)]
        wanted.append([int(v) * factor for v in values])
        marked = zip(values, missing, strict=True)
        wanted.append([(0x9E3779B97F4A7C15 if gone else int(v)) * factor for v, gone in marked])
        places = np.abs(values.astype(np.float64)).clip(0, 4).astype(dtype)
        given.append((places, None, 1, table))
        wanted.append([int(table[int(place)]) for place in places])
    for dtype in ("float32", "float64"):
        floats = rng.choice([0.0, -0.0, 1.5, -2.25, np.nan, np.inf, 1e-30], rows).astype(dtype)
        bits = (floats.astype(np.float64) + 0.0).view(np.uint64)
        given.append((floats, None, 3, None))
        words = np.where(np.isnan(floats), np.uint64(0x9E3779B97F4A7C15), bits ^ bits >> np.uint64(32))
        wanted.append([3 * int(word) for word in words])
    assert _core.checksum(given, rows) == plain_checksum(wanted)
    for column, words in zip(given, wanted, strict=True):
        folds, missing = _core.deal_folds(column, rows, 7, 12345)
        mixed = [plain_checksum([[plain_checksum([[word]]) ^ 12345]]) for word in words]
        assert folds.tolist() == [word % 7 for word in mixed]
        assert missing == sum(word % 2**64 == 0x9E3779B97F4A7C15 for word in words)


def test_places_beyond_a_table_are_its_last() -> None:
    table = np.array([5, 9], np.uint64)
    found = _core.checksum([(np.array([0, 1, 2, -1]), None, 1, table)], 4)
    assert found == plain_checksum([[5, 9, 9, 9]])


@pytest.mark.parametrize(
    ("column", "match"),
    [
        ((np.zeros(3), None, 1), "not a tuple"),
        ((np.zeros(4), None, 1, None), "not as many as the rows"),
        ((np.zeros((3, 1)), None, 1, None), "not a contiguous array"),
        ((np.zeros(6)[::2], None, 1, None), "not a contiguous array"),
        ((np.zeros(3, bool), None, 1, None), "not a contiguous array"),
        ((np.zeros(3, np.float16), None, 1, None), "not a contiguous array"),
        ((np.zeros(3, np.int8), np.zeros(2, np.uint8), 1, None), "missing is not"),
        ((np.zeros(3, np.int8), None, -1, None), "the factor is not"),
        ((np.zeros(3, np.int8), None, 1, np.zeros(0, np.uint64)), "the table is not"),
    ],
)
def test_the_core_refuses_what_is_no_column(column: tuple[object, ...], match: str) -> None:
    with pytest.raises(ValueError, match=f"column 0: .*{match}"):
        _core.checksum([column], 3)
    with pytest.raises(ValueError, match=f"column 0: .*{match}"):
        _core.deal_folds(column, 3, 2, 1)


class TestFolds:
    def test_equal_keys_share_a_fold_in_any_chunk_and_type(self) -> None:
        keys = pa.array([f"k{i % 50}" for i in range(1000)])
        whole = fold_of(keys, 5, seed=1)
        assert (fold_of(keys.dictionary_encode(), 5, seed=1) == whole).all()
        assert (
            np.concatenate([fold_of(keys.slice(i, 7), 5, seed=1) for i in range(0, 1000, 7)]) == whole
        ).all()
        assert all(len(set(whole[i::50])) == 1 for i in range(50))
        numbers = np.arange(100)
        assert (fold_of(numbers.astype(np.int16), 4) == fold_of(pa.array(numbers), 4)).all()

    def test_folds_are_the_same_on_every_machine(self) -> None:
        assert fold_of(range(12), 3, seed=1).tolist() == [0, 2, 2, 1, 1, 1, 1, 2, 1, 2, 1, 0]
        assert fold_of(["a", "b", "c", "d"], 10).tolist() == [4, 1, 9, 3]

    def test_folds_are_even_and_those_of_two_seeds_independent(self) -> None:
        a, b = (fold_of(np.arange(50_000), 10, seed) for seed in (1, 2))
        assert 0.001 < stats.chisquare(np.bincount(a)).pvalue < 0.999
        table = np.histogram2d(a, b, bins=10)[0]
        assert 0.001 < stats.chi2_contingency(table).pvalue < 0.999

    def test_missing_keys_and_odd_numbers_of_folds_are_refused(self) -> None:
        with pytest.raises(DataError, match="the key is missing in 2 of 3 rows"):
            fold_of(pa.array([1.0, None, math.nan]), 3)
        for k in (1, 0, 10**6, 2.5):
            with pytest.raises(UsageError, match="folds; whole numbers from 2"):
                fold_of([1], k)  # type: ignore[arg-type]
