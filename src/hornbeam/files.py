"""Files written whole: the old file stays until the new one is on disk, and a failure leaves nothing else.

What is new is written under another name beside its place, brought to disk and renamed, and then its folder
is brought to disk, so that neither a crash nor a power cut leaves half a file. The temporary name begins with
a dot and ends in `.tmp`; only a process that is killed leaves one behind.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final

from hornbeam.errors import StorageError

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


def reason(error: OSError | ValueError) -> str:
    """Why the system refused a path, and what to do."""
    if not isinstance(error, OSError):
        return "the path has a null character"
    return REASONS.get(error.errno or 0, (error.strerror or type(error).__name__).lower())


def write_file(path: Path, content: bytes) -> None:
    """Put a whole file in its place, or leave what is there; StorageError says why it could not be done."""
    write_files({path: content})


def write_files(contents: Mapping[Any, bytes]) -> None:
    """Put every file whole in its place or, where one of them cannot be written, none."""
    with contextlib.ExitStack() as unfinished:
        written = []
        for path, content in contents.items():
            with _refusing(path):
                place, temporary = _names(path)
                with _synced(unfinished.enter_context(_created(temporary))) as file:
                    file.write(content)
            written.append((path, temporary, place))
        for path, temporary, place in written:
            with _refusing(path):
                _rename(temporary, place)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write piece by piece; it takes its place when all is on disk, else what is there stays."""
    with _refusing(path):
        place, temporary = _names(path)
        with _created(temporary) as created:
            with _synced(created) as file:
                yield file
            _rename(temporary, place)


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[str]:
    """A folder to fill; it takes the place of none, or of an empty one, when all files are in it."""
    with _refusing(path):
        place, temporary = _names(path, folder=True)
        os.mkdir(temporary)
        try:
            yield temporary
            if os.path.isdir(place):
                os.rmdir(place)
            _rename(temporary, place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def move(temporary: str, place: str) -> None:
    """Give a file that is on disk another name, which is on disk after that."""
    with _refusing(place):
        _rename(temporary, place)


def _rename(temporary: str, place: str) -> None:
    os.replace(temporary, place)
    if os.name == "posix":  # elsewhere folders cannot be opened
        descriptor = os.open(os.path.dirname(place), os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot write {os.fspath(path)!r}: {reason(error)}") from None


def _names(path: Path, *, folder: bool = False) -> tuple[str, str]:
    """The place to which a path leads, and the temporary name beside that place."""
    try:
        place = os.path.realpath(path)
    except ValueError as error:
        raise OSError(errno.EINVAL, reason(error)) from None
    if not folder and os.path.isdir(place):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not folder and os.path.exists(place) and not os.path.isfile(place):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")
    parent, name = os.path.split(place)
    # Short enough for any file system, whatever the length of the name itself.
    return place, os.path.join(parent, f".{name[:40]}.{secrets.token_hex(8)}.tmp")


@contextlib.contextmanager
def _created(temporary: str) -> Iterator[BinaryIO]:
    """A new file, which is removed in the end where it still has its temporary name."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        yield os.fdopen(os.open(temporary, flags, 0o666), "wb")
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


@contextlib.contextmanager
def _synced(file: BinaryIO) -> Iterator[BinaryIO]:
    """The file, which is on disk and closed after that."""
    with file:
        yield file
        file.flush()
        os.fsync(file.fileno())
