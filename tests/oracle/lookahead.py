"""Lookahead by sampled trees: the tests of a node, SID3, LSID3, proved bounds (docs/anytime-law.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tests.oracle.candidates import (
    Candidate,
    Choice,
    Node,
    at_node,
    best_subset,
    each_value,
    every_subset,
    first_best,
    multiway,
    numeric,
    prefixes,
)
from tests.oracle.draws import draw, mix, unit
from tests.oracle.growth import Growth, TreeNode
from tests.oracle.ordering import order_categories
from tests.oracle.shape import Subtree
from tests.oracle.table import AllParameters, ClassCounts, Classes, Column

Rows = tuple[int, ...]

FLOOR = 0.001  # what a test without gain weighs in a draw
SUBSETS = 8  # present categories up to which every subset is a test of its own
SMALL = 64  # rows, and tests, up to which endings of depth two are sought
BELOW = 2**40  # keys of the children that LSID3 grows
CUTS = 2**32  # keys of the cuts that are drawn of an attribute


@dataclass(frozen=True)
class Place:
    """A set of rows: the tests of each usable attribute, in order, and what SID3 draws from."""

    stats: ClassCounts
    by_attribute: tuple[tuple[Choice, ...], ...]
    attributes: tuple[Node, ...]
    candidates: tuple[Choice, ...]

    @property
    def is_pure(self) -> bool:
        return self.stats.is_pure()

    @property
    def is_finished(self) -> bool:
        """Whether these rows are a leaf of every tree."""
        return self.is_pure or not self.attributes

    @property
    def tests(self) -> tuple[Choice, ...]:
        return tuple(choice for choices in self.by_attribute for choice in choices)

    @property
    def has_missing(self) -> bool:
        return any(node.missing is not None for node in self.attributes)


@dataclass(frozen=True)
class Search:
    """A table and how it is searched; `draws` or `sample_fraction` says how many cuts are drawn."""

    growth: Growth
    endings: bool = True
    sample_fraction: float | None = None
    draws: int | None = None
    places: dict[Rows, Place] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of(columns: Sequence[Column], target: Classes, nominal: str = "value", **how: object) -> Search:
        growth = Growth.of(columns, target, AllParameters("entropy", nominal))
        return Search(growth, **how)  # type: ignore[arg-type]

    def at(self, rows: Rows) -> Place:
        if rows not in self.places:
            self.places[rows] = self.look(rows)
        return self.places[rows]

    def look(self, rows: Rows) -> Place:
        growth = self.growth
        nodes = [
            at_node(i, column, growth.target, rows, growth.sample, growth.parameters, 1)
            for i, column in enumerate(growth.columns)
        ]
        usable = tuple(node for node in nodes if len(node.groups) >= 2)
        lists = tuple(tuple(map(known, map(node.choice, self.listed(node)))) for node in usable)
        drawn = tuple(c for node, tests in zip(usable, lists, strict=True) for c in self.to_draw(node, tests))
        stats = growth.target.statistics(rows, growth.sample)
        assert isinstance(stats, ClassCounts)
        return Place(stats, lists, usable, drawn)

    def kind(self, node: Node) -> str:
        is_nominal = self.growth.columns[node.attribute].kind == "nominal"
        return self.growth.parameters.nominal if is_nominal else "numeric"

    def listed(self, node: Node) -> Iterator[Candidate]:
        """The numbered tests of one usable attribute."""
        kind = self.kind(node)
        if kind == "numeric":
            yield from numeric(node)
        elif kind == "multiway":
            yield from multiway(node)
        elif kind == "value":
            values = list(each_value(node))
            yield from values[:1] if len(values) == 2 else values
        elif len(node.groups) <= SUBSETS:
            yield from every_subset(node)
        else:
            yield from prefixes(node, order_categories(node.stats, [g.stats for g in node.groups])[0])

    def to_draw(self, node: Node, tests: Sequence[Choice]) -> Sequence[Choice]:
        """The tests by which one attribute enters the draw of SID3."""
        kind = self.kind(node)
        if kind == "numeric":
            return [known(first_best(tests))]
        return [known(best_subset(node))] if kind == "subset" else tests

    def parts(self, choice: Choice, rows: Rows) -> list[Rows]:
        """The rows of each branch."""
        return self.growth.children(replace(self.growth.leaf(0, rows), choice=choice), rows)

    def sid3(self, rows: Rows, key: int) -> int:
        """The leaves of one tree grown half at random."""
        place = self.at(rows)
        if place.is_finished:
            return 1
        perfect = [c for c in place.candidates if all(branch.is_pure() for branch in c.branches)]
        if perfect:
            return len(perfect[math.floor(unit(mix(key, 0)) * len(perfect))].branches)
        ending = self.ending(rows) if self.endings else None
        if ending is not None:
            return ending
        drawn = draw([choice.gain + FLOOR for choice in place.candidates], unit(mix(key, 0)))
        parts = self.parts(place.candidates[drawn], rows)
        return sum(self.sid3(part, mix(key, 1 + i)) for i, part in enumerate(parts))

    def ending(self, rows: Rows) -> int | None:
        """3 or 4 where a tree of depth two with as many pure leaves is known to exist and none smaller."""
        place = self.at(rows)
        tests = place.tests
        if len(rows) > SMALL or len(tests) > SMALL or place.has_missing:
            return None
        if any(len(choice.branches) != 2 for choice in tests):
            return None
        found = None
        for choice in tests:
            below = [self.at(part) for part in self.parts(choice, rows)]
            if all(branch.is_pure or has_perfect_test(branch) for branch in below):
                size = 3 if any(branch.is_pure for branch in below) else 4
                found = size if found is None else min(found, size)
        return found

    def least(self, rows: Rows, key: int, repetitions: range) -> int:
        """The fewest leaves seen for the rows of one branch."""
        return 1 if self.at(rows).is_pure else min(self.sid3(rows, mix(key, t)) for t in repetitions)

    def total(self, choice: Choice, rows: Rows, key: int, repetitions: range) -> int:
        """The fewest leaves seen under a test, its branches added up."""
        parts = self.parts(choice, rows)
        return sum(self.least(part, mix(key, i), repetitions) for i, part in enumerate(parts))

    def drawn_cuts(self, n_rows: int, cuts: int) -> int | None:
        """How many of a numeric attribute's cuts are drawn; None: each is evaluated."""
        if self.draws is not None:
            return self.draws if cuts > self.draws else None
        if self.sample_fraction is None or cuts == 1:
            return None
        return max(1, math.ceil(self.sample_fraction * n_rows))

    def totals(self, rows: Rows, key: int, r: int) -> dict[int, int]:
        """The total of each test that is evaluated, by its number."""
        place = self.at(rows)
        found: dict[int, int] = {}
        j = 0
        for node, tests in zip(place.attributes, place.by_attribute, strict=True):
            is_numeric = self.kind(node) == "numeric"
            d = self.drawn_cuts(len(rows), len(tests)) if is_numeric else None
            if d is None:
                for i, choice in enumerate(tests):
                    found[j + i] = self.total(choice, rows, mix(key, j + i), range(r))
            for q in range(d or 0):
                u = unit(mix(mix(key, CUTS + node.attribute), q))
                i = draw([choice.gain + FLOOR for choice in tests], u)
                seen = self.total(tests[i], rows, mix(key, j + i), range(q * r, q * r + r))
                found[j + i] = min(seen, found.get(j + i, seen))
            j += len(tests)
        return found

    def choose(self, rows: Rows, key: int, r: int) -> Choice:
        """The test of an unfinished node: ID3's, or the one with the smallest total."""
        if r == 0:
            choice, _ = self.growth.ranked(self.growth.leaf(0, rows))
            return known(choice)
        tests, totals = self.at(rows).tests, self.totals(rows, key, r)
        return tests[min(totals, key=lambda j: (totals[j], -tests[j].gain, j))]

    def lsid3(self, rows: Rows, key: int, r: int) -> Subtree:
        """The tree of LSID3(r); LSID3(0) is ID3."""
        node: TreeNode = self.growth.leaf(0, rows)
        if self.at(rows).is_finished:
            return Subtree(node)
        choice = self.choose(rows, key, r)
        children = tuple(
            self.lsid3(part, mix(key, BELOW + i), r) for i, part in enumerate(self.parts(choice, rows))
        )
        return Subtree(replace(node, choice=choice), children)

    def cost(self, rows: Rows, r: int) -> int:
        """The work that LSID3(r) is expected to be here: counted, never measured."""
        place = self.at(rows)
        tests = 0
        for node, listed in zip(place.attributes, place.by_attribute, strict=True):
            d = self.drawn_cuts(len(rows), len(listed)) if self.kind(node) == "numeric" else None
            tests += len(listed) if d is None else d
        return r * len(rows) * len(place.attributes) ** 2 * tests

    def bound(self, rows: Rows) -> int:
        """No tree of these rows has fewer leaves."""
        place = self.at(rows)
        if place.is_finished:
            return 1
        return max(self.shape_bound(rows), len(place.stats.present) if self.is_consistent(rows) else 1)

    def shape_bound(self, rows: Rows) -> int:
        place = self.at(rows)
        for choice in place.tests:
            if all(self.at(part).is_finished for part in self.parts(choice, rows)):
                return 2
        lacks_subsets = any(
            self.kind(node) == "subset" and len(node.groups) > SUBSETS for node in place.attributes
        )
        return 4 if not lacks_subsets and self.ending(rows) == 4 else 3

    def is_consistent(self, rows: Rows) -> bool:
        """Whether all rows are known and none contradicts another: then every leaf of a tree is pure."""
        place, target = self.at(rows), self.growth.target
        assert isinstance(target, Classes)
        if place.has_missing:
            return False
        columns = [self.growth.columns[node.attribute] for node in place.attributes]
        said = {(tuple(column.at(row) for column in columns), target.labels[row]) for row in rows}
        return len(said) == len({cells for cells, _ in said})

    def paper_bound(self, rows: Rows) -> int:
        """The paper's b^2: b is the least number of branches that a test has here."""
        return min((len(c.branches) for c in self.at(rows).tests), default=1) ** 2


def known(choice: Choice | None) -> Choice:
    assert choice is not None  # a usable attribute always has an admissible test
    return choice


def has_perfect_test(place: Place) -> bool:
    """Whether a test of the list leaves only pure branches."""
    return any(all(branch.is_pure() for branch in choice.branches) for choice in place.tests)
