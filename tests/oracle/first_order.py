"""First-order trees (docs/relational-law.md): growth from one training set, and routing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tests.oracle.facts import (
    OPEN,
    Binding,
    Const,
    Database,
    Domain,
    Literal,
    Query,
    Value,
    Var,
    holds,
    is_over,
    solutions,
    variables,
)
from tests.oracle.log_p import ln, log_p_f
from tests.oracle.quality import nearest, quality, variance_impurity
from tests.oracle.refinement import Bias, Refinement
from tests.oracle.table import ClassCounts, Sample, Statistics, Target, TargetSums

LEAST = 1e-9  # what the quality of a test must exceed; of a variance this share of it


@dataclass(frozen=True)
class Settings:
    """criterion is "gain", "gain_ratio" or "variance"; budget None counts no rows."""

    criterion: str = "gain_ratio"
    min_samples_leaf: int = 2
    max_depth: int | None = None
    ftest: float | None = 0.05
    budget: int | None = None
    accuracy: float = 1.0


@dataclass(frozen=True)
class Node:
    """A node with the examples of the training set that reach it; a leaf has no test."""

    stats: Statistics
    examples: tuple[int, ...]
    test: Query = ()
    quality: float = 0.0
    yes: Node | None = None
    no: Node | None = None

    def preorder(self) -> Iterator[Node]:
        yield self
        for child in (self.yes, self.no):
            if child is not None:
                yield from child.preorder()

    @property
    def inner(self) -> list[Node]:
        return [node for node in self.preorder() if node.test]

    @property
    def leaves(self) -> list[Node]:
        return [node for node in self.preorder() if not node.test]

    @property
    def counts(self) -> tuple[float, ...]:
        """Classes: how many of each. Numbers: how many, their mean, the squared deviations from it."""
        if isinstance(self.stats, ClassCounts):
            return tuple(float(c) for c in self.stats.counts)
        n, y = self.stats.n, self.stats.sums[0]
        return (float(n), nearest(y, int(n) * self.stats.unit), squares(self.stats))


def squares(stats: TargetSums) -> float:
    """The sum of squared deviations from the mean."""
    n, y, yy = stats.n, stats.sums[0], stats.squares[0]
    return nearest(n * yy - y * y, stats.unit**2) / nearest(n)


@dataclass(frozen=True)
class Candidate:
    """A test as the order of tests has it and the examples at the node for which it holds; `over` are those
    on which it costs too much."""

    test: Query
    yes: frozenset[int]
    over: frozenset[int] = frozenset()


def succeeding(database: Database, query: Query, tests: Sequence[Query], example: int) -> set[int]:
    """The tests that hold for an example behind the query: each solution of the query tries those that are
    still without one, unless they have been tried with the same values of their variables."""
    used = [sorted(variables(query) & variables(test)) for test in tests]
    waiting, tried = list(range(len(tests))), set()
    for binding in solutions(database, query, example, database.start(example)):
        left = []
        for t in waiting:
            values = (t, *(binding[v] for v in used[t]))
            if values in tried or not has_solution(database, tests[t], example, binding):
                left.append(t)
            tried.add(values)
        waiting = left
        if not waiting:
            break
    return set(range(len(tests))) - set(waiting)


def has_solution(database: Database, query: Query, example: int, binding: Binding) -> bool:
    return any(True for _ in solutions(database, query, example, binding))


def middle(lo: Value, hi: Value, domain: Domain) -> Value:
    """The threshold between two neighbouring values."""
    assert not isinstance(lo, str)
    assert not isinstance(hi, str)
    if domain.kind == "integer":
        return (int(lo) + int(hi)) // 2
    t = lo / 2 + hi / 2
    return lo if t == hi or not math.isfinite(t) else t


@dataclass(frozen=True)
class Growth:
    """A training set: how often each example is in it (unlabelled ones never), and what is sought."""

    database: Database
    bias: Bias
    target: Target
    settings: Settings
    sample: Sample

    @staticmethod
    def of(
        database: Database, bias: Bias, target: Target, settings: Settings, times: Sequence[int] | None = None
    ) -> Growth:
        return Growth(database, bias, target, settings, Sample.of(len(database.keys), times))

    def grow(self) -> Node:
        return self.node(self.sample.present(), (), 0)

    def node(self, examples: tuple[int, ...], query: Query, depth: int) -> Node:
        leaf = Node(self.target.statistics(examples, self.sample), examples)
        if self.is_final(leaf, depth):
            return leaf
        best, how_good = self.best(leaf, query)
        if best is None or not self.is_significant(leaf, best):
            return leaf
        yes = tuple(e for e in examples if e in best.yes)
        no = tuple(e for e in examples if e not in best.yes)
        return replace(
            leaf,
            test=best.test,
            quality=how_good,
            yes=self.node(yes, query + best.test, depth + 1),
            no=self.node(no, query, depth + 1),
        )

    def is_final(self, leaf: Node, depth: int) -> bool:
        too_few = leaf.stats.rows < 2 * self.settings.min_samples_leaf
        return leaf.stats.is_pure() or too_few or depth == self.settings.max_depth or self.is_sure(leaf)

    def is_sure(self, leaf: Node) -> bool:
        """Whether the majority has the share that is asked for."""
        if isinstance(leaf.stats, TargetSums):
            return False
        return nearest(max(leaf.stats.counts)) >= self.settings.accuracy * nearest(leaf.stats.n)

    def best(self, leaf: Node, query: Query) -> tuple[Candidate | None, float]:
        """The first of the tests of highest quality."""
        chosen, highest = None, self.least(leaf)
        for candidate in self.candidates(leaf.examples, query):
            how_good = self.quality(leaf, candidate)
            if how_good is not None and how_good > highest:
                chosen, highest = candidate, how_good
        return chosen, highest

    def least(self, leaf: Node) -> float:
        """The quality that a test must exceed, whatever the unit of a target."""
        return LEAST * variance_impurity(leaf.stats) if isinstance(leaf.stats, TargetSums) else LEAST

    def branches(self, leaf: Node, candidate: Candidate) -> list[Statistics]:
        yes = [e for e in leaf.examples if e in candidate.yes]
        no = [e for e in leaf.examples if e not in candidate.yes]
        return [self.target.statistics(yes, self.sample), self.target.statistics(no, self.sample)]

    def quality(self, leaf: Node, candidate: Candidate) -> float | None:
        """None where the test is not admissible."""
        branches = self.branches(leaf, candidate)
        if candidate.over or any(b.rows < self.settings.min_samples_leaf for b in branches):
            return None
        criterion = "entropy" if self.settings.criterion == "gain" else self.settings.criterion
        found = quality(criterion, leaf.stats, branches)
        return None if found is None else found.quality

    def is_significant(self, leaf: Node, best: Candidate) -> bool:
        if self.settings.ftest is None or isinstance(leaf.stats, ClassCounts):
            return True
        yes, no = (squares(b) for b in self.branches(leaf, best) if isinstance(b, TargetSums))
        n = leaf.stats.rows
        return n > 2 and log_p_f(squares(leaf.stats), yes + no, n - 1, n - 2) <= ln(self.settings.ftest)

    def candidates(self, examples: tuple[int, ...], query: Query) -> Iterator[Candidate]:
        """The tests of a node in their order; one with an open threshold stands for its cuts, ascending."""
        tests = Refinement(self.database, self.bias, query).tests()
        closed = [test for test in tests if not any(OPEN in literal.terms for literal in test)]
        found = {e: succeeding(self.database, query, closed, e) for e in examples}
        place = {test: t for t, test in enumerate(closed)}
        for test in tests:
            over = frozenset(e for e in examples if self.is_over(query, test, e))
            if test in place:
                yield Candidate(test, frozenset(e for e in examples if place[test] in found[e]), over)
            else:
                yield from self.cuts(examples, query, test, over)

    def is_over(self, query: Query, test: Query, example: int) -> bool:
        budget = self.settings.budget
        return budget is not None and is_over(self.database, query, test, example, budget)

    def cuts(
        self, examples: tuple[int, ...], query: Query, test: Query, over: frozenset[int]
    ) -> Iterator[Candidate]:
        """The tests that an open threshold stands for: midpoints of what the examples have of it."""
        comparison = next(literal for literal in test if OPEN in literal.terms)
        variable = comparison.terms[0]
        assert isinstance(variable, Var)
        rest = tuple(literal for literal in test if literal != comparison)
        at_most = comparison.predicate == "<="
        extremes = {e: self.extreme(query + rest, variable, e, at_most) for e in examples}
        present = sorted({value for value in extremes.values() if value is not None})
        domain = self.database.domains[self.bias.types_of(query + rest)[variable.number]]
        for lo, hi in itertools.pairwise(present):
            cut = middle(lo, hi, domain)
            passed = frozenset(
                e
                for e, value in extremes.items()
                if value is not None and ((value <= cut) if at_most else (value > cut))  # type: ignore[operator]
            )
            literal = Literal(comparison.predicate, (variable, Const(cut)))
            yield Candidate(tuple(literal if x == comparison else x for x in test), passed, over)

    def extreme(self, query: Query, variable: Var, example: int, at_most: bool) -> Value | None:
        """The least or the greatest value of a variable in all solutions."""
        start: Binding = self.database.start(example)
        found = (b[variable.number] for b in solutions(self.database, query, example, start))
        known = [value for value in found if value is not None]
        return (min(known) if at_most else max(known)) if known else None


def route(database: Database, root: Node, example: int) -> Node:
    """The leaf of an example: at every node the whole query is asked anew."""
    node, query = root, Query()
    while node.yes is not None and node.no is not None:
        passes = holds(database, query + node.test, example)
        query = query + node.test if passes else query
        node = node.yes if passes else node.no
    return node
