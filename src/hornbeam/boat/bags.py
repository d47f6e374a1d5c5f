"""Growths that share their scans: what each asks for, one alone served at once, those of bags together.

A bag is a training set of its own, with its own places and counts; only reading and decoding is shared, which
is all that bags can share, for each has every row another number of times.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from hornbeam.boat.survey import MOST_ROWS, Survey
from hornbeam.boat.task import LEAST_MEMORY, SourceTask
from hornbeam.errors import DataError
from hornbeam.model import Tree

if TYPE_CHECKING:
    from hornbeam.boat.meter import Meter
    from hornbeam.boat.nodes import Nodes
    from hornbeam.boat.scans import BufferedScan

T = TypeVar("T")


class Run(NamedTuple):
    """Let all rows come to a buffered."""

    buffered: BufferedScan


class Finish(NamedTuple):
    """Let the grower finish families, by place the nodes of training sets, from the rows of a buffered."""

    buffered: BufferedScan
    nodes: Nodes
    families: Mapping[int, Mapping[int, int]]


Growing = Generator[Run | Finish, None, T]
"""A growth that yields what it asks for, and ends with trees."""


class Grows(Protocol):
    """Makes the growth of one training set."""

    def __call__(self, task: SourceTask, survey: Survey, meter: Meter, *, rows: int) -> Grower:
        """The growth of about so many rows, before its first scan."""


class Grower(Protocol):
    """One growth."""

    def grow(self) -> Growing[list[Tree]]:
        """Its trees."""


def grow_alone(growing: Growing[T], meter: Meter) -> T:
    """Serve one growth."""
    while True:
        try:
            asked = next(growing)
        except StopIteration as ended:
            found: T = ended.value
            return found
        match asked:
            case Run(buffered):
                with meter.scan("scans") as report:
                    buffered.run(report)
            case Finish(buffered, nodes, families):
                with meter.phase("families"):
                    buffered.finish(nodes, families)


def grow_bags(task: SourceTask, survey: Survey, meter: Meter, make: Grows) -> list[Tree]:
    """The trees of all bags, as many together as memory has room for: each of them what the rows of its bag
    grow alone."""
    assert task.bags is not None
    if task.bags.expected(survey.rows) > MOST_ROWS // 2:
        raise DataError(
            f"bags of {task.bags.expected(survey.rows):,} rows; a scan counts up to {MOST_ROWS // 2:,} of a "
            "bag: give a smaller max_samples"
        )
    at_once = max(1, min(len(task.bags), task.budget // LEAST_MEMORY))
    own = replace(task, memory_limit=task.budget // at_once)
    trees: list[Tree] = []
    for first in range(0, len(task.bags), at_once):
        bags = range(first, min(first + at_once, len(task.bags)))
        trees += _SharedScans(own, survey, meter, bags, make).trees()
    return trees


class _SharedScans:
    """Growths of some bags in the same scans."""

    def __init__(
        self, task: SourceTask, survey: Survey, meter: Meter, bags: Sequence[int], make: Grows
    ) -> None:
        from hornbeam.boat.scans import scanner_of

        assert task.bags is not None
        # A bag may have more rows than there are, and exact sums must have room for them.
        self._survey = replace(survey, rows=task.bags.most(survey.rows))
        self._task, self._meter, self._scanner = task, meter, scanner_of(task)
        rows = task.bags.expected(survey.rows)
        self._growing = {bag: make(task, self._survey, meter, rows=rows).grow() for bag in bags}
        self._asked: dict[int, Run | Finish] = {}
        self._trees: dict[int, Tree] = {}

    def trees(self) -> list[Tree]:
        """Those of the bags, in their order."""
        self._go_on(list(self._growing))
        while self._asked:
            ending = {bag: asked for bag, asked in self._asked.items() if isinstance(asked, Finish)}
            if ending:
                with self._meter.phase("families"):
                    self._scanner.finish_together(ending)
                self._go_on(list(ending))
                continue
            waiting = {bag: asked.buffered for bag, asked in self._asked.items()}
            with self._meter.scan("scans") as report:
                self._scanner.run_together(self._task, self._survey, waiting, report)
            self._go_on(list(waiting))
        return [self._trees[bag] for bag in self._growing]

    def _go_on(self, bags: Sequence[int]) -> None:
        """Let growths take what they were given, up to what they ask for next."""
        for bag in bags:
            self._asked.pop(bag, None)
            try:
                self._asked[bag] = next(self._growing[bag])
            except StopIteration as ended:
                (self._trees[bag],) = ended.value
