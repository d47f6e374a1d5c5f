"""The table of a search: settings that did the same in one row, by size, in the words of people."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hornbeam.drawing.text import number_text

if TYPE_CHECKING:
    from hornbeam.validation.search_record import SearchRecord, SettingResult


@dataclass(frozen=True)
class Row:
    """Settings that give trees of one size and did the same in every fold."""

    leaves: int
    depth: int
    value: float
    """The error, or another measure, as it is shown."""
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
        """A word or two about it."""
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


@dataclass(frozen=True)
class Words:
    """How a measure is shown: `start + sign * score`, under a name."""

    name: str
    """Of the column."""
    about: str
    """What the numbers are."""
    start: float = 0.0
    sign: float = -1.0
    percent: bool = False

    @property
    def more_is_better(self) -> bool:
        return self.sign > 0

    @property
    def subject(self) -> str:
        """The measure in a sentence."""
        return self.about if self.about.startswith("the ") else f"the {self.name}"

    def value(self, score: float) -> float:
        """A score as it is shown."""
        return self.start + self.sign * score

    def text(self, value: float, digits: int) -> str:
        """A shown value."""
        if not math.isfinite(value):
            return "none"
        return f"{value * 100:.{digits}f}\u00a0%" if self.percent else f"{value:.{digits}f}"

    def spread_text(self, spread: float, digits: int) -> str:
        """A standard error; in percent its sign is already there."""
        if not math.isfinite(spread):
            return "?"
        return f"{spread * (100 if self.percent else 1):.{digits}f}"

    def digits(self, spreads: Sequence[float]) -> int:
        """So many decimals that a typical standard error can be seen; in percent at least one."""
        known = sorted(s for s in spreads if math.isfinite(s) and s > 0)
        if not known:
            return 1 if self.percent else 3
        typical = known[len(known) // 2]
        if self.percent:
            return max(1, math.ceil(-math.log10(typical * 100 / 0.3)) + 1)
        return max(0, math.ceil(-math.log10(typical)) + 1)


def words_of(measure: str) -> Words:
    """The words of a measure; scikit-learn's negated scores are shown without their sign."""
    if measure == "accuracy":
        return Words("error", "the share of rows answered wrongly", 1.0, percent=True)
    if measure == "r2":
        return Words("unexplained", "the share of the variance left unexplained", 1.0, percent=True)
    if measure == "cost":
        return Words("cost", "the mean cost of an answer")
    name = measure.replace("_", " ")
    if measure.startswith("neg_"):
        return Words(name[4:], "less is better")
    return Words(name, "more is better", sign=1.0)


def value_text(value: Any) -> str:
    """A value of a parameter as the command reads it."""
    if value is None:
        return "none"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return str(value) if isinstance(value, int) else number_text(float(value), 3)


def values_text(values: Sequence[Any], whole: Sequence[Any]) -> str:
    """Several values of a parameter; numbers that follow each other in the `whole` grid are a range."""
    if len(values) == 1:
        return value_text(values[0])
    if not all(rank_of(value) is not None for value in whole):
        return ", ".join(map(value_text, values))
    order = sorted(set(map(_rank, whole)))
    ranks = sorted(map(_rank, values))
    texts = {_rank(value): value_text(value) for value in values}
    low, high = texts[ranks[0]], texts[ranks[-1]]
    if order.index(ranks[-1]) - order.index(ranks[0]) + 1 == len(set(ranks)):
        return low if low == high else f"{low} to {high}"
    return ", ".join(texts[rank] for rank in ranks)


def _rank(value: Any) -> float:
    rank = rank_of(value)
    assert rank is not None
    return rank


def rank_of(value: Any) -> float | None:
    """The number that a value is; none means no bound. None where it is no number."""
    if value is None:
        return math.inf
    if isinstance(value, bool) or not hasattr(value, "__float__") or isinstance(value, str):
        return None
    return float(value)
