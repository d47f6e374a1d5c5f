"""A bias in the numbers of the native engine, and the trees of several training sets that it has grown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import UsageError
from hornbeam.relational.bias import Bias, Pattern, Placemarker, Sign
from hornbeam.relational.database import ANYTHING, NOWHERE, PREDICATES, VARIABLE, Coded
from hornbeam.relational.logic import (
    COMPARISONS,
    EQUALS,
    Anything,
    Constant,
    Literal,
    Query,
    Term,
    Value,
    Variable,
)
from hornbeam.relational.tree import Node, RelationalTree

SIGNS = (Sign.OLD, Sign.NEW, Sign.EITHER, Sign.CONSTANT, Sign.FIXED, Sign.ANYTHING)


class BiasCodes:
    """The bias for the engine. `thresholds` are the values of thresholds that it lists, by their numbers;
    `domain_of` names the domain that codes each type."""

    def __init__(self, bias: Bias, database: Coded) -> None:
        self.bias, self.database = bias, database
        self.thresholds: list[Value] = []
        self.domain_of = _domains_of_types(bias, database)
        self._types = {name: number for number, name in enumerate(self.domain_of)}
        self._names: dict[str, int] = {}
        for mode in bias.modes:
            _check_mode(mode.patterns)
        modes = [
            ([self._pattern(pattern) for pattern in mode.patterns], -1 if mode.most is None else mode.most)
            for mode in bias.modes
        ]
        lookaheads = [
            (self._pattern(ahead.after), [self._pattern(pattern) for pattern in ahead.then])
            for ahead in bias.lookaheads
        ]
        numbers = [-1 if name is None else database.domain_places[name] for name in self.domain_of.values()]
        self.core = _core.LanguageBias(
            database.core,
            self._types[bias.key_type],
            numbers,
            modes,
            lookaheads,
            bias.max_lookahead,
            len(self._names),
        )

    def _pattern(self, pattern: Pattern) -> tuple[int, list[tuple[Any, ...]]]:
        name, places = pattern.predicate, pattern.places
        if name in COMPARISONS:
            kinds: Sequence[str | None] = self.bias.types.get(name, (None, None))
            _check_comparison(pattern)
            number = PREDICATES[name]
        else:
            if name not in self.database.relations:
                known = self.database.known_relations
                raise UsageError(f"a mode names '{name}', which is no relation; there are: {known}")
            kinds = self.bias.types.get(name, self.database.relations[name].types)
            number = self.database.relation_places[name]
        if len(places) != len(kinds):
            raise UsageError(f"a mode gives '{name}' {len(places)} places; it has {len(kinds)} columns")
        return number, [self._place(name, place, kind) for place, kind in zip(places, kinds, strict=True)]

    def _place(self, predicate: str, place: Placemarker, kind: str | None) -> tuple[Any, ...]:
        number = -1 if kind is None else self._types[kind]
        name = -1 if place.name is None else self._names.setdefault(place.name, len(self._names))
        given = place.constants is not None
        constants = [] if place.constants is None else self._constants(predicate, place.constants, kind)
        if place.sign == Sign.FIXED and not (given and len(place.constants or ()) == 1):
            raise UsageError(f"a place '=' of '{predicate}' needs its one constant")
        return SIGNS.index(place.sign), name, number, given, constants

    def _constants(
        self, predicate: str, values: tuple[Value, ...], kind: str | None
    ) -> list[list[tuple[int, int]]]:
        """The codes of constants: one list where their type is known, else one for each type that the
        variable of the comparison may have."""
        kinds: Iterable[str] = self.domain_of if kind is None else (kind,)
        return [self._codes(predicate, values, self.domain_of[one]) for one in kinds]

    def _codes(self, predicate: str, values: tuple[Value, ...], domain: str | None) -> list[tuple[int, int]]:
        if domain is None:
            return []
        if predicate in COMPARISONS and predicate != EQUALS:
            if self.database.domains[domain].kind != "numeric":
                return []
            cuts = ((self.database.cut(domain, value), self._threshold(value)) for value in values)
            return list(dict.fromkeys(cuts))
        codes = dict.fromkeys(self.database.code(domain, value) for value in values)  # each but once
        return [(code, -1) for code in codes if code != NOWHERE]

    def _threshold(self, value: Value) -> int:
        if value not in self.thresholds:
            self.thresholds.append(value)
        return self.thresholds.index(value)


def _domains_of_types(bias: Bias, database: Coded) -> dict[str, str | None]:
    """The domain of each type: that of the columns it stands for. None: it stands for no column."""
    found: dict[str, str | None] = {bias.key_type: None}
    used = {pattern.predicate for mode in bias.modes for pattern in mode.patterns}
    used |= {pattern.predicate for ahead in bias.lookaheads for pattern in ahead.patterns}
    for name in [*bias.types, *sorted(used - set(bias.types))]:
        if name not in database.relations:
            continue
        own = database.relations[name].types
        kinds = bias.types.get(name, own)
        if len(kinds) != len(own):
            raise UsageError(f"'{name}' has {len(own)} columns, its types are {len(kinds)}")
        for kind, domain in zip(kinds, own, strict=True):
            if found.setdefault(kind, domain) is None:
                found[kind] = domain
            if found[kind] != domain:
                raise UsageError(
                    f"type '{kind}' stands for columns of '{found[kind]}' and of '{domain}'; "
                    "values of one type are coded alike: name two types"
                )
    for name in COMPARISONS:
        for kind in bias.types.get(name, ()):
            found.setdefault(kind, kind if kind in database.domains else None)
    return found


def _check_comparison(pattern: Pattern) -> None:
    signs = [place.sign for place in pattern.places]
    allowed = (Sign.OLD, Sign.CONSTANT, Sign.FIXED)
    if len(signs) != 2 or signs[0] != Sign.OLD or signs[1] not in allowed:
        raise UsageError(
            f"a comparison '{pattern.predicate}' with places {' '.join(signs)}; "
            "the first is '+', the second '+', '#' or '='"
        )


def _check_mode(patterns: tuple[Pattern, ...]) -> None:
    if not patterns:
        raise UsageError("a mode without literals; give it one at least")
    if sum(pattern.is_open for pattern in patterns) > 1:
        raise UsageError(
            "a mode with two thresholds left open; a test has one at most: list the constants of one"
        )


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

    def __init__(self, native: _core.FirstOrderForest, codes: BiasCodes, n_sets: int) -> None:
        self._native, self._codes, self._n_sets = native, codes, n_sets

    def __len__(self) -> int:
        return self._n_sets

    def tree(self, i: int) -> RelationalTree:
        """The tree of training set i."""
        arrays = self._native.tree(i)
        counts = np.asarray(arrays["counts"]).reshape(-1, self._native.n_counts)
        nodes = tuple(
            Node(tuple(map(float, of)), () if test < 0 else self._tests[test], int(yes), int(no))
            for of, test, yes, no in zip(counts, arrays["test"], arrays["yes"], arrays["no"], strict=True)
        )
        given = self._codes.database.examples
        return RelationalTree(given.task, given.target_name or "", given.classes, nodes, given.ties_to_last)

    def held_out(self, i: int) -> HeldOut:
        """What tree i says of the examples outside its training set; they rode along while it grew."""
        arrays = self._native.tree(i)
        examples = np.asarray(arrays["held_out"]).astype(np.int64)
        return HeldOut(examples, np.asarray(arrays["leaf"]), lambda: self.tree(i))

    @cached_property
    def counters(self) -> Counters:
        return Counters(**self._native.counters())

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
        kinds = database.relations[name].types
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
