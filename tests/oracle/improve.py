"""Iterative improvement: IIDT-TS and IIDT-EE, sequencing, and rows that come later (docs/anytime-law.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Self

from tests.oracle.candidates import Choice
from tests.oracle.draws import BITS, mix
from tests.oracle.growth import Growth, branch
from tests.oracle.lookahead import Rows, Search
from tests.oracle.prune import ErrorBased, extra_errors
from tests.oracle.quality import nearest
from tests.oracle.shape import Subtree, nested
from tests.oracle.table import AllParameters, Classes, Column

CONFIDENCE = 0.25
LEAST = 1e-9  # expected errors below which nothing is gained
DRAWS = 8  # cuts drawn of a numeric attribute, times r
Path = tuple[int, ...]


@dataclass
class Spot:
    """A node that may be rebuilt: its rows, its test, and the r of the last attempt."""

    rows: Rows
    choice: Choice | None = None
    children: list[Spot] = field(default_factory=list)
    last_r: int = 0

    @property
    def next_r(self) -> int:
        return 1 if self.last_r == 0 else 2 * self.last_r

    @property
    def size(self) -> int:
        return sum(child.size for child in self.children) if self.children else 1

    def preorder(self, path: Path = ()) -> Iterator[tuple[Path, Spot]]:
        yield path, self
        for i, child in enumerate(self.children):
            yield from child.preorder((*path, i))

    def become(self, other: Spot) -> None:
        self.rows, self.choice, self.children = other.rows, other.choice, other.children
        self.last_r = other.last_r


def spots(tree: Subtree, last_r: int) -> Spot:
    """A grown tree as nodes that may be rebuilt."""
    return Spot(tree.node.rows, tree.node.choice, [spots(child, last_r) for child in tree.children], last_r)


@dataclass(frozen=True)
class Step:
    """One iteration: the node by its branches from the root, and the whole tree afterwards."""

    iteration: int
    path: Path
    r: int
    cost: int
    accepted: bool
    size: int
    expected_error: float


@dataclass(frozen=True)
class Settings:
    """`measure` is "size" (TS) or "error" (EE); `bound` is "proved" or "paper"."""

    measure: str = "size"
    granularity: float = 0.1
    bound: str = "proved"
    nominal: str = "value"
    random_state: int = 0
    endings: bool = True


@dataclass
class Improvement:
    """A tree under improvement. Start it with `begin`; it holds all rows, also those that come later."""

    columns: Sequence[Column]
    target: Classes
    settings: Settings
    root: Spot
    iterations: int = 0
    work: int = 0

    @classmethod
    def begin(
        cls, columns: Sequence[Column], target: Classes, settings: Settings, rows: Sequence[int] | None = None
    ) -> Self:
        """The first tree, of these rows (all of them without)."""
        first = tuple(range(len(target.labels))) if rows is None else tuple(sorted(rows))
        self = cls(columns, target, settings, Spot(first))
        self.root = spots(self.first_tree(first), 0)
        return self

    @cached_property
    def search(self) -> Search:
        return Search.of(self.columns, self.target, self.settings.nominal, endings=self.settings.endings)

    def drawing(self, r: int) -> Search:
        """The search with the draws that go with r."""
        return replace(self.search, draws=DRAWS * r)

    @cached_property
    def pruning(self) -> ErrorBased:
        return ErrorBased(self.search.growth, CONFIDENCE)

    def first_tree(self, rows: Rows) -> Subtree:
        if self.settings.measure == "size":
            return self.search.lsid3(rows, 0, 0)
        parameters = AllParameters("entropy", self.settings.nominal, min_objs=2.0)
        present = set(rows)
        times = [int(row in present) for row in range(len(self.target.labels))]
        grown = nested(Growth.of(self.columns, self.target, parameters, times).grow())
        return self.pruning.prune(grown, rows)[0]

    def subtree(self, spot: Spot) -> Subtree:
        """The tree below a node, as growth and pruning know trees."""
        node = replace(self.search.growth.leaf(0, spot.rows), choice=spot.choice)
        return Subtree(node, tuple(self.subtree(child) for child in spot.children))

    def handed_out(self, is_pruned: bool = False) -> Subtree:
        """The current tree; the search goes on from the unpruned one."""
        tree = self.subtree(self.root)
        return self.pruning.prune(tree, self.root.rows)[0] if is_pruned else tree

    def expected_error(self, spot: Spot) -> float:
        if not spot.children:
            return self.pruning.expected(self.search.growth.leaf(0, spot.rows))
        total = 0.0
        for child in spot.children:
            total = total + self.expected_error(child)
        return total

    def least_error(self, spot: Spot) -> float:
        """The expected error if a test could part the classes."""
        total = 0.0
        for count in self.search.at(spot.rows).stats.counts:
            if count > 0:
                total = total + extra_errors(nearest(count), 0.0, CONFIDENCE)
        return total

    def benefit(self, spot: Spot) -> int | float:
        """What a rebuild could save at most; 0 where that is nothing."""
        if self.settings.measure == "error":
            saved = self.expected_error(spot) - self.least_error(spot)
            return saved if saved >= LEAST else 0.0
        is_proved = self.settings.bound == "proved"
        least = self.search.bound(spot.rows) if is_proved else self.search.paper_bound(spot.rows)
        return max(0, spot.size - least)

    def cost(self, spot: Spot) -> int:
        return self.drawing(spot.next_r).cost(spot.rows, spot.next_r)

    def most_work(self, spot: Spot) -> int:
        """What an iteration at a node counts as at most."""
        return self.cost(spot)

    def is_open(self, spot: Spot) -> bool:
        """Whether the node could be rebuilt at all; leaves only where pruning made them."""
        if spot.children:
            return True
        return self.settings.measure == "error" and not self.search.at(spot.rows).is_finished

    def is_eligible(self, spot: Spot) -> bool:
        if not self.is_open(spot) or not self.benefit(spot) > 0:
            return False
        if spot is self.root:
            return True
        g = Fraction(repr(self.settings.granularity))
        return g < 1 and self.cost(spot) >= g * self.cost(self.root)

    def utility(self, spot: Spot) -> Fraction | float:
        benefit, cost = self.benefit(spot), self.cost(spot)
        return Fraction(benefit, cost) if isinstance(benefit, int) else benefit / float(cost)

    def choose(self) -> tuple[Path, Spot] | None:
        """The eligible node of the highest utility, then of most rows, then first."""
        eligible = [(path, spot) for path, spot in self.root.preorder() if self.is_eligible(spot)]
        return max(eligible, key=lambda at: (self.utility(at[1]), len(at[1].rows)), default=None)

    def rebuilt(self, spot: Spot) -> Spot:
        key = mix(mix(mix(self.settings.random_state & BITS, 0), 1), self.iterations)
        tree = self.drawing(spot.next_r).lsid3(spot.rows, key, spot.next_r)
        if self.settings.measure == "error":
            tree = self.pruning.prune(tree, spot.rows)[0]
        return spots(tree, spot.next_r)

    def is_better(self, new: Spot, old: Spot) -> bool:
        if self.settings.measure == "size":
            return new.size < old.size
        return self.expected_error(old) - self.expected_error(new) >= LEAST

    def improve(self, path: Path, spot: Spot) -> Step:
        """One rebuild, kept if it is better."""
        r, cost, new = spot.next_r, self.cost(spot), self.rebuilt(spot)
        accepted = self.is_better(new, spot)
        if accepted:
            spot.become(new)
        spot.last_r = r
        step = Step(self.iterations, path, r, cost, accepted, self.root.size, self.expected_error(self.root))
        self.iterations, self.work = self.iterations + 1, self.work + cost
        return step

    @property
    def is_proved(self) -> bool:
        measures_size = self.settings.measure == "size"
        return measures_size and self.root.size == self.search.bound(self.root.rows)

    def run(self, max_iter: int | None = None, max_work: int | None = None) -> tuple[list[Step], str]:
        """The steps until something ends them, and what did; the limits count from the beginning."""
        steps: list[Step] = []
        while True:
            if self.is_proved:
                return steps, "proved"
            if max_iter is not None and self.iterations >= max_iter:
                return steps, "iterations"
            chosen = self.choose()
            if chosen is None:
                return steps, "exhausted"
            if max_work is not None and self.work + self.most_work(chosen[1]) > max_work:
                return steps, "work"
            steps.append(self.improve(*chosen))

    def add(self, row: int) -> None:
        """A row that comes later goes to its leaf; TS parts the leaf by ID3 where it can and must."""
        spot = self.root
        spot.rows = tuple(sorted((*spot.rows, row)))
        while spot.choice is not None:
            column = self.columns[spot.choice.candidate.attribute]
            spot = spot.children[branch(spot.choice, column, row)]
            spot.rows = tuple(sorted((*spot.rows, row)))
        if self.settings.measure == "size" and not self.search.at(spot.rows).is_finished:
            spot.become(spots(self.search.lsid3(spot.rows, 0, 0), 0))
