"""Figures 12, 13 and 17: S against the others, by number of training sets and by number of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hornbeam.growth import TrainingSets
from hornbeam_experiments.growths import race
from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.plan import Plan
from hornbeam_experiments.records import Cell, Sheet
from hornbeam_experiments.sets import Loaded

Deal = Callable[[Loaded, int, int], TrainingSets]


@dataclass(frozen=True, eq=False)
class Contest:
    """Sets, how training sets are made of a number and a seed, and who grows them; "S" is among them."""

    sets: Sequence[Loaded]
    plan: Plan
    deal: Deal
    algorithms: Mapping[str, str]

    def speedups(self, name: str, counts: Sequence[int], shares: Sequence[float] = (1.0,)) -> Sheet:
        """How many times longer S takes, for numbers of training sets and shares of the rows."""
        records: list[dict[str, Cell]] = []
        for place, loaded in enumerate(self.sets, 1):
            self.plan.tell(f"{name}: {loaded.title} ({place} of {len(self.sets)})")
            for count in counts:
                for share in shares:
                    records.extend(self._at(loaded, count, share))
        return Sheet.of(name, records)

    def _at(self, loaded: Loaded, count: int, share: float) -> Iterator[dict[str, Cell]]:
        ratios: dict[str, list[float]] = {other: [] for other in self.algorithms if other != "S"}
        nodes: list[int] = []
        for seed in range(self.plan.runs):
            some = loaded.sample(share, seed)
            found = race(some, self.deal(some, count, seed), self.algorithms)
            for other, values in ratios.items():
                values.append(found["S"].seconds / found[other].seconds)
            nodes.append(found.forest.tree(0).n_nodes)
        for other, values in ratios.items():
            mean = Mean.of(values)
            yield {
                "set": loaded.title,
                "rows": round(share * loaded.n_rows),
                "share": share,
                "sets grown": count,
                "algorithm": other,
                "speedup": mean.value,
                "low": mean.low,
                "high": mean.high,
                "tree size": float(np.mean(nodes)),
                "runs": mean.runs,
            }
