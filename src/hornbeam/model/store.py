"""Model files (docs/model-file.md): a JSON document with a checksum, replaced at once, read with care."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hornbeam import arguments
from hornbeam.errors import DataError, HornbeamError, StorageError
from hornbeam.files import Path, reason, write_file
from hornbeam.model.json_form import one_line, parse

FORMAT_VERSION: Final = 1
MAX_BYTES: Final = 2**30  # about ten million nodes; more is refused before it is read

# A reader of any version finds the format and the version here; all else is the version's own affair.
OPENING: Final = re.compile(rb'\{"format": "hornbeam-model", "version": ([1-9][0-9]{0,8}), ')
HEADER: Final = re.compile(
    rb'\{"format": "hornbeam-model", "version": 1, "sha256": "([0-9a-f]{64})", "payload": (?=\{)'
)
CLOSING: Final = b"}\n"


def write_document(path: Path, payload: Mapping[str, Any]) -> None:
    """Puts the payload (plain JSON values) at `path`; the old file stays until the new one is on disk."""
    arguments.path("path", path)
    write_file(path, document_of(payload))


def document_of(payload: Mapping[str, Any]) -> bytes:
    """The bytes of a model file."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False).encode("ascii")
    header = json.dumps(
        {"format": "hornbeam-model", "version": FORMAT_VERSION, "sha256": hashlib.sha256(text).hexdigest()}
    )
    document = header[:-1].encode("ascii") + b', "payload": ' + text + CLOSING
    if len(document) > MAX_BYTES:
        raise StorageError(
            f"the model takes {len(document)} bytes, and a model file has at most {MAX_BYTES}; "
            "grow a smaller tree, for instance with min_samples_leaf"
        )
    return document


def read_document(path: Path) -> dict[str, Any]:
    """The payload of a model file; StorageError where it cannot be read, DataError where it is no model."""
    arguments.path("path", path)
    try:
        document = read_file(path)
    except HornbeamError:
        raise
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot read {show(path)}: {reason(error)}") from None
    try:
        return checked_payload(document)
    except DataError as error:
        raise DataError(f"{show(path)}: {error}") from None


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong with what a model file says ends as one line about the file.

    Each part of a file is checked where it is read; this is for what nobody thought of.
    """
    try:
        yield
    except HornbeamError:
        raise
    except MemoryError as error:
        raise DataError(f"{show(path)}: there is not enough memory for what the model file says") from error
    except Exception as error:
        raise refused(path, f"{type(error).__name__}: {one_line(error)}") from error


def refused(path: Path, why: str) -> DataError:
    """The error for a document that holds no model."""
    return DataError(
        f"{show(path)} is not a model that this version reads: {why}; save it again with hornbeam.save"
    )


def read_file(path: Path) -> bytes:
    # Without O_NONBLOCK a named pipe would make us wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise StorageError(f"{show(path)}: not a regular file; give the path of a model file")
        if status.st_size > MAX_BYTES:
            raise DataError(f"{show(path)}: {status.st_size} bytes; a model file has at most {MAX_BYTES}")
        return file.read(status.st_size)  # never more: the buffer is allocated before anything is read


def checked_payload(document: bytes) -> dict[str, Any]:
    opening = OPENING.match(document)
    if opening is None:
        raise DataError(
            "not a Hornbeam model file (it does not begin as one); give a file that hornbeam fit -o or "
            "hornbeam.save wrote"
        )
    version = int(opening[1])
    if version > FORMAT_VERSION:
        raise DataError(
            f"written by a newer Hornbeam: version {version}, this one reads up to {FORMAT_VERSION}; upgrade"
        )
    header = HEADER.match(document)
    if header is None or not document.endswith(CLOSING):
        raise DataError("the model file is damaged or cut off; restore it from a copy or fit the model again")
    payload = document[header.end() : -len(CLOSING)]
    if hashlib.sha256(payload).hexdigest().encode("ascii") != header[1]:
        raise DataError(
            "the checksum does not match: the model file is damaged; restore it or fit the model again"
        )
    try:
        text = payload.decode("ascii")
    except UnicodeDecodeError:
        raise DataError("the model file has bytes outside ASCII") from None
    result = parse(text, "model file")
    if not isinstance(result, dict):
        raise DataError("the payload of the model file is not an object")
    return result


def show(path: Path) -> str:
    """A path on one line."""
    return repr(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else repr(path)[:80]
