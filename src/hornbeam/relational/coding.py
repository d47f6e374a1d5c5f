"""Typed columns and how they become codes: types by a bias, one domain for each type, codes by the domain."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.bias import Bias, Pattern, Sign, fault_of
from hornbeam.relational.database import MISSING, Coded, Codes, Domain, Examples, Relation
from hornbeam.relational.logic import ABOVE, AT_MOST, COMPARISONS
from hornbeam.table.classes import encode_classes
from hornbeam.table.columns import Array, Cells
from hornbeam.table.convert import nearest_floats
from hornbeam.table.schema import list_names
from hornbeam.table.storage import INT64_MIN, parse_type

Task: TypeAlias = Literal["classification", "regression"]

_LARGEST_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class TypedData:
    """Relations of typed columns, the keys of the examples and the column to predict, if it is there.

    `classes` fixes the order of the classes; without it they are sorted.
    """

    key_type: str
    keys: tuple[str, Cells]
    """The place of the keys, for errors, and the keys."""
    target_name: str
    target: Cells | None
    relations: tuple[Relation[Cells], ...]
    classes: tuple[Any, ...] | None = None
    ties_to_last: bool = False

    def typed_by(self, bias: Bias) -> TypedData:
        """The data with the types that a bias gives columns: columns of one type can be joined."""
        for relation in self.relations:
            _check_columns(bias, relation)
        relations = {of.name: replace(of, types=bias.types[of.name]) for of in self.relations}
        text_columns: dict[str, str] = {}
        for relation in relations.values():
            for column, type_, cells in zip(relation.columns, relation.types, relation.data, strict=True):
                if cells.type == "nominal" and cells.source != "null":
                    text_columns.setdefault(type_, f"{relation.name}.{column}")
        declared: list[tuple[str, tuple[Pattern, ...], Pattern | None]]
        declared = [(f"mode {i}", mode.patterns, None) for i, mode in enumerate(bias.modes, 1)]
        declared += [(f"lookahead {i}", of.patterns, of.after) for i, of in enumerate(bias.lookaheads, 1)]
        for name, patterns, after in declared:
            fault = fault_of(patterns, bias.types)
            if fault is not None:
                raise DataError(f"{name} of the bias: {fault}")
            _check_patterns(f"{name} of the bias", patterns, relations, text_columns, after)
        return replace(self, key_type=bias.key_type, relations=tuple(relations.values()))

    def narrowed(self, columns: Mapping[str, Sequence[str]]) -> TypedData:
        """The relations with the columns that are named, in that order; other columns are not looked at."""
        relations = (_narrow(of, columns.get(of.name, of.columns)) for of in self.relations)
        return replace(self, relations=tuple(relations))

    def coded(self, task: Task | None = None) -> Coded:
        """Codes for all of it; `task` is what the target is for, by default what its values suggest."""
        # A column may stand in several relations (a key also in what counts its children): it is coded once.
        of_type: dict[str, dict[int, tuple[str, Cells]]] = {self.key_type: {id(self.keys[1]): self.keys}}
        for relation in self.relations:
            for column, type_, cells in zip(relation.columns, relation.types, relation.data, strict=True):
                of_type.setdefault(type_, {}).setdefault(id(cells), (f"{relation.name}.{column}", cells))
        domains: dict[str, Domain] = {}
        codes: dict[int, Codes] = {}
        for type_, columns in of_type.items():
            domains[type_], coded = code_type(type_, list(columns.values()))
            codes |= dict(zip(columns, coded, strict=True))
        relations = {relation.name: _coded_relation(relation, codes) for relation in self.relations}
        keys = domains[self.key_type].values[codes[id(self.keys[1])]]
        return Coded(self._examples(keys, task), domains, relations, self.key_type)

    def _examples(self, keys: Array, task: Task | None) -> Examples:
        name, target, classes = self.target_name, self.target, self.classes
        if target is None:
            return Examples(keys, name, task or "classification", classes or (), None, self.ties_to_last)
        found: Task = "classification" if target.type == "nominal" or classes else "regression"
        if (task or found) == "regression":
            return Examples(keys, name, "regression", (), _numbers_of(target, name))
        return Examples(keys, name, "classification", *_classes_of(target, classes, name), self.ties_to_last)


def _narrow(relation: Relation[Cells], columns: Sequence[str]) -> Relation[Cells]:
    absent = [column for column in columns if column not in relation.columns]
    if absent:
        raise DataError(
            f"table {relation.name!r} has no column {absent[0]!r}, which the model knows it by; its columns "
            f"are {', '.join(relation.columns)}"
        )
    places = [relation.columns.index(column) for column in columns]
    moved = {old: new for new, old in enumerate(places)}
    return replace(
        relation,
        columns=tuple(columns),
        types=tuple(relation.types[i] for i in places),
        data=tuple(relation.data[i] for i in places),
        key=None if relation.key is None else moved.get(relation.key),
        row_key=None if relation.row_key is None else moved.get(relation.row_key),
    )


def _check_columns(bias: Bias, relation: Relation[Cells]) -> None:
    declared = bias.types[relation.name]
    if len(declared) != len(relation.columns):
        raise DataError(
            f"the bias gives {relation.name!r} {len(declared)} columns and the data has "
            f"{len(relation.columns)}: {', '.join(relation.columns)}"
        )
    if relation.key is not None and declared[relation.key] != bias.key_type:
        raise DataError(
            f"{relation.name}.{relation.columns[relation.key]} holds the keys of the examples and has type "
            f"{declared[relation.key]!r}; the examples' type is {bias.key_type!r}"
        )


def _check_patterns(
    declaration: str,
    patterns: Sequence[Pattern],
    relations: Mapping[str, Relation[Cells]],
    text_columns: Mapping[str, str],
    after: Pattern | None,
) -> None:
    """The key's place holds the key (`_` will do where a literal is recognised), and no threshold cuts
    labels, which have no order."""
    at_key: dict[bool, Collection[Sign]] = {False: (Sign.OLD,), True: (Sign.OLD, Sign.ANYTHING)}
    types: dict[str | None, str] = {}
    for pattern in patterns:
        if pattern.predicate in COMPARISONS:
            type_ = types.get(pattern.places[0].name, "")
            if pattern.predicate in (AT_MOST, ABOVE) and type_ in text_columns:
                raise DataError(
                    f"{declaration}: {pattern.places[0].name} is of type {type_!r} and has no order, "
                    f"for {text_columns[type_]} holds text; ask with = instead of "
                    f"{pattern.predicate}, or give numbers or times"
                )
            continue
        relation = relations[pattern.predicate]
        types |= {place.name: type_ for place, type_ in zip(pattern.places, relation.types, strict=True)}
        if relation.key is not None and pattern.places[relation.key].sign not in at_key[pattern is after]:
            raise DataError(
                f"{declaration} has {pattern.places[relation.key].sign.value} at "
                f"{relation.name}.{relation.columns[relation.key]}, which holds the example's key; "
                "write +Key there"
            )


def _coded_relation(relation: Relation[Cells], codes: Mapping[int, Codes]) -> Relation[Codes]:
    rows = slice(None) if relation.rows is None else relation.rows
    data = tuple(codes[id(cells)][rows] for cells in relation.data)
    return Relation(**{**vars(relation), "data": data, "rows": None})


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


def _classes_of(cells: Cells, classes: tuple[Any, ...] | None, name: str) -> tuple[tuple[Any, ...], Codes]:
    """The classes, sorted where they are not given, and the code of each cell."""
    known = cells.known()
    labels = _labels(cells, name)
    target = np.full(len(known), MISSING, dtype=np.int32)
    if classes is None:
        try:
            target[known], found = encode_classes(labels[known])
        except DataError as error:
            raise DataError(f"target {name!r}: {error}") from None
        return tuple(found.tolist()), target
    place = {label: i for i, label in enumerate(classes)}
    for label in dict.fromkeys(labels[known].tolist()):
        if label not in place:
            raise DataError(
                f"target {name!r} holds {label!r}, which is none of the classes "
                f"{list_names([str(c) for c in classes])}; add it to them"
            )
    target[known] = [place[label] for label in labels[known].tolist()]
    return classes, target


def _labels(cells: Cells, name: str) -> Array:
    """The cells as class labels: text, truth values or numbers."""
    if cells.type != "nominal":
        return _numbers(cells, name)
    if cells.source == "boolean":
        return np.array([label == "true" for label in cells.labels] + [False])[cells.values]
    return _texts([*cells.labels, ""])[cells.values]


def code_type(name: str, columns: Sequence[tuple[str, Cells]]) -> tuple[Domain, list[Codes]]:
    """The domain of a type, and the codes of its columns, each given with its place for errors."""
    known = [(column, cells) for column, cells in columns if cells.source != "null"]
    nominal = [column for column, cells in known if cells.type == "nominal"]
    if not known or len(nominal) == len(known):
        return _code_labels(name, columns)
    if nominal:
        number = next(column for column, cells in known if cells.type != "nominal")
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
    values = _in_one_dtype(name, known)
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


def _in_one_dtype(name: str, known: Sequence[tuple[str, Cells]]) -> list[Array]:
    """The columns' numbers in one dtype, exactly; dates and times as the codes of their one storage."""
    storages = {cells.type for _, cells in known}
    if any(parse_type(type_).group != "number" for type_ in storages):
        if len(storages) > 1:
            places = ", ".join(f"{column} ({cells.type})" for column, cells in known[:4])
            raise DataError(f"columns of type {name!r} differ: {places}; give them one type")
        return [cells.values for _, cells in known]
    values = [_numbers(cells, column) for column, cells in known]
    if len({array.dtype for array in values}) == 1:
        return values
    if all(_whole(array, cells) for array, (_, cells) in zip(values, known, strict=True)):
        return [np.nan_to_num(array).astype(np.int64) for array in values]
    for array, (column, _) in zip(values, known, strict=True):
        if array.dtype == np.int64 and len(array) and max(-int(array.min()), int(array.max())) > 2**53:
            raise DataError(
                f"{column} holds integers beyond 2^53 and shares type {name!r} with fractions; "
                "give the columns one type"
            )
    return [array.astype(np.float64) for array in values]


def _whole(array: Array, cells: Cells) -> bool:
    """Whether all numbers are integers that a double holds exactly: keys beside NULL become floats."""
    if array.dtype == np.int64:
        return True
    there = array[cells.known()]
    return bool(((np.abs(there) <= _LARGEST_EXACT) & (there == np.floor(there))).all())


def _numbers(cells: Cells, column: str) -> Array:
    """The numbers of a column as int64 or float64; decimals as the nearest double."""
    storage = parse_type(cells.type)
    if storage.family == "decimal":
        return nearest_floats(cells)
    if storage.family != "unsigned":
        return cells.values
    if (cells.values[cells.known()] >= 0).any():  # a code at or above 0 is a value at or above 2^63
        raise DataError(f"{column} holds integers at or above 2^63; keep them as text")
    return cells.values - INT64_MIN


def check_task(task: str | None) -> None:
    """Refuse a task that is neither None, classification nor regression."""
    if task is not None and (not isinstance(task, str) or task not in ("classification", "regression")):
        raise UsageError(f"task={task!r}; allowed are 'classification' and 'regression'")
