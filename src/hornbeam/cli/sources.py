"""Where rows come from, for people: a name, and a hash that tells whether they are the same."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hornbeam.errors import DataError, StorageError, UsageError

_SERVERS = ("postgresql://", "postgres://")
_SQLITE = (".sqlite", ".sqlite3")


def check_source(path: str) -> None:
    """Refuse no name at all, and a directory, whatever its name ends with."""
    if not path:
        raise UsageError("DATA is empty; name a file, for instance data.csv, or - for standard input")
    if Path(path).is_dir():
        raise StorageError(
            f"{path!r} is a directory; name one file in it, for instance data.csv "
            "(hornbeam fit takes all of them with --algorithm auto)"
        )


def is_scanned(path: str, asked: Mapping[str, object]) -> bool:
    """Whether the rows are scanned as a source: somebody asked how, or nothing else can read them."""
    if any(value is not None for value in asked.values()) or path.startswith(_SERVERS):
        return True
    if os.path.isfile(path):
        from hornbeam.table.sources.sqlite_queries import is_sqlite

        return path.lower().endswith(_SQLITE) or is_sqlite(path)
    return glob.has_magic(path) and not os.path.lexists(path)


def files_of(path: str) -> list[str]:
    """The files that a glob or a folder names, or the one itself."""
    if os.path.isdir(path):
        return [os.path.join(place, name) for place, _, names in os.walk(path) for name in names]
    return [path] if os.path.lexists(path) else glob.glob(path, recursive=True)


def facts_of(line: str, path: str) -> dict[str, str]:
    """What a report says of its data and of the command, without the password of a server."""
    shown = line.replace(shlex.quote(path), shlex.quote(data_name(path)))
    return {"command": shown, "data_name": data_name(path), "data_hash": data_hash(path)}


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Data that is refused inside is refused with the name of its file."""
    shown = repr("standard input" if path == "-" else path)
    try:
        yield
    except DataError as error:
        if str(error).startswith(shown):
            raise
        raise DataError(f"{shown}: {error}", named=error.named) from error


def data_name(path: str) -> str:
    """What to call the data in a report."""
    if path.startswith(_SERVERS):
        return re.sub(r"://([^/@:]*):.*@", r"://\1@", path.partition("?")[0])
    if path == "-":
        return "standard input"
    return path if glob.has_magic(path) else Path(path).name


def data_hash(path: str) -> str:
    """SHA-256 of a regular file; empty for streams, which cannot be read twice."""
    if path == "-" or not Path(path).is_file():
        return ""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
