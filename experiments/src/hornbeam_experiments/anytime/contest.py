"""Learners on the folds of sets: their curves, what they had at the end, and who was better there."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from hornbeam.validation import corrected_t_test
from hornbeam_experiments.anytime.intervals import over_folds
from hornbeam_experiments.anytime.learners import LEARNERS
from hornbeam_experiments.anytime.paper import paper
from hornbeam_experiments.anytime.plan import Plan
from hornbeam_experiments.anytime.sets import FOLDS, Fold, PaperSet, read
from hornbeam_experiments.anytime.trails import Trail
from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.records import Cell, Sheet

UNDECIDED = "no difference shown"
Trails = Mapping[str, Sequence[Trail]]
"""Of each learner one for every fold, in the order of the folds."""


@dataclass
class Contest:
    """Runs a learner on the folds of a set once, whichever figure asks for it."""

    plan: Plan
    _folds: dict[str, list[Fold]] = field(default_factory=dict)
    _known: dict[tuple[str, str], list[Trail]] = field(default_factory=dict)

    def folds(self, source: PaperSet) -> list[Fold]:
        if source.title not in self._folds:
            many = self.plan.repetitions(source.title)
            self._folds[source.title] = [fold for i in range(many) for fold in read(source, i).folds(i)]
        return self._folds[source.title]

    def trails(self, figure: str, source: PaperSet, names: Sequence[str]) -> dict[str, list[Trail]]:
        """All learners on one fold before the next, so that a slow moment of the machine meets them all."""
        title, times = source.title, self.plan.times(source.title)
        new = [name for name in names if (title, name) not in self._known]
        folds = self.folds(source) if new else []
        for name in new:
            self._known[title, name] = []
        for place, fold in enumerate(folds):
            if place % FOLDS == 0:
                self.plan.tell(
                    f"{figure}: {title}, {len(new)} learners, {times[-1]:g} s each, "
                    f"ten folds {place // FOLDS + 1} of {len(folds) // FOLDS}"
                )
            for name in new:
                self._known[title, name].append(LEARNERS[name](fold, times))
        return {name: self._known[title, name] for name in names}


def curve_records(title: str, times: Sequence[float], trails: Trails) -> list[dict[str, Cell]]:
    """Means over folds at each time."""
    records: list[dict[str, Cell]] = []
    for name, some in trails.items():
        for seconds in times:
            moments = [trail.at(seconds) for trail in some]
            accuracy = over_folds([moment.accuracy for moment in moments])
            leaves = over_folds([moment.leaves for moment in moments])
            records.append(
                {
                    "set": title,
                    "learner": name,
                    "CPU seconds": seconds,
                    **bounded("accuracy", accuracy),
                    **bounded("leaves", leaves),
                    "folds": len(some),
                }
            )
    return records


def bounded(name: str, interval: Mean) -> dict[str, Cell]:
    return {name: interval.value, f"{name}, low": interval.low, f"{name}, high": interval.high}


def end_records(title: str, seconds: float, trails: Trails) -> list[dict[str, Cell]]:
    """What each learner had at the end of its seconds, the paper's words beside it."""
    theirs = paper()["accuracy"].get(title, {})
    records: list[dict[str, Cell]] = []
    for name, some in trails.items():
        accuracy = over_folds([trail.at(seconds).accuracy for trail in some])
        leaves = over_folds([trail.at(seconds).leaves for trail in some])
        records.append(
            {
                "set": title,
                "learner": name,
                "accuracy, %": accuracy.value,
                "±": accuracy.half,
                "the paper": theirs.get(name, ""),
                "leaves": leaves.value,
                "± leaves": leaves.half,
                "seconds": seconds,
                "folds": len(some),
                "ended": ending([trail.end for trail in some]),
            }
        )
    return records


def ending(ends: Sequence[str]) -> str:
    """How learners ended: the median setting where settings are numbered, else each way and how often."""
    numbered = [re.fullmatch(r"(\w+)=(\d+)", end) for end in ends]
    found = [match for match in numbered if match is not None]
    if len(found) == len(ends):
        return f"{found[0][1]}={statistics.median_low([int(match[2]) for match in found])}"
    ways = {way: ends.count(way) for way in dict.fromkeys(ends)}
    if len(ways) == 1:
        return ends[0]
    return ", ".join(f"{way} {many}" for way, many in ways.items())


def test_records(
    title: str, seconds: float, trails: Trails, ours: Sequence[str], others: Sequence[str]
) -> list[dict[str, Cell]]:
    """Each of ours against each other learner at the end, every pair once."""
    records: list[dict[str, Cell]] = []
    done: set[frozenset[str]] = set()
    for name in ours:
        for other in others:
            pair = frozenset((name, other))
            if len(pair) < 2 or pair in done or not pair <= set(trails):
                continue
            done.add(pair)
            first, second = ([trail.at(seconds).accuracy for trail in trails[one]] for one in (name, other))
            records.append({"set": title, "learner": name, "against": other, **tested(first, second)})
    return records


def tested(first: Sequence[float], second: Sequence[float]) -> dict[str, Cell]:
    """Points of accuracy between two learners on the same folds."""
    test = corrected_t_test(first, second, folds=FOLDS)
    verdict = UNDECIDED
    if test.is_significant:
        verdict = "better" if test.mean > 0 else "worse"
    return {
        "points": test.mean,
        "low": test.mean - test.half,
        "high": test.mean + test.half,
        "p": test.p,
        "at 5 %": verdict,
    }


def ends_matrix(name: str, ends: Sequence[Mapping[str, Cell]]) -> Sheet:
    """For people: a line for each learner, a column for each set; accuracy / leaves, and in brackets what the
    paper's text says of the accuracy."""

    def cell(record: Mapping[str, Cell]) -> str:
        said = f" [{record['the paper']}]" if record["the paper"] else ""
        right, half = float(record["accuracy, %"] or 0), float(record["±"] or 0)
        leaves = float(record["leaves"] or 0)
        return f"{right:.1f} ± {half:.1f}{said} / {leaves:,.0f}"

    return _matrix(name, "learner", ends, lambda record: str(record["learner"]), cell)


def tests_matrix(name: str, tests: Sequence[Mapping[str, Cell]]) -> Sheet:
    """For people: points of accuracy between two learners, a column for each set; a star is significant."""

    def cell(record: Mapping[str, Cell]) -> str:
        points, high = float(record["points"] or 0), float(record["high"] or 0)
        star = "" if record["at 5 %"] == UNDECIDED else " *"
        return f"{points:+.1f} ± {high - points:.1f}{star}"

    def line(record: Mapping[str, Cell]) -> str:
        return f"{record['learner']} less {record['against']}"

    return _matrix(name, "points of accuracy", tests, line, cell)


def _matrix(
    name: str,
    head: str,
    records: Sequence[Mapping[str, Cell]],
    line: Callable[[Mapping[str, Cell]], str],
    cell: Callable[[Mapping[str, Cell]], str],
) -> Sheet:
    titles = list(dict.fromkeys(str(record["set"]) for record in records))
    found: dict[str, dict[str, Cell]] = {}
    for record in records:
        row = found.setdefault(line(record), {head: line(record), **dict.fromkeys(titles, "")})
        row[str(record["set"])] = cell(record)
    return Sheet.of(name, list(found.values()))
