"""The first-order tree, immutable, its nodes in preorder, yes before no; and what pruning leaves of it."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from hornbeam import _core, arguments
from hornbeam.errors import UsageError
from hornbeam.relational.logic import Query

if TYPE_CHECKING:
    from hornbeam.relational.signature import Signature
    from hornbeam.relational.text import DecisionList


@dataclass(frozen=True)
class Node:
    """A test with two branches, or a leaf (`test` is empty, `yes` and `no` are -1).

    Classes: `counts` are the examples of each class, by the order of the tree's classes. Numbers: how many
    examples, their mean, and the sum of squared deviations from it.
    """

    counts: tuple[float, ...]
    test: Query = ()
    yes: int = -1
    no: int = -1

    @property
    def is_leaf(self) -> bool:
        return not self.test


@dataclass(frozen=True)
class RelationalTree:
    """Node 0 is the root. An example goes to yes iff the query of the node, which is the tests of the yes
    branches above it and its own test, has a solution among the example's facts."""

    task: Literal["classification", "regression"]
    target_name: str
    classes: tuple[Any, ...]
    nodes: tuple[Node, ...]
    ties_to_last: bool = False
    signature: Signature | None = field(default=None, compare=False, repr=False)
    """What the predicates are called in a database; no part of what the tree says."""

    # what it says

    def _at(self, node: Any) -> Node:
        """A node that there is."""
        if type(node) is int and 0 <= node < len(self.nodes):
            return self.nodes[node]
        return self.nodes[arguments.place("node", node, len(self.nodes), "and 0 is the root")]

    def size(self, node: int) -> float:
        """The examples of a node."""
        counts = self._at(node).counts
        return sum(counts) if self.task == "classification" else counts[0]

    def code(self, node: int) -> int:
        """The place among the classes of what a node predicts: the most frequent one, of equals the first,
        or the last where the data said so."""
        counts = self._at(node).counts
        places = range(len(counts))
        return max(reversed(places) if self.ties_to_last else places, key=counts.__getitem__)

    def answer(self, node: int) -> Any:
        """What a node predicts: a class, or the mean of its numbers."""
        if self.task == "regression":
            return self._at(node).counts[1]
        return self.classes[self.code(node)]

    def shares(self, node: int) -> tuple[float, ...]:
        """The share of each class among the examples of a node."""
        counts, total = self._at(node).counts, self.size(node)
        return tuple(count / total if total else 0.0 for count in counts)

    def errors(self, node: int) -> float:
        """The examples of a node that have another class than it predicts."""
        counts = self._at(node).counts
        return sum(counts) - max(counts)

    # ways through it

    @cached_property
    def parents(self) -> list[int]:
        """The node above each node, -1 for the root."""
        parents = [-1] * self.n_nodes
        for i, node in enumerate(self.nodes):
            if not node.is_leaf:
                parents[node.yes] = parents[node.no] = i
        return parents

    @cached_property
    def depths(self) -> list[int]:
        """How many tests are above each node."""
        depths = [0] * self.n_nodes
        for i, node in enumerate(self.nodes):
            if not node.is_leaf:
                depths[node.yes] = depths[node.no] = depths[i] + 1
        return depths

    @cached_property
    def queries(self) -> list[Query]:
        """The tests of the yes branches above each node, from the root down, without its own test."""
        queries: list[Query] = [()] * self.n_nodes
        for i, node in enumerate(self.nodes):
            if not node.is_leaf:
                queries[node.yes], queries[node.no] = queries[i] + node.test, queries[i]
        return queries

    @cached_property
    def leaves_below(self) -> list[int]:
        """How many leaves the subtree of each node has."""
        counts = [1] * self.n_nodes
        for i in reversed(range(self.n_nodes)):
            node = self.nodes[i]
            if not node.is_leaf:
                counts[i] = counts[node.yes] + counts[node.no]
        return counts

    # how large it is

    @property
    def n_nodes(self) -> int:
        return len(self.nodes)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        return tuple(i for i, node in enumerate(self.nodes) if node.is_leaf)

    @property
    def n_leaves(self) -> int:
        return len(self.leaves)

    @cached_property
    def depth(self) -> int:
        """The most tests on the way from the root to a leaf."""
        return max(self.depths)

    @property
    def complexity(self) -> tuple[int, int]:
        """How many tests there are, and of how many literals they are made altogether."""
        tests = [node.test for node in self.nodes if node.test]
        return len(tests), sum(map(len, tests))

    def expected_errors(self, confidence: float = 0.25) -> float:
        """The errors that C4.5 expects of all leaves together."""
        return expected_errors(self, confidence)

    # faces

    def with_signature(self, signature: Signature | None) -> RelationalTree:
        return replace(self, signature=signature)

    def to_text(self, layout: str = "words", max_depth: int | None = None) -> str:
        """The tree as indented lines: in words, or as ACE prints it (`layout="ace"`)."""
        from hornbeam.relational.text import to_text

        return to_text(self, layout, max_depth)

    def to_prolog(self) -> str:
        """A decision list: clauses with cuts, of which the first that succeeds decides."""
        from hornbeam.relational.prolog import to_prolog

        return to_prolog(self)

    def to_sql(
        self, dialect: str = "duckdb", output: str = "prediction", of: Any = None, table: str | None = None
    ) -> str:
        """A query that gives the key of every example and what `predict` says of it.

        `output` is "prediction", "leaf", or "probability" with the class `of`. `table` names the table of
        the examples where it is called otherwise than in the data that the tree was grown from.
        """
        from hornbeam.relational.sql import to_sql

        return to_sql(self, dialect, output, of, table)

    def to_json(self) -> str:
        from hornbeam.relational.json_form import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, source: str) -> RelationalTree:
        """The tree of `to_json`; DataError in one line where the text is no tree."""
        from hornbeam.relational.json_form import from_json

        return from_json(source)

    def to_svg(self, max_depth: int | None = None, *, title: str | None = None) -> str:
        """A picture; below `max_depth` subtrees are counted instead of drawn."""
        from hornbeam.relational.picture import to_svg

        return to_svg(self, max_depth, title)

    def rules(self) -> DecisionList:
        """The tree as a list of rules, of which the first that applies decides."""
        from hornbeam.relational.text import decision_list

        return decision_list(self)

    @cached_property
    def digest(self) -> str:
        """The hash of tests, classes and counts, without names of tables: trees with the same digest answer
        alike."""
        from hornbeam.relational.json_form import digest_of

        return digest_of(self)


