"""Growing the trees of bags: training sets of one table, so many together as the native grower takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from hornbeam.arguments import one_of
from hornbeam.ensemble.bags import Bags, Rows
from hornbeam.growth import (
    DrawnSets,
    Engine,
    Forest,
    HowToGrow,
    Pair,
    Parameters,
    Pruning,
    Target,
    TrainingSet,
    TrainingSets,
    draw_seed,
    grow_sets,
)
from hornbeam.table import Table

ALGORITHMS = ("auto", "serial", "overlapping")
# A training set has a row at most 255 times. Where a row is expected this often it gets copies, each of which
# is taken a share of the times; twice as often is then out of the question.
OFTEN = 100


def grow_bags(
    table: Table,
    target: Target,
    parameters: Parameters,
    pruning: Pruning,
    bags: Bags,
    *,
    algorithm: str = "auto",
    **how: Unpack[HowToGrow],
) -> Forest:
    """The trees of all bags: those that the rows of each grow alone with its seed, whatever the algorithm.

    What rows weigh is not looked at here: bags draw by it.
    """
    engine = Engine(algorithm=one_of("algorithm", algorithm, ALGORITHMS))
    copies = Copies.of(bags)
    if len(copies.origin) > table.n_rows:
        table, target = table.take(copies.origin), target.take(copies.origin)
    n_rows = table.n_rows

    def drawn(i: int) -> TrainingSet:
        return TrainingSet(n_rows, taken=copies.spread(bags.rows(i)))

    pairs: list[Pair] = []
    grown = grow_sets(
        table,
        target,
        parameters,
        TrainingSets(n_rows, DrawnSets(len(bags), drawn)),
        pruning=pruning,
        random=[_seed(seed) for seed in bags.seeds.tolist()] if pruning.holds_out else None,
        engine=engine,
        visit=lambda _, pair: pairs.append(pair),
        **how,
    )
    return grown.settled(pairs)


def _seed(seed: int) -> int:
    """What a fit of the rows alone with this random_state takes to draw the rows that it validates on."""
    return draw_seed(np.random.RandomState(seed))


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows that are in the table several times, so that none is too often in a training set."""

    origin: Rows
    """The row of which each row of the longer table is a copy; the first are the rows themselves."""
    many: Rows
    """How many there are of each row."""
    further: Rows
    """The place of the second copy of each row; further copies follow it."""

    @classmethod
    def of(cls, bags: Bags) -> Copies:
        """The copies of rows for some bags: one of a row for each hundred times that a bag is expected to
        draw it."""
        shares = 1.0 / bags.n_rows if bags.weights is None else bags.weights / bags.weights.sum()
        expected = np.broadcast_to(np.asarray(bags.draws * shares), (bags.n_rows,))
        many = np.maximum(np.ceil(expected / OFTEN), 1).astype(np.int64)
        rows = np.arange(bags.n_rows)
        further = bags.n_rows + np.cumsum(many - 1) - (many - 1)
        return cls(np.concatenate((rows, np.repeat(rows, many - 1))), many, further)

    def spread(self, rows: Rows) -> Rows:
        """Drawn rows as rows of the longer table, which takes the copies of a row in turn."""
        often = np.flatnonzero(self.many[rows] > 1)
        if len(often) == 0:
            return rows
        some = rows[often]
        order = np.argsort(some, kind="stable")
        ranked = some[order]
        turn = np.empty(len(some), dtype=np.int64)
        turn[order] = np.arange(len(some)) - np.searchsorted(ranked, ranked)
        copy = turn % self.many[some]
        result = rows.copy()
        result[often] = np.where(copy == 0, some, self.further[some] + copy - 1)
        return result
