"""Tables with the keys and references that a database or names of columns tell; what is declared wins."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hornbeam.errors import UsageError
from hornbeam.relational.linked import Keys, References, check_shapes
from hornbeam.table.schema import list_names


@dataclass(frozen=True)
class Found:
    """Frames by table, and what was found of keys and references; `how` says in a few words by what.

    `spoilt` says of tables that others refer to by name why what is called as their key is none. `origins`
    has `how` for each find (`table.column`) that no declaration replaced.
    """

    frames: Mapping[str, Any]
    keys: Keys
    references: References
    how: str = ""
    spoilt: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)


def declared_over(found: Found, keys: Keys | None, references: References | None) -> Found:
    """What was found, with what is declared in its place, column by column; None takes a find away."""
    keys, references = checked_links(keys, references)
    for option, given in (("keys", keys), ("references", references)):
        unknown = [table for table in given if table not in found.frames]
        if unknown:
            raise UsageError(
                f"{option} names table {unknown[0]!r}; tables are {list_names(list(found.frames))}"
            )
    all_keys = _merged(found.keys, keys)
    linked: dict[str, dict[str, str]] = {}
    for table in found.frames:
        known = {column: to for column, to in found.references.get(table, {}).items() if to in all_keys}
        linked[table] = _merged(known, references.get(table, {}))
    declared = _columns_in(keys, references)
    origins = {name: found.how for name in _columns_in(found.keys, found.references) if name not in declared}
    for table, text in found.spoilt.items():
        if table not in keys:
            warnings.warn(
                f"table {table!r}: {text}; mend the column, or name the key of the table (None: it has none)",
                stacklevel=3,
            )
    return Found(found.frames, all_keys, linked, origins=origins)


def checked_links(keys: Keys | None, references: References | None) -> tuple[Keys, References]:
    """What is declared, where it is declared in the right form; None declares nothing."""
    keys, references = {} if keys is None else keys, {} if references is None else references
    check_shapes(keys=keys, references=references)
    return keys, references


def _columns_in(keys: Keys, references: References) -> list[str]:
    """The columns, `table.column`, that keys and references name."""
    links = [(table, column) for table, columns in references.items() for column in columns]
    return [f"{table}.{column}" for table, column in (*keys.items(), *links)]


def _merged(found: Mapping[str, str], given: Mapping[str, str | None]) -> dict[str, str]:
    """What was found, with what was given in its place; None takes it away."""
    both = {**found, **given}
    return {name: value for name, value in both.items() if value is not None}


def choose_tables(place: str, there: list[str], wanted: Sequence[str] | None) -> list[str]:
    """The tables to read: all, or those that were named."""
    if not there:
        raise UsageError(f"{place} holds no tables")
    for table in wanted or ():
        if table not in there:
            raise UsageError(f"{place} has no table {table!r}; its tables are {list_names(there)}")
    return [table for table in there if wanted is None or table in wanted]
