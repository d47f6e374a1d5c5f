"""`hornbeam generate bongard|trains`: linked tables in a directory, as CSV files or as facts for ACE."""

from __future__ import annotations

import os
import shlex
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import click

import hornbeam
from hornbeam.datasets.generators import find_linked
from hornbeam.datasets.generators.family import PiecesHash
from hornbeam.datasets.generators.linked import LinkedFamily, Tables, count_examples, csv_bytes, pieces
from hornbeam.errors import StorageError
from hornbeam.files import new_file

from .generate_rows import print_made, target_pair
from .output import print_json, style, working


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

    family = find_linked(name, **options)
    count = count_examples(family, rows, start)
    made = pieces(family, count, seed=seed, start=start)
    facts = {"generator": name, **asdict(family), "seed": seed, "start": start, "rows": count}  # type: ignore[call-overload]
    begin = time.perf_counter()
    _make_directory(output)
    tally = TableTally(family)
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
        if name not in self._open:
            place = os.path.join(self._directory, name)
            self._open[name] = self._stack.enter_context(new_file(place))
        return self._open[name]


def _write_tables(files: _Files, tables: Tables) -> None:
    for name, table in tables.items():
        text = csv_bytes(table, header=f"{name}.csv" not in files.names)
        files.at(f"{name}.csv").write(text)


def _write_facts(files: _Files, family: LinkedFamily, tables: Tables) -> None:
    lines = "".join(f"{fact}\n" for fact in family.facts(tables))
    files.at(f"{family.name}.kb").write(lines.encode())


class TableTally:
    """What passed by: rows of each table, classes, checksum."""

    def __init__(self, family: LinkedFamily) -> None:
        self._family, self._hash = family, PiecesHash()
        self._rows: Counter[str] = Counter()
        self._classes: Counter[str] = Counter()

    @property
    def examples(self) -> int:
        return self._rows[self._family.target.split(".")[0]]

    def add(self, tables: Tables) -> None:
        self._hash.update({name: csv_bytes(table) for name, table in tables.items()})
        self._rows.update({name: table.num_rows for name, table in tables.items()})
        table, column = self._family.target.split(".")
        self._classes.update(tables[table].column(column).to_pylist())

    def summary(self) -> dict[str, Any]:
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
    place = made["output"]
    tables = ", ".join(f"{name} {rows:,}" for name, rows in made["tables"].items())
    print_made(
        made,
        [
            ("written", style(f"{made['rows']:,} examples to {place}", bold=True)),
            ("files", ", ".join(made["files"])),
            ("tables", tables),
            target_pair(made),
        ],
    )
    if made["format"] == "ace":
        click.echo(f"Next: hornbeam relational fit {shlex.quote(os.path.join(place, made['files'][-1]))}")
    else:
        click.echo(f"Next: hornbeam relational fit {shlex.quote(place)} --target {made['target']}")
