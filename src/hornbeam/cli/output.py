"""What the command gives out: whole files or none, plain or coloured lines, progress for a watching person."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from hornbeam.errors import StorageError, UsageError


def write_files(contents: Sequence[tuple[str, bytes]]) -> None:
    """Write every file completely beside its place, then put all in place; on an error leave nothing behind."""
    ready: list[tuple[str, str]] = []
    place = ""
    try:
        for place, content in contents:
            ready.append((_write_beside(place, content), place))
        while ready:
            temporary, place = ready[0]
            os.replace(temporary, place)
            ready.pop(0)
            _sync_directory(Path(place).parent)
    except OSError as error:
        raise StorageError(f"cannot write {place!r}: {error.strerror or error}; choose a place that can be written") from None
    finally:
        for temporary, _ in ready:
            Path(temporary).unlink(missing_ok=True)


def _write_beside(place: str, content: bytes) -> str:
    target = Path(place)
    if target.is_dir():
        raise IsADirectoryError(21, "it is a directory", place)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp is private by design; a result gets the permissions that any new file would have.
        os.chmod(temporary, 0o666 & ~_umask())
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return temporary


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_places(*places: str | None) -> None:
    """Refuse before the work what would be refused after it: no directory, or two results in one place."""
    named = [place for place in places if place]
    for place in named:
        parent = Path(place).parent
        if not parent.is_dir():
            raise StorageError(f"cannot write {place!r}: there is no directory {str(parent)!r}; create it first")
        if Path(place).is_dir():
            raise StorageError(f"cannot write {place!r}: it is a directory; name a file")
    if len({os.path.realpath(place) for place in named}) < len(named):
        raise UsageError(f"two results would be written to {named[0]!r}; give each its own file")


def print_json(content: object) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2))


def print_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """A small table for people: names in the first column, values in the second."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        click.echo(f"{style(name.ljust(width), dim=True)}  {value}")


def style(text: str, **looks: bool | str) -> str:
    """Colour for a terminal; none where NO_COLOR is set (click itself drops it for files and pipes)."""
    return text if os.environ.get("NO_COLOR") else click.style(text, **looks)  # type: ignore[arg-type]


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on stderr while something takes its time; silent unless a person watches."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(what, total=None)
        yield
