"""Databases that run exported SQL in tests: a table goes in, the answer for each of its rows comes out."""

from __future__ import annotations

import csv
import datetime as dt
import functools
import io
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

ROW = "row number of the test"
# Other programs do without our sanitizers.
PLAIN = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
NULL = "(null)"  # as it stands in CSV files


def numbered(rows: pa.Table) -> pa.Table:
    return rows.append_column(ROW, pa.array(range(rows.num_rows), pa.int64()))


class DuckDB:
    """In memory; types are those that DuckDB gives to Arrow's."""

    name = "duckdb"

    def ask(self, rows: pa.Table, expressions: Sequence[str]) -> list[tuple[Any, ...]]:
        return self.query(rows, f'SELECT {", ".join(expressions)} FROM t ORDER BY "{ROW}"')

    def query(self, rows: pa.Table, query: str) -> list[tuple[Any, ...]]:
        connection = self.connection
        connection.register("given", numbered(rows))
        connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM given")
        return connection.execute(query).fetchall()

    @functools.cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """One for all questions: opening takes longer than most of them."""
        return duckdb.connect(config={"threads": 1})


class SQLite:
    """In memory; what it has no type for is stored as Python's own module and its users do."""

    name = "sqlite"

    def ask(self, rows: pa.Table, expressions: Sequence[str]) -> list[tuple[Any, ...]]:
        return self.query(rows, f"SELECT {', '.join(expressions)} FROM t ORDER BY `{ROW}`")

    def query(self, rows: pa.Table, query: str) -> list[tuple[Any, ...]]:
        given = numbered(rows)
        quoted = [f"`{name.replace('`', '``')}`" for name in given.column_names]
        declared = [
            f"{name} {sqlite_type(kind)}" for name, kind in zip(quoted, given.schema.types, strict=True)
        ]
        cells = zip(*(sqlite_cells(column) for column in given.columns), strict=True)
        connection = sqlite3.connect(":memory:")
        try:
            connection.execute(f"CREATE TABLE t ({', '.join(declared)})")
            connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(quoted))})", cells)
            return connection.execute(query).fetchall()
        finally:
            connection.close()


def sqlite_type(kind: pa.DataType) -> str:
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "REAL"
    return "INTEGER" if pa.types.is_integer(kind) or pa.types.is_boolean(kind) else "TEXT"


def sqlite_cells(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    if pa.types.is_decimal(kind):
        return [None if value is None else float(value) for value in column.to_pylist()]
    if pa.types.is_temporal(kind):
        # Trailing zeros of a fraction are written by some and left out by others: here every second cell.
        texts = [iso_text(column, row) for row in range(len(column))]
        return [
            text.rstrip("0").rstrip(".") if text and "." in text and row % 2 else text
            for row, text in enumerate(texts)
        ]
    if pa.types.is_uint64(kind):
        return [
            float(value) if value is not None and value >= 2**63 else value for value in column.to_pylist()
        ]
    return column.to_pylist()  # type: ignore[no-any-return]


def iso_text(column: pa.ChunkedArray, row: int) -> str | None:
    """ISO 8601 with a space, zones in UTC and unmarked."""
    cell = column[row]
    if not cell.is_valid:
        return None
    kind = cell.type
    if pa.types.is_timestamp(kind):
        cell = cell.cast(pa.timestamp(kind.unit))
    return str(cell.cast(pa.string()).as_py())


class PostgreSQL:
    """A server of its own in a temporary directory, reached by a socket there, fed and asked through psql."""

    name = "postgresql"

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hornbeam-pg-"))
        self.data = self.folder / "data"
        self.user = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
        self.data.mkdir()
        if self.user:
            for place in (self.folder, self.data):
                shutil.chown(place, self.user)
        settings = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c fsync=off"
        self._run(
            "initdb", "-D", self.data, "-U", "hornbeam", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"
        )
        self._run("pg_ctl", "-D", self.data, "-o", settings, "-l", self.folder / "log", "-w", "start")

    def _run(self, program: str, *arguments: str | Path) -> None:
        subprocess.run(
            [postgresql_program(program) or program, *map(str, arguments)],
            check=True,
            user=self.user,
            cwd=self.folder,
            env=PLAIN,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, rows: pa.Table, expressions: Sequence[str]) -> list[tuple[Any, ...]]:
        return self.query(rows, f'SELECT {", ".join(expressions)} FROM t ORDER BY "{ROW}"')

    def query(self, rows: pa.Table, query: str) -> list[tuple[Any, ...]]:
        """Cells as texts, None for NULL."""
        given = numbered(rows)
        quoted = ['"' + name.replace('"', '""') + '"' for name in given.column_names]
        declared = [f"{name} {pg_type(kind)}" for name, kind in zip(quoted, given.schema.types, strict=True)]
        script = (
            "SET TimeZone = 'Asia/Kolkata';\nSET standard_conforming_strings = off;\n"
            f"CREATE TEMP TABLE t ({', '.join(declared)});\n"
            f"COPY t FROM STDIN (FORMAT csv, NULL '{NULL}');\n{pg_rows(given)}\\.\n"
            f"COPY (\n{query}\n) TO STDOUT (FORMAT csv, NULL '{NULL}', FORCE_QUOTE *);\n"
        )
        done = subprocess.run(
            ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "hornbeam", "postgres"],
            input=script.encode(),
            capture_output=True,
            check=False,
            env=PLAIN,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        lines = csv.reader(io.StringIO(done.stdout.decode(), newline=""))
        return [tuple(None if cell == NULL else cell for cell in line) for line in lines]


def pg_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return "numeric"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    names: list[tuple[Callable[[pa.DataType], bool], str]] = [
        (pa.types.is_float32, "real"),
        (pa.types.is_float64, "float8"),
        (pa.types.is_uint64, "numeric"),
        (pa.types.is_integer, "bigint"),
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_date, "date"),
        (pa.types.is_time, "time"),
        (pa.types.is_duration, "interval"),
    ]
    return next((name for holds, name in names if holds(kind)), "text")


def pg_rows(rows: pa.Table) -> str:
    out = io.StringIO(newline="")
    columns = [pg_cells(column) for column in rows.columns]
    for line in zip(*columns, strict=True):
        out.write(
            ",".join(NULL if cell is None else '"' + cell.replace('"', '""') + '"' for cell in line) + "\n"
        )
    return out.getvalue()


def pg_cells(column: pa.ChunkedArray) -> list[str | None]:
    if pa.types.is_timestamp(column.type):
        zone = "+00" if column.type.tz else ""
        texts = [iso_text(column, row) for row in range(len(column))]
        return [None if text is None else text + zone for text in texts]
    if pa.types.is_duration(column.type):
        return [None if d is None else f"{d // dt.timedelta(microseconds=1)} us" for d in column.to_pylist()]
    return [None if value is None else str(value) for value in column.to_pylist()]


@functools.cache
def postgresql_program(name: str) -> str | None:
    """Debian keeps the server's programs out of the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: path.parts[-3])
    return shutil.which(name) or (str(found[-1]) if found else None)


def why_no_postgresql() -> str | None:
    """What keeps this machine from running a server; None if nothing does."""
    absent = [name for name in ("initdb", "pg_ctl", "psql") if postgresql_program(name) is None]
    if absent:
        return f"no PostgreSQL: {', '.join(absent)} not found"
    if os.geteuid() == 0 and "postgres" not in (entry.pw_name for entry in pwd.getpwall()):
        return "no PostgreSQL: it does not run as root, and there is no user postgres"
    return None
