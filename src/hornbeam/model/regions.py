"""The region of a leaf: what the value of each attribute may be for a row to arrive there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hornbeam.model.walk import Test
from hornbeam.table import Attribute

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree


@dataclass(frozen=True, slots=True)
class Span:
    """Values of a numeric attribute, in codes where it is an integer one: above < value <= at_most."""

    above: float | int | None = None
    at_most: float | int | None = None
    missing: bool = True

    @property
    def known(self) -> bool:
        """Whether any known value lies in it."""
        return self.above is None or self.above < (math.inf if self.at_most is None else self.at_most)

    @property
    def is_everything(self) -> bool:
        return self.above is None and self.at_most is None and self.missing

    def branch(self, test: Test, child: int) -> Span:
        """What is left of it along one branch of a test."""
        above, at_most, bound = self.above, self.at_most, test.bound
        if child == 0:
            at_most = bound if at_most is None else min(at_most, bound)
        else:
            above = bound if above is None else max(above, bound)
        return Span(above, at_most, self.missing and test.default == child)

    def __contains__(self, value: float | int | None) -> bool:
        if value is None:
            return self.missing
        return (self.above is None or value > self.above) and (self.at_most is None or value <= self.at_most)


@dataclass(frozen=True, slots=True)
class Categories:
    """Codes of a nominal attribute: those in `codes`, or, the other way round, all others and the missing."""

    codes: frozenset[int] = frozenset()
    excluded: bool = True

    @property
    def is_everything(self) -> bool:
        return self.excluded and not self.codes

    def branch(self, test: Test, child: int) -> Categories:
        """What is left of it along one branch of a test; labels never seen go the way of missing values."""
        if child != test.default:
            taken = frozenset(test.branches[child])
            return Categories(taken - self.codes if self.excluded else taken & self.codes, False)
        others = {code for k, codes in enumerate(test.branches) if k != child for code in codes}
        return Categories(self.codes | others if self.excluded else self.codes - others, self.excluded)

    def __contains__(self, code: int) -> bool:
        return (code in self.codes) != self.excluded


Part = Span | Categories
# Attribute -> what its value may be; attributes that the path does not ask are absent.
Region = dict[int, Part]


def whole(attribute: Attribute) -> Part:
    return Categories() if attribute.kind == "nominal" else Span()


def leaf_regions(tree: Tree) -> Iterator[tuple[int, Region]]:
    """Each leaf in preorder with its region; attributes in the order in which the path first asks them."""
    tests, attributes = tree.tests, tree.schema.attributes
    waiting: list[tuple[int, Region]] = [(0, {})]
    while waiting:
        node, region = waiting.pop()
        if tree.is_leaf(node):
            yield node, region
            continue
        test = tests[node]
        part = region.get(test.attribute) or whole(attributes[test.attribute])
        for k, child in reversed(list(enumerate(tree.children(node)))):
            waiting.append((child, {**region, test.attribute: part.branch(test, k)}))
