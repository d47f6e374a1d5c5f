"""The table of a search: settings that did the same in one row, by size, each with a word about it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .words import Words, values_text, words_of

if TYPE_CHECKING:
    from .records import SearchRecord, SettingResult


@dataclass(frozen=True)
class Row:
    """Settings that give trees of one size and did the same in every fold."""

    leaves: int
    depth: int
    value: float
    """The error, or another measure, as it is told."""
    spread: float
    """Its standard error."""
    setting: tuple[tuple[str, str], ...]
    """Parameters that differ in the grid, each with its values: "5", "5 to 8"."""
    results: tuple[int, ...]
    """Places in the grid."""
    chosen: bool = False
    best: bool = False
    close: bool = False
    """Within one standard error of the best."""

    @property
    def remark(self) -> str:
        """What is to be said of it, in a word or two."""
        if self.chosen:
            return "chosen, the best" if self.best else "chosen"
        return "best" if self.best else "about as good" if self.close else ""

    @property
    def text(self) -> str:
        """The setting in one line."""
        return ", ".join(f"{name} {values}" for name, values in self.setting) or "the only setting"


@dataclass(frozen=True)
class SearchRows:
    """All rows of a search by size, and how to tell their numbers."""

    rows: tuple[Row, ...]
    names: tuple[str, ...]
    """Parameters that differ in the grid."""
    fixed: tuple[tuple[str, str], ...]
    """Parameters of the grid that do not."""
    words: Words
    digits: int
    level: float | None
    """The worst value within one standard error of the best."""

    @property
    def chosen(self) -> Row:
        return next(row for row in self.rows if row.chosen)

    @property
    def best(self) -> Row:
        return next(row for row in self.rows if row.best)

    def value_text(self, row: Row) -> str:
        return self.words.text(row.value, self.digits)

    def spread_text(self, row: Row) -> str:
        return self.words.spread_text(row.spread, self.digits)

    def both_text(self, row: Row) -> str:
        """For instance "24.3 % ± 1.2"."""
        return f"{self.value_text(row)} ± {self.spread_text(row)}"

    def thinned(self, most: int) -> SearchRows:
        """At most so many rows: those that are named, the ends, and between them sizes at equal factors."""
        named = [i for i, row in enumerate(self.rows) if row.chosen or row.best]
        if len(self.rows) <= max(most, len(named) + 2):
            return self
        places = self._places()
        short, long = 0.0, places[-1] - places[0]
        for _ in range(24):  # the shortest steps that keep to the number
            step = (short + long) / 2
            if len(_steps(places, named, step)) > most:
                short = step
            else:
                long = step
        rows = tuple(self.rows[i] for i in _steps(places, named, long))
        return SearchRows(rows, self.names, self.fixed, self.words, self.digits, self.level)

    def _places(self) -> list[float]:
        """Where the rows stand: by the logarithm of their leaves and, a little, by their number."""
        sizes = [math.log(max(row.leaves, 1)) for row in self.rows]
        span, last = (sizes[-1] - sizes[0]) or 1.0, len(self.rows) - 1
        return [(size - sizes[0]) / span + 0.2 * i / last for i, size in enumerate(sizes)]


def _steps(places: Sequence[float], named: Sequence[int], step: float) -> list[int]:
    """The ends, the named rows, and others that are at least a step from the last and from the next named."""
    fixed = sorted({0, len(places) - 1, *named})
    kept: list[int] = []
    for begin, end in itertools.pairwise(fixed):
        kept.append(begin)
        for i in range(begin + 1, end):
            if places[i] - places[kept[-1]] >= step and places[end] - places[i] >= step:
                kept.append(i)
    return [*kept, fixed[-1]]


def rows_of(record: SearchRecord) -> SearchRows:
    """The table of a search."""
    words = words_of(record.measure)
    names, fixed = _parameters(record.results)
    best = record.results[record.best]
    threshold = best.score - best.error if math.isfinite(best.error) else best.score
    grid = {name: _grid_values(record.results, name) for name in names}
    rows = []
    for places, values in _merged(record.results, names):
        first = record.results[places[0]]
        setting = tuple(
            (name, values_text(given, grid[name])) for name, given in zip(names, values, strict=True) if given
        )
        rows.append(
            Row(
                first.leaves,
                first.depth,
                words.value(first.score),
                first.error,
                setting,
                places,
                record.chosen in places,
                record.best in places,
                first.score >= threshold,
            )
        )
    rows.sort(key=lambda row: (row.leaves, row.depth, row.results))
    digits = words.digits([result.error for result in record.results])
    level = words.value(threshold) if math.isfinite(threshold) else None
    return SearchRows(tuple(rows), names, fixed, words, digits, level)


def _parameters(results: Sequence[SettingResult]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Names that differ in the grid, and those that do not with their value."""
    names = list(dict.fromkeys(name for result in results for name in result.params))
    differing, fixed = [], []
    for name in names:
        values = _grid_values(results, name)
        if len(values) == 1 and all(name in result.params for result in results):
            fixed.append((name, values_text(values, values)))
        else:
            differing.append(name)
    return tuple(differing), tuple(fixed)


def _grid_values(results: Sequence[SettingResult], name: str) -> list[Any]:
    """The different values of a parameter in the order of the grid."""
    return list({_key(r.params[name]): r.params[name] for r in results if name in r.params}.values())


def _key(value: Any) -> Hashable:
    return (type(value).__name__, repr(value))


def _merged(
    results: Sequence[SettingResult], names: Sequence[str]
) -> Iterator[tuple[tuple[int, ...], list[tuple[Any, ...]]]]:
    """Boxes of settings that did the same: their places, and the values of each parameter.

    Settings that differ in one parameter only are put together, then boxes that do, parameter by parameter.
    """
    boxes: list[tuple[tuple[int, ...], list[tuple[Any, ...]]]] = [
        ((i,), [(result.params[name],) if name in result.params else () for name in names])
        for i, result in enumerate(results)
    ]
    for axis in range(len(names)):
        joined: dict[Hashable, tuple[tuple[int, ...], list[tuple[Any, ...]]]] = {}
        for places, values in boxes:
            others = tuple(tuple(map(_key, v)) for a, v in enumerate(values) if a != axis)
            kind = bool(values[axis])
            key = (_outcome(results[places[0]]), others, kind, None if kind else places)
            if key in joined:
                before, given = joined[key]
                same = [*given[:axis], (*given[axis], *values[axis]), *given[axis + 1 :]]
                joined[key] = (before + places, same)
            else:
                joined[key] = (places, values)
        boxes = list(joined.values())
    yield from ((tuple(sorted(places)), values) for places, values in boxes)


def _outcome(result: SettingResult) -> Hashable:
    return (result.leaves, result.depth, repr(result.score), tuple(map(repr, result.scores)))
