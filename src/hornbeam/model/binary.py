"""The tree over numbers alone, two branches a node, as other libraries keep trees: columns and nodes.

Floats and integers stay columns. Every other test, on labels, dates, times and decimals, becomes a column of
its own: 1 where it holds, 0 where it does not, NaN where the value is missing or never seen. A test with many
branches becomes a chain of tests, a label at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hornbeam.model.walk import Test
from hornbeam.table import Attribute, Table

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree

PLAIN = ("float64", "int64", "uint64")
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """The values of an attribute."""

    attribute: int
    name: str

    def values(self, table: Table) -> npt.NDArray[np.float64]:
        """Doubles, NaN where missing."""
        column, attribute = table.columns[self.attribute], table.schema.attributes[self.attribute]
        if column.kind == "float":
            return np.asarray(column.values, dtype=np.float64)
        whole = column.values
        if attribute.type == "uint64":
            whole = np.ascontiguousarray(whole).view(np.uint64) ^ np.uint64(2**63)
        numbers = whole.astype(np.float64)
        if column.missing is not None:
            numbers[column.missing != 0] = np.nan
        return numbers


@dataclass(frozen=True, slots=True)
class TestColumn:
    """Whether a test holds: the label is one of `codes`, or the value is at most `bound`."""

    attribute: int
    name: str
    codes: frozenset[int] = frozenset()
    bound: int | None = None

    def values(self, table: Table) -> npt.NDArray[np.float64]:
        """1, 0, and NaN where the value is missing or its label was never seen."""
        column = table.columns[self.attribute]
        if self.bound is not None:
            holds = (column.values <= self.bound).astype(np.float64)
            if column.missing is not None:
                holds[column.missing != 0] = np.nan
            return holds
        looked_up = np.zeros(len(table.schema.attributes[self.attribute].labels) + 2)
        looked_up[sorted(self.codes)] = 1.0
        looked_up[-2:] = np.nan  # the codes -2 and -1
        return looked_up[column.values]


@dataclass(frozen=True, slots=True)
class EmptyColumn:
    """Stands in where a tree asks nothing and has no numbers, for a table needs a column."""

    name: str = "nothing is asked"

    def values(self, table: Table) -> npt.NDArray[np.float64]:
        """A column of zeros."""
        return np.zeros(table.n_rows)


Column = NumberColumn | TestColumn | EmptyColumn


def is_plain(attribute: Attribute) -> bool:
    """Whether the attribute's values can be a column of numbers themselves."""
    return attribute.type in PLAIN


@dataclass(slots=True)
class BinaryNode:
    """Stands for a node of the tree, or for its branches from `first` on, where they are more than two."""

    source: int
    first: int = 0
    depth: int = 0
    column: int = -1
    bound: float | int | None = None
    """The bound of a test on a number; None for a test column, which is compared with a half."""
    left: int = -1
    right: int = -1
    missing_left: bool = False


@dataclass
class BinaryTree:
    """Nodes in preorder, left before right; a row goes left where its value is at most the bound."""

    tree: Tree
    columns: list[Column] = field(default_factory=list)
    nodes: list[BinaryNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        attributes = self.tree.schema.attributes
        numbers = [NumberColumn(i, a.name) for i, a in enumerate(attributes) if is_plain(a)]
        self.columns += numbers
        self._number = {column.attribute: place for place, column in enumerate(numbers)}
        self._test: dict[Any, int] = {}
        self._tests: dict[int, Test] = {}
        self._names = {column.name for column in numbers}
        self._grow()
        self.columns += [] if self.columns else [EmptyColumn()]

    @property
    def depth(self) -> int:
        return max(node.depth for node in self.nodes)

    @cached_property
    def place(self) -> npt.NDArray[np.int64]:
        """The place of the binary node that stands for each node of the tree."""
        places = np.full(self.tree.n_nodes, -1)
        for place, node in reversed(list(enumerate(self.nodes))):
            if node.first == 0:
                places[node.source] = place
        return places

    @cached_property
    def ends(self) -> list[int]:
        """The place behind the last descendant of each node."""
        ends = list(range(1, len(self.nodes) + 1))
        for place in reversed(range(len(self.nodes))):
            if self.nodes[place].right >= 0:
                ends[place] = ends[self.nodes[place].right]
        return ends

    @cached_property
    def parts(self) -> list[int]:
        """The places of nodes that stand for a part of a test's branches."""
        return [place for place, node in enumerate(self.nodes) if node.first]

    def matrix(self, table: Table) -> npt.NDArray[np.float64]:
        """The values of all columns for the rows of a table."""
        values = np.empty((table.n_rows, len(self.columns)))
        for place, column in enumerate(self.columns):
            values[:, place] = column.values(table)
        return values

    def _grow(self) -> None:
        waiting: list[tuple[BinaryNode, int, str]] = [(BinaryNode(0), -1, "")]
        while waiting:
            node, parent, side = waiting.pop()
            here = len(self.nodes)
            self.nodes.append(node)
            if side:
                setattr(self.nodes[parent], side, here)
            if self.tree.is_leaf(node.source):
                continue
            left, right = self._split(node)
            for child, name in ((right, "right"), (left, "left")):  # the left one is taken up first
                child.depth = node.depth + 1
                waiting.append((child, here, name))

    def _split(self, node: BinaryNode) -> tuple[BinaryNode, BinaryNode]:
        if node.first == 0:  # a chain goes on with the test it began with
            self._tests[node.source] = self.tree.tests[node.source]
        test, children = self._tests[node.source], self.tree.children(node.source)
        if test.attribute in self._number:
            node.column, node.bound = self._number[test.attribute], test.bound
            node.missing_left = test.default == 0
            return BinaryNode(children[0]), BinaryNode(children[1])
        node.column = self._test_column(node.source, test, node.first)
        node.missing_left = test.default != node.first
        others = node.first + 1
        last = others == len(children) - 1
        return BinaryNode(children[-1]) if last else BinaryNode(node.source, others), BinaryNode(
            children[node.first]
        )

    def _test_column(self, source: int, test: Test, branch: int) -> int:
        """The column of the test whether a row takes a branch."""
        key: Any = (test.attribute, test.bound)
        codes: frozenset[int] = frozenset()
        if not test.is_numeric:
            codes = frozenset(test.branches[branch])
            if branch == test.default:
                every = range(len(self.tree.schema.attributes[test.attribute].labels))
                codes |= frozenset(every).difference(*test.branches)
            key = (test.attribute, codes)
        if key not in self._test:
            self._test[key] = len(self.columns)
            name = unique(self.tree.branch_text(source, branch), self._names)
            self._names.add(name)
            bound = int(test.bound) if test.is_numeric else None
            self.columns.append(TestColumn(test.attribute, name, codes, bound))
        return self._test[key]


def unique(name: str, taken: set[str]) -> str:
    """The name, numbered if it is taken."""
    number, shown = 1, name
    while shown in taken:
        number += 1
        shown = f"{name} ({number})"
    return shown
