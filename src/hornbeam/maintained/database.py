"""The DuckDB file of a maintained tree: one process has it for writing, others learn which one it is.

What the database refuses is said with the name of the file.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hornbeam.errors import HornbeamError, StorageError, first_line
from hornbeam.files import REASONS, move, reason
from hornbeam.maintained.publication import Publication

if TYPE_CHECKING:
    import duckdb

_LEAST_MEMORY = 64 * 10**6  # of the database

opened: set[str] = set()
"""Files that this process has open for writing: the database would let it open them twice."""


class InUse(StorageError):  # noqa: N818 - said of the file, not of the error
    """A file that a process has open for writing."""

    def __init__(self, text: str, owner: int) -> None:
        super().__init__(text)
        self.owner = owner


class NotRead(StorageError):  # noqa: N818 - likewise
    """A file that the database cannot open."""


class NotAllowed(NotRead):
    """A file that this process has no right to open."""


class Database:
    """An open file. While it is made it has another name than its path."""

    def __init__(
        self,
        path: str,
        connection: duckdb.DuckDBPyConnection,
        memory: int | None,
        *,
        read_only: bool = False,
        making: str | None = None,
    ) -> None:
        self.path, self.read_only, self.publication = path, read_only, Publication(path)
        self._connection, self._memory, self._making = connection, memory, making
        self._place = os.path.realpath(path)
        self._unlock = weakref.finalize(self, _let_go, None if read_only else self.publication, self._place)
        if not read_only:
            opened.add(self._place)

    # ---- opening ----

    @classmethod
    def create(cls, path: str, memory: int | None) -> Database:
        """An empty file, which `commit` gives its name."""
        _refuse_existing(path)
        _refuse_opened(path)
        place = os.path.realpath(path)
        folder = os.path.dirname(place)
        if not os.path.isdir(folder):
            raise StorageError(f"cannot make {path!r}: {folder!r} is no directory; make it first")
        making = f"{place}.new"
        return cls(path, _connect_new(making, memory, path), memory, making=making)

    @classmethod
    def open(cls, path: str, memory: int | None = None, *, read_only: bool = False) -> Database:
        """A file that is there."""
        _refuse_absent(path)
        _refuse_opened(path)
        return cls(path, _connect(path, memory, read_only), memory, read_only=read_only)

    def close(self) -> None:
        """Give the file free."""
        try:
            if self._unlock.alive and not self.read_only:
                with suppress(StorageError):  # the long part of closing, during which readers have the copy
                    self.run("checkpoint")
        finally:
            self._unlock()  # while nobody else can publish
            self._connection.close()

    def remove(self) -> None:
        """Leave nothing of a file whose making failed."""
        self.close()
        with suppress(OSError):  # the reason of the failure is told, not what it led to
            _remove_files(self._making or self.path)

    def limit_memory(self, memory: int | None) -> None:
        """What the database may hold before it spills to disk."""
        if memory is not None:
            self._memory = memory
            self.run(f"set memory_limit = '{_megabytes(memory)}MB'")

    # ---- statements ----

    def run(self, statement: str, values: list[Any] | None = None) -> list[Any]:
        """What a statement gives, to the last row: a connection does one thing at a time."""
        with self.naming():
            return self._execute(statement, values)

    def _execute(self, statement: str, values: list[Any] | None) -> list[Any]:
        found: list[Any] = self._connection.execute(statement, values or []).fetchall()
        return found

    def table(self, query: str) -> pa.Table:
        """What a query gives, as an Arrow table."""
        with self.naming():
            return self._connection.sql(query).to_arrow_table()

    def batches(self, query: str, rows: int) -> Iterator[pa.RecordBatch]:
        """What a query gives, so many rows at a time; errors are those of the database."""
        relation: Any = self._connection.sql(query)
        # The older name warns in 2.0, the newer one came with it.
        stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        with _stoppable(), stream(rows) as reader:
            yield from reader

    @contextmanager
    def given(self, name: str, data: Any) -> Iterator[None]:
        """A table that statements know by a name."""
        import duckdb

        with self.naming():
            self._connection.register(name, data)
            try:
                yield
            finally:
                with suppress(duckdb.Error):  # after a failure the database wants nothing but to go back
                    self._connection.unregister(name)

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Say of what the database refuses which file it is."""
        import duckdb

        try:
            with _stoppable():
                yield
        except HornbeamError:
            raise
        except duckdb.ConnectionException:
            raise StorageError(f"{self.path!r} is closed; open the tree again") from None
        except (duckdb.Error, OSError) as error:
            left = "the file has the state before"
            if self._making is not None:
                left = "nothing was made"
            elif isinstance(error, duckdb.FatalException):  # it may fail when all is written
                left = "close the tree and open it again: it has the state before the batch, or after it"
            raise StorageError(f"{self.path!r}: {first_line(error)}; {left}") from None

    # ---- transactions ----

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that happens inside, or nothing of it."""
        self.run("begin")
        try:
            yield
            self.commit()
        except BaseException:
            with suppress(StorageError):  # the database may have taken it back itself
                self.run("rollback")
            raise

    def commit(self) -> None:
        """End what `create` or a transaction began; a file that was made takes its name."""
        self.run("commit")
        if self._making is None:
            return
        _refuse_existing(self.path)
        with self.naming():
            self.run("checkpoint")  # closing would not say that it failed
            self._connection.close()
            _files_of(self._place)[1].unlink(missing_ok=True)  # a log without its file is nobody's
        move(self._making, self._place)
        self._connection = _connect(self._place, self._memory, read_only=False)
        self._making = None


def bytes_of(path: str) -> int:
    """The size of a file, with what is not yet brought into it."""
    return sum(file.stat().st_size for file in _files_of(path) if file.exists())


def _let_go(publication: Publication | None, place: str) -> None:
    """Whoever had a file for writing has it no more."""
    if publication is not None:
        publication.withdraw()
        opened.discard(place)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Ctrl-C as what it is, which the database has other names for: also that rows could not be handed over,
    where it came while Python did that."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except (RuntimeError, duckdb.Error) as error:
        if str(error) == "Query interrupted" or "failed: KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from None
        raise


def _refuse_absent(path: str) -> None:
    """What is not there, or nobody may look for, cannot be opened."""
    try:
        there = Path(path).exists()
    except OSError as error:
        raise StorageError(f"{path!r} cannot be looked for: {error.strerror}") from None
    if not there:
        raise StorageError(f"{path!r} is not there; check the path, or create the tree first")


def _refuse_existing(path: str) -> None:
    if Path(path).exists():
        raise StorageError(f"{path!r} exists already; open it, or name another file")


def _refuse_opened(path: str) -> None:
    if os.path.realpath(path) in opened:
        text = f"{path!r} is locked by this process, which has it open; close the tree first"
        raise InUse(text, os.getpid())


def _megabytes(memory: int) -> int:
    return max(memory, _LEAST_MEMORY) // 10**6


def _files_of(path: str) -> tuple[Path, Path]:
    """A file of the database, and its log."""
    return Path(path), Path(f"{path}.wal")


def _remove_files(path: str) -> None:
    for file in _files_of(path):
        file.unlink(missing_ok=True)


def _remove_spilled(path: str) -> None:
    """Rows that the database had put aside when its process was killed. It would leave them until it puts
    some aside again; nobody else has the file, so they are nobody's."""
    folder = Path(f"{path}.tmp")
    with suppress(OSError):
        for file in folder.glob("duckdb_temp_*"):
            file.unlink()
        folder.rmdir()


