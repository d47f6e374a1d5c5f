"""Where rows come from, for people: a name, and a hash that tells whether they are the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hornbeam.errors import StorageError


def check_source(path: str) -> None:
    """Refuse a directory, whatever its name ends with."""
    if Path(path).is_dir():
        raise StorageError(f"{path!r} is a directory; name one file in it, for instance data.csv")


def data_name(path: str) -> str:
    """What to call the data in a report."""
    return "standard input" if path == "-" else Path(path).name


def data_hash(path: str) -> str:
    """SHA-256 of a regular file; empty for streams, which cannot be read twice."""
    if path == "-" or not Path(path).is_file():
        return ""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
