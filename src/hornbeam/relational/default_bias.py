"""The bias that keys and references suggest: attributes of the examples, of what they refer to, and of what
refers to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.logic import ABOVE, AT_MOST, Value
from hornbeam.relational.target_tables import CountColumn, TargetTables
from hornbeam.table.columns import Cells

_ANY = Placemarker(Sign.ANYTHING)
_THRESHOLD = Placemarker(Sign.CONSTANT)

Patterns = tuple[Pattern, ...]


def default_bias(data: TargetTables, *, max_hops: int, top: int, counts: bool, self_join: bool) -> Bias:
    """Modes for one target. Tests are joined to the example by their references, so nothing is asked of rows
    that have nothing to do with it."""
    for option, value, least in (("max_hops", max_hops, 0), ("top", top, 1)):
        if not isinstance(value, int) or value < least:
            raise UsageError(f"{option}={value!r}; a number of at least {least} is needed")
    return _BiasBuilder(data, top, data.counts if counts else (), self_join).bias(max_hops)


@dataclass(frozen=True)
class _Row:
    """A row that tests may ask about: the variable of its key, and what is known of its columns.

    `way` are the literals that lead to it, `hops` how many references tests may still follow from it,
    `came_by` the reference that is not followed back. An example has only one row that is `determinate`.
    """

    table: str
    variable: str
    places: Mapping[str, Placemarker]
    hops: int
    way: Patterns = ()
    came_by: tuple[str, str] | None = None
    determinate: bool = False


class _BiasBuilder:
    """Walks from the examples along the references and collects modes."""

    def __init__(
        self, view: TargetTables, top: int, counts: tuple[CountColumn, ...], self_join: bool
    ) -> None:
        self._view, self._data = view, view.data
        self._top, self._counts, self._self_join = top, counts, self_join
        self._used: dict[str, tuple[str, ...]] = {}
        self._modes: dict[Mode, None] = {}
        self._lookaheads: dict[LookaheadDeclaration, None] = {}

    def bias(self, max_hops: int) -> Bias:
        view = self._view
        example = self._known(_Row(view.table, "Key", {}, max_hops, determinate=True))
        self._offer(self._attributes(example))
        self._beside(example)
        self._children(view.table, "Key", max_hops)
        if not self._modes:
            raise DataError(
                f"target {view.target!r}: no column of {view.table!r} and no table linked to it can be "
                "asked about; declare references, or exclude less"
            )
        key_type = self._data.type_of(view.table, view.key)
        return Bias(key_type, self._used, tuple(self._modes), tuple(self._lookaheads), 1, view.target)

    def _offer(self, found: Iterable[Patterns]) -> None:
        self._modes |= dict.fromkeys(map(Mode, found))

    def _literal(self, table: str, places: Mapping[str, Placemarker]) -> Pattern:
        columns = self._view.columns_of(table)
        self._used[table] = tuple(self._data.type_of(table, column) for column in columns)
        return Pattern(table, tuple(places.get(column, _ANY) for column in columns))

    def _known(self, row: _Row) -> _Row:
        """The row as one that is known by its key."""
        places = self._owned(row.table, {self._data.keys[row.table]: Placemarker(Sign.OLD, row.variable)})
        return replace(row, places=places)

    def _owned(self, table: str, places: dict[str, Placemarker]) -> dict[str, Placemarker]:
        """The places with the example's key where the table holds it: engines find the rows by it."""
        key = self._view.owners[table].key
        return {key: Placemarker(Sign.OLD, "Key"), **places} if key is not None else places

    # conditions on a row, and on the rows that it refers to

    def _attributes(self, row: _Row) -> Iterator[Patterns]:
        """Conditions on a row and on the rows that it refers to: there is one of each."""
        yield from self._conditions(row)
        yield from self._parents(row)

    def _conditions(self, row: _Row) -> Iterator[Patterns]:
        """One condition on one column of a row: a constant, or a threshold; both ways where rows are many."""
        for column in self._plain_columns(row.table):
            cells = self._data.tables[row.table].cells(column)
            if cells.type == "nominal":
                constants = self._constants(cells)
                if constants:
                    listed = Placemarker(Sign.CONSTANT, None, constants)
                    yield (*row.way, self._literal(row.table, {**row.places, column: listed}))
                continue
            value = Placemarker(Sign.NEW, "Value")
            literal = self._literal(row.table, {**row.places, column: value})
            for comparison in (AT_MOST,) if row.determinate else (AT_MOST, ABOVE):
                yield *row.way, literal, Pattern(comparison, (Placemarker(Sign.OLD, "Value"), _THRESHOLD))

    def _plain_columns(self, table: str) -> list[str]:
        """Columns that say something of a row: no key, no reference, no time, none with a type of its own."""
        data = self._data
        left_out = {*data.references[table], data.keys.get(table), data.time_columns.get(table)}
        if table == self._view.table and isinstance(data.example_time, str):
            left_out.add(data.example_time)
        left_out |= {name.partition(".")[2] for name in data.types if name.partition(".")[0] == table}
        return [column for column in self._view.columns_of(table) if column not in left_out]

    def _constants(self, cells: Cells) -> tuple[Value, ...]:
        """The most frequent labels that stand in more than one row, by their order."""
        frequent = np.bincount(cells.values[cells.values >= 0], minlength=len(cells.labels))
        places = np.argsort(-frequent, kind="stable")[: self._top]
        return tuple(cells.labels[i] for i in sorted(places.tolist()) if frequent[i] > 1)

    def _parents(self, row: _Row) -> Iterator[Patterns]:
        """Conditions on the rows that a row refers to, which are its attributes."""
        for to, literal in self._followed(row):
            way = (*row.way, literal)
            parent = _Row(
                to, _parent_variable(to, row.variable), {}, row.hops - 1, way, None, row.determinate
            )
            yield from self._attributes(self._known(parent))

    def _followed(self, row: _Row) -> Iterator[tuple[str, Pattern]]:
        """The references of a row that tests may follow, not back and to no other example: the table, and the
        literal that binds the row that is referred to."""
        known = self._view.columns_of(row.table)
        for column, to in self._data.references[row.table].items():
            if (
                row.hops >= 1
                and (row.table, column) != row.came_by
                and to != self._view.table
                and column in known
            ):
                variable = Placemarker(Sign.NEW, _parent_variable(to, row.variable))
                yield to, self._literal(row.table, {**row.places, column: variable})

    def _beside(self, row: _Row) -> None:
        """Modes for rows of shared tables that refer to what a row refers to: payments of its account."""
        if row.hops < 2:
            return
        for to, literal in self._followed(row):
            for child, by in self._data.children(to):
                owners = self._view.owners[child]
                known = by in self._view.columns_of(child)
                if known and child != row.table and owners.hops < 0 and not owners.torn:
                    self._rows_of_parent(child, by, _parent_variable(to, row.variable), literal, row.hops - 2)

    def _rows_of_parent(self, child: str, by: str, parent: str, literal: Pattern, hops: int) -> None:
        """Modes for a row that refers to a known one, each with the way there; then for what it is like."""
        row = _Row(child, _variable(child), self._fresh(child, by, parent), hops, (literal,), (child, by))
        self._offer([(literal, self._literal(child, row.places)), *self._conditions(row)])
        if self._has_own_key(child, by):
            self._offer(self._attributes(self._known(_Row(child, row.variable, {}, hops, (), row.came_by))))

    # rows that refer to a row

    def _children(self, table: str, name: str, hops: int) -> None:
        """Modes for the rows that refer to a row, and lookaheads from each of them."""
        if hops < 1:
            return
        for count in self._counts:
            if count.parent == table:
                self._offer(self._counting(count, name))
        for child, column in self._data.children(table):
            owners = self._view.owners[child]
            seen = owners.owner is not None or owners.torn
            if seen and column in self._view.columns_of(child) and child != self._view.table:
                self._child(child, column, name, hops - 1)

    def _counting(self, count: CountColumn, name: str) -> Iterator[Patterns]:
        """`count(child) >= k`, as more than a threshold; for rows that may be many also at most."""
        key_type = self._data.type_of(count.parent, self._data.keys[count.parent])
        self._used[count.name] = key_type, count.name
        counted = Pattern(count.name, (Placemarker(Sign.OLD, name), Placemarker(Sign.NEW, "Count")))
        for comparison in (ABOVE,) if count.parent == self._view.table else (ABOVE, AT_MOST):
            yield counted, Pattern(comparison, (Placemarker(Sign.OLD, "Count"), _THRESHOLD))

    def _child(self, child: str, column: str, name: str, hops: int) -> None:
        """Modes for rows that refer to a row: that there is one, one condition on it, and what leads on."""
        came_by = (child, column)
        row = _Row(child, _variable(child), self._fresh(child, column, name), hops, (), came_by)
        there = self._literal(child, row.places)
        self._offer([(there,)])
        self._offer(self._conditions(row))
        self._offer(self._parents(row))
        self._beside(row)
        if not self._has_own_key(child, column):
            for other, to in self._linked(child, column):
                if hops > 0 and to != self._view.table:
                    linked = _Row(to, _linked_variable(to, other), {}, hops - 1, (), came_by)
                    self._offer(self._attributes(self._known(linked)))
            return
        self._offer(self._attributes(self._known(row)))
        if self._self_join and hops > 0:
            self._same_parent(child, column)
        places = (Placemarker(Sign.OLD, place.name) if place.name else _ANY for place in there.places)
        self._look_further(child, row.variable, Pattern(child, tuple(places)), hops)
        self._children(child, row.variable, hops)

    def _same_parent(self, child: str, column: str) -> None:
        """A reference followed and straight back: another row of the example that refers to the same row."""
        key, variable = self._data.keys[child], _variable(child)
        for other, to in self._linked(child, column):
            shared = _linked_variable(to, other)
            known = {key: Placemarker(Sign.OLD, variable), other: Placemarker(Sign.NEW, shared)}
            again = {key: Placemarker(Sign.NEW, f"Other_{variable}"), other: Placemarker(Sign.OLD, shared)}
            rows = (self._literal(child, self._owned(child, places)) for places in (known, again))
            self._offer([tuple(rows)])

    def _fresh(self, child: str, column: str, name: str) -> dict[str, Placemarker]:
        """Places of a row that refers to a known one. Where it has no key of its own, the rows that it links
        are what later tests can ask about."""
        places = {**self._owned(child, {}), column: Placemarker(Sign.OLD, name)}
        if self._has_own_key(child, column):
            places[self._data.keys[child]] = Placemarker(Sign.NEW, _variable(child))
            return places
        for other, to in self._linked(child, column):
            places[other] = Placemarker(Sign.NEW, _linked_variable(to, other))
        return places

    def _has_own_key(self, table: str, column: str) -> bool:
        key = self._data.keys.get(table)
        return key is not None and key != column and key in self._view.columns_of(table)

    def _linked(self, child: str, column: str) -> list[tuple[str, str]]:
        """The other references of a row, but those to its own example."""
        known, own = self._view.columns_of(child), (column, self._view.owners[child].key)
        references = self._data.references[child].items()
        return [(other, to) for other, to in references if other in known and other not in own]

    def _look_further(self, child: str, variable: str, there: Pattern, hops: int) -> None:
        """From a row that refers to the example, one condition on a row that refers to that row."""
        if hops < 1:
            return
        for count in self._counts:
            if count.parent == child:
                self._look_ahead(there, self._counting(count, variable))
        for further, column in self._data.children(child):
            owned = self._view.owners[further].owner is not None and further != self._view.table
            if owned and column in self._view.columns_of(further):
                row = _Row(further, _variable(further), self._fresh(further, column, variable), 0)
                self._look_ahead(there, [(self._literal(further, row.places),)])
                self._look_ahead(there, self._conditions(row))

    def _look_ahead(self, after: Pattern, found: Iterable[Patterns]) -> None:
        self._lookaheads |= {LookaheadDeclaration(after, patterns): None for patterns in found}


def _parent_variable(table: str, name: str) -> str:
    return _variable(table) if name == "Key" else f"{_variable(table)}_of_{name}"


def _linked_variable(table: str, column: str) -> str:
    return f"{_variable(table)}_by_{_variable(column)}"


def _variable(table: str) -> str:
    """The name of a table as that of a variable."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in table)
    return plain[:1].upper() + plain[1:] if plain[:1].isalpha() else f"Row_{plain}"
