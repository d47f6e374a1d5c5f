"""`hornbeam generate bongard|trains`: linked tables in a directory, as CSV files or as facts for ACE."""

from __future__ import annotations

import os
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from .options import common_options

if TYPE_CHECKING:
    from hornbeam.datasets.generators.linked import LinkedFamily, Tables


def option(name: str, default: Any, text: str, kind: type = float) -> Callable[[Any], Any]:
    """An option that the family itself checks; no default is shown where the text says what is usual."""
    shown = default is not None
    return click.option(name, type=kind, default=default, show_default=shown, metavar="VALUE", help=text)


_NOISE = option("--noise", 0.0, "The share of wrong labels.")
_FAMILIES: dict[str, tuple[str, str, tuple[Callable[[Any], Any], ...]]] = {
    "bongard": (
        "Pictures of shapes inside others.",
        "1,453, complex 1,521",
        (
            option("--theory", "simple", "What the pictures of class pos have: simple or complex.", str),
            option("--objects", 6, "The most shapes of a picture.", int),
            option("--inside", 0.5, "How probably a shape lies in an earlier one."),
            _NOISE,
        ),
    ),
    "trains": (
        "Trains that go east by what cars they have.",
        "1,000",
        (
            option("--rule", 1, "Which trains go east: 1 to 5.", int),
            option("--cars", 5, "The most cars of a train.", int),
            _NOISE,
        ),
    ),
}


def linked_commands() -> Iterator[click.Command]:
    """One command a family."""
    for name, (text, usual, own) in _FAMILIES.items():
        yield _command(name, text, usual, own)


def _command(name: str, text: str, usual: str, own: tuple[Callable[[Any], Any], ...]) -> click.Command:
    rows = click.option(
        "--rows",
        type=click.IntRange(min=1),
        metavar="N",
        help=f"How many examples to make.  [default: {usual}]",
    )
    place = click.option(
        "-o", "--output", required=True, metavar="DIR", help="The directory; it is made if it is not there."
    )
    ace = click.option("--ace", is_flag=True, help=f"{name}.kb and {name}.s for ACE instead of CSV tables.")
    seed = option("--seed", 0, "Names the set: the same seed, the same examples.", int)
    start = option("--start", 0, "Leave out the examples before this one.", int)

    def make(**given: Any) -> None:
        run(name, **given)

    for one in reversed([*own, rows, seed, start, place, ace, common_options]):
        make = one(make)
    return click.command(name, help=text, short_help=text)(make)


def run(
    name: str,
    *,
    rows: int | None,
    seed: int,
    start: int,
    output: str,
    ace: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Everything is checked before anything is written."""
    from hornbeam.datasets.generators import find_linked
    from hornbeam.datasets.generators.linked import count_examples, pieces

    from .output import print_json, working

    family = find_linked(name, **options)
    count = count_examples(family, rows, start)
    made = pieces(family, count, seed=seed, start=start)
    facts = {"generator": name, **asdict(family), "seed": seed, "start": start, "rows": count}  # type: ignore[call-overload]
    begin = time.perf_counter()
    _make_directory(output)
    tally = _Tally(family)
    with working(f"generating {name}") as report, _Files(output) as files:
        for tables in made:
            _write_facts(files, family, tables) if ace else _write_tables(files, tables)
            tally.add(tables)
            if report is not None:
                report(tally.examples / count)
        if ace:
            files.at(f"{name}.s").write(family.settings.encode())
    found = tally.summary() | {"output": output, "format": "ace" if ace else "csv", "files": files.names}
    found = facts | found | {"seconds": time.perf_counter() - begin}
    print_json(found) if as_json else _print(found)


def _make_directory(place: str) -> None:
    from hornbeam.errors import StorageError

    if not place:
        raise StorageError("the name of the directory is empty; name one with -o")
    parent = Path(place).resolve().parent
    if not parent.is_dir():
        raise StorageError(f"cannot write {place!r}: there is no directory {str(parent)!r}; create it first")
    if os.path.exists(place) and not os.path.isdir(place):
        raise StorageError(f"cannot write {place!r}: it is a file; name a directory")
    try:
        os.makedirs(place, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write {place!r}: {error.strerror}; name another directory") from None


class _Files:
    """Files of a directory that grow piece by piece and take their places together at the end."""

    def __init__(self, directory: str) -> None:
        self._directory, self._stack = directory, ExitStack()
        self._open: dict[str, BinaryIO] = {}

    def __enter__(self) -> _Files:
        self._stack.__enter__()
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self._stack.__exit__(*error)

    @property
    def names(self) -> list[str]:
        return list(self._open)

    def at(self, name: str) -> BinaryIO:
        from hornbeam.files import new_file

        if name not in self._open:
            place = os.path.join(self._directory, name)
            self._open[name] = self._stack.enter_context(new_file(place))
        return self._open[name]


def _write_tables(files: _Files, tables: Tables) -> None:
    from hornbeam.datasets.generators.linked import csv_bytes

    for name, table in tables.items():
        text = csv_bytes(table, header=f"{name}.csv" not in files.names)
        files.at(f"{name}.csv").write(text)


def _write_facts(files: _Files, family: LinkedFamily, tables: Tables) -> None:
    lines = "".join(f"{fact}\n" for fact in family.facts(tables))
    files.at(f"{family.name}.kb").write(lines.encode())


class _Tally:
    """What passed by: rows of each table, classes, checksum."""

    def __init__(self, family: LinkedFamily) -> None:
        from hornbeam.datasets.generators.family import PiecesHash

        self._family, self._hash = family, PiecesHash()
        self._rows: Counter[str] = Counter()
        self._classes: Counter[str] = Counter()

    @property
    def examples(self) -> int:
        return self._rows[self._family.target.split(".")[0]]

    def add(self, tables: Tables) -> None:
        from hornbeam.datasets.generators.linked import csv_bytes

        self._hash.update({name: csv_bytes(table) for name, table in tables.items()})
        self._rows.update({name: table.num_rows for name, table in tables.items()})
        table, column = self._family.target.split(".")
        self._classes.update(tables[table].column(column).to_pylist())

    def summary(self) -> dict[str, Any]:
        import hornbeam

        return {
            "target": self._family.target,
            "tables": dict(self._rows),
            "keys": dict(self._family.keys),
            "references": {table: dict(to) for table, to in self._family.references.items()},
            "classes": dict(sorted(self._classes.items())),
            "hash": self._hash.hexdigest(),
            "version": hornbeam.__version__,
        }


def _print(made: dict[str, Any]) -> None:
    from .output import print_pairs, style

    shares = [f"{label} {count / made['rows']:.2%}" for label, count in made["classes"].items()]
    place = made["output"]
    print_pairs(
        [
            ("written", style(f"{made['rows']:,} examples to {place}", bold=True)),
            ("files", ", ".join(made["files"])),
            ("tables", ", ".join(f"{name} {rows:,}" for name, rows in made["tables"].items())),
            ("target", f"{made['target']} ({', '.join(shares)})"),
            ("time", f"{made['seconds']:.2f} s"),
            ("hash", made["hash"][:16]),
        ]
    )
    if made["format"] == "ace":
        click.echo(f"Next: hornbeam relational fit {shlex.quote(os.path.join(place, made['files'][-1]))}")
    else:
        click.echo(f"Next: hornbeam relational fit {shlex.quote(place)} --target {made['target']}")
