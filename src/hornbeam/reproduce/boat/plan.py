"""How much is run: functions, rows, noise, further attributes, runs; all sizes shrink by one scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from hornbeam.boat.task import LEAST_MEMORY
from hornbeam.errors import UsageError
from hornbeam.reproduce.boat.growths import Contestant
from hornbeam.reproduce.boat.paper import paper
from hornbeam.reproduce.boat.people import group_entries
from hornbeam.table.schema import list_names

Tell = Callable[[str], None]
FUNCTIONS = {"F1": 1, "F6": 6, "F7": 7}
QUICK = 0.02
# The least at which 200,000 rows are sampled; the paper's machine had 128 MB in all.
MEMORY = 150_000_000


@dataclass(frozen=True)
class Plan:
    """The paper's experiments. With a scale below 1 rows, samples, buffers, memory and the size at which
    growth stops are that share of the paper's; it shows the work, not the figures."""

    functions: tuple[str, ...] = tuple(FUNCTIONS)
    scale: float = 1.0
    runs: int = 1
    steps: tuple[int, ...] = field(default_factory=lambda: tuple(paper()["sizes"]))
    """Rows of figures 4 to 6, before they are scaled."""
    noises: tuple[float, ...] = field(default_factory=lambda: tuple(paper()["noise"]))
    extras: tuple[int, ...] = (0, 2, 4, 6, 8)
    tilt: float = 0.02
    tell: Tell = field(default=lambda line: None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        functions: Sequence[str] | None = None,
        runs: int | None = None,
        quick: bool = False,
        tell: Tell | None = None,
        scale: float | None = None,
    ) -> Self:
        """The plan that a user asks for."""
        share = (QUICK if quick else 1.0) if scale is None else scale
        if not 0.001 <= share <= 1:
            raise UsageError(f"a scale of {share:g}: give a share of the paper's rows from 0.001 to 1")
        plan = cls(_chosen(functions), share, 1 if runs is None else runs)
        if quick:
            plan = replace(plan, steps=plan.steps[::2], noises=plan.noises[::2], extras=(0, 8))
        return plan if tell is None else replace(plan, tell=tell)

    def rows(self, of_paper: int) -> int:
        return round(of_paper * self.scale)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.rows(size) for size in self.steps)

    @property
    def middle(self) -> int:
        """Rows of the experiments that vary something else."""
        return self.rows(paper()["noise rows"])

    @property
    def stop(self) -> int:
        """Families below it are leaves; "any smart implementation" would finish them in memory."""
        return self.rows(paper()["stop"])

    @property
    def memory_limit(self) -> int:
        return max(LEAST_MEMORY, round(MEMORY * self.scale))

    @property
    def sampling(self) -> dict[str, int]:
        """Of how many rows a guess is made."""
        return {
            "sample": self.rows(paper()["sample"]),
            "bootstraps": paper()["bootstraps"],
            "rows": self.rows(paper()["bootstrap rows"]),
        }

    def entries(self, one: Contestant) -> int | None:
        """The contestant's buffer: the same share of what the root of the largest set needs."""
        if one.avc_entries is None or self.scale == 1:
            return one.avc_entries
        largest = paper()["sizes"][-1]
        return round(one.avc_entries * group_entries(self.rows(largest)) / group_entries(largest))

    def question(self, one: Contestant, **more: Any) -> dict[str, Any]:
        """What a growth of the paper's setting is asked; nothing is finished in memory."""
        parameters = {"min_samples_split": self.stop, **more.pop("parameters", {})}
        return {
            "parameters": parameters,
            "memory_limit": self.memory_limit,
            "avc_entries": self.entries(one),
            "family_rows": self.stop,
            "sampling": self.sampling,
            **more,
        }


def _chosen(names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(FUNCTIONS)
    wanted = [name.strip().upper() for name in names]
    unknown = [name for name in wanted if name not in FUNCTIONS]
    if unknown:
        there = list_names(list(FUNCTIONS))
        raise UsageError(f"no function {unknown[0]!r} in the paper's experiments; they are {there}")
    return tuple(name for name in FUNCTIONS if name in wanted)
