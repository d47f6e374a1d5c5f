"""The people of Agrawal, Imielinski and Swami as the paper had them: ten whole numbers each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from hornbeam.datasets import generate

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
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    first = next(batches)
    try:
        with parquet.ParquetWriter(unfinished, first.schema, compression=compression) as writer:
            held, rows = [first], first.num_rows
            for batch in batches:
                if rows + batch.num_rows > GROUP:
                    writer.write_table(pa.Table.from_batches(held))
                    held, rows = [], 0
                held.append(batch)
                rows += batch.num_rows
            writer.write_table(pa.Table.from_batches(held))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_parts(folder: Path, ends: Sequence[int], **options: Any) -> list[Path]:
    """Files whose first i + 1 together are the first `ends[i]` rows."""
    paths = []
    for start, end in zip((0, *ends), ends, strict=False):
        path = folder / f"rows-{start}-{end}.parquet"
        write(people(end - start, start=start, **options), path)
        paths.append(path)
    return paths


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
