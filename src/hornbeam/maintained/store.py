"""The file of a maintained tree: one DuckDB database with every present row once, the tree, and the batches
that made it so. A batch is one transaction: a file has the state before it or the one after it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from hornbeam.errors import StorageError
from hornbeam.maintained.database import Database, InUse, bytes_of
from hornbeam.maintained.publication import Publication
from hornbeam.maintained.rows import StoredRows
from hornbeam.maintained.state import TABLES, PublishedState, StateTables, StoredState

FORMAT = 2
_TRIES = 50
_BETWEEN = 0.02  # seconds; a writer that opens or closes has nothing published for a moment


class Store:
    """An open file: `rows` are those that are present, `tables` what it has beside them, and `state` what can
    be read of that."""

    def __init__(self, database: Database, tables: StateTables, rows: StoredRows) -> None:
        self.path, self.schema, self.database = database.path, rows.schema, database
        self.state: StoredState = tables
        self.tables, self.rows, self.read_only = tables, rows, database.read_only

    @classmethod
    def create(cls, path: str, schema: pa.Schema, memory: int | None) -> Store:
        """A new file without rows, in a transaction that the caller commits."""
        database = Database.create(path, memory)
        try:
            database.publication.withdraw()
            for statement in ("begin", *TABLES):
                database.run(statement)
            store = cls(database, StateTables(database), StoredRows.create(database, schema))
            store.tables.set({"format": FORMAT, "schema": schema.serialize().to_pybytes().hex()})
        except BaseException:
            database.remove()
            raise
        return store

    @classmethod
    def open(cls, path: str, memory: int | None = None, *, read_only: bool = False) -> Store:
        """A file that `create` made."""
        database = Database.open(path, memory, read_only=read_only)
        try:
            tables = StateTables(database)
            store = cls(database, tables, StoredRows.open(database, _schema_of(tables, path)))
        except BaseException:
            database.close()
            raise
        if not read_only:
            tables.publish(anew=True)
        return store

    def close(self) -> None:
        """Give the file free."""
        self.database.close()

    def limit_memory(self, memory: int | None) -> None:
        """What the database may hold before it spills to disk."""
        self.database.limit_memory(memory)

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return bytes_of(self.path)

    def remove(self) -> None:
        """Leave nothing of a file whose making failed."""
        self.database.remove()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that happens inside, or nothing of it; readers see it then."""
        with self.database.transaction():
            yield
        self.tables.publish()

    def commit(self) -> None:
        """End what `create` began."""
        self.database.commit()
        self.tables.publish()


class PublishedStore:
    """What readers see of a file that a process has open for writing: the tree and its last batches."""

    read_only = True

    def __init__(self, path: str, owner: int, state: StoredState) -> None:
        self.path, self.schema, self.state = path, _schema_of(state, path), state
        self._owner = owner

    @property
    def rows(self) -> StoredRows:
        """The writer alone has the rows."""
        raise self._in_use()

    @property
    def database(self) -> Database:
        """The writer alone has the file."""
        raise self._in_use()

    def _in_use(self) -> InUse:
        return InUse(
            f"{self.path!r} is open for writing by process {self._owner}, and this needs its rows; close the "
            "tree there, or wait until it ends",
            self._owner,
        )

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return bytes_of(self.path)

    def close(self) -> None: ...

    def limit_memory(self, memory: int | None) -> None: ...


def open_to_read(path: str) -> Store | PublishedStore:
    """The file, or the last whole state of it that the process which writes to it has published."""
    for _ in range(_TRIES):
        try:
            return Store.open(path, read_only=True)
        except InUse as error:
            published, refused = Publication(path).of(error.owner), error
        if published is not None:
            return PublishedStore(path, refused.owner, PublishedState(path, *published))
        time.sleep(_BETWEEN)
    raise refused


def _schema_of(state: StoredState, path: str) -> pa.Schema:
    """The columns of a file that `create` of this version made."""
    try:
        found = state.meta()
        version, schema = found["format"], bytes.fromhex(found["schema"])
        columns = pa.ipc.read_schema(pa.py_buffer(schema))
    except Exception:  # whatever a foreign file brings
        raise StorageError(f"{path!r} is not the file of a maintained tree, or it is damaged") from None
    if version != FORMAT:
        known = f"this version reads {FORMAT}; use the one that wrote it"
        raise StorageError(f"{path!r} has format {version}, and {known}")
    return columns
