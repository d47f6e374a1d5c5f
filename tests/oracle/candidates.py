"""Every candidate test of an attribute at a node, in the order of the law, and the choice among them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.oracle.ordering import order_categories
from tests.oracle.quality import quality
from tests.oracle.table import Column, Parameters, Statistics, Target, Value

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
    parameters: Parameters
    min_leaf: int

    def choice(self, candidate: Candidate) -> Choice | None:
        """The candidate with its better admissible side for the missing rows, tie first."""
        best = None
        for default, branches in sides(candidate, self.missing):
            if any(branch.n < self.min_leaf for branch in branches):
                continue
            judged = quality(self.parameters.criterion, self.stats, branches)
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
    """The index of the branch with most rows; among equals the first."""
    return max(range(len(branches)), key=lambda i: (branches[i].n, -i))


def sides(candidate: Candidate, missing: Statistics | None) -> Iterator[tuple[int, tuple[Statistics, ...]]]:
    """Each default branch to be scored, with the branches as they are when the missing rows go there."""
    known = candidate.branches
    if missing is None:
        yield largest(known), known
        return
    for default in [largest(known)] if candidate.kind == "multiway" else [0, 1]:
        yield default, tuple(b + missing if i == default else b for i, b in enumerate(known))  # type: ignore[operator]


def at_node(
    attribute: int,
    column: Column,
    target: Target,
    rows: Sequence[int],
    times: Sequence[int],
    parameters: Parameters,
    min_leaf: int,
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
        target.statistics(rows, times),
        tuple(Group(v, target.statistics(by_value[v], times)) for v in column.ascending(by_value)),
        target.statistics(missing, times) if missing else None,
        parameters,
        min_leaf,
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
    for i in range(1, len(node.groups)):
        left, right = node.groups[:i], node.groups[i:]
        yield Candidate(
            "numeric",
            node.attribute,
            (total(g.stats for g in left), total(g.stats for g in right)),
            threshold=midpoint(left[-1].value, right[0].value),
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
    order, is_exact = order_categories(node.stats, [group.stats for group in node.groups])
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