def _connect_new(place: str, memory: int | None, shown: str) -> duckdb.DuckDBPyConnection:
    """An empty file instead of what a crash may have left, but not of what another process is making. It will
    have the name that is shown."""
    try:
        if Path(place).exists():
            with suppress(NotRead):  # half a file
                _connect(place, memory, read_only=False).close()
            _remove_files(place)
        return _connect(place, memory, read_only=False)
    except OSError as error:
        raise StorageError(f"cannot write {place!r}: {reason(error)}") from None
    except NotAllowed:
        raise NotAllowed(f"cannot make {shown!r}: {REASONS[EACCES]}") from None
    except InUse:
        raise
    except BaseException:
        with suppress(OSError):
            _remove_files(place)
        raise


def _connect(path: str, memory: int | None, read_only: bool) -> duckdb.DuckDBPyConnection:
    import duckdb

    config: dict[str, Any] = {"threads": 1}
    if memory is not None:
        config["memory_limit"] = f"{_megabytes(memory)}MB"
    try:
        with _stoppable():
            connection = duckdb.connect(path, read_only=read_only, config=config)
    except duckdb.Error as error:
        text = str(error)
        owner = re.search(r"PID (\d+)", text)
        if owner is not None:
            locked = f"{path!r} is locked by process {owner[1]}; close the tree there, or wait until it ends"
            raise InUse(locked, int(owner[1])) from None
        if "Permission denied" in text:
            use = "reading" if read_only else "writing"
            raise NotAllowed(f"{path!r} cannot be opened for {use}: {REASONS[EACCES]}") from None
        raise NotRead(f"{path!r} cannot be opened as a maintained tree: {first_line(error)}") from None
    if not read_only:
        _remove_spilled(path)
    return connection
