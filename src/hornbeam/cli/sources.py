"""Where rows come from, for people: a name, and a hash that tells whether they are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hornbeam.errors import DataError, StorageError, UsageError


def check_source(path: str) -> None:
    """Refuse no name at all, and a directory, whatever its name ends with."""
    if not path:
        raise UsageError("DATA is empty; name a file, for instance data.csv, or - for standard input")
    if Path(path).is_dir():
        raise StorageError(f"{path!r} is a directory; name one file in it, for instance data.csv")


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Data that is refused inside is refused with the name of its file."""
    shown = repr("standard input" if path == "-" else path)
    try:
        yield
    except DataError as error:
        if str(error).startswith(shown):
            raise
        raise DataError(f"{shown}: {error}") from error


def data_name(path: str) -> str:
    """What to call the data in a report."""
    return "standard input" if path == "-" else Path(path).name


def data_hash(path: str) -> str:
    """SHA-256 of a regular file; empty for streams, which cannot be read twice."""
    if path == "-" or not Path(path).is_file():
        return ""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
