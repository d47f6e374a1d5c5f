"""How much is run: sets, runs, numbers of folds and bags, shares of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from hornbeam_experiments.sets import TABLE_1, PaperSet, choose

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What the experiments go through. `quick` keeps everything small; it shows the work, not the figures."""

    sets: tuple[PaperSet, ...] = TABLE_1
    runs: int = 10
    folds: tuple[int, ...] = (3, 5, 10, 15, 20)
    bags: tuple[int, ...] = (10, 25, 50, 100)
    shares: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.0)
    most_rows: int | None = None
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
        plan = cls(sets=choose(sets))
        if quick:
            plan = replace(
                plan, runs=3, folds=(3, 10, 20), bags=(10, 25), shares=(0.25, 0.5, 1.0), most_rows=3000
            )
        if runs is not None:
            plan = replace(plan, runs=runs)
        return plan if tell is None else replace(plan, tell=tell)
