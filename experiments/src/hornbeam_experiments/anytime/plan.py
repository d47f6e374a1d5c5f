"""How much is run: sets, and for each the CPU seconds of a search and how often its ten folds are dealt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from hornbeam_experiments.anytime.sets import SETS, PaperSet, choose

Tell = Callable[[str], None]
FIRST = 0.001
# Six to a decade, so that every third is one of 1, 3, 10, 30, ...
STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)

# CPU seconds of a search on each set of figures 10 to 12.
SECONDS = {
    "Glass": 1.0,
    "XOR-10": 3.0,
    "Multiplexer-20": 0.3,
    "Tic-tac-toe": 0.5,
    "XOR-2": 0.3,
    "XOR-3": 0.3,
    "XOR-5": 2.0,
    "XOR-5 large": 1.0,
    "XOR-5 noisy": 0.3,
}
# How often ten folds are dealt where the user does not say; elsewhere once, in the table five times.
CURVES = {"Glass": 5, "Multiplexer-20": 5, "Tic-tac-toe": 5, "XOR-5 noisy": 5}
TABLE = {"XOR-10": 1, "Numeric-XOR-3D": 2, "Numeric-XOR-4D": 1}
# What a quick run has no time for in the table.
LONG = ("XOR-10", "Numeric-XOR-3D", "Numeric-XOR-4D")


@dataclass(frozen=True)
class Plan:
    """The experiments. `quick` has 3 % of the seconds and deals the folds once; it shows the work,
    not the figures."""

    sets: tuple[PaperSet, ...] = SETS
    runs: int | None = None
    """How often ten folds are dealt, of every set alike; None: as the tables above have it."""
    share: float = 1.0
    """Of the CPU seconds of figures 10 to 12."""
    arriving: float = 3.0
    """CPU seconds of figure 13; the rows come during the first half of them."""
    chunks: int = 60
    """In which they come."""
    passed: tuple[str, ...] = ()
    """Sets that the table of LSID3 leaves out."""
    quick: bool = False
    tell: Tell = field(default=lambda line: None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        sets: Sequence[str] | None = None,
        runs: int | None = None,
        quick: bool = False,
        tell: Tell | None = None,
    ) -> Self:
        """The plan that a user asks for."""
        plan = cls(choose(sets), runs)
        if quick:
            runs = 1 if runs is None else runs
            plan = replace(plan, runs=runs, share=0.03, arriving=0.1, chunks=10, passed=LONG, quick=True)
        return plan if tell is None else replace(plan, tell=tell)

    def seconds(self, title: str) -> float:
        """The CPU seconds of a search in figures 10 to 12."""
        return SECONDS[title] * self.share

    def times(self, title: str) -> tuple[float, ...]:
        """When curves are measured: equal factors apart, and at the end."""
        return times_until(self.seconds(title))

    def repetitions(self, title: str) -> int:
        """How often ten folds are dealt for a curve."""
        return CURVES.get(title, 1) if self.runs is None else self.runs

    def table_repetitions(self, title: str) -> int:
        return TABLE.get(title, 5) if self.runs is None else self.runs


def times_until(end: float) -> tuple[float, ...]:
    """FIRST times 1, 1.5, 2, 3, 5, 7, 10, ... up to the end, which is one of them."""
    found, unit = [], FIRST
    while unit < end:
        found += [time for step in STEPS if (time := round(unit * step, 9)) < end * 0.999]
        unit *= 10
    return (*found, end)
