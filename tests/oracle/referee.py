"""The referee of iterative improvement: inner folds, and the work of asking them (docs/anytime-law.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.draws import BITS, mix
from tests.oracle.growth import branch
from tests.oracle.improve import Improvement, Path, Spot, Step
from tests.oracle.lookahead import Rows
from tests.oracle.shape import Subtree

# The classes of rows, how many folds and a seed -> for each fold the places that learn, and those that judge.
# It is scikit-learn's to say how rows are dealt, so whoever asks brings its dealing along.
Deal = Callable[[list[Any], int, int], Sequence[tuple[Sequence[int], Sequence[int]]]]

FOLDS = 5
FIRST = 2**63  # the number of the iteration under which the first tree is asked


@dataclass
class Refereed(Improvement):
    """A search whose subtrees are taken only if inner folds agree."""

    deal: Deal | None = None
    folds_wrong: int = 0
    made_r: dict[int, int] = field(default_factory=dict)  # by identity: of spots that a rebuild made

    def begin_asking(self, deal: Deal) -> None:
        """The first tree's way on all rows."""
        self.deal = deal
        self.folds_wrong = len(self.missed(self.root.rows, FIRST, 0, 0))
        self.work = self.asking(self.root, [0])

    def folds(self, rows: Rows) -> int:
        labels = [self.target.labels[row] for row in rows]
        return min(FOLDS, max(labels.count(label) for label in labels))

    def asking(self, spot: Spot, sides: list[int]) -> int:
        """The work of asking about a node, with the r of each side."""
        greedy = len(spot.rows) * len(self.search.at(spot.rows).attributes) ** 2
        costs = [self.drawing(r).cost(spot.rows, r) if r else greedy for r in sides]
        return (self.folds(spot.rows) - 1) * sum(costs)

    def missed(self, rows: Rows, iteration: int, r: int, side: int) -> set[int]:
        """Rows that trees of the other folds answer wrong."""
        many = self.folds(rows)
        if many < 2:
            return set()
        key = mix(mix(mix(self.settings.random_state & BITS, 0), 2), iteration)
        labels = [self.target.labels[row] for row in rows]
        assert self.deal is not None
        missed = set()
        for fold, (learn, judge) in enumerate(self.deal(labels, many, mix(key, FOLDS + side // 2) % 2**32)):
            tree = self.grown(tuple(rows[i] for i in learn), mix(mix(key, fold), side), r)
            missed |= {rows[i] for i in judge if self.answer(tree, rows[i]) != self.target.labels[rows[i]]}
        return missed

    def grown(self, rows: Rows, key: int, r: int) -> Subtree:
        if r == 0:
            return self.first_tree(rows)
        tree = self.drawing(r).lsid3(rows, key, r)
        return self.pruning.prune(tree, rows)[0] if self.settings.measure == "error" else tree

    def answer(self, tree: Subtree, row: int) -> object:
        """The most common class of the row's leaf, of equal ones the first."""
        while tree.node.choice is not None:
            column = self.columns[tree.node.choice.candidate.attribute]
            tree = tree.children[branch(tree.node.choice, column, row)]
        here = [self.target.labels[other] for other in tree.node.rows]
        return max(sorted(set(here)), key=here.count)

    def most_work(self, spot: Spot) -> int:
        return self.cost(spot) + 2 * self.asking(spot, [self.made_r.get(id(spot), 0), spot.next_r])

    def improve(self, path: Path, spot: Spot) -> Step:
        """One rebuild, kept if it is better and the folds agree."""
        old_r, r, cost = self.made_r.get(id(spot), 0), spot.next_r, self.cost(spot)
        asked = self.asking(spot, [old_r, r])
        work = cost
        new = self.rebuilt(spot)
        accepted = self.is_better(new, spot)
        if accepted:
            accepted = agree(*(self.missed(spot.rows, self.iterations, *way) for way in ((old_r, 0), (r, 1))))
            work += asked
        if accepted:
            was, now = (len(self.missed(spot.rows, self.iterations, *way)) for way in ((old_r, 2), (r, 3)))
            work += asked
            self.folds_wrong = max(0, (0 if spot is self.root else self.folds_wrong - was) + now)
            spot.become(new)
            self.made_r |= {id(below): r for _, below in spot.preorder()}
        spot.last_r = r
        step = Step(self.iterations, path, r, cost, accepted, self.root.size, self.expected_error(self.root))
        self.iterations, self.work = self.iterations + 1, self.work + work
        return step


def agree(old: set[int], new: set[int]) -> bool:
    """Whether the new side is better by two standard errors of the difference."""
    gained, lost = len(old - new), len(new - old)
    return gained > lost and (gained - lost) ** 2 >= 4 * (gained + lost)
