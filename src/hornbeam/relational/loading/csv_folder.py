"""A folder of CSV files as tables; keys and references that are not declared by the `_id` convention."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from hornbeam.arguments import file_path
from hornbeam.errors import StorageError, UsageError
from hornbeam.relational.loading.found import Found, choose_tables
from hornbeam.table.readers import read_path

_ENDINGS = (".csv", ".csv.gz", ".parquet")


def read_csv_folder(folder: str | os.PathLike[str], tables: Sequence[str] | None) -> Found:
    """Each file (.csv, .csv.gz, .parquet) is a table of its name."""
    shown = file_path("folder", folder)
    if not Path(shown).is_dir():
        raise StorageError(f"{shown!r} is no folder; give one that holds a CSV file for each table")
    paths: dict[str, Path] = {}
    for path in sorted(Path(shown).iterdir()):
        ending = next((ending for ending in _ENDINGS if path.name.lower().endswith(ending)), None)
        if ending is None or not path.is_file():
            continue
        name = path.name[: -len(ending)]
        if name in paths:
            raise UsageError(f"{shown!r} holds table {name!r} twice: {paths[name].name} and {path.name}")
        paths[name] = path
    chosen = choose_tables(repr(shown), list(paths), tables)
    frames = {name: read_path(paths[name]) for name in chosen}
    keys = {name: key for name in chosen if (key := _key(name, frames[name])) is not None}
    references = {name: _references(name, frames[name], keys) for name in chosen}
    return Found(frames, keys, references, "by its name", _spoilt_keys(frames, keys))


def _key(table: str, frame: Any) -> str | None:
    """`loan_id` or `id` in table loan or loans, where no value stands twice and none is missing."""
    for column in _called_keys(table, frame):
        cells = frame.column(column)
        if not cells.null_count and _n_distinct(cells) == len(cells):
            return column
    return None


def _called_keys(table: str, frame: Any) -> list[str]:
    return [
        str(column)
        for column in frame.column_names
        if column == "id" or (column.endswith("_id") and column[:-3] in _singular(table))
    ]


def _n_distinct(cells: Any) -> int:
    """How many values a column has, NULL left out."""
    return len(pc.unique(cells.drop_null()))


def _spoilt_keys(frames: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, str]:
    """Tables that others refer to by their names, and why what is called as their key is none."""
    called = {name: _called_keys(name, frame) for name, frame in frames.items() if name not in keys}
    would = {**keys, **{name: columns[0] for name, columns in called.items() if columns}}
    spoilt: dict[str, str] = {}
    for name, frame in frames.items():
        for column, to in _references(name, frame, would).items():
            if to not in keys and to != name:
                why = _not_a_key(frames[to].column(would[to]))
                spoilt.setdefault(
                    to, f"{would[to]!r} is no key, for {why}; so {name}.{column} refers to nothing"
                )
    return spoilt


def _not_a_key(cells: Any) -> str:
    repeated = len(cells) - cells.null_count - _n_distinct(cells)
    reasons = [f"{cells.null_count:,} of {len(cells):,} rows have none"] * (cells.null_count > 0)
    reasons += [f"{repeated:,} of {len(cells):,} rows repeat a value"] * (repeated > 0)
    return " and ".join(reasons)


def _singular(table: str) -> set[str]:
    """A table's name, and what it may be the plural of."""
    names = {table}
    if table.endswith("s"):
        names.add(table[:-1])
    if table.endswith("es"):
        names.add(table[:-2])
    if table.endswith("ies"):
        names.add(f"{table[:-3]}y")
    return names


def _references(table: str, frame: Any, keys: Mapping[str, str]) -> dict[str, str]:
    """`account_id`, `old_account_id` and `account2_id` refer to table account, or accounts, by its key."""
    found: dict[str, str] = {}
    for column in frame.column_names:
        if not column.endswith("_id") or keys.get(table) == column:
            continue
        name = re.sub(r"\d+$", "", column[:-3])
        to = [
            other
            for other in keys
            if any(name == one or name.endswith(f"_{one}") for one in _singular(other))
        ]
        exact = [other for other in to if name in _singular(other)]
        if len(exact or to) == 1:
            found[column] = (exact or to)[0]
    return found
