"""Every candidate test of an attribute at a node, in the order of the law, and the choice among them."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.oracle.ordering import order_categories
from tests.oracle.quality import Quality, clamped, entropy_gain, nearest, quality
from tests.oracle.table import AllParameters, ClassCounts, Column, Sample, Statistics, Target, Value

EXHAUSTIVE = 12  # present categories up to which every subset is a candidate


@dataclass(frozen=True)
class Group:
    """The rows of a node that share one known value of an attribute."""

    value: Value
    stats: Statistics


@dataclass(frozen=True)
class Candidate:
    """A test and the known rows of its branches. A nominal test says where each present label goes."""

    kind: str
    attribute: int
    branches: tuple[Statistics, ...]
    threshold: float | int | None = None
    child_of: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Choice:
    """A candidate with its default branch: `branches` count the missing rows there."""

    candidate: Candidate
    default: int
    branches: tuple[Statistics, ...]
    quality: float
    gain: float


@dataclass(frozen=True)
class Node:
    """One attribute at one node: all that its candidates are made and judged from."""

    attribute: int
    stats: Statistics
    groups: tuple[Group, ...]
    missing: Statistics | None
    parameters: AllParameters
    min_leaf: int
    factors: tuple[float, ...] | None

    def seen(self, stats: Statistics) -> Statistics:
        """As the qualities see it: with the factors of the classes."""
        return stats.times(self.factors) if isinstance(stats, ClassCounts) else stats

    def admissible(self, candidate: Candidate) -> Iterator[tuple[int, tuple[Statistics, ...]]]:
        """The sides for the missing rows that leave every branch enough rows, with the branches then."""
        if self.has_objects(candidate):
            for default, branches in sides(candidate, self.missing, self.parameters.criterion == "c45"):
                if all(branch.rows >= self.min_leaf for branch in branches):
                    yield default, branches

    def has_objects(self, candidate: Candidate) -> bool:
        """min_objs: two branches of m known weight, and C4.5's floor for both sides of a cut."""
        m = self.parameters.min_objs
        if m is None:
            return True
        sizes = [nearest(branch.n) for branch in candidate.branches]
        floor = float(m)
        if candidate.kind == "numeric" and isinstance(self.stats, ClassCounts):
            known = nearest(total(candidate.branches).n)
            floor = max(floor, min(25.0, 0.1 * known / nearest(len(self.stats.present))))
        return sum(size >= floor for size in sizes) >= 2

    def judge(self, candidate: Candidate, branches: Sequence[Statistics]) -> Quality | None:
        node = self.seen(self.stats)
        if self.parameters.criterion != "c45":
            return quality(self.parameters.criterion, node, [self.seen(branch) for branch in branches])
        known = [b for b in map(self.seen, candidate.branches) if isinstance(b, ClassCounts)]
        information = clamped(entropy_gain(node.n, functools.reduce(operator.add, known), known))
        return Quality(information, information)

    def choice(self, candidate: Candidate) -> Choice | None:
        """The candidate with its better admissible side for the missing rows, tie first."""
        best = None
        for default, branches in self.admissible(candidate):
            judged = self.judge(candidate, branches)
            if judged is not None and (best is None or judged.quality > best.quality):
                best = Choice(candidate, default, branches, judged.quality, judged.gain)
        return best

    def best(self, candidates: Iterable[Candidate]) -> Choice | None:
        return first_best(self.choice(candidate) for candidate in candidates)


def first_best(choices: Iterable[Choice | None]) -> Choice | None:
    """The highest quality; among equals the first."""
    best = None
    for choice in choices:
        if choice is not None and (best is None or choice.quality > best.quality):
            best = choice
    return best


def total(parts: Iterable[Statistics]) -> Statistics:
    return functools.reduce(operator.add, parts)


def largest(branches: Sequence[Statistics]) -> int:
    """The index of the branch of most weight; among equals the first."""
    return max(range(len(branches)), key=lambda i: (branches[i].n, -i))


def sides(
    candidate: Candidate, missing: Statistics | None, only_largest: bool
) -> Iterator[tuple[int, tuple[Statistics, ...]]]:
    """Each default branch to be scored, with the branches as they are when the missing rows go there."""
    known = candidate.branches
    if missing is None:
        yield largest(known), known
        return
    for default in [largest(known)] if only_largest or candidate.kind == "multiway" else [0, 1]:
        yield default, tuple(b + missing if i == default else b for i, b in enumerate(known))  # type: ignore[operator]


