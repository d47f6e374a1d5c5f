"""The incumbent: the tree of a search, and beside each of its nodes what the search knows of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.anytime.effort import Effort
from hornbeam.anytime.objectives import Objective, Values
from hornbeam.anytime.sketch import Sketch, splice


@dataclass(frozen=True)
class Chosen:
    """A node to rebuild, with so many samples for each test, and what that counts as."""

    node: int
    r: int
    cost: int


@dataclass(frozen=True, eq=False)
class Incumbent:
    """A search changes by taking the next incumbent at once, so that it is whole whenever it is interrupted.

    `last_r` is the r of the last attempt at a node, `made_r` that of the one which made it what it is.
    `least` (NaN: unknown) and `efforts` (None: unknown) are filled in as they are asked for; they follow from
    the rows of a node alone. `floor` is what no tree of all rows has fewer leaves than,
    `folds_wrong` how many rows inner folds got wrong, where a referee asked them; `proofs` and `proof_work`
    count what a prover has tried.
    """

    sketch: Sketch
    values: Values
    last_r: npt.NDArray[np.int64]
    made_r: npt.NDArray[np.int64]
    least: npt.NDArray[np.float64]
    efforts: list[Effort | None]
    floor: int | None = None
    folds_wrong: int | None = None
    proofs: int = 0
    proof_work: int = 0
    iterations: int = 0
    work: int = 0

    @classmethod
    def of(cls, sketch: Sketch, values: Values, r: int = 0) -> Incumbent:
        """A tree that was made with r samples, of which nothing else is known yet."""
        n = sketch.n_nodes
        made = np.full(n, r, dtype=np.int64)
        return cls(sketch, values, made, made, np.full(n, np.nan), [None] * n)

    def tried(self, chosen: Chosen) -> Incumbent:
        """The incumbent after a rebuild that was not better."""
        last_r = self.last_r.copy()
        last_r[chosen.node] = chosen.r
        return replace(self, last_r=last_r, **self._counted(chosen))

    def improved(self, chosen: Chosen, part: Incumbent, objective: Objective) -> Incumbent:
        """The incumbent after a rebuild that was better: the part stands in the place of its node."""
        return replace(self.grafted(chosen.node, part, objective), **self._counted(chosen))

    def _counted(self, chosen: Chosen) -> dict[str, Any]:
        return {"iterations": self.iterations + 1, "work": self.work + chosen.cost}

    def grafted(self, node: int, part: Incumbent, objective: Objective) -> Incumbent:
        """The incumbent with a part in the place of a node; what follows from the node's rows alone stays."""
        end, whole = self.sketch.end_of(node), self.sketch.graft(node, part.sketch)
        least = splice(self.least, node, end, part.least)
        least[node] = self.least[node]
        return replace(
            self,
            sketch=whole,
            values=objective.grafted(self.values, self.sketch, node, whole, part.values),
            last_r=splice(self.last_r, node, end, part.last_r),
            made_r=splice(self.made_r, node, end, part.made_r),
            least=least,
            efforts=[*self.efforts[:node], self.efforts[node], *part.efforts[1:], *self.efforts[end:]],
        )
