"""Tables for tests of the boat room, as sources of every kind, and what the table room says of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

import hornbeam as hb
from hornbeam.boat import Chunks, Reading, Survey
from hornbeam.boat.columns import wide
from hornbeam.table import Table, from_data
from hornbeam.table.sources import Source

Opener = Callable[[pa.Table, Path], Source]


def staff(rows: int = 500, seed: int = 3) -> pa.Table:
    """Numbers, text, truth values, missing cells and three classes; what every kind of source can hold."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows).round(3)
    return pa.table(
        {
            "id": pa.array(np.arange(rows) * 7),
            "age": pa.array(rng.integers(18, 80, rows), pa.int64(), mask=rng.random(rows) < 0.1),
            "size": pa.array(size, pa.float64(), mask=rng.random(rows) < 0.1),
            "job": pa.array(rng.choice(["clerk", "nurse", "Ärztin"], rows).tolist()),
            "y": pa.array(rng.choice(["yes", "no", "later"], rows).tolist()),
            "amount": pa.array(rng.integers(-5, 5, rows) / 4),
            "weight": pa.array(rng.integers(0, 3, rows)),
        }
    )


def parquet(table: pa.Table, folder: Path) -> Source:
    pq.write_table(table, folder / "a.parquet", row_group_size=100)
    return hb.source(str(folder / "a.parquet"))


def csv_file(table: pa.Table, folder: Path) -> Source:
    csv.write_csv(table, folder / "a.csv")
    return hb.source(str(folder / "a.csv"))


def duckdb_query(table: pa.Table, folder: Path) -> Source:
    import duckdb

    with duckdb.connect(str(folder / "a.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("create table t as select * from given")
    return hb.source(str(folder / "a.duckdb"), sql="select * from t order by id")


def sqlite_table(table: pa.Table, folder: Path) -> Source:
    with sqlite3.connect(folder / "a.sqlite") as connection:
        connection.execute(f"create table t ({', '.join(table.column_names)})")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        connection.executemany(f"insert into t values ({', '.join('?' * table.num_columns)})", rows)
    connection.close()
    return hb.source(str(folder / "a.sqlite"), table="t")


def arrow(table: pa.Table, folder: Path) -> Source:
    return hb.source(table)


def pandas_frame(table: pa.Table, folder: Path) -> Source:
    return hb.source(table.to_pandas(types_mapper=_nullable))


def polars_frame(table: pa.Table, folder: Path) -> Source:
    import polars

    return hb.source(polars.from_arrow(table))


def function(table: pa.Table, folder: Path) -> Source:
    return hb.source(lambda: table.to_batches(max_chunksize=13))


KINDS: dict[str, Opener] = {
    "parquet": parquet,
    "csv": csv_file,
    "duckdb": duckdb_query,
    "sqlite": sqlite_table,
    "arrow": arrow,
    "pandas": pandas_frame,
    "polars": polars_frame,
    "function": function,
}


def _nullable(type_: pa.DataType) -> Any:
    import pandas

    return pandas.Int64Dtype() if type_ == pa.int64() else None


def whole(reading: Reading) -> pa.Table:
    """All rows of a source, its text as it comes."""
    return pa.Table.from_batches(list(reading.source.scan()))


def encoded(table: pa.Table, reading: Reading) -> Table:
    """What the table room makes of the attributes of all rows."""
    return from_data(table.select(list(reading.attributes)), nominal_features=sorted(reading.nominal))


def chunked(reading: Reading, survey: Survey, **how: Any) -> dict[str, Any]:
    """All chunks of a scan put together: a table, and the target, weights and folds."""
    parts = list(Chunks(reading, survey, **how))
    columns = []
    for j in range(len(survey.schema)):
        pieces = [wide(part.columns[j]) for part in parts]
        missing = [
            np.zeros(part.n_rows, np.uint8) if piece.missing is None else piece.missing
            for piece, part in zip(pieces, parts, strict=True)
        ]
        columns.append((pieces[0].kind, np.concatenate([p.values for p in pieces]), np.concatenate(missing)))
    found: dict[str, Any] = {"columns": columns, "rows": sum(part.n_rows for part in parts), "parts": parts}
    for name in ("classes", "values", "weights", "folds"):
        given = [getattr(part, name) for part in parts]
        found[name] = None if given[0] is None else np.concatenate(given)
    return found


def check_equal(columns: Sequence[tuple[str, Any, Any]], table: Table) -> None:
    """Columns are those of a table, cell by cell."""
    assert len(columns) == len(table.columns)
    for (kind, values, missing), wanted in zip(columns, table.columns, strict=True):
        assert kind == wanted.kind
        np.testing.assert_array_equal(values, wanted.values)
        absent = np.zeros(len(values), np.uint8) if wanted.missing is None else wanted.missing
        np.testing.assert_array_equal(missing, absent)
