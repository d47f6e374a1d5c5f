"""The paper's parts can be replaced one by one: NEXT-R, EXPECTED-COST, CHOOSE-NODE, BETTER, REBUILD-TREE."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from hornbeam.anytime import Budget, Improvement, Lookahead, Sketch, TreeSize
from hornbeam.anytime.choosing import Chooser
from hornbeam.anytime.effort import Effort
from hornbeam.anytime.incumbent import Chosen, Incumbent
from hornbeam.growth import ClassTarget
from hornbeam.table import from_data


def noise(rows: int = 90, columns: int = 5) -> Lookahead:
    random = np.random.default_rng(3)
    table = from_data(random.integers(0, 4, (rows, columns)).astype(float))
    return Lookahead(table, ClassTarget(random.integers(0, 2, rows).astype(np.int32), np.arange(2)))


class AlwaysOnce(Chooser):
    """NEXT-R that never doubles."""

    def next_r(self, last_r: int) -> int:
        return 1


class Flat(Chooser):
    """EXPECTED-COST that is the same everywhere."""

    def cost_of(self, effort: Effort, rows: int, r: int) -> int:
        return 1 if effort.usable else 0


class RootOnly(Chooser):
    """CHOOSE-NODE of the sequencing approach."""

    def choose(self, now: Incumbent, look: Any = bool) -> Chosen | None:
        return Chosen(0, self.next_r(int(now.last_r[0])), self.cost(now, 0))


@dataclass(frozen=True)
class NeverSatisfied(TreeSize):
    """BETTER that takes whatever is not worse, and trees that are always the greedy ones."""

    def better(self, new: float, old: float) -> bool:
        return new <= old

    def rebuilt(
        self, lookahead: Lookahead, rows: Any, key: int, r: int, seconds: float = inf
    ) -> Sketch | None:
        return lookahead.id3(rows)


def chosen_by(choosing: type[Chooser], granularity: float = 0.1, iterations: int = 6) -> list[Chosen]:
    search = Improvement.begin(noise(), TreeSize(), granularity=granularity, choosing=choosing)
    found = []
    for state in search.run(Budget(iterations=iterations)):
        if state.iteration:
            assert search.last is not None
            found.append(search.last.chosen)
    return found


def test_another_next_r_is_asked() -> None:
    assert {chosen.r for chosen in chosen_by(AlwaysOnce)} == {1}
    assert max(chosen.r for chosen in chosen_by(Chooser, 1.0)) > 4


def test_where_every_rebuild_costs_the_same_the_root_promises_most() -> None:
    found = chosen_by(Flat)
    assert {(chosen.node, chosen.cost) for chosen in found} == {(0, 1)}
    assert {chosen.node for chosen in chosen_by(Chooser)} != {0}


def test_another_choice_of_nodes_is_asked() -> None:
    assert chosen_by(RootOnly) == chosen_by(Chooser, 1.0)


def test_another_objective_decides_what_is_taken() -> None:
    search = Improvement.begin(noise(), NeverSatisfied())
    first = search.handed_out().digest
    list(search.run(Budget(iterations=4)))
    assert search.last is not None
    assert search.last.accepted
    assert search.handed_out().digest == first


def test_replaced_parts_survive_a_pickle() -> None:
    search = Improvement.begin(noise(), TreeSize(), choosing=AlwaysOnce)
    again = pickle.loads(pickle.dumps(search))
    list(again.run(Budget(iterations=3)))
    assert again.last.chosen.r == 1
