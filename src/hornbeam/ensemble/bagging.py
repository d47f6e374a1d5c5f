"""Growing the trees of bags: so many together as the native grower takes, each pruned by its own rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hornbeam.ensemble.bags import Bags, Rows
from hornbeam.growth import (
    ClassTarget,
    Engine,
    Parameters,
    Pruning,
    Target,
    grow_forest,
    grow_tree,
    hold_out,
    prune_tree,
)
from hornbeam.growth.parameters import one_of
from hornbeam.model import Tree
from hornbeam.table import Table

ALGORITHMS = ("auto", "serial", "overlapping")
TOGETHER = 64  # training sets of one native forest
MOST_REPEATS = 255  # how often a row may count in one of them: a byte

Report = Callable[[float], None] | None


@dataclass(frozen=True, eq=False)
class _Set:
    """The rows that a tree is grown from, and those that judge it where some are held out."""

    grown: Rows
    held: Rows | None = None


def grow_bags(
    table: Table,
    target: Target,
    parameters: Parameters,
    pruning: Pruning,
    bags: Bags,
    *,
    algorithm: str = "auto",
    threads: int = 1,
    engine: Engine | None = None,
    report: Report = None,
) -> list[tuple[Tree, Tree]]:
    """(the tree as it was grown, what pruning leaves of it) of each bag.

    They are those that its rows grow alone with its seed, whatever the algorithm. What rows weigh is not
    looked at here: bags draw by it. `report` hears which share of the bags is grown.
    """
    one_of("algorithm", algorithm, ALGORITHMS)
    pairs: list[tuple[Tree, Tree]] = []
    together = 1 if algorithm == "serial" else TOGETHER
    for begin in range(0, len(bags), together):
        sets = [_set_of(target, pruning, bags, i) for i in range(begin, min(begin + together, len(bags)))]
        grown = _grow(table, target, parameters, sets, threads, engine or Engine())
        pairs += [
            (tree, _pruned(tree, table, target, parameters, pruning, some, threads))
            for some, tree in zip(sets, grown, strict=True)
        ]
        if report is not None:
            report(len(pairs) / len(bags))
    return pairs


def _set_of(target: Target, pruning: Pruning, bags: Bags, i: int) -> _Set:
    rows = bags.rows(i)
    if not pruning.holds_out:
        return _Set(rows)
    # As a fit of these rows alone draws them with the bag's seed.
    seed = int(np.random.RandomState(int(bags.seeds[i])).randint(2**31 - 1))
    groups = target.codes[rows] if isinstance(target, ClassTarget) else np.zeros(len(rows), dtype=np.int32)
    grown, held = hold_out(groups, pruning.validation_fraction, seed)
    return _Set(rows[grown], rows[held])


def _grow(
    table: Table, target: Target, parameters: Parameters, sets: list[_Set], threads: int, engine: Engine
) -> Iterator[Tree]:
    """The trees of some sets; one that has a row too often for the forest grows from a table of its own."""
    times = [np.bincount(some.grown, minlength=table.n_rows) for some in sets]
    shared = [place for place, counts in enumerate(times) if counts.max() <= MOST_REPEATS]
    trees: dict[int, Tree] = {}
    if shared:
        multiplicity = _stack(table.n_rows, [times[place] for place in shared])
        forest = grow_forest(table, target, parameters, multiplicity, threads=threads, engine=engine)
        trees = dict(zip(shared, forest, strict=True))
    for place, some in enumerate(sets):
        yield trees.get(place) or grow_tree(
            table.take(some.grown), target.take(some.grown), parameters, threads=threads, engine=engine
        )


def _stack(n_rows: int, times: list[Rows]) -> npt.NDArray[np.uint8]:
    """Counts as [row, set], as the core takes them."""
    stacked = np.empty((n_rows, len(times)), dtype=np.uint8)
    for place, counts in enumerate(times):
        stacked[:, place] = counts
    return stacked


def _pruned(
    tree: Tree,
    table: Table,
    target: Target,
    parameters: Parameters,
    pruning: Pruning,
    some: _Set,
    threads: int,
) -> Tree:
    if pruning.prune in (None, "cost_complexity"):
        return prune_tree(tree, pruning, criterion=parameters.criterion, threads=threads)
    judges = some.grown if some.held is None else some.held
    return prune_tree(
        tree,
        pruning,
        table.take(judges),
        target.take(judges),
        criterion=parameters.criterion,
        threads=threads,
    )
