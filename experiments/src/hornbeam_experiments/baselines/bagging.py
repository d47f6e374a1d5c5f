"""Bagged trees: as many as there is time for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hornbeam.ensemble import MAX_BAGS, Bags, Committee, draw_bags, grow_bags
from hornbeam.growth import Parameters, Pruning
from hornbeam.table import Table
from hornbeam_experiments.baselines.learner import Baseline, Model, Task, answer_rounds, checked_count


@dataclass(frozen=True, eq=False)
class Voters:
    """A committee as one model; its leaves are those of all its trees."""

    committee: Committee

    @property
    def n_leaves(self) -> int:
        return sum(tree.n_leaves for tree in self.committee.trees)

    def predict_codes(self, table: Table, threads: int = 1) -> npt.NDArray[Any]:
        return self.committee.codes(self.committee.answers(table, threads))


@dataclass(frozen=True)
class Bagged(Baseline):
    """Bagging (Breiman 1996) by hornbeam.ensemble: bootstrap samples of as many rows, the shares of the
    leaves averaged. `trees` is the most there will be."""

    trees: int = 1000
    parameters: ClassVar[Parameters]
    pruning: ClassVar[Pruning]

    def check(self, task: Task) -> None:
        checked_count("trees", self.trees, 1, MAX_BAGS)

    def models(self, task: Task) -> Iterator[tuple[str, Model]]:
        drawn = draw_bags(task.table.n_rows, self.trees, np.random.RandomState(task.seed))
        grown: tuple[Any, ...] = ()
        for many in answer_rounds(self.trees):
            while len(grown) < many:
                task.watch.check()
                grown += (self.tree(task, drawn, len(grown)),)
            yield f"trees={many}", Voters(Committee(grown))

    def tree(self, task: Task, drawn: Bags, i: int) -> Any:
        bag = Bags(drawn.n_rows, drawn.draws, drawn.seeds[i : i + 1])
        return grow_bags(task.table, task.target, self.parameters, self.pruning, bag).tree(0)


@dataclass(frozen=True)
class BaggedID3(Bagged):
    """Unpruned trees by information gain, a branch for each category."""

    name: ClassVar[str] = "Bagging ID3"
    parameters: ClassVar[Parameters] = Parameters("entropy", "multiway")
    pruning: ClassVar[Pruning] = Pruning()


@dataclass(frozen=True)
class BaggedC45(Bagged):
    """C4.5's trees, pruned with confidence 0.25."""

    name: ClassVar[str] = "Bagging C4.5"
    parameters: ClassVar[Parameters] = Parameters("c45", "multiway", min_objs=2.0)
    pruning: ClassVar[Pruning] = Pruning("error_based")
