"""From typed columns to codes: one domain for each type, and all columns of a type coded by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.records import MISSING, Coded, Codes, Domain, Examples, Relation
from hornbeam.table.classes import encode_classes
from hornbeam.table.columns import Array, Cells
from hornbeam.table.convert import nearest_floats
from hornbeam.table.schema import list_names
from hornbeam.table.storage import INT64_MIN, parse_type

Task: TypeAlias = Literal["classification", "regression"]
Rows: TypeAlias = npt.NDArray[np.int64]

_LARGEST_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class TypedTable:
    """A table with a type for each column. `rows` are those that examples may see (None: all), `owner` is the
    example of each of them (None: all examples share them), `key` the column that holds the example's key."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    cells: tuple[Cells, ...]
    rows: Rows | None = None
    owner: Codes | None = None
    key: int | None = None
    row_key: int | None = None
    counts: tuple[str, str] | None = None


@dataclass(frozen=True, eq=False)
class TypedExamples:
    """The keys of the examples, and the column that is predicted, if it is there.

    `classes` fixes the order of the classes; without it they are sorted.
    """

    key_type: str
    keys: tuple[str, Cells]
    target_name: str | None = None
    target: Cells | None = None
    classes: tuple[Any, ...] | None = None
    ties_to_last: bool = False


@dataclass(frozen=True, eq=False)
class Arranged:
    """Tables ready to be coded."""

    examples: TypedExamples
    tables: tuple[TypedTable, ...]


def code(arranged: Arranged, task: Task | None = None) -> Coded:
    """Codes for all of it; `task` is what the target is for, by default what its values suggest."""
    where, cells = arranged.examples.keys
    # A column may stand in several relations (a key also in what counts its children): it is coded once.
    of_type: dict[str, dict[int, tuple[str, Cells]]] = {
        arranged.examples.key_type: {id(cells): (where, cells)}
    }
    for table in arranged.tables:
        for column, type_, cells in zip(table.columns, table.types, table.cells, strict=True):
            of_type.setdefault(type_, {}).setdefault(id(cells), (f"{table.name}.{column}", cells))
    domains: dict[str, Domain] = {}
    codes: dict[int, Codes] = {}
    for type_, columns in of_type.items():
        domains[type_], coded = code_type(type_, list(columns.values()))
        codes |= dict(zip(columns, coded, strict=True))
    relations = {table.name: _relation(table, codes) for table in arranged.tables}
    keys = domains[arranged.examples.key_type].values[codes[id(arranged.examples.keys[1])]]
    return Coded(_examples(arranged.examples, keys, task), domains, relations)


def _relation(table: TypedTable, codes: Mapping[int, Codes]) -> Relation:
    columns = tuple(codes[id(cells)] for cells in table.cells)
    if table.rows is not None:
        columns = tuple(column[table.rows] for column in columns)
    return Relation(
        table.name,
        table.columns,
        table.types,
        columns,
        table.owner,
        table.key,
        table.row_key,
        table.counts,
    )


def _examples(given: TypedExamples, keys: Array, task: Task | None) -> Examples:
    if given.target is None:
        return Examples(
            keys, given.target_name, task or "classification", given.classes or (), None, given.ties_to_last
        )
    found: Task = "classification" if given.target.type == "nominal" or given.classes else "regression"
    task = task or found
    name = given.target_name or "target"
    if task == "regression":
        return Examples(keys, name, task, (), _numbers_of(given.target, name))
    classes, target = _classes_of(given, name)
    return Examples(keys, name, task, classes, target, given.ties_to_last)


def _numbers_of(cells: Cells, name: str) -> Array:
    if cells.type == "nominal" and cells.source != "null":
        raise DataError(
            f"target {name!r} holds text where numbers are needed; use a classifier, or convert it to numbers"
        )
    if cells.source == "null":
        return np.full(len(cells.values), np.nan)
    if parse_type(cells.type).group != "number":
        raise DataError(
            f"target {name!r} holds {parse_type(cells.type).description} where numbers are needed; "
            "convert it to numbers"
        )
    numbers = _numbers(cells, name).astype(np.float64)
    numbers[~cells.known()] = np.nan
    if np.isinf(numbers).any():
        raise DataError(f"target {name!r} holds an infinite number; leave such examples out")
    return numbers


def _classes_of(given: TypedExamples, name: str) -> tuple[tuple[Any, ...], Codes]:
    assert given.target is not None
    known = given.target.known()
    labels = _labels(given.target, name)
    if given.classes is None:
        try:
            codes, classes = encode_classes(labels[known])
        except DataError as error:
            raise DataError(f"target {name!r}: {error}") from None
        target = np.full(len(known), MISSING, dtype=np.int32)
        target[known] = codes
        return tuple(classes.tolist()), target
    place = {label: i for i, label in enumerate(given.classes)}
    for label in dict.fromkeys(labels[known].tolist()):
        if label not in place:
            raise DataError(
                f"target {name!r} holds {label!r}, which is none of the classes "
                f"{list_names([str(c) for c in given.classes])}; add it to them"
            )
    coded = [place[label] if there else MISSING for label, there in zip(labels, known, strict=True)]
    return given.classes, np.array(coded, dtype=np.int32)


