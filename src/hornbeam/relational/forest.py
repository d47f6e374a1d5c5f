"""The first-order trees of several training sets, and what it took to grow them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.relational.engine import ANYTHING, PREDICATES, VARIABLE, BiasCodes
from hornbeam.relational.logic import EQUALS, Anything, Constant, Literal, Query, Term, Value, Variable
from hornbeam.relational.records import Examples
from hornbeam.relational.tree import Node, RelationalTree

COMPONENTS = ("evaluating", "statistics", "partition", "other")
OPEN = Constant("#")
"""Stands for all constants, or all thresholds, in the text of a dropped test."""


@dataclass(frozen=True, eq=False)
class FirstOrderLevels:
    """What growing cost, by depth: seconds [level, component]; nodes of the forest; examples at nodes whose
    tests were evaluated, and those that the sets would have had one by one; nodes with a test, and the
    different tests there."""

    seconds: npt.NDArray[np.float64]
    nodes: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int64]
    own_entries: npt.NDArray[np.int64]
    splits: npt.NDArray[np.int64]
    tests: npt.NDArray[np.int64]

    @property
    def f(self) -> npt.NDArray[np.float64]:
        """f of Blockeel and Struyf, section 3.2: different tests per node, down to the last level that has
        any."""
        some = self.splits > 0
        return np.asarray(self.tests[some] / self.splits[some], dtype=np.float64)


@dataclass(frozen=True)
class Counters:
    """Tests evaluated (times examples), those of them that the cache answered, rows that fitted a literal
    (join steps), tests asked alone for fear of the budget, and the size of forest and cache."""

    tests: int
    answered: int
    steps: int
    fallbacks: int
    cache_entries: int
    cache_bytes: int
    nodes: int
    bifurcations: int


@dataclass(frozen=True)
class DroppedTest:
    """A test that cost more join steps than the budget, on how many examples, and how many times a set did
    without it."""

    test: Query
    examples: int
    sets: int

    def __str__(self) -> str:
        return ", ".join(map(_spelled, self.test))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The examples outside a training set, and the leaf of its tree to which each comes."""

    examples: npt.NDArray[np.int64]
    leaf: npt.NDArray[np.int32]
    tree: Callable[[], RelationalTree]

    @property
    def predicted(self) -> npt.NDArray[Any]:
        """What the leaves predict: a class as its place among the classes, or a number."""
        tree = self.tree()
        of_node = tree.code if tree.task == "classification" else tree.answer
        return np.array([of_node(node) for node in range(tree.n_nodes)])[self.leaf]


class FirstOrderForest:
    """Trees grown together: set i's is the one that its examples alone would have given."""

    def __init__(
        self, native: _core.FirstOrderForest, codes: BiasCodes, examples: Examples, n_sets: int
    ) -> None:
        self._native, self._codes, self._examples = native, codes, examples
        self.n_sets = n_sets

    def __len__(self) -> int:
        return self.n_sets

    def tree(self, i: int) -> RelationalTree:
        """The tree of training set i."""
        arrays = self._native.tree(i)
        counts = np.asarray(arrays["counts"]).reshape(-1, self._native.n_counts)
        nodes = tuple(
            Node(tuple(map(float, of)), () if test < 0 else self._tests[test], int(yes), int(no))
            for of, test, yes, no in zip(counts, arrays["test"], arrays["yes"], arrays["no"], strict=True)
        )
        given = self._examples
        return RelationalTree(given.task, given.target_name or "", given.classes, nodes, given.ties_to_last)

    def held_out(self, i: int) -> HeldOut:
        """What tree i says of the examples outside its training set; they rode along while it grew."""
        arrays = self._native.tree(i)
        examples = np.asarray(arrays["held_out"]).astype(np.int64)
        return HeldOut(examples, np.asarray(arrays["leaf"]), lambda: self.tree(i))

    @cached_property
    def counters(self) -> Counters:
        return Counters(**self._native.counters())

    @property
    def bifurcations(self) -> int:
        """Nodes at which sets that still were together chose different tests."""
        return self.counters.bifurcations

    @cached_property
    def levels(self) -> FirstOrderLevels:
        arrays: Mapping[str, Any] = self._native.levels()
        seconds = np.asarray(arrays["seconds"]).reshape(-1, len(COMPONENTS))
        return FirstOrderLevels(seconds, *(np.asarray(arrays[k]) for k in list(arrays) if k != "seconds"))

    @cached_property
    def dropped(self) -> tuple[DroppedTest, ...]:
        """Tests that cost too much for some example; sets that have one did without them."""
        found = self._native.dropped()
        return tuple(DroppedTest(self._query(test), examples, sets) for test, examples, sets in found)

    @cached_property
    def _tests(self) -> tuple[Query, ...]:
        return tuple(map(self._query, self._native.tests()))

    @cached_property
    def _thresholds(self) -> tuple[Value, ...]:
        """The thresholds that the bias lists, then those that growing found."""
        names = list(self._codes.database.domains)
        found = (self._between(names[d], lo, hi) for d, lo, hi in self._native.thresholds())
        return (*self._codes.thresholds, *found)

    def _between(self, domain: str, lo: int, hi: int) -> Value:
        """The midpoint of two neighbouring values, as the law of growth has it."""
        database = self._codes.database
        low, high = database.value(domain, lo), database.value(domain, hi)
        assert not isinstance(low, str)
        assert not isinstance(high, str)
        if isinstance(low, int):
            return (int(low) + int(high)) // 2
        middle = low / 2 + high / 2
        return middle if middle != high and np.isfinite(middle) else low

    def _query(self, native: Any) -> Query:
        return tuple(self._literal(predicate, terms, named) for predicate, terms, named in native)

    def _literal(self, predicate: int, terms: list[tuple[int, int]], named: int) -> Literal:
        database = self._codes.database
        if predicate < 0:
            name = next(symbol for symbol, number in PREDICATES.items() if number == predicate)
            return Literal(name, tuple(self._compared(name, kind, value, named) for kind, value in terms))
        name = list(database.relations)[predicate]
        kinds = database.types[name]
        return Literal(
            name, tuple(self._term(*term, domain) for term, domain in zip(terms, kinds, strict=True))
        )

    def _term(self, kind: int, value: int, domain: str) -> Term:
        if kind == VARIABLE:
            return Variable(value)
        if kind == ANYTHING:
            return Anything()
        return OPEN if kind > ANYTHING else Constant(self._codes.database.value(domain, value))

    def _compared(self, name: str, kind: int, value: int, named: int) -> Term:
        if kind == VARIABLE:
            return Variable(value)
        if kind > ANYTHING:
            return OPEN
        if name != EQUALS:
            return Constant(self._thresholds[named])
        domain = list(self._codes.domain_of.values())[named]
        assert domain is not None
        return Constant(self._codes.database.value(domain, value))


def _spelled(literal: Literal) -> str:
    terms = [_shown(term) for term in literal.terms]
    return (
        f"{terms[0]} {literal.predicate} {terms[1]}"
        if literal.compares
        else f"{literal.predicate}({', '.join(terms)})"
    )


def _shown(term: Term) -> str:
    if isinstance(term, Variable):
        return f"V{term.number}"
    return str(term.value) if isinstance(term, Constant) else "_"
