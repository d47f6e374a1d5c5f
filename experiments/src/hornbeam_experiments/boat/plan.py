"""How much is run: functions, rows, noise, further attributes, runs; all sizes shrink by one scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from hornbeam.boat.task import LEAST_MEMORY, Sampling
from hornbeam.errors import UsageError
from hornbeam.table.schema import list_names
from hornbeam_experiments.boat.growths import Contestant
from hornbeam_experiments.boat.paper import paper
from hornbeam_experiments.boat.people import group_entries

Tell = Callable[[str], None]
FUNCTIONS = {"F1": 1, "F6": 6, "F7": 7}
PARTS = ("4-6", "7-9", "10-11", "12", "quest", "13", "14", "15", "deletions")
"""The figures of the paper, and what it has no figure of."""
CHANGING = PARTS[-4:]
QUICK = 0.02
# The least at which 200,000 rows are sampled; the paper's machine had 128 MB in all.
MEMORY = 150_000_000
# A kept tree holds the rows of a batch, and its database has a quarter of the limit to find what goes.
KEPT_MEMORY = 1_000_000_000
_FEWEST = 20  # sampled rows


@dataclass(frozen=True)
class Plan:
    """The paper's experiments. With a scale below 1 rows, samples and the size at which growth stops are
    that share of the paper's, buffers and memory that of its different values; it shows the work, not the
    figures."""

    functions: tuple[str, ...] = tuple(FUNCTIONS)
    scale: float = 1.0
    runs: int = 1
    steps: tuple[int, ...] = field(default_factory=lambda: tuple(paper()["sizes"]))
    """Rows of figures 4 to 6, before they are scaled."""
    noises: tuple[float, ...] = field(default_factory=lambda: tuple(paper()["noise"]))
    extras: tuple[int, ...] = (0, 2, 4, 6, 8)
    tilt: float = 0.02
    chunks: int = 5
    """Of rows that come or go while a tree is kept."""
    parts: tuple[str, ...] = PARTS
    tell: Tell = field(default=lambda line: None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        functions: Sequence[str] | None = None,
        runs: int | None = None,
        quick: bool = False,
        tell: Tell | None = None,
        scale: float | None = None,
        parts: Sequence[str] | None = None,
    ) -> Self:
        """The plan that a user asks for."""
        share = (QUICK if quick else 1.0) if scale is None else scale
        if not 0.001 <= share <= 1:
            raise UsageError(f"a scale of {share:g}: give a share of the paper's rows from 0.001 to 1")
        plan = cls(_chosen(functions), share, 1 if runs is None else runs)
        plan = replace(plan, parts=_chosen_parts(parts, plan.functions))
        if quick:
            plan = replace(plan, steps=plan.steps[::2], noises=plan.noises[::2], extras=(0, 8), chunks=3)
        return plan if tell is None else replace(plan, tell=tell)

    def rows(self, of_paper: int) -> int:
        return round(of_paper * self.scale)

    @property
    def unit(self) -> tuple[str, float]:
        """What rows are counted in on an axis, and how much of one a row is."""
        return ("million", 1e-6) if self.scale == 1 else ("thousand", 1e-3)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.rows(size) for size in self.steps)

    @property
    def middle(self) -> int:
        """Rows of the experiments that vary something else."""
        return self.rows(paper()["noise rows"])

    @property
    def chunk(self) -> int:
        """Rows of a chunk of figures 13 to 15."""
        return self.rows(paper()["chunk"])

    @property
    def stop(self) -> int:
        """Families below it are leaves; "any smart implementation" would finish them in memory."""
        return self.rows(paper()["stop"])

    @property
    def memory_limit(self) -> int:
        return max(LEAST_MEMORY, round(MEMORY * self._values))

    @property
    def _values(self) -> float:
        """The share of different values: more than that of rows, and who counts them all needs as much."""
        largest = paper()["sizes"][-1]
        return group_entries(self.rows(largest)) / group_entries(largest)

    @property
    def kept_memory(self) -> int:
        return max(self.memory_limit, round(KEPT_MEMORY * self.scale))

    @property
    def sampling(self) -> dict[str, int]:
        """Of how many rows a guess is made, and how many of them must speak for a node; in a scaled run the
        latter shrink as well, or no node would have a guess."""
        usual = Sampling()
        return {
            "sample": self.rows(paper()["sample"]),
            "bootstraps": paper()["bootstraps"],
            "rows": self.rows(paper()["bootstrap rows"]),
            "least": max(_FEWEST, self.rows(usual.least)),
            "sure": max(_FEWEST, self.rows(usual.sure)),
        }

    def entries(self, one: Contestant) -> int | None:
        """The contestant's buffer: the same share of what the root of the largest set needs."""
        return None if one.avc_entries is None else round(one.avc_entries * self._values)

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


def _chosen_parts(names: Sequence[str] | None, functions: Sequence[str]) -> tuple[str, ...]:
    """Those asked for that have one of the functions."""
    wanted = PARTS if names is None else tuple(name.strip().lower() for name in names)
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise UsageError(f"no part {unknown[0]!r} in boat; they are {list_names(list(PARTS))}")
    absent = set(CHANGING) if "F1" not in functions else set()
    if functions == ("F7",):
        absent.add("10-11")
    chosen = tuple(name for name in PARTS if name in wanted and name not in absent)
    if not chosen:
        others = "F1 and F6" if "10-11" in wanted else "F1"
        raise UsageError(f"part {wanted[0]!r} is of {others}; add a function to the sets, or leave them out")
    return chosen