def _labels(cells: Cells, name: str) -> Array:
    """The cells as class labels: text, truth values or numbers."""
    if cells.type != "nominal":
        return _numbers(cells, name)
    if cells.source == "boolean":
        return np.array([label == "true" for label in cells.labels] + [False])[cells.values]
    return _texts([*cells.labels, ""])[cells.values]


def code_type(name: str, columns: Sequence[tuple[str, Cells]]) -> tuple[Domain, list[Codes]]:
    """The domain of a type, and the codes of its columns, each given with its place for errors."""
    known = [(where, cells) for where, cells in columns if cells.source != "null"]
    nominal = [where for where, cells in known if cells.type == "nominal"]
    if not known or len(nominal) == len(known):
        return _code_labels(name, columns)
    if nominal:
        number = next(where for where, cells in known if cells.type != "nominal")
        raise DataError(
            f"{nominal[0]} holds text and {number} holds {_description(dict(known)[number])}, both of type "
            f"{name!r}; give the columns one type"
        )
    return _code_numbers(name, columns, known)


def _description(cells: Cells) -> str:
    return parse_type(cells.type).description


def _texts(labels: Sequence[str]) -> Array:
    return np.fromiter(labels, dtype=object, count=len(labels))


def _all_labels(runs: Sequence[Sequence[str]]) -> Sequence[str]:
    """All labels by their UTF-8 bytes, as those of each column are already. Mostly the longest run has all:
    references hold keys, and then nothing is sorted."""
    longest = max(runs, key=len, default=())
    known = {label for label in longest}  # unlike set(longest) it hears a signal
    others = {label for run in runs if run is not longest for label in run if label not in known}
    return sorted([*longest, *sorted(others)]) if others else longest


def _code_labels(name: str, columns: Sequence[tuple[str, Cells]]) -> tuple[Domain, list[Codes]]:
    labels = _all_labels([cells.labels for _, cells in columns])
    boolean = bool(columns) and all(cells.source == "boolean" for _, cells in columns)
    domain = Domain(name, "nominal", _texts(labels), "boolean" if boolean else "")
    place = {label: i for i, label in enumerate(labels)}
    codes: list[Codes] = []
    for _, cells in columns:
        moved = np.array([place[label] for label in cells.labels] + [MISSING], dtype=np.int32)
        codes.append(moved[cells.values])
    return domain, codes


def _code_numbers(
    name: str, columns: Sequence[tuple[str, Cells]], known: Sequence[tuple[str, Cells]]
) -> tuple[Domain, list[Codes]]:
    values = _alike(name, known)
    parts = [array[cells.known()] for (_, cells), array in zip(known, values, strict=True)]
    distinct, inverse = np.unique(np.concatenate(parts), return_inverse=True)
    storage = parse_type(known[0][1].type)
    domain = Domain(name, "numeric", distinct, "" if storage.group == "number" else known[0][1].type)
    codes: list[Codes] = []
    start = 0
    for _, cells in columns:
        coded = np.full(len(cells.values), MISSING, dtype=np.int32)
        if cells.source != "null":
            there = cells.known()
            stop = start + int(there.sum())
            coded[there] = inverse[start:stop]
            start = stop
        codes.append(coded)
    return domain, codes


def _alike(name: str, known: Sequence[tuple[str, Cells]]) -> list[Array]:
    """The columns' numbers in one dtype, exactly; dates and times as the codes of their one storage."""
    storages = {cells.type for _, cells in known}
    if any(parse_type(type_).group != "number" for type_ in storages):
        if len(storages) > 1:
            places = ", ".join(f"{where} ({cells.type})" for where, cells in known[:4])
            raise DataError(f"columns of type {name!r} differ: {places}; give them one type")
        return [cells.values for _, cells in known]
    values = [_numbers(cells, where) for where, cells in known]
    if len({array.dtype for array in values}) == 1:
        return values
    if all(_whole(array, cells) for array, (_, cells) in zip(values, known, strict=True)):
        return [np.nan_to_num(array).astype(np.int64) for array in values]
    for array, (where, _) in zip(values, known, strict=True):
        if array.dtype == np.int64 and len(array) and max(-int(array.min()), int(array.max())) > 2**53:
            raise DataError(
                f"{where} holds integers beyond 2^53 and shares type {name!r} with fractions; "
                "give the columns one type"
            )
    return [array.astype(np.float64) for array in values]


def _whole(array: Array, cells: Cells) -> bool:
    """Whether all numbers are integers that a double holds exactly: keys beside NULL become floats."""
    if array.dtype == np.int64:
        return True
    there = array[cells.known()]
    return bool(((np.abs(there) <= _LARGEST_EXACT) & (there == np.floor(there))).all())


def _numbers(cells: Cells, where: str) -> Array:
    """The numbers of a column as int64 or float64; decimals as the nearest double."""
    storage = parse_type(cells.type)
    if storage.family == "decimal":
        return nearest_floats(cells)
    if storage.family != "unsigned":
        return cells.values
    if (cells.values[cells.known()] >= 0).any():  # a code at or above 0 is a value at or above 2^63
        raise DataError(f"{where} holds integers at or above 2^63; keep them as text")
    return cells.values - INT64_MIN


def check_task(task: str | None) -> None:
    """Refuse what is no task."""
    if task not in (None, "classification", "regression"):
        raise UsageError(f"task={task!r}; allowed are 'classification' and 'regression'")
