"""The people of Agrawal, Imielinski and Swami as the paper had them: ten whole numbers each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from hornbeam.datasets import generate
from hornbeam.files import new_file

GROUP = 2**20  # rows of a row group
TYPES = {
    "salary": pa.int32(),
    "commission": pa.int32(),
    "age": pa.int8(),
    "elevel": pa.int8(),
    "car": pa.int8(),
    "zipcode": pa.int8(),
    "hvalue": pa.int32(),
    "hyears": pa.int8(),
    "loan": pa.int32(),
    "class": pa.string(),
}
_FIRST = {"elevel": 0, "car": 1, "zipcode": 1}  # the number of the first label
_SEED = 1


def people(rows: int, *, start: int = 0, seed: int = _SEED, **options: Any) -> Iterator[pa.RecordBatch]:
    """The generator's rows with numbers for labels; options as `hornbeam generate agrawal` has them."""
    for batch in generate("agrawal", rows, seed=seed, start=start, **options):
        names = batch.schema.names
        yield pa.RecordBatch.from_arrays([_whole(batch.column(name), name) for name in names], names)


def _whole(column: pa.Array, name: str) -> pa.Array:
    if name in _FIRST:
        return pa.array(column.indices.to_numpy() + _FIRST[name], TYPES[name])
    return column.cast(TYPES.get(name, pa.int32()))


def write(batches: Iterator[pa.RecordBatch], path: Path, compression: str = "snappy") -> None:
    """A Parquet file with row groups of a million rows; it appears when it is whole."""
    first = next(batches)
    with new_file(path) as file, parquet.ParquetWriter(file, first.schema, compression=compression) as writer:
        held, rows = [first], first.num_rows
        for batch in batches:
            if rows + batch.num_rows > GROUP:
                writer.write_table(pa.Table.from_batches(held))
                held, rows = [], 0
            held.append(batch)
            rows += batch.num_rows
        writer.write_table(pa.Table.from_batches(held))


def changed(people: pa.RecordBatch) -> pa.RecordBatch:
    """The same people by another function 1: from 60 years on, who earns less than 75,000 is of class B (as
    many labels are wrong as before)."""
    meant = pc.and_(pc.greater_equal(people["age"], 60), pc.less(people["salary"], 75_000))
    other = pc.if_else(pc.equal(people["class"], "A"), "B", "A")
    said = pc.if_else(meant, other, people["class"])
    return people.set_column(people.schema.get_field_index("class"), "class", said)


def write_parts(
    folder: Path,
    ends: Sequence[int],
    turn: Callable[[pa.RecordBatch], pa.RecordBatch] = lambda batch: batch,
    **options: Any,
) -> list[Path]:
    """Files whose first i + 1 together are the first `ends[i]` rows, after a turn of each batch."""
    folder.mkdir(exist_ok=True)
    paths = []
    for start, end in zip((0, *ends), ends, strict=False):
        path = folder / f"rows-{start}-{end}.parquet"
        write(map(turn, people(end - start, start=start, **options)), path)
        paths.append(path)
    return paths


@cache
def group_entries(rows: int, extra: int = 0) -> int:
    """How many different values all attributes of so many people have, by expectation: the size of the
    AVC-group of the root."""
    salary, loan, noise = 130_001, 500_001, 100_000
    commission = 75_000 - 10_000 + 1
    houses = np.zeros(1_350_001)
    for k in range(1, 10):
        houses[50_000 * k : 150_000 * k + 1] += 1 / (9 * (100_000 * k + 1))
    low_salaries = 55_000 / salary
    parts = [
        _met(np.full(salary, 1 / salary), rows),
        1 + _met(np.full(commission, low_salaries / commission), rows),
        _met(houses, rows),
        _met(np.full(loan, 1 / loan), rows),
        extra * _met(np.full(noise, 1 / noise), rows),
        *(min(rows, few) for few in (61, 5, 20, 9, 30)),
    ]
    return round(sum(parts))


def _met(shares: npt.NDArray[np.float64], rows: int) -> float:
    """How many values occur among so many rows."""
    return float(-np.expm1(-rows * shares).sum())
