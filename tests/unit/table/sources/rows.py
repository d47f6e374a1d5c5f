"""Rows for tests of sources: a column of every supported type, and files of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hornbeam.table.sources import Source


def people(rows: int, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": pa.array(np.arange(rows)),
            "age": pa.array(rng.integers(18, 80, rows), pa.int32(), mask=rng.random(rows) < 0.1),
            "size": pa.array(rng.normal(size=rows)),
            "job": pa.array(rng.choice(["clerk", "nurse", "Ärztin", ""], rows).tolist(), pa.string()),
            "y": pa.array(rng.choice(["yes", "no"], rows).tolist(), pa.string()),
        }
    )


def every_type(rows: int = 40) -> pa.Table:
    """A column of each type, every fifth cell of it missing."""
    at = [i if i % 5 else None for i in range(rows)]

    def made(type_: pa.DataType, value: object = None) -> pa.Array:
        return pa.array([None if i is None else (value(i) if callable(value) else i) for i in at], type_)

    return pa.table(
        {
            "float64": made(pa.float64(), lambda i: i / 3),
            "float32": made(pa.float32(), float),
            "float16": made(pa.float16(), lambda i: np.float16(i)),
            "int8": made(pa.int8(), lambda i: i % 100),
            "int64": made(pa.int64(), lambda i: -(2**62) + i),
            "uint64": made(pa.uint64(), lambda i: 2**64 - 1 - i),
            "decimal": made(pa.decimal128(20, 3), lambda i: Decimal(i) / 8),
            "date32": made(pa.date32(), lambda i: dt.date(2020, 1, 1) + dt.timedelta(i)),
            "date64": made(pa.date64(), lambda i: dt.date(2020, 1, 1) + dt.timedelta(i)),
            "time": made(pa.time64("us")),
            "timestamp": made(pa.timestamp("ns", "Europe/Berlin")),
            "duration": made(pa.duration("s")),
            "bool": made(pa.bool_(), lambda i: i % 3 == 0),
            "text": made(pa.string(), lambda i: f"é{i % 7}"),
            "large": made(pa.large_string(), lambda i: "x" * (i % 3)),
            "view": made(pa.string_view(), lambda i: f"a view of a text {i % 4}"),
            "category": made(pa.string(), lambda i: f"c{i % 4}").dictionary_encode(),
            "numbered": made(pa.int32(), lambda i: i % 4).dictionary_encode(),
            "null": pa.nulls(rows),
        }
    )


def write_files(table: pa.Table, folder: Path, files: int = 3, group: int = 100) -> str:
    """The table in Parquet files with small row groups; returns their glob."""
    folder.mkdir(exist_ok=True)
    step = -(-table.num_rows // files)
    for i in range(files):
        pq.write_table(table.slice(i * step, step), folder / f"{i}.parquet", row_group_size=group)
    return str(folder / "*.parquet")


def gathered(chunks: Iterable[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(list(chunks))


def plain(table: pa.Table) -> list[dict[str, object]]:
    """The rows, categories by their labels as chunks have them."""
    rows: list[dict[str, object]] = table.to_pylist()
    for row in rows:
        if row.get("numbered") is not None:
            row["numbered"] = str(row["numbered"])
    return rows


def rows_of(source: Source, columns: list[str] | None = None) -> list[dict[str, object]]:
    return plain(gathered(source.scan(columns)))
