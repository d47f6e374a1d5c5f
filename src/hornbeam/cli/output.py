"""What the command gives out: whole files or none, plain or coloured lines, a spinner for who watches."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hornbeam.errors import StorageError, UsageError

if TYPE_CHECKING:
    from hornbeam.boat.meter import Listener, Progress


def check_places(*places: str | None, sources: Sequence[str] = ()) -> None:
    """Refuse before the work what must not or cannot be written after it.

    A result replaces the file of its name, so it may stand neither where the input is nor on a device.
    """
    named = [place for place in places if place is not None]
    for place in named:
        if not place:
            raise UsageError("the name of a file to write is empty; name a file, or leave the option out")
        parent = Path(place).parent
        if not parent.is_dir():
            raise StorageError(
                f"cannot write {place!r}: there is no directory {str(parent)!r}; create it first"
            )
        if Path(place).is_dir():
            raise StorageError(f"cannot write {place!r}: it is a directory; name a file")
        if os.path.exists(place) and not os.path.isfile(place):
            raise StorageError(f"cannot write {place!r}: it is a device or a pipe; name a regular file")
        if any(_is_same(place, source) for source in sources):
            raise UsageError(f"{place!r} is read and would be overwritten; name another file for the result")
    if len({os.path.realpath(place) for place in named}) < len(named):
        raise UsageError(f"two results would be written to {named[0]!r}; give each its own file")


def _is_same(place: str, source: str) -> bool:
    return os.path.exists(place) and os.path.exists(source) and os.path.samefile(place, source)


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
def working(what: str) -> Iterator[Callable[[float], None] | None]:
    """A line on stderr while something takes its time; silent unless a person watches.

    It spins until it is told a share of the work, and is a bar from then on. Where nobody watches there is
    nothing to tell.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task(what, total=None)
        yield lambda share: progress.update(line, total=1.0, completed=share)


@contextmanager
def scanning() -> Iterator[Listener | None]:
    """A bar on stderr for each scan of a source, with its pace and the time left, and one for each other
    phase; nothing unless a person watches."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich
    from rich.console import Console

    columns = (rich.SpinnerColumn(), rich.TextColumn("{task.description}"), rich.BarColumn(24))
    told = rich.TextColumn("{task.fields[told]}")
    with rich.Progress(*columns, told, console=Console(stderr=True), transient=True) as bars:
        lines: dict[tuple[int, str], rich.TaskID] = {}

        def hear(news: Progress) -> None:
            place = news.scan, news.phase
            if place not in lines:
                name = f"scan {news.scan}, {news.phase}" if news.scan else news.phase
                lines[place] = bars.add_task(name, total=None, told="")
            whole = None if news.share is None else 1.0
            bars.update(lines[place], total=whole, completed=news.share, told=progress_text(news))

        yield hear


def progress_text(news: Progress) -> str:
    """How far a phase is: rows, rows a second, time left."""
    parts = []
    if news.scan:
        of = "" if news.total_rows is None or news.finished else f" of {news.total_rows:,}"
        parts = [f"{news.rows:,}{of} rows", f"{_pace(news.rows_per_second)} rows/s"]
    left = news.seconds_left
    if news.finished:
        parts.append(f"{news.seconds:.1f} s")
    elif left is not None:
        parts.append(f"{left:.0f} s left" if left < 100 else f"{left / 60:.0f} min left")
    return ", ".join(parts)


def _pace(rows: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if rows >= size:
            return f"{rows / size:.3g} {unit}"
    return f"{rows:.0f}"
