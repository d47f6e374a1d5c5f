"""Connections to the file of a maintained tree: one process has it for writing, and whoever else wants it is
told which one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hornbeam.errors import StorageError, first_line
from hornbeam.files import REASONS, reason
from hornbeam.maintained.published import Publication

if TYPE_CHECKING:
    import duckdb

_LEAST_MEMORY = 64 * 10**6  # of the database


class InUse(StorageError):  # noqa: N818 - said of the file, not of the error
    """A file that a process has open for writing."""

    def __init__(self, text: str, owner: int) -> None:
        super().__init__(text)
        self.owner = owner


class NotRead(StorageError):  # noqa: N818 - likewise
    """A file that the database cannot open."""


class NotAllowed(NotRead):
    """A file that this process has no right to open."""


opened: set[str] = set()
"""Files that this process has open for writing: the database would let it open them twice."""


@contextmanager
def stoppable() -> Iterator[None]:
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


def refuse_absent(path: str) -> None:
    """What is not there, or nobody may look for, cannot be opened."""
    try:
        there = Path(path).exists()
    except OSError as error:
        raise StorageError(f"{path!r} cannot be looked for: {error.strerror}") from None
    if not there:
        raise StorageError(f"{path!r} is not there; check the path, or create the tree first")


def let_go(published: Publication | None, place: str) -> None:
    """Whoever had a file for writing has it no more."""
    if published is not None:
        published.withdraw()
        opened.discard(place)


def megabytes(memory: int) -> int:
    return max(memory, _LEAST_MEMORY) // 10**6


def files_of(path: str) -> tuple[Path, Path]:
    """A file of the database, and its log."""
    return Path(path), Path(f"{path}.wal")


def remove_files(path: str) -> None:
    for file in files_of(path):
        file.unlink(missing_ok=True)


def _remove_spilled(path: str) -> None:
    """Rows that the database had put aside when its process was killed. It would leave them until it puts
    some aside again; nobody else has the file, so they are nobody's."""
    folder = Path(f"{path}.tmp")
    with suppress(OSError):
        for file in folder.glob("duckdb_temp_*"):
            file.unlink()
        folder.rmdir()


def refuse_existing(path: str) -> None:
    if Path(path).exists():
        raise StorageError(f"{path!r} exists already; open it, or name another file")


def refuse_nowhere(path: str) -> None:
    """A file cannot be made in a directory that is not there."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise StorageError(f"cannot make {path!r}: {folder!r} is no directory; make it first")


def refuse_opened(path: str) -> None:
    if os.path.realpath(path) in opened:
        text = f"{path!r} is locked by this process, which has it open; close the tree first"
        raise InUse(text, os.getpid())


def connect_new(place: str, memory: int | None, shown: str) -> duckdb.DuckDBPyConnection:
    """An empty file instead of what a crash may have left, but not of what another process is making. It will
    have the name that is shown."""
    try:
        if Path(place).exists():
            with suppress(NotRead):  # half a file
                connect(place, memory, read_only=False).close()
            remove_files(place)
        return connect(place, memory, read_only=False)
    except OSError as error:
        raise StorageError(f"cannot write {place!r}: {reason(error)}") from None
    except NotAllowed:
        raise NotAllowed(f"cannot make {shown!r}: {REASONS[EACCES]}") from None
    except InUse:
        raise
    except BaseException:
        with suppress(OSError):
            remove_files(place)
        raise


def connect(path: str, memory: int | None, read_only: bool) -> duckdb.DuckDBPyConnection:
    import duckdb

    config: dict[str, Any] = {"threads": 1}
    if memory is not None:
        config["memory_limit"] = f"{megabytes(memory)}MB"
    try:
        with stoppable():
            connection = duckdb.connect(path, read_only=read_only, config=config)
    except duckdb.Error as error:
        text = str(error)
        owner = re.search(r"PID (\d+)", text)
        if owner is not None:
            told = f"{path!r} is locked by process {owner[1]}; close the tree there, or wait until it ends"
            raise InUse(told, int(owner[1])) from None
        if "Permission denied" in text:
            told = f"{path!r} cannot be opened for {'reading' if read_only else 'writing'}: {REASONS[EACCES]}"
            raise NotAllowed(told) from None
        raise NotRead(f"{path!r} cannot be opened as a maintained tree: {first_line(error)}") from None
    if not read_only:
        _remove_spilled(path)
    return connection
