"""The bias that keys and references suggest: attributes of the examples, of what they refer to, and of what
refers to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.linked import CountColumn, LinkedTables
from hornbeam.relational.logic import ABOVE, AT_MOST, Value
from hornbeam.relational.ownership import Placed
from hornbeam.table.columns import Cells

_ANY = Placemarker(Sign.ANYTHING)
_THRESHOLD = Placemarker(Sign.CONSTANT)

Patterns = tuple[Pattern, ...]


def default_bias(
    data: LinkedTables, target: str, *, max_hops: int, top: int, counts: bool, self_join: bool
) -> Bias:
    """Modes for one target. Tests are joined to the example by their references, so nothing is asked of rows
    that have nothing to do with it."""
    for option, value, least in (("max_hops", max_hops, 0), ("top", top, 1)):
        if not isinstance(value, int) or value < least:
            raise UsageError(f"{option}={value!r}; a number of at least {least} is needed")
    table, _ = data.target_of(target)
    return _Maker(data, table, target, max_hops, top, counts, self_join).bias()


class _Maker:
    """Walks from the examples along the references and collects modes."""

    def __init__(
        self,
        data: LinkedTables,
        table: str,
        target: str,
        max_hops: int,
        top: int,
        counts: bool,
        self_join: bool,
    ) -> None:
        self._data = data
        self._links = data.links
        self._table = table
        self._target = target
        self._max_hops = max_hops
        self._top = top
        self._self_join = self_join
        self._placed: dict[str, Placed] = data.placed(table)
        self._counts = data.counts(table) if counts else ()
        self._used: dict[str, tuple[str, ...]] = {}
        self._modes: dict[Mode, None] = {}
        self._lookaheads: dict[LookaheadDeclaration, None] = {}

    def bias(self) -> Bias:
        self._offer(self._conditions_of(self._table, "Key", (), None, self._max_hops, determinate=True))
        own_row = {self._links.keys[self._table]: Placemarker(Sign.OLD, "Key")}
        self._beside(self._table, "Key", own_row, None, self._max_hops)
        self._children(self._table, "Key", self._max_hops)
        if not self._modes:
            raise DataError(
                f"target {self._target!r}: no column of {self._table!r} and no table linked to it can be "
                "asked about; declare references, or exclude less"
            )
        key_type = self._data.type_of(self._table, self._links.keys[self._table])
        return Bias(key_type, self._used, tuple(self._modes), tuple(self._lookaheads), 1, self._target)

    def _literal(self, table: str, places: dict[str, Placemarker]) -> Pattern:
        columns = self._data.columns_of(table, self._target)
        self._used[table] = tuple(self._data.type_of(table, column) for column in columns)
        return Pattern(table, tuple(places.get(column, _ANY) for column in columns))

    def _conditions(
        self, table: str, places: dict[str, Placemarker], determinate: bool
    ) -> Iterator[Patterns]:
        """One condition on one column of a row: a constant, or a threshold; both ways where rows are many."""
        for column in self._plain_columns(table):
            cells = self._links.tables[table].cells(column)
            if cells.type == "nominal":
                constants = self._constants(cells)
                if constants:
                    listed = Placemarker(Sign.CONSTANT, None, constants)
                    yield (self._literal(table, {**places, column: listed}),)
                continue
            variable = Placemarker(Sign.NEW, "Value")
            row = self._literal(table, {**places, column: variable})
            for comparison in (AT_MOST,) if determinate else (AT_MOST, ABOVE):
                yield row, Pattern(comparison, (Placemarker(Sign.OLD, "Value"), _THRESHOLD))

    def _plain_columns(self, table: str) -> list[str]:
        """Columns that say something of a row: no key, no reference, no time."""
        links = {*self._links.references.get(table, {}), self._links.keys.get(table)}
        times = {self._data.time_columns.get(table)}
        if table == self._table and isinstance(self._data.example_time, str):
            times.add(self._data.example_time)
        typed = {name.partition(".")[2] for name in self._data.types if name.partition(".")[0] == table}
        return [
            column
            for column in self._data.columns_of(table, self._target)
            if column not in links and column not in times and column not in typed
        ]

    def _constants(self, cells: Cells) -> tuple[Value, ...]:
        """The most frequent labels that stand in more than one row, by their order."""
        frequent = np.bincount(cells.values[cells.values >= 0], minlength=len(cells.labels))
        places = np.argsort(-frequent, kind="stable")[: self._top]
        return tuple(cells.labels[i] for i in sorted(places.tolist()) if frequent[i] > 1)

    def _offer(self, found: Iterable[Patterns]) -> None:
        for patterns in found:
            self._modes[Mode(patterns)] = None

    def _conditions_of(
        self,
        table: str,
        name: str,
        way: Patterns,
        came_by: tuple[str, str] | None,
        hops: int,
        determinate: bool,
    ) -> Iterator[Patterns]:
        """Conditions on a row that is known by its key, and on the rows that it refers to."""
        key = self._links.keys[table]
        known = {key: Placemarker(Sign.OLD, name)}
        for condition in self._conditions(table, self._owned(table, known), determinate):
            yield (*way, *condition)
        yield from self._parents(table, name, self._owned(table, known), way, came_by, hops, determinate)

    def _owned(self, table: str, places: dict[str, Placemarker]) -> dict[str, Placemarker]:
        """The places with the example's key where the table holds it: engines find the rows by it."""
        key = self._placed[table].key
        return {key: Placemarker(Sign.OLD, "Key"), **places} if key is not None else places

    def _parents(
        self,
        table: str,
        name: str,
        places: dict[str, Placemarker],
        way: Patterns,
        came_by: tuple[str, str] | None,
        hops: int,
        determinate: bool,
    ) -> Iterator[Patterns]:
        """Conditions on the rows that a row refers to: there is one of each, so they are its attributes."""
        if hops < 1:
            return
        for column, to in self._followed(table, came_by):
            variable = _parent_variable(to, name)
            row = self._literal(table, {**places, column: Placemarker(Sign.NEW, variable)})
            yield from self._conditions_of(to, variable, (*way, row), None, hops - 1, determinate)

    def _followed(self, table: str, came_by: tuple[str, str] | None) -> list[tuple[str, str]]:
        """The references of a row that tests may follow: not back, and to no other example."""
        known = self._data.columns_of(table, self._target)
        return [
            (column, to)
            for column, to in self._links.references.get(table, {}).items()
            if (table, column) != came_by and to != self._table and column in known
        ]

    def _beside(
        self,
        table: str,
        name: str,
        places: dict[str, Placemarker],
        came_by: tuple[str, str] | None,
        hops: int,
    ) -> None:
        """Modes for rows of shared tables that refer to what a row refers to: payments of its account."""
        if hops < 2:
            return
        for column, to in self._followed(table, came_by):
            variable = _parent_variable(to, name)
            way = (self._literal(table, {**places, column: Placemarker(Sign.NEW, variable)}),)
            for child, by in self._links.children(to):
                known = by in self._data.columns_of(child, self._target)
                if known and child != table and self._placed[child].hops < 0 and not self._placed[child].torn:
                    self._rows_of_parent(child, by, variable, way, hops - 2)

    def _rows_of_parent(self, child: str, by: str, name: str, way: Patterns, hops: int) -> None:
        """Modes for a row that refers to a known one, each with the way there; then for what it is like."""
        fresh = self._fresh(child, by, name)
        asked = [(self._literal(child, fresh),), *self._conditions(child, fresh, determinate=False)]
        self._offer((*way, *condition) for condition in asked)
        if self._has_own_key(child, by):
            self._offer(
                self._conditions_of(child, _variable(child), (), (child, by), hops, determinate=False)
            )

    def _children(self, table: str, name: str, hops: int) -> None:
        """Modes for the rows that refer to a row, and lookaheads from each of them."""
        if hops < 1:
            return
        for count in self._counts:
            if count.parent == table:
                self._offer(self._counting(count, name))
        for child, column in self._links.children(table):
            if column not in self._data.columns_of(child, self._target) or child == self._table:
                continue
            if self._placed[child].owner is None and not self._placed[child].torn:
                continue
            self._child(child, column, name, hops)

    def _counting(self, count: CountColumn, name: str) -> Iterator[Patterns]:
        """`count(child) >= k`, as more than a threshold; for rows that may be many also at most."""
        self._used[count.name] = (
            self._data.type_of(count.parent, self._links.keys[count.parent]),
            count.name,
        )
        counted = Pattern(count.name, (Placemarker(Sign.OLD, name), Placemarker(Sign.NEW, "Count")))
        for comparison in (ABOVE,) if count.parent == self._table else (ABOVE, AT_MOST):
            yield counted, Pattern(comparison, (Placemarker(Sign.OLD, "Count"), _THRESHOLD))

    def _child(self, child: str, column: str, name: str, hops: int) -> None:
        """Modes for rows that refer to a row: that there is one, one condition on it, and what leads on."""
        variable = _variable(child)
        fresh = self._fresh(child, column, name)
        there = self._literal(child, fresh)
        self._offer([(there,)])
        came_by = (child, column)
        self._offer(self._conditions(child, fresh, determinate=False))
        self._offer(self._parents(child, variable, fresh, (), came_by, hops - 1, False))
        self._beside(child, variable, fresh, came_by, hops - 1)
        if not self._has_own_key(child, column):
            for other, to in self._linked(child, column):
                if hops > 1 and to != self._table:
                    self._offer(
                        self._conditions_of(to, _linked_variable(to, other), (), came_by, hops - 2, False)
                    )
            return
        self._offer(self._conditions_of(child, variable, (), came_by, hops - 1, determinate=False))
        if self._self_join and hops > 1:
            self._same_parent(child, column)
        places = (Placemarker(Sign.OLD, place.name) if place.name else _ANY for place in there.places)
        self._look_further(child, variable, Pattern(child, tuple(places)), hops - 1)
        self._children(child, variable, hops - 1)

    def _same_parent(self, child: str, column: str) -> None:
        """A reference followed and straight back: another row of the example that refers to the same row."""
        key, variable = self._links.keys[child], _variable(child)
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
            places[self._links.keys[child]] = Placemarker(Sign.NEW, _variable(child))
            return places
        for other, to in self._linked(child, column):
            places[other] = Placemarker(Sign.NEW, _linked_variable(to, other))
        return places

    def _has_own_key(self, table: str, column: str) -> bool:
        key = self._links.keys.get(table)
        return key is not None and key != column and key in self._data.columns_of(table, self._target)

    def _linked(self, child: str, column: str) -> list[tuple[str, str]]:
        """The other references of a row, but those to its own example."""
        known = self._data.columns_of(child, self._target)
        return [
            (other, to)
            for other, to in self._links.references.get(child, {}).items()
            if other in known and other not in (column, self._placed[child].key)
        ]

    def _look_further(self, child: str, variable: str, there: Pattern, hops: int) -> None:
        """From a row that refers to the example, one condition on a row that refers to that row."""
        if hops < 1:
            return
        for count in self._counts:
            if count.parent == child:
                for patterns in self._counting(count, variable):
                    self._lookaheads[LookaheadDeclaration(there, patterns)] = None
        for next_child, column in self._links.children(child):
            placed = self._placed[next_child]
            if placed.owner is None or next_child == self._table:
                continue
            if column not in self._data.columns_of(next_child, self._target):
                continue
            fresh = self._fresh(next_child, column, variable)
            self._lookaheads[LookaheadDeclaration(there, (self._literal(next_child, fresh),))] = None
            for condition in self._conditions(next_child, fresh, determinate=False):
                self._lookaheads[LookaheadDeclaration(there, condition)] = None


def _parent_variable(table: str, name: str) -> str:
    return _variable(table) if name == "Key" else f"{_variable(table)}_of_{name}"


def _linked_variable(table: str, column: str) -> str:
    return f"{_variable(table)}_by_{_variable(column)}"


def _variable(table: str) -> str:
    """The name of a table as that of a variable."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in table)
    return plain[:1].upper() + plain[1:] if plain[:1].isalpha() else f"Row_{plain}"
