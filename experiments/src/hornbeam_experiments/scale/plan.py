"""How much is weighed and simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from hornbeam.errors import UsageError
from hornbeam_experiments.scale.people import Shape

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """Scans of one shape with one thing varied at a time, growths of two sizes, and clusters."""

    rows: int = 2_000_000
    growths: tuple[int, ...] = (1_000_000, 4_000_000)
    """The constants are of the last; the others show whether they hold."""
    simulated_rows: tuple[float, ...] = (1e9, 1e10, 1e11, 1e12)
    workers: tuple[int, ...] = (10, 30, 100, 300, 1000)
    folds: int = 5
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
        for name, given in (("sets", sets), ("runs", runs)):
            if given is not None:
                raise UsageError(f"--{name}: scale has none, its tables are generated; leave it out")
        plan = cls(rows=100_000, growths=(50_000, 200_000), quick=True) if quick else cls()
        return plan if tell is None else replace(plan, tell=tell)

    @property
    def shapes(self) -> dict[str, tuple[Shape, ...]]:
        """By what is varied; the constants of bytes are those of the rows, the others show whether they
        hold."""
        usual = Shape(self.rows)
        return {
            "rows": tuple(replace(usual, rows=self.rows // n) for n in (16, 4, 1)),
            "attributes": tuple(replace(usual, attributes=n) for n in (4, 18)),
            "nodes": tuple(replace(usual, levels=n) for n in (1, 2, 6)),
            "classes": tuple(replace(usual, classes=n) for n in (4, 8)),
            "buckets": tuple(replace(usual, buckets=n) for n in (128, 4096)),
            "parts": (replace(usual, parts=32),),
            "workers": (replace(usual, workers=8),),
        }

    @property
    def listed(self) -> tuple[Shape, ...]:
        """Of values that are listed one by one, which are many."""
        usual = Shape(self.rows // 8, listed=True)
        return usual, replace(usual, levels=1), replace(usual, rows=self.rows // 32)
