"""Model files (docs/model-file.md): a JSON document with a checksum, replaced at once, read with care."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hornbeam.errors import DataError, HornbeamError, StorageError
from hornbeam.model.json_form import one_line, parse

FORMAT_VERSION: Final = 1
MAX_BYTES: Final = 2**30  # about ten million nodes; more is refused before it is read

# A reader of any version finds the format and the version here; the rest is the version's own affair.
OPENING: Final = re.compile(rb'\{"format": "hornbeam-model", "version": ([1-9][0-9]{0,8}), ')
HEADER: Final = re.compile(
    rb'\{"format": "hornbeam-model", "version": 1, "sha256": "([0-9a-f]{64})", "payload": (?=\{)'
)
CLOSING: Final = b"}\n"

REASONS: Final = {
    errno.ENOENT: "there is no such file or directory; check the path",
    errno.EACCES: "permission denied; choose another place, or ask its owner",
    errno.EPERM: "permission denied; choose another place, or ask its owner",
    errno.EROFS: "the file system is read-only; choose another place",
    errno.EISDIR: "it is a directory; name a file in it",
    errno.ENOTDIR: "a part of the path is not a directory",
    errno.ENOSPC: "no space left on the device; free some and try again",
    errno.EFBIG: "the file would be larger than is allowed here; see ulimit -f",
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.ENAMETOOLONG: "the name is too long",
}

Path = str | os.PathLike[str]


def write_document(path: Path, payload: Mapping[str, Any]) -> None:
    """Puts the payload (plain JSON values) at `path`; the old file stays until the new one is on disk."""
    replace_files({path: document_of(payload)})


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


def replace_files(contents: Mapping[Any, bytes]) -> None:
    """Every file whole in its place, or, where one of them cannot be written, none.

    Each is written beside its place and fsynced before the first is renamed; a failure removes them again.
    """
    written: list[tuple[str, str]] = []
    try:
        for path, content in contents.items():
            try:
                place = os.path.realpath(path)
                written.append((write_beside(place, content), place))
            except (OSError, ValueError) as error:
                raise StorageError(f"cannot write {show(path)}: {reason(error)}") from None
        for temporary, place in written:
            move(temporary, place)
    except BaseException:
        for temporary, _ in written:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise


def move(temporary: str, place: str) -> None:
    try:
        os.replace(temporary, place)
        fsync_directory(os.path.dirname(place))
    except OSError as error:
        raise StorageError(f"cannot write {place!r}: {reason(error)}") from None


def write_beside(path: str, content: bytes) -> str:
    """The content in a temporary file beside `path`, on disk; a failure removes it."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")
    directory, name = os.path.split(path)
    # Short enough for any file system, whatever the length of the name itself.
    temporary = os.path.join(directory, f".{name[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
        )
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary


def fsync_directory(directory: str) -> None:
    """Makes the rename itself durable; where directories cannot be opened there is nothing to do."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_document(path: Path) -> dict[str, Any]:
    """The payload of a model file; StorageError where it cannot be read, DataError where it is no model."""
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
    # Without O_NONBLOCK a named pipe would keep us waiting for a writer.
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
    return repr(os.fspath(path))


def reason(error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return "the path has a null character"
    return REASONS.get(error.errno or 0, (error.strerror or type(error).__name__).lower())
