"""The present rows of a maintained tree in its file: found by their hashes, and read as a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.errors import DataError, HornbeamError, StorageError, first_line
from hornbeam.maintained.database import Database
from hornbeam.table.schema import list_names
from hornbeam.table.sources.hashing import fold_of, row_hashes
from hornbeam.table.sources.part import Batches, Origin, Part
from hornbeam.table.sources.source import Source
from hornbeam.table.sources.types import normal_schema, normalise, plain_schema

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


@dataclass(frozen=True)
class LeftOut:
    """One of so many folds, dealt by a key."""

    key: str
    folds: int
    fold: int

    def filter(self, rows: Any) -> Any:
        """A table or batch without the rows of the fold."""
        return rows.filter(pa.array(fold_of(rows.column(self.key), self.folds) != self.fold))


class StoredRows:
    """The rows of an open file. They have the columns c0, c1, ... of the schema, and their hash."""

    def __init__(self, database: Database, schema: pa.Schema) -> None:
        self.schema, self._database = schema, database
        self._columns = [f"c{i}" for i in range(len(schema))]
        self._types = [_exact(field.type) for field in schema]

    @classmethod
    def create(cls, database: Database, schema: pa.Schema) -> StoredRows:
        """A table without rows, in a new file."""
        made = cls(database, schema)
        with database.given("empty_rows", pa.Table.from_batches([], schema=made._row_schema())):
            database.run("create table rows as select * from empty_rows")
        return made

    @classmethod
    def open(cls, database: Database, schema: pa.Schema) -> StoredRows:
        """The rows that a file has. Files of earlier versions keep some types as the database has them."""
        made = cls(database, schema)
        found = database.run("select column_name, data_type from duckdb_columns() where table_name = 'rows'")
        whole = {name for name, type_ in found if type_ == "BIGINT"}
        made._types = [
            exact if column in whole else field.type
            for column, exact, field in zip(made._columns, made._types, schema, strict=True)
        ]
        return made

    def _row_schema(self) -> pa.Schema:
        return pa.schema([("hash", pa.uint64()), *zip(self._columns, self._types, strict=True)])

    def _column(self, name: str) -> str:
        place: int = self.schema.get_field_index(name)
        return self._columns[place]

    def count(self) -> int:
        """How many rows are present."""
        return int(self._database.run("select count(*) from rows")[0][0])

    # ---- rows that come ----

    def checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows in the stored types, missing numbers as such and zeros without a sign; refused where they
        have other columns or types."""
        self.check_names(batch.schema.names)
        normal = normalise(batch, normal_schema(self.schema, self._database.path))
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

    def insert(self, batches: Iterable[pa.RecordBatch], table: str = "rows") -> None:
        """Put rows in that were checked."""
        for batch in batches:  # whatever fails in making them fails here, and not in the database
            with self._database.given("given_rows", pa.Table.from_batches([self._hashed(batch)])):
                self._database.run(f"insert into {table} select * from given_rows")

    def _hashed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        hashes = pa.array(row_hashes(batch))
        columns = [column.cast(type_) for column, type_ in zip(batch.columns, self._types, strict=True)]
        return pa.RecordBatch.from_arrays([hashes, *columns], schema=self._row_schema())

    # ---- rows that go ----

    def delete(self, rows: pa.Table) -> None:
        """Take rows out that were checked, each once for every time that it is given; refuses all of them,
        naming one, where it is not there so often."""
        for begin in range(0, rows.num_rows, _AT_ONCE):
            self._delete_some(rows.slice(begin, _AT_ONCE), begin)

    def _delete_some(self, rows: pa.Table, begin: int) -> None:
        """Rows of a batch, of which so many came before."""
        run, batches = self._database.run, [self._hashed(batch) for batch in rows.to_batches()]
        given = pa.Table.from_batches(batches, schema=self._row_schema())
        given = given.append_column("row", pa.array(np.arange(begin, begin + given.num_rows) + 1))
        names = ", ".join(["hash", *self._columns])
        same = " and ".join(f"w.{c} is not distinct from f.{c}" for c in self._columns)
        with self._database.given("given_rows", given):
            # One column of all rows, then all columns of a few.
            run(
                "create or replace temp table near as "
                "select rowid as r, hash from rows where hash in (select hash from given_rows)"
            )
            numbered = f"{names}, {self._copy_number(names, given)} as copy"
            run(
                f"""create or replace temp table matched as with
                found as (select rowid as r, {numbered} from rows where rowid in (select r from near)),
                wanted as (select {numbered}, row from given_rows)
                select w.*, f.r from wanted w left join found f
                  on w.hash = f.hash and w.copy = f.copy and {same}"""
            )
            columns = ", ".join(self._columns)
            absent = run(f"select row, {columns} from matched where r is null order by row limit 1")
            if not absent:
                run("delete from rows where rowid in (select r from matched)")
            run("drop table near")
            run("drop table matched")
        if absent:
            row, *cells = absent[0]
            raise DataError(
                f"{self._database.path!r}: no such row to delete: row {row:,} of the batch, "
                f"{self._shown(cells)}; nothing was changed"
            )

    def _copy_number(self, names: str, given: pa.Table) -> str:
        """Which of several equal rows one is. To number them takes longer than all else, so it is not done
        where no hash is there twice."""
        there, different = self._database.run("select count(*), count(distinct hash) from near")[0]
        if there == different and len(np.unique(given["hash"].to_numpy())) == given.num_rows:
            return "1"
        return f"row_number() over (partition by {names})"

    def _shown(self, cells: Iterable[Any]) -> str:
        """A row for people."""
        shown = [f"{f.name}={_cell(cell, f.type)!r}" for f, cell in zip(self.schema, cells, strict=True)]
        more = len(shown) - _SHOWN_CELLS
        return ", ".join(shown[:_SHOWN_CELLS]) + (f" and {more} more columns" if more > 0 else "")

    # ---- rows that are present ----

    def difference(self, rows: Iterable[pa.RecordBatch], key: str | None = None) -> tuple[pa.Table, pa.Table]:
        """Which of some rows are not present, and which of the present rows are not among them; refused
        where two of them have the same value of a key."""
        columns = ", ".join(self._columns)
        self._database.run("create or replace temp table synced as select * from rows limit 0")
        self.insert(rows, "synced")
        if key is not None:
            self._check_unique("synced", key)
        more, less = (
            self._table(f"select {columns} from (select * from {a} except all select * from {b})")
            for a, b in (("synced", "rows"), ("rows", "synced"))
        )
        self._database.run("drop table synced")
        return more, less

    def _check_unique(self, table: str, key: str) -> None:
        column = self._column(key)
        found = self._database.run(
            f"select {column} from {table} group by {column} having count(*) > 1 limit 1"
        )
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
        with self._database.given("wanted_values", wanted):
            chosen = f"{self._column(name)} in (select value from wanted_values)"
            return self._table(f"select {', '.join(self._columns)} from rows where {chosen}")

    def _table(self, query: str) -> pa.Table:
        return self._database.table(query).rename_columns(self.schema.names).cast(self.schema)

    def source(
        self, where: Sequence[str] = ("",), weight: str | None = None, left_out: LeftOut | None = None
    ) -> Source:
        """The present rows as a source, or those that conditions on c0, c1, ... hold for, one after the
        other; without those of a fold."""
        shown = repr(self._database.path)
        schema = normal_schema(self.schema, self._database.path)
        part = StoredPart(0, shown, schema, None, 0, None, self, tuple(where), left_out)
        return Source(Origin(shown, "maintained tree", schema, (part,), ordered=False), weight)

    def read(self, columns: list[str], where: str, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        """Rows as they are stored."""
        chosen = ", ".join(map(self._column, columns))
        query = f"select {chosen} from rows {where and 'where'} {where}"
        return self._batches(query, pa.schema([self.schema.field(name) for name in columns]), chunk_rows)

    def intact(self, rows: int) -> bool:
        """Whether there are so many rows, and each has the hash of its cells."""
        seen, types = 0, pa.schema([("hash", pa.uint64()), *self.schema])
        with self._database.naming():
            for batch in self._batches("select * from rows", types, _AT_ONCE):
                cells = pa.RecordBatch.from_arrays(batch.columns[1:], schema=self.schema)
                if not self._hashed(cells).column(0).equals(batch.column(0)):
                    return False
                seen += batch.num_rows
        return seen == rows

    def _batches(self, query: str, types: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """What a query gives, in the types that its columns are stored in."""
        for batch in self._database.batches(query, rows):
            arrays = [array.cast(field.type) for array, field in zip(batch.columns, types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=types)


@dataclass(frozen=True)
class StoredPart(Part):
    """The rows of an open file as the one part of a source: all, or those outside a fold."""

    rows_there: StoredRows
    where: tuple[str, ...]
    left_out: LeftOut | None

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        for condition in self.where:
            for batch in self.rows_there.read(columns, condition, chunk_rows):
                yield (batch if self.left_out is None else self.left_out.filter(batch)), batch.nbytes

    def failures(self) -> tuple[type[Exception], ...]:
        import duckdb

        return (duckdb.Error, pa.ArrowException, OSError)

    def refuse(self, error: Exception, rows: int) -> HornbeamError:
        return StorageError(f"{self.shown} cannot be read after {rows:,} rows: {first_line(error)}")


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
