"""The file of a maintained tree: one DuckDB database with every present row once, the tree, and the batches
that made it so. A batch is one transaction: a file has the state before it or the one after it.
"""

from __future__ import annotations

import json
import os
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.errors import DataError, HornbeamError, StorageError
from hornbeam.table.schema import list_names
from hornbeam.table.sources.arrow_data import first_line
from hornbeam.table.sources.hashing import fold_of, row_hashes
from hornbeam.table.sources.origin import Origin
from hornbeam.table.sources.part import Batches, Part
from hornbeam.table.sources.source import Source
from hornbeam.table.sources.types import normal_schema, normalise, plain_schema

if TYPE_CHECKING:
    import duckdb

FORMAT = 1
_TABLES = """
create table meta (name varchar primary key, value varchar not null);
create table batches (number bigint primary key, id varchar unique, record varchar not null);
"""
_SHOWN_CELLS = 6
_LEAST_MEMORY = 64 * 10**6  # of the database


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """The types that columns are stored in: numbers as wide as batches may bring them, text as it is."""
    return pa.schema([(field.name, _wide(field.type)) for field in plain_schema(schema)])


def _wide(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(type_):
        return pa.float64()
    return pa.int64() if pa.types.is_integer(type_) and not pa.types.is_uint64(type_) else type_


_opened: set[str] = set()
"""Files that this process has open for writing: the database would let it open them twice."""


class Store:
    """An open file. Rows have the columns c0, c1, ... of the schema, and their hash."""

    def __init__(
        self, path: str, connection: duckdb.DuckDBPyConnection, schema: pa.Schema, *, read_only: bool = False
    ) -> None:
        self.path, self._connection, self._place = path, connection, os.path.realpath(path)
        self.read_only = read_only
        self._unlock = weakref.finalize(self, _opened.discard, "" if read_only else self._place)
        self._set_schema(schema)

    # ---- opening ----

    @classmethod
    def create(cls, path: str, schema: pa.Schema, memory: int | None) -> Store:
        """A new file without rows, in a transaction that the caller commits."""
        if Path(path).exists():
            raise StorageError(f"{path!r} exists already; open it, or name another file")
        store = cls(path, _connect(path, memory, read_only=False), schema)
        with store._naming():
            for statement in ("begin", *_TABLES.strip().splitlines()):
                store._run(statement)
            store._create_rows()
            store.set_meta("format", FORMAT)
            store.set_meta("schema", schema.serialize().to_pybytes().hex())
        return store

    @classmethod
    def open(cls, path: str, memory: int | None = None, *, read_only: bool = False) -> Store:
        """A file that `create` made."""
        if not Path(path).exists():
            raise StorageError(f"{path!r} is not there; check the path, or create the tree first")
        store = cls(path, _connect(path, memory, read_only), pa.schema([]), read_only=read_only)
        try:
            found = store.meta()
            version, schema = found["format"], bytes.fromhex(found["schema"])
            store._set_schema(pa.ipc.read_schema(pa.py_buffer(schema)))
        except Exception:  # whatever a foreign file brings
            store.close()
            raise StorageError(f"{path!r} is not the file of a maintained tree, or it is damaged") from None
        if version != FORMAT:
            store.close()
            raise StorageError(
                f"{path!r} has format {version}, and this version reads {FORMAT}; use the one that wrote it"
            )
        return store

    def _set_schema(self, schema: pa.Schema) -> None:
        self.schema, self._columns = schema, [f"c{i}" for i in range(len(schema))]

    def _create_rows(self) -> None:
        empty = pa.Table.from_batches([], schema=self._row_schema())
        self._connection.register("empty_rows", empty)
        self._run("create table rows as select * from empty_rows")
        self._connection.unregister("empty_rows")

    def _row_schema(self) -> pa.Schema:
        types = [field.type for field in self.schema]
        return pa.schema([("hash", pa.uint64()), *zip(self._columns, types, strict=True)])

    def close(self) -> None:
        """Give the file free."""
        self._connection.close()
        self._unlock()

    def limit_memory(self, memory: int | None) -> None:
        """What the database may hold before it spills to disk."""
        if memory is not None:
            self._run(f"set memory_limit = '{_megabytes(memory)}MB'")

    @property
    def bytes(self) -> int:
        """The size of the file, with what is not yet brought into it."""
        files = (Path(self.path), Path(f"{self.path}.wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def remove(self) -> None:
        """Leave nothing of a file whose making failed."""
        self.close()
        for name in (self.path, f"{self.path}.wal"):
            Path(name).unlink(missing_ok=True)

    # ---- what is known of the tree ----

    def meta(self) -> dict[str, Any]:
        """What was set, by name."""
        with self._naming():
            found = self._run("select name, value from meta")
        return {name: json.loads(value) for name, value in found}

    def set_meta(self, name: str, value: Any) -> None:
        """Keep something that JSON can say under a name."""
        with self._naming():
            self._run("insert or replace into meta values (?, ?)", [name, json.dumps(value)])

    def copy_meta(self, name: str, to: str) -> None:
        """Keep what is under a name under another one too."""
        with self._naming():
            self._run("insert or replace into meta select ?, value from meta where name = ?", [to, name])

    def add_batch(self, number: int, id_: str | None, record: Mapping[str, Any]) -> None:
        """Write down what a batch did."""
        with self._naming():
            self._run("insert into batches values (?, ?, ?)", [number, id_, json.dumps(dict(record))])

    def batch(self, id_: str) -> dict[str, Any] | None:
        """The record of a batch that was applied, by its id."""
        with self._naming():
            found = self._run("select record from batches where id = ?", [id_])
        return dict(json.loads(found[0][0])) if found else None

    def batches(self) -> list[dict[str, Any]]:
        """The records of all batches, in their order."""
        with self._naming():
            found = self._run("select record from batches order by number")
        return [json.loads(record) for (record,) in found]

    # ---- rows ----

    def count(self) -> int:
        """How many rows are present."""
        with self._naming():
            return int(self._run("select count(*) from rows")[0][0])

    def checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows in the stored types, missing numbers as such and zeros without a sign; refused where they
        have other columns or types."""
        self._check_names(batch.schema.names)
        normal = normalise(batch, normal_schema(self.schema, self.path))
        return pa.RecordBatch.from_arrays(
            [_plain(normal.column(field.name), field.type) for field in self.schema], schema=self.schema
        )

    def _check_names(self, names: list[str]) -> None:
        known = self.schema.names
        absent = [name for name in known if name not in names]
        if absent:
            raise DataError(f"column {absent[0]!r} is missing; rows have {list_names(known)}")
        more = [name for name in names if name not in known]
        if more:
            raise DataError(f"column {more[0]!r} is new; rows have {list_names(known)}")

    def insert(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Put rows in that were checked."""
        self._insert_into("rows", batches)

    def _insert_into(self, table: str, batches: Iterable[pa.RecordBatch]) -> None:
        for batch in batches:  # whatever fails in making them fails here, and not in the database
            given = pa.Table.from_batches([self._hashed(batch)])
            with self._naming(), self._given("given_rows", given):
                self._run(f"insert into {table} select * from given_rows")

    def delete(self, rows: pa.Table) -> None:
        """Take rows out that were checked, each once for every time that it is given; refuses all of them,
        naming one, where it is not there so often."""
        batches = [self._hashed(batch) for batch in rows.to_batches()]
        given = pa.Table.from_batches(batches, schema=self._row_schema())
        names = ", ".join(["hash", *self._columns])
        numbered = f"{names}, row_number() over (partition by {names}) as copy"
        same = " and ".join(f"w.{c} is not distinct from f.{c}" for c in self._columns)
        with self._naming(), self._given("given_rows", given):
            # One column of all rows, then all columns of a few.
            self._run(
                "create or replace temp table near as "
                "select rowid as r from rows where hash in (select hash from given_rows)"
            )
            self._run(
                f"""create or replace temp table matched as with
                found as (select rowid as r, {numbered} from rows where rowid in (select r from near)),
                wanted as (select {numbered} from given_rows)
                select w.*, f.r from wanted w left join found f
                  on w.hash = f.hash and w.copy = f.copy and {same}"""
            )
            columns = ", ".join(self._columns)
            absent = self._run(f"select {columns} from matched where r is null limit 1")
            if not absent:
                self._run("delete from rows where rowid in (select r from matched)")
            self._run("drop table near")
            self._run("drop table matched")
        if absent:
            shown = self._shown(absent[0])
            raise DataError(f"{self.path!r}: no such row to delete: {shown}; nothing was changed")

    def difference(self, rows: Iterable[pa.RecordBatch]) -> tuple[pa.Table, pa.Table]:
        """Which of some rows are not present, and which of the present rows are not among them."""
        columns = ", ".join(self._columns)
        with self._naming():
            self._run("create or replace temp table synced as select * from rows limit 0")
        self._insert_into("synced", rows)
        with self._naming():
            more, less = (
                self._table(f"select {columns} from (select * from {a} except all select * from {b})")
                for a, b in (("synced", "rows"), ("rows", "synced"))
            )
            self._run("drop table synced")
        return more, less

    def rows_of(self, name: str, values: list[Any]) -> pa.Table:
        """The rows that have one of some values in a column."""
        field = self.schema.field(name)
        try:
            wanted = pa.table({"value": pa.array(values, field.type)})
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise DataError(f"{name!r} is {field.type}: {first_line(error)}") from None
        column, columns = self._columns[self.schema.get_field_index(name)], ", ".join(self._columns)
        with self._naming(), self._given("wanted_values", wanted):
            chosen = f"{column} in (select value from wanted_values)"
            return self._table(f"select {columns} from rows where {chosen}")

    def _table(self, query: str) -> pa.Table:
        found = self._connection.sql(query).to_arrow_table()
        return found.rename_columns(self.schema.names).cast(self.schema)

    def _shown(self, cells: Iterable[Any]) -> str:
        """A row for people."""
        shown = [f"{name}={cell!r}" for name, cell in zip(self.schema.names, cells, strict=True)]
        more = len(shown) - _SHOWN_CELLS
        return ", ".join(shown[:_SHOWN_CELLS]) + (f" and {more} more columns" if more > 0 else "")

    def _hashed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        hashes = pa.array(row_hashes(batch))
        return pa.RecordBatch.from_arrays([hashes, *batch.columns], schema=self._row_schema())

    def source(
        self, where: Sequence[str] = ("",), weight: str | None = None, left_out: LeftOut | None = None
    ) -> Source:
        """The present rows as a source, or those that conditions on c0, c1, ... hold for, one after the
        other; without those of a fold."""
        schema = normal_schema(self.schema, self.path)
        part = RowsPart(0, repr(self.path), schema, None, 0, None, self, tuple(where), left_out)
        return Source(Origin(repr(self.path), "maintained tree", schema, (part,), ordered=False), weight)

    def read(self, columns: list[str], where: str, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        """Rows as they are stored."""
        chosen = ", ".join(self._columns[self.schema.get_field_index(name)] for name in columns)
        query = f"select {chosen} from rows {where and 'where'} {where}"
        types = pa.schema([self.schema.field(name) for name in columns])
        relation: Any = self._connection.sql(query)
        # The older name warns in 2.0, the newer one came with it.
        stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        with stream(chunk_rows) as reader:
            for batch in reader:
                arrays = [array.cast(field.type) for array, field in zip(batch.columns, types, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=types)

    # ---- transactions ----

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that happens inside, or nothing of it."""
        with self._naming():
            self._run("begin")
        try:
            yield
            with self._naming():
                self._run("commit")
        except BaseException:
            self.give_up()
            raise

    def commit(self) -> None:
        """End what `create` began."""
        with self._naming():
            self._run("commit")

    def give_up(self) -> None:
        """Take back what was not committed."""
        import duckdb

        with suppress(duckdb.Error):  # the database may have taken it back itself
            self._run("rollback")

    def _run(self, statement: str, values: list[Any] | None = None) -> list[Any]:
        """What a statement gives, to the last row: a connection does one thing at a time."""
        found: list[Any] = self._connection.execute(statement, values or []).fetchall()
        return found

    @contextmanager
    def _given(self, name: str, data: Any) -> Iterator[None]:
        import duckdb

        self._connection.register(name, data)
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # after a failure the database wants nothing but to go back
                self._connection.unregister(name)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Say of what the database refuses which file it is."""
        import duckdb

        try:
            yield
        except HornbeamError:
            raise
        except (duckdb.Error, OSError) as error:
            raise StorageError(f"{self.path!r}: {first_line(error)}; the file has the state before") from None


@dataclass(frozen=True)
class LeftOut:
    """One of so many folds, dealt by a key."""

    key: str
    folds: int
    fold: int

    def rest(self, rows: Any) -> Any:
        """A table or batch without the rows of the fold."""
        return rows.filter(pa.array(fold_of(rows.column(self.key), self.folds) != self.fold))


@dataclass(frozen=True)
class RowsPart(Part):
    """The rows of an open file."""

    store: Store
    where: tuple[str, ...]
    left_out: LeftOut | None

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        for condition in self.where:
            for batch in self.store.read(columns, condition, chunk_rows):
                yield (batch if self.left_out is None else self.left_out.rest(batch)), batch.nbytes

    def failures(self) -> tuple[type[Exception], ...]:
        import duckdb

        return (duckdb.Error, pa.ArrowException, OSError)

    def refuse(self, error: Exception, rows: int) -> HornbeamError:
        return StorageError(f"{self.shown} cannot be read after {rows:,} rows: {first_line(error)}")


def _plain(column: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_floating(type_):
        values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return pa.array(values + 0.0, from_pandas=True)  # NaN becomes null
    if pa.types.is_dictionary(column.type):
        return pc.cast(column, type_)
    return column.cast(type_)


def _megabytes(memory: int) -> int:
    return max(memory, _LEAST_MEMORY) // 10**6


def _connect(path: str, memory: int | None, read_only: bool) -> duckdb.DuckDBPyConnection:
    import duckdb

    place = os.path.realpath(path)
    if place in _opened:
        raise StorageError(f"{path!r} is locked by this process, which has it open; close the tree first")
    config: dict[str, Any] = {"threads": 1}
    if memory is not None:
        config["memory_limit"] = f"{_megabytes(memory)}MB"
    try:
        connection = duckdb.connect(path, read_only=read_only, config=config)
        if not read_only:
            _opened.add(place)
        return connection
    except duckdb.Error as error:
        text = str(error)
        owner = re.search(r"PID (\d+)", text)
        if owner is not None:
            raise StorageError(
                f"{path!r} is locked by process {owner[1]}; close the tree there, or wait until it ends"
            ) from None
        raise StorageError(f"{path!r} cannot be opened as a maintained tree: {first_line(error)}") from None