PRUNINGS: Final = ("error_based", "safe")
_LENIENCE: Final = 0.1  # C4.5 takes a leaf that is worse by no more than this


def prune(tree: RelationalTree, how: str | None, confidence: float = 0.25) -> RelationalTree:
    """What pruning leaves: "safe" merges leaves that say the same, "error_based" also does what C4.5 does."""
    check_pruning(tree.task, how, confidence)
    if how is None:
        return tree
    merged = merge_leaves(tree)
    return merged if how == "safe" else prune_by_errors(merged, confidence)


def check_pruning(task: str, how: str | None, confidence: float) -> None:
    """Refuse a way of pruning that means nothing."""
    if how is None:
        return
    why = ""
    if not isinstance(how, str) or how not in PRUNINGS:
        why = f" is unknown; choose {' or '.join(PRUNINGS)}, or None"
    elif task == "regression":
        why = ": it counts wrong classes, and the tree predicts numbers; use None"
    if why:
        raise UsageError(f"prune={how!r}{why}", parameter="prune")
    check_share("confidence", confidence)


def check_share(name: str, value: Any, also: str = "") -> None:
    """Refuse what is no number above 0 up to 1."""
    if not arguments.is_number(value, numbers.Real) or not 0.0 < value <= 1.0:
        arguments.refuse(name, value, f"a number above 0 up to 1 is allowed{also}")


def merge_leaves(tree: RelationalTree) -> RelationalTree:
    """Bottom-up, a test between leaves of the same class becomes a leaf, and nothing is said otherwise."""
    leaf = [node.is_leaf for node in tree.nodes]
    for i in reversed(range(tree.n_nodes)):
        node = tree.nodes[i]
        if not leaf[i] and leaf[node.yes] and leaf[node.no]:
            leaf[i] = tree.code(node.yes) == tree.code(node.no)
    return cut_at(tree, leaf)


def prune_by_errors(tree: RelationalTree, confidence: float = 0.25) -> RelationalTree:
    """Bottom-up, a subtree becomes a leaf where that is expected to err no more, but for a tenth of one."""
    return cut_at(tree, _by_errors(tree, confidence, _LENIENCE)[0])


def expected_errors(tree: RelationalTree, confidence: float = 0.25) -> float:
    """The expected errors of all leaves, added up from the bottom."""
    if tree.task == "regression":
        raise UsageError("expected errors count wrong classes, and the tree predicts numbers")
    check_share("confidence", confidence)
    return _by_errors(tree, confidence, -math.inf)[1]


def _by_errors(tree: RelationalTree, confidence: float, lenience: float) -> tuple[list[bool], float]:
    """Which nodes are leaves where subtrees that are worse by no more than this are cut, and what is then
    expected of all leaves together."""
    leaf = [node.is_leaf for node in tree.nodes]
    expected = [0.0] * tree.n_nodes
    for i in reversed(range(tree.n_nodes)):
        node, size = tree.nodes[i], tree.size(i)
        expected[i] = _core.expected_errors(size, tree.errors(i), confidence) if size else 0.0
        if not leaf[i]:
            below = expected[node.yes] + expected[node.no]
            leaf[i] = expected[i] <= below + lenience
            expected[i] = expected[i] if leaf[i] else below
    return leaf, expected[0]


def cut_at(tree: RelationalTree, leaf: list[bool]) -> RelationalTree:
    """The tree that ends at some of its nodes, those that remain in preorder again."""
    nodes: list[Node] = []
    waiting: list[tuple[int, int]] = [(0, -1)]  # a node, and the new place of the test whose no branch it is
    while waiting:
        i, above = waiting.pop()
        place, node = len(nodes), tree.nodes[i]
        if above >= 0:
            nodes[above] = replace(nodes[above], no=place)
        if leaf[i]:
            nodes.append(Node(node.counts))
            continue
        nodes.append(replace(node, yes=place + 1))
        waiting += [(node.no, place), (node.yes, -1)]
    return tree if len(nodes) == tree.n_nodes else replace(tree, nodes=tuple(nodes))


def cut_places(tree: RelationalTree, pruned: RelationalTree) -> npt.NDArray[np.int64]:
    """The node of a pruned tree that takes the examples of each node of the unpruned one."""
    places = np.zeros(tree.n_nodes, dtype=np.int64)
    waiting = [(0, 0)]
    while waiting:
        node, place = waiting.pop()
        places[node] = place
        held, left = tree.nodes[node], pruned.nodes[place]
        if not held.is_leaf:
            ways = (place, place) if left.is_leaf else (left.yes, left.no)
            waiting += [(held.yes, ways[0]), (held.no, ways[1])]
    return places
