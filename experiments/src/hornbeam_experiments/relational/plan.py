"""How much is run: sets, runs, numbers of folds and of bags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from hornbeam_experiments.relational.sets import SETS, PaperSet, choose

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """The papers' experiments. `quick` takes three runs and fewer folds and bags."""

    sets: tuple[PaperSet, ...] = SETS
    runs: int = 10
    folds: tuple[int, ...] = (3, 5, 10, 15, 20)
    bags: tuple[int, ...] = (10, 25, 50, 100)
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
        plan = cls(sets=choose(sets), quick=quick)
        if quick:
            plan = replace(plan, runs=3, folds=(3, 10, 20), bags=(10, 25))
        if runs is not None:
            plan = replace(plan, runs=runs)
        return plan if tell is None else replace(plan, tell=tell)
