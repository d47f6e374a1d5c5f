"""How much is run: sets, divisions, runs of the whole choice, and the cross-validation inside each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from hornbeam_experiments.cvc45.paper import paper
from hornbeam_experiments.cvc45.sets import TABLE_1, PaperSet, choose

Tell = Callable[[str], None]
# What m means: C4.5's -m (its own table was made with it), or what the paper's text says of it.
RULES = ("min_objs", "min_samples_split")


@dataclass(frozen=True)
class Plan:
    """The paper's protocol, on `splits` random divisions where it had one. `quick` takes fewer of them."""

    sets: tuple[PaperSet, ...] = TABLE_1
    splits: int = 20
    runs: int = 5
    folds: int = 20
    repetitions: int = 5
    values: tuple[int, ...] = field(default_factory=lambda: tuple(paper()["values of m"]))
    quick: bool = False
    tell: Tell = field(default=lambda line: None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        sets: Sequence[str] | None = None,
        splits: int | None = None,
        quick: bool = False,
        tell: Tell | None = None,
    ) -> Self:
        """The plan that a user asks for."""
        plan = cls(sets=choose(sets), quick=quick)
        if quick:
            plan = replace(plan, splits=3, runs=2)
        if splits is not None:
            plan = replace(plan, splits=splits)
        return plan if tell is None else replace(plan, tell=tell)
