"""The file of a maintained tree: one DuckDB database with every present row once, the tree, and the batches
that made it so. A batch is one transaction: a file has the state before it or the one after it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.errors import DataError, StorageError, first_line
from hornbeam.files import move
from hornbeam.maintained.opening import (
    connect,
    connect_new,
    files_of,
    let_go,
    megabytes,
    opened,
    refuse_absent,
    refuse_existing,
    refuse_nowhere,
    refuse_opened,
    remove_files,
    stoppable,
)
from hornbeam.maintained.records import TABLES, Records
from hornbeam.maintained.rows import LeftOut, RowsPart
from hornbeam.table.schema import list_names
from hornbeam.table.sources.hashing import row_hashes
from hornbeam.table.sources.part import Origin
from hornbeam.table.sources.source import Source
from hornbeam.table.sources.types import normal_schema, normalise, plain_schema

if TYPE_CHECKING:
    import duckdb

FORMAT = 2
_SHOWN_CELLS = 6
_AT_ONCE = 1 << 17  # rows that are looked for or looked at together, whatever the memory


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """The types that columns are stored in: numbers as wide as batches may bring them, text as it is."""
    return pa.schema([(field.name, _wide(field.type)) for field in plain_schema(schema)])


def _wide(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(type_):
        return pa.float64()
    return pa.int64() if pa.types.is_integer(type_) and not pa.types.is_uint64(type_) else type_


def _exact(type_: pa.DataType) -> pa.DataType:
    """What the database keeps a type as: it has days of 32 bits, instants of which some mean infinity, and no
    durations that it would give back."""
    ticks = pa.types.is_timestamp(type_) or pa.types.is_duration(type_) or pa.types.is_date64(type_)
    return pa.int64() if ticks else type_


class Store(Records):
    """An open file. Rows have the columns c0, c1, ... of the schema, and their hash."""

    def __init__(
        self, path: str, connection: duckdb.DuckDBPyConnection, schema: pa.Schema, *, read_only: bool = False
    ) -> None:
        super().__init__(path, connection)
        self.read_only, self._place = read_only, os.path.realpath(path)
        self._unlock = weakref.finalize(self, let_go, None if read_only else self._published, self._place)
        if not read_only:
            opened.add(self._place)
        self._memory: int | None = None
        self._set_schema(schema)

    # ---- opening ----

    @classmethod
    def create(cls, path: str, schema: pa.Schema, memory: int | None) -> Store:
        """A new file without rows, in a transaction that the caller commits."""
        refuse_existing(path)
        refuse_opened(path)
        refuse_nowhere(path)
        making = f"{os.path.realpath(path)}.new"
        store = cls(path, connect_new(making, memory, path), schema)
        store._making, store._memory = making, memory
        try:
            store._published.withdraw()
            with store._naming():
                store._create_tables()
            store.set_meta("format", FORMAT)
            store.set_meta("schema", schema.serialize().to_pybytes().hex())
        except BaseException:
            store.remove()
            raise
        return store

    @classmethod
    def open(cls, path: str, memory: int | None = None, *, read_only: bool = False) -> Store:
        """A file that `create` made."""
        refuse_absent(path)
        refuse_opened(path)
        store = cls(path, connect(path, memory, read_only), pa.schema([]), read_only=read_only)
        try:
            store._recognise()
            store._find_exact()
        except BaseException:
            store.close()
            raise
        if not read_only:
            store._publish()
        return store

    def _recognise(self) -> None:
        """Refuse what `create` of this version did not make."""
        try:
            found = self.meta()
            version, schema = found["format"], bytes.fromhex(found["schema"])
            self._set_schema(pa.ipc.read_schema(pa.py_buffer(schema)))
        except Exception:  # whatever a foreign file brings
            raise StorageError(
                f"{self.path!r} is not the file of a maintained tree, or it is damaged"
            ) from None
        if version != FORMAT:
            known = f"this version reads {FORMAT}; use the one that wrote it"
            raise StorageError(f"{self.path!r} has format {version}, and {known}")

    def _set_schema(self, schema: pa.Schema) -> None:
        self.schema, self._columns = schema, [f"c{i}" for i in range(len(schema))]
        self._types = [_exact(field.type) for field in schema]

    def _find_exact(self) -> None:
        """Files of earlier versions keep some types as the database has them."""
        found = self.statement(
            "select column_name, data_type from duckdb_columns() where table_name = 'rows'"
        )
        whole = {name for name, type_ in found if type_ == "BIGINT"}
        self._types = [
            exact if column in whole else field.type
            for column, exact, field in zip(self._columns, self._types, self.schema, strict=True)
        ]

    def _create_tables(self) -> None:
        for statement in ("begin", *TABLES):
            self._run(statement)
        empty = pa.Table.from_batches([], schema=self._row_schema())
        self._connection.register("empty_rows", empty)
        self._run("create table rows as select * from empty_rows")
        self._connection.unregister("empty_rows")

    def _row_schema(self) -> pa.Schema:
        return pa.schema([("hash", pa.uint64()), *zip(self._columns, self._types, strict=True)])

    def close(self) -> None:
        """Give the file free."""
        import duckdb

        try:
            if self._unlock.alive and not self.read_only:
                with suppress(duckdb.Error):  # the long part of closing, during which readers have the copy
                    self._run("checkpoint")
        finally:
            self._unlock()  # while nobody else can publish
            self._connection.close()

    def limit_memory(self, memory: int | None) -> None:
        """What the database may hold before it spills to disk."""
        if memory is not None:
            self._memory = memory
            self._run(f"set memory_limit = '{megabytes(memory)}MB'")

    @property
    def bytes(self) -> int:
        """The size of the file, with what is not yet brought into it."""
        return sum(file.stat().st_size for file in files_of(self.path) if file.exists())

    def remove(self) -> None:
        """Leave nothing of a file whose making failed."""
        self.close()
        with suppress(OSError):  # the reason of the failure is told, not what it led to
            remove_files(self._making or self.path)

    # ---- rows ----

    def count(self) -> int:
        """How many rows are present."""
        with self._naming():
            return int(self._run("select count(*) from rows")[0][0])

    def checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows in the stored types, missing numbers as such and zeros without a sign; refused where they
        have other columns or types."""
        self.check_names(batch.schema.names)
        normal = normalise(batch, normal_schema(self.schema, self.path))
        return pa.RecordBatch.from_arrays(
            [_plain(normal.column(field.name), field.type) for field in self.schema], schema=self.schema
        )

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse other columns than those of the rows."""
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
        for begin in range(0, rows.num_rows, _AT_ONCE):
            self._delete_some(rows.slice(begin, _AT_ONCE), begin)

    def _delete_some(self, rows: pa.Table, begin: int) -> None:
        """Rows of a batch, of which so many came before."""
        batches = [self._hashed(batch) for batch in rows.to_batches()]
        given = pa.Table.from_batches(batches, schema=self._row_schema())
        given = given.append_column("row", pa.array(np.arange(begin, begin + given.num_rows) + 1))
        names = ", ".join(["hash", *self._columns])
        same = " and ".join(f"w.{c} is not distinct from f.{c}" for c in self._columns)
        with self._naming(), self._given("given_rows", given):
            # One column of all rows, then all columns of a few.
            self._run(
                "create or replace temp table near as "
                "select rowid as r, hash from rows where hash in (select hash from given_rows)"
            )
            numbered = f"{names}, {self._copy_number(names, given)} as copy"
            self._run(
                f"""create or replace temp table matched as with
                found as (select rowid as r, {numbered} from rows where rowid in (select r from near)),
                wanted as (select {numbered}, row from given_rows)
                select w.*, f.r from wanted w left join found f
                  on w.hash = f.hash and w.copy = f.copy and {same}"""
            )
            columns = ", ".join(self._columns)
            absent = self._run(f"select row, {columns} from matched where r is null order by row limit 1")
            if not absent:
                self._run("delete from rows where rowid in (select r from matched)")
            self._run("drop table near")
            self._run("drop table matched")
        if absent:
            (row, *cells), said = absent[0], f"{self.path!r}: no such row to delete"
            raise DataError(f"{said}: row {row:,} of the batch, {self._shown(cells)}; nothing was changed")

    def _copy_number(self, names: str, given: pa.Table) -> str:
        """Which of several equal rows one is. To number them takes longer than all else, so it is not done
        where no hash is there twice."""
        there, different = self._run("select count(*), count(distinct hash) from near")[0]
        if there == different and len(np.unique(given["hash"].to_numpy())) == given.num_rows:
            return "1"
        return f"row_number() over (partition by {names})"

    def difference(self, rows: Iterable[pa.RecordBatch], key: str | None = None) -> tuple[pa.Table, pa.Table]:
        """Which of some rows are not present, and which of the present rows are not among them; refused
        where two of them have the same value of a key."""
        columns = ", ".join(self._columns)
        with self._naming():
            self._run("create or replace temp table synced as select * from rows limit 0")
        self._insert_into("synced", rows)
        if key is not None:
            self._check_unique("synced", key)
        with self._naming():
            more, less = (
                self._table(f"select {columns} from (select * from {a} except all select * from {b})")
                for a, b in (("synced", "rows"), ("rows", "synced"))
            )
            self._run("drop table synced")
        return more, less

    def _check_unique(self, table: str, key: str) -> None:
        column = self._columns[self.schema.get_field_index(key)]
        with self._naming():
            found = self._run(f"select {column} from {table} group by {column} having count(*) > 1 limit 1")
        if found:
            cell = _cell(found[0][0], self.schema.field(key).type)
            raise DataError(
                f"{key}={cell!r} has several rows, and by a key each has one; nothing was changed"
            )

    def rows_of(self, name: str, values: list[Any]) -> pa.Table:
        """The rows that have one of some values in a column."""
        field = self.schema.field(name)
        try:
            kept_as = self._types[self.schema.get_field_index(name)]
            wanted = pa.table({"value": pa.array(values, field.type).cast(kept_as)})
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
        shown = [f"{f.name}={_cell(cell, f.type)!r}" for f, cell in zip(self.schema, cells, strict=True)]
        more = len(shown) - _SHOWN_CELLS
        return ", ".join(shown[:_SHOWN_CELLS]) + (f" and {more} more columns" if more > 0 else "")

    def _hashed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        hashes = pa.array(row_hashes(batch))
        columns = [column.cast(type_) for column, type_ in zip(batch.columns, self._types, strict=True)]
        return pa.RecordBatch.from_arrays([hashes, *columns], schema=self._row_schema())

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
        return self._batches_of(query, pa.schema([self.schema.field(name) for name in columns]), chunk_rows)

    def intact(self, rows: int) -> bool:
        """Whether there are so many rows, and each has the hash of its cells."""
        seen, types = 0, pa.schema([("hash", pa.uint64()), *self.schema])
        with self._naming():
            for batch in self._batches_of("select * from rows", types, _AT_ONCE):
                cells = pa.RecordBatch.from_arrays(batch.columns[1:], schema=self.schema)
                if not self._hashed(cells).column(0).equals(batch.column(0)):
                    return False
                seen += batch.num_rows
        return seen == rows

    def _batches_of(self, query: str, types: pa.Schema, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        """What a query gives, in the types that its columns are stored in."""
        relation: Any = self._connection.sql(query)
        # The older name warns in 2.0, the newer one came with it.
        stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        with stoppable(), stream(chunk_rows) as reader:
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
            self.commit()
        except BaseException:
            self.give_up()
            raise

    def commit(self) -> None:
        """End what `create` or a transaction began."""
        with self._naming():
            self._run("commit")
        if self._making is not None:
            self._take_place(self._making)
        if self._changed:
            self._publish()

    def _take_place(self, made: str) -> None:
        """Give the whole file its name; what a crash leaves before that is in nobody's way."""
        refuse_existing(self.path)
        with self._naming():
            self._run("checkpoint")  # closing would not say that it failed
            self._connection.close()
            files_of(self._place)[1].unlink(missing_ok=True)  # a log without its file is nobody's
        move(made, self._place)
        self._connection = connect(self._place, self._memory, read_only=False)
        self._making = None

    def give_up(self) -> None:
        """Take back what was not committed."""
        import duckdb

        with suppress(duckdb.Error):  # the database may have taken it back itself
            self._run("rollback")


def _cell(cell: Any, type_: pa.DataType) -> Any:
    """A cell that the database keeps as a whole number, for people."""
    if not isinstance(cell, int) or pa.types.is_integer(type_) or pa.types.is_boolean(type_):
        return cell
    with suppress(pa.ArrowException, ArithmeticError, ValueError):
        return pa.scalar(cell, pa.int64()).cast(type_).as_py()
    return cell


def _plain(column: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_floating(type_):
        values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return pa.array(values + 0.0, from_pandas=True)  # NaN becomes null
    if pa.types.is_dictionary(column.type):
        return pc.cast(column, type_)
    return column.cast(type_)
