"""Statements to the database of a maintained tree; what it refuses is said with the name of the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from hornbeam.errors import HornbeamError, StorageError, first_line
from hornbeam.maintained.opening import stoppable

if TYPE_CHECKING:
    import duckdb


class Database:
    """An open connection to the file at a path."""

    def __init__(self, path: str, connection: duckdb.DuckDBPyConnection) -> None:
        self.path, self._connection = path, connection
        self._making: str | None = None
        """The name under which the file is made: it has its own when it is whole."""

    def statement(self, text: str, values: list[Any] | None = None) -> list[Any]:
        """What the database answers; what it refuses is said with the name of the file."""
        with self._naming():
            return self._run(text, values)

    def _run(self, statement: str, values: list[Any] | None = None) -> list[Any]:
        """What a statement gives, to the last row: a connection does one thing at a time."""
        with stoppable():
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
            with stoppable():
                yield
        except HornbeamError:
            raise
        except (duckdb.Error, OSError) as error:
            if isinstance(error, duckdb.ConnectionException):
                raise StorageError(f"{self.path!r} is closed; open the tree again") from None
            left = "the file has the state before" if self._making is None else "nothing was made"
            if self._making is None and isinstance(
                error, duckdb.FatalException
            ):  # it may fail when all is written
                left = "close the tree and open it again: it has the state before the batch, or after it"
            raise StorageError(f"{self.path!r}: {first_line(error)}; {left}") from None
