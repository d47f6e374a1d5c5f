"""The first-order tree: immutable, its nodes in preorder, yes before no."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from hornbeam import arguments
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
        """For each node the one above it, -1 for the root."""
        parents = [-1] * self.n_nodes
        for i, node in enumerate(self.nodes):
            if not node.is_leaf:
                parents[node.yes] = parents[node.no] = i
        return parents

    @cached_property
    def depths(self) -> list[int]:
        """For each node how many tests are above it."""
        depths = [0] * self.n_nodes
        for i, node in enumerate(self.nodes):
            if not node.is_leaf:
                depths[node.yes] = depths[node.no] = depths[i] + 1
        return depths

    @cached_property
    def queries(self) -> list[Query]:
        """For each node the tests of the yes branches above it, from the root down, without its own test."""
        queries: list[Query] = [()] * self.n_nodes
        for i, node in enumerate(self.nodes):
            if not node.is_leaf:
                queries[node.yes], queries[node.no] = queries[i] + node.test, queries[i]
        return queries

    @cached_property
    def leaves_below(self) -> list[int]:
        """For each node the number of leaves of its subtree."""
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
        from hornbeam.relational.prune import expected_errors

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
        """Of tests, classes and counts: trees with the same digest say the same. No names of tables in it."""
        from hornbeam.relational.json_form import digest_of

        return digest_of(self)
