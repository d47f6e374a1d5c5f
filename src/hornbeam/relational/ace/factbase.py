"""Facts as typed tables: columns of a type are numbers where all of them are, else labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hornbeam.errors import DataError
from hornbeam.relational.ace.facts import Row
from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Placemarker
from hornbeam.relational.coding import TypedData
from hornbeam.relational.database import MISSING, Coded, Relation
from hornbeam.relational.logic import Value
from hornbeam.relational.signature import Signature
from hornbeam.table.columns import Array, Cells
from hornbeam.table.labels import nominal_from_text
from hornbeam.table.schema import list_names
from hornbeam.table.storage import format_float


def label_of(value: Value) -> str:
    """The label of a value where its type holds labels."""
    if isinstance(value, str):
        return value
    return format_float(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False)
class FactBase:
    """Rows of each predicate with the types of its columns; those in `keyed` hold the key first.

    `labels` are what is predicted of the examples, None where nothing is known.
    """

    key_type: str
    target: str
    types: Mapping[str, tuple[str, ...]]
    rows: Mapping[str, Sequence[Row]]
    keyed: frozenset[str]
    keys: tuple[Value, ...]
    labels: tuple[Value | None, ...] | None
    classes: tuple[Value, ...] | None
    shown: str
    numeric_types: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        text: set[str] = set()
        if any(isinstance(key, str) for key in self.keys):
            text.add(self.key_type)
        for name, types in self.types.items():
            for column, type_ in enumerate(types):
                if type_ not in text and any(isinstance(row[column], str) for row in self.rows[name]):
                    text.add(type_)
        used = {type_ for types in self.types.values() for type_ in types} | {self.key_type}
        object.__setattr__(self, "numeric_types", frozenset(used - text))

    def of_target(self, target: str) -> FactBase:
        """The facts themselves: what is predicted of the examples is part of them."""
        return self

    def signature(self, coded: Coded) -> Signature:
        return Signature.of(coded, named=False)

    def typed(self, wanted: Collection[str] | None) -> TypedData:
        """The predicates that are wanted as relations; rows of keys that are no examples are left out."""
        names = list(self.types) if wanted is None else list(wanted)
        unknown = [name for name in names if name not in self.types]
        if unknown:
            raise DataError(
                f"the bias names {unknown[0]!r}, which is no predicate of {self.shown}; there are "
                f"{list_names(list(self.types))}"
            )
        number = {key: i for i, key in enumerate(self.keys)}
        labels, classes = None, self.classes
        if self.labels is not None:
            text = any(isinstance(label, str) for label in (*self.labels, *(classes or ())))
            labels = cells_of(self.labels, numeric=not text)
        if classes is not None and any(isinstance(label, str) for label in classes):
            classes = tuple(label_of(label) for label in classes)
        return TypedData(
            self.key_type,
            (self.shown, self._cells(self.keys, self.key_type)),
            self.target,
            labels,
            tuple(self._relation(name, number) for name in names),
            classes,
            ties_to_last=True,
        )

    def _relation(self, name: str, number: Mapping[Value, int]) -> Relation[Cells]:
        types, rows = self.types[name], self.rows[name]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
        cells = tuple(self._cells(column, type_) for column, type_ in zip(columns, types, strict=True))
        if name not in self.keyed:
            return Relation(name, column_names(types), types, cells)
        owner = np.array([number.get(key, MISSING) for key in columns[0]], dtype=np.int32)
        kept = np.flatnonzero(owner != MISSING)
        return Relation(name, column_names(types), types, cells, owner[kept], 0, rows=kept)

    def _cells(self, values: Sequence[Value], type_: str) -> Cells:
        return cells_of(values, type_ in self.numeric_types)

    def describe(self, target: str | None) -> str:
        """Predicates, their types and rows, and who sees them."""
        width = max((len(name) for name in self.types), default=0)
        lines = [f"{len(self.keys)} examples of type {self.key_type}, target {self.target}"]
        for name, types in self.types.items():
            who = "of one example each" if name in self.keyed else "shared by all examples"
            lines.append(f"  {name:<{width}}  {len(self.rows[name]):>8,} facts  ({', '.join(types)})  {who}")
        return "\n".join(lines)


def cells_of(values: Sequence[Value | None], numeric: bool) -> Cells:
    """Values as a column of numbers or of labels; None is a missing value."""
    if not numeric:
        texts = [None if value is None else label_of(value) for value in values]
        return nominal_from_text(np.fromiter(texts, dtype=object, count=len(texts)), "a column of facts")
    if any(value is None or isinstance(value, float) for value in values):
        numbers: Array = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return Cells("float64", numbers)
    return Cells("int64", np.array(values, dtype=np.int64))


def column_names(types: Sequence[str]) -> tuple[str, ...]:
    """The types as names of columns, numbered where one stands again."""
    names: list[str] = []
    for type_ in types:
        count = sum(other == type_ for other in types[: len(names)])
        names.append(type_ if not count else f"{type_}_{count + 1}")
    return tuple(names)


def with_labels(bias: Bias, numeric: Collection[str]) -> Bias:
    """The bias with the constants of nominal types as labels."""
    modes = (Mode(_with_labels(mode.patterns, bias.types, numeric), mode.most) for mode in bias.modes)
    lookaheads = (_with_labels(ahead.patterns, bias.types, numeric) for ahead in bias.lookaheads)
    return replace(
        bias,
        modes=tuple(modes),
        lookaheads=tuple(LookaheadDeclaration(after, tuple(then)) for after, *then in lookaheads),
    )


def _with_labels(
    patterns: Sequence[Pattern], types: Mapping[str, tuple[str, ...]], numeric: Collection[str]
) -> tuple[Pattern, ...]:
    found: list[Pattern] = []
    names: dict[str | None, str | None] = {}
    for pattern in patterns:
        columns: Sequence[str | None] | None = types.get(pattern.predicate)
        if columns is None:  # a comparison: its constants are of its variable's type
            known = (names[place.name] for place in pattern.places if place.name in names)
            columns = (next(known, None),) * len(pattern.places)
        placed = list(zip(pattern.places, columns, strict=True))
        for place, type_ in placed:
            if place.name is not None and pattern.predicate in types:
                names.setdefault(place.name, type_)
        places = tuple(_place(place, type_, numeric) for place, type_ in placed)
        found.append(Pattern(pattern.predicate, places))
    return tuple(found)


def _place(place: Placemarker, type_: str | None, numeric: Collection[str]) -> Placemarker:
    if place.constants is None or type_ is None or type_ in numeric:
        return place
    return replace(place, constants=tuple(label_of(value) for value in place.constants))