def at_node(
    attribute: int,
    column: Column,
    target: Target,
    rows: Sequence[int],
    sample: Sample,
    parameters: AllParameters,
    min_leaf: int,
    factors: tuple[float, ...] | None = None,
) -> Node:
    by_value: dict[Value, list[int]] = {}
    missing = []
    for row in rows:
        value = column.at(row)
        if value is None:
            missing.append(row)
        else:
            by_value.setdefault(value, []).append(row)
    return Node(
        attribute,
        target.statistics(rows, sample),
        tuple(Group(v, target.statistics(by_value[v], sample)) for v in column.ascending(by_value)),
        target.statistics(missing, sample) if missing else None,
        parameters,
        min_leaf,
        factors,
    )


def midpoint(lo: Value, hi: Value) -> float | int:
    """The threshold between two neighbouring present values."""
    if isinstance(lo, int) and isinstance(hi, int):
        return (lo + hi) // 2
    assert isinstance(lo, float)
    assert isinstance(hi, float)
    t = lo / 2 + hi / 2
    is_usable = t != hi and t - t == 0.0
    return (t if is_usable else lo) + 0.0


def numeric(node: Node) -> Iterator[Candidate]:
    groups = node.groups
    upwards = list(itertools.accumulate((group.stats for group in groups), operator.add))
    downwards = list(itertools.accumulate((group.stats for group in reversed(groups)), operator.add))
    for i in range(1, len(groups)):
        yield Candidate(
            "numeric",
            node.attribute,
            (upwards[i - 1], downwards[len(groups) - i - 1]),
            threshold=midpoint(groups[i - 1].value, groups[i].value),
        )


def two_sided(node: Node, kind: str, left: set[int]) -> Candidate:
    """The nominal test that sends the present categories with these positions left, the others right."""
    groups = node.groups
    return Candidate(
        kind,
        node.attribute,
        (
            total(g.stats for i, g in enumerate(groups) if i in left),
            total(g.stats for i, g in enumerate(groups) if i not in left),
        ),
        child_of=tuple((str(g.value), 0 if i in left else 1) for i, g in enumerate(groups)),
    )


def subset(node: Node, side: set[int]) -> Candidate:
    """A subset test by either of its sides: the one with the first present label is the left."""
    return two_sided(node, "subset", side if 0 in side else set(range(len(node.groups))) - side)


def every_subset(node: Node) -> Iterator[Candidate]:
    """All subsets with the first present label (odd masks) but not with every label, smaller masks first."""
    labels = [str(group.value) for group in node.groups]
    totals: dict[int, Statistics] = {}  # the known rows of each mask: of its highest label and of the rest
    for mask in range(1, 2 ** len(labels)):
        highest = mask.bit_length() - 1
        rest = totals.get(mask ^ 1 << highest)
        stats = node.groups[highest].stats
        totals[mask] = stats if rest is None else total([rest, stats])
    for mask in range(1, 2 ** len(labels) - 1, 2):
        yield Candidate(
            "subset",
            node.attribute,
            (totals[mask], totals[2 ** len(labels) - 1 - mask]),
            child_of=tuple((label, 0 if mask >> i & 1 else 1) for i, label in enumerate(labels)),
        )


def prefixes(node: Node, order: Sequence[int]) -> Iterator[Candidate]:
    for length in range(1, len(order)):
        yield subset(node, set(order[:length]))


def exchange(node: Node, current: Choice) -> Choice:
    """Move one category at a time to the other side while that is better, at most 32 times."""
    for _ in range(32):
        left = {i for i, (_, child) in enumerate(current.candidate.child_of) if child == 0}
        moved = (left ^ {i} for i in range(len(node.groups)))
        found = node.best(subset(node, side) for side in moved if 0 < len(side) < len(node.groups))
        if found is None or not found.quality > current.quality:
            break
        current = found
    return current


def best_subset(node: Node) -> Choice | None:
    if len(node.groups) <= EXHAUSTIVE:
        return node.best(every_subset(node))
    order, is_exact = order_categories(node.stats, [node.seen(group.stats) for group in node.groups])
    found = node.best(prefixes(node, order))
    return found if is_exact or found is None else exchange(node, found)


def each_value(node: Node) -> Iterator[Candidate]:
    if len(node.groups) >= 2:
        for i in range(len(node.groups)):
            yield two_sided(node, "value", {i})


def multiway(node: Node) -> Iterator[Candidate]:
    if len(node.groups) >= 2:
        yield Candidate(
            "multiway",
            node.attribute,
            tuple(group.stats for group in node.groups),
            child_of=tuple((str(group.value), i) for i, group in enumerate(node.groups)),
        )


def best_of_attribute(node: Node, column: Column) -> Choice | None:
    """The best admissible test of one attribute."""
    if column.kind != "nominal":
        return node.best(numeric(node))
    if node.parameters.nominal == "subset":
        return best_subset(node)
    return node.best(each_value(node) if node.parameters.nominal == "value" else multiway(node))
