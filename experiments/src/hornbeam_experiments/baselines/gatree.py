"""GATree: decision trees bred by a genetic algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hornbeam.model import Tree
from hornbeam.model.arrays import NUMERIC, VALUE
from hornbeam_experiments.baselines.coded import Coded, check_complete
from hornbeam_experiments.baselines.growing import Draft, Question, branches, tree_of
from hornbeam_experiments.baselines.learner import Baseline, Model, Task, checked_between, checked_count

Gene = (
    int | tuple[Question, "Gene", "Gene"]
)  # the code of a class, or a test with what holds and what does not


@dataclass(frozen=True)
class GATree(Baseline):
    """GATree (Papagelis and Kalles 2001). The first trees are random tests with random classes below.

    Parents are drawn by payoff, `correct^2 * x / (size^2 + x)` with size = nodes; they swap random subtrees
    with probability `crossover`, a child gets another test or class at a random node with probability
    `mutation`, and the best tree lives on. From the papers: the first trees, mutation and crossover.
    Recalled, not looked up: the payoff with x = 1000, and both probabilities. Ours: the population, what size
    counts, one survivor; a child that is a mere leaf or has more than `largest` nodes is not born, and its
    parent lives on. A tree that is handed out has lost its branches without rows, and its leaves say the
    class of most of their rows, which the tree that was bred need not.
    """

    name: ClassVar[str] = "GATree"
    population: int = 200
    generations: int = 10**6
    crossover: float = 0.99
    mutation: float = 0.01
    x: int = 1000
    largest: int = 1000

    def check(self, task: Task) -> None:
        checked_count("population", self.population, 2, 10**6)
        checked_count("generations", self.generations, 0, 10**9)
        checked_between("crossover", self.crossover, 0.0, 1.0)
        checked_between("mutation", self.mutation, 0.0, 1.0)
        checked_count("x", self.x, 1, 10**12)
        checked_count("largest", self.largest, 3, 1000)
        check_complete(task.table)

    def models(self, task: Task) -> Iterator[tuple[str, Model]]:
        world = World(task.coded, task.random())
        alive = [self.judged(world, world.stump()) for _ in range(self.population)]
        best = alive[0]
        for generation in range(self.generations + 1):
            leader = max(alive, key=lambda one: one.payoff)
            if generation == 0 or leader.payoff > best.payoff:
                best = leader
                yield f"generation={generation}", planted(task.coded, best.gene)
            task.watch.check()
            alive = self.next_generation(task, world, alive, best)

    def judged(self, world: World, gene: Gene) -> Being:
        correct, size = world.correct(gene, world.everyone), size_of(gene)
        return Being(gene, size, payoff(correct, size, self.x))

    def next_generation(self, task: Task, world: World, alive: list[Being], best: Being) -> list[Being]:
        payoffs = np.cumsum([one.payoff for one in alive])
        following = [best]
        while len(following) < len(alive):
            task.watch.check()
            drawn = np.searchsorted(payoffs, world.random.random(2) * payoffs[-1], side="right")
            parents = [alive[min(int(i), len(alive) - 1)] for i in drawn]
            for child in self.children(world, *parents):
                following.append(self.judged(world, child))
        return following[: len(alive)]

    def children(self, world: World, one: Being, other: Being) -> list[Gene]:
        genes = [one.gene, other.gene]
        if world.random.random() < self.crossover:
            at, there = int(world.random.integers(one.size)), int(world.random.integers(other.size))
            swapped = [
                replaced(one.gene, at, found(other.gene, there)),
                replaced(other.gene, there, found(one.gene, at)),
            ]
            genes = [
                new if 1 < size_of(new) <= self.largest else old
                for new, old in zip(swapped, genes, strict=True)
            ]
        return [world.mutated(gene) if world.random.random() < self.mutation else gene for gene in genes]


@dataclass(frozen=True, eq=False)
class Being:
    """A tree, its nodes and what it is worth."""

    gene: Gene
    size: int
    payoff: float


def payoff(correct: int, size: int, x: int = 1000) -> float:
    """What a tree is worth: rows that it gets right, against its size."""
    return correct * correct * (x / (size * size + x))


class World:
    """The rows as bits of long numbers, so that sending them down a tree is a few operations a node."""

    def __init__(self, coded: Coded, random: np.random.Generator) -> None:
        self.coded, self.random = coded, random
        self.everyone = (1 << coded.n_rows) - 1
        self._known: dict[Question, int] = {}

    @cached_property
    def of_class(self) -> list[int]:
        return [as_bits(self.coded.classes == k) for k in range(self.coded.n_classes)]

    @cached_property
    def asked(self) -> list[int]:
        """The attributes that have a test."""
        return [a for a in range(self.coded.n_attributes) if self.coded.n_codes(a) >= 2]

    def holds(self, test: Question) -> int:
        if test not in self._known:
            cells = self.coded.cells[:, test.attribute]
            self._known[test] = as_bits(cells <= test.code if test.kind == NUMERIC else cells == test.code)
        return self._known[test]

    def correct(self, gene: Gene, rows: int) -> int:
        """How many of the rows a tree gets right."""
        if isinstance(gene, int):
            return (rows & self.of_class[gene]).bit_count()
        test, yes, no = gene
        held = rows & self.holds(test)
        return self.correct(yes, held) + self.correct(no, rows ^ held)

    def label(self) -> int:
        return int(self.random.integers(self.coded.n_classes))

    def test(self) -> Question:
        a = self.asked[int(self.random.integers(len(self.asked)))]
        if self.coded.is_nominal(a):
            return Question(VALUE, a, int(self.random.integers(self.coded.n_codes(a))))
        return Question(NUMERIC, a, int(self.random.integers(self.coded.n_codes(a) - 1)))

    def stump(self) -> Gene:
        return (self.test(), self.label(), self.label()) if self.asked else self.label()

    def mutated(self, gene: Gene) -> Gene:
        """Another test, or another class, at a random node."""
        at = int(self.random.integers(size_of(gene)))
        old = found(gene, at)
        return replaced(gene, at, self.label() if isinstance(old, int) else (self.test(), old[1], old[2]))


def as_bits(which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    return int.from_bytes(np.packbits(which, bitorder="little").tobytes(), "little")


def size_of(gene: Gene) -> int:
    """Tests and leaves."""
    return 1 if isinstance(gene, int) else 1 + size_of(gene[1]) + size_of(gene[2])


def found(gene: Gene, at: int) -> Gene:
    """The node with this number, in preorder."""
    while at > 0:
        assert not isinstance(gene, int)
        at -= 1
        left = size_of(gene[1])
        gene, at = (gene[1], at) if at < left else (gene[2], at - left)
    return gene


def replaced(gene: Gene, at: int, new: Gene) -> Gene:
    """The tree with another one in the place of that node."""
    if at == 0:
        return new
    assert not isinstance(gene, int)
    test, yes, no = gene
    left = size_of(yes)
    return (
        (test, replaced(yes, at - 1, new), no)
        if at <= left
        else (test, yes, replaced(no, at - 1 - left, new))
    )


def planted(coded: Coded, gene: Gene) -> Tree:
    """The tree over the rows of the table, without branches that no row goes into."""
    drafts = [Draft(np.arange(coded.n_rows))]
    genes = [gene]
    for draft, own in zip(drafts, genes, strict=False):  # both grow while they are read
        while not isinstance(own, int):
            parts = branches(coded, own[0], draft.rows)
            if len(parts) == 2:
                draft.test, draft.parts, draft.first_child = own[0], parts, len(drafts)
                drafts += [Draft(rows) for _, rows in parts]
                genes += own[1:]
                break
            code = int(coded.cells[draft.rows[0], own[0].attribute])
            holds = code <= own[0].code if own[0].kind == NUMERIC else code == own[0].code
            own = own[1] if holds else own[2]
    return tree_of(coded, drafts)
