"""A coded database and a bias in the numbers of the native engine, and queries that it answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import DataError, UsageError
from hornbeam.relational.bias import Bias, Pattern, Placemarker, Sign
from hornbeam.relational.logic import (
    COMPARISONS,
    EQUALS,
    KEY,
    Constant,
    Literal,
    Query,
    Term,
    Value,
    Variable,
    plain_value,
)
from hornbeam.relational.records import Coded, Domain
from hornbeam.relational.tree import RelationalTree

NOWHERE: Final = -2
"""The code of a constant that its domain does not hold: no cell has it."""
PREDICATES: Final[Mapping[str, int]] = {"=": -1, "<=": -2, ">": -3}

NativeTerm = tuple[int, int]
NativeLiteral = tuple[int, list[NativeTerm]]
VARIABLE, CONSTANT, ANYTHING = 0, 1, 2


class NativeDatabase:
    """The relations and domains of a database under numbers, in the order of their names in it."""

    def __init__(self, coded: Coded, key_type: str | None) -> None:
        self.relations = {name: number for number, name in enumerate(coded.relations)}
        self.domains = {name: number for number, name in enumerate(coded.domains)}
        self.types = {name: relation.types for name, relation in coded.relations.items()}
        self._domains = dict(coded.domains)
        self._places: dict[str, dict[Any, int]] = {}
        self.n_examples = coded.examples.n
        self.core = _core.RelationalDatabase(
            self._keys(coded, key_type),
            [_native_domain(domain) for domain in coded.domains.values()],
            [self._native_relation(coded, name) for name in coded.relations],
        )

    def _keys(self, coded: Coded, key_type: str | None) -> npt.NDArray[np.int32]:
        if key_type is None:
            keyed = [r.types[r.key] for r in coded.relations.values() if r.key is not None]
            key_type = keyed[0] if keyed else None
        if key_type is None or key_type not in self._domains:
            return np.full(coded.examples.n, NOWHERE, dtype=np.int32)
        place = _places(self._domains[key_type])  # not kept: there may be millions
        return np.array([place.get(plain_value(key), NOWHERE) for key in coded.examples.keys], dtype=np.int32)

    def _native_relation(self, coded: Coded, name: str) -> tuple[Any, ...]:
        relation = coded.relations[name]
        columns = [np.ascontiguousarray(column, dtype=np.int32) for column in relation.data]
        missing = next((kind for kind in relation.types if kind not in self.domains), None)
        if missing is not None:
            raise DataError(f"relation '{name}' has a column of type '{missing}', which has no domain")
        owner = None if relation.owner is None else np.ascontiguousarray(relation.owner, dtype=np.int32)
        domains = [self.domains[kind] for kind in relation.types]
        return columns, domains, owner, -1 if relation.key is None else relation.key

    def domain(self, kind: str) -> Domain:
        return self._domains[kind]

    def code(self, kind: str, value: Any) -> int:
        """The code of a value, NOWHERE if the domain does not hold it."""
        if kind not in self._places:
            self._places[kind] = _places(self._domains[kind])
        try:
            return self._places[kind].get(value, NOWHERE)
        except TypeError:  # a value that cannot be looked up is in no domain
            return NOWHERE

    def check_constants(self, query: Query) -> None:
        """That constants are of the kind that their columns hold: what was learned from numbers is not asked
        of text, nor the other way about."""
        for literal in query:
            kinds = () if literal.compares else self.types.get(literal.predicate, ())
            for term, kind in zip(literal.terms, kinds, strict=False):
                if isinstance(term, Constant) and len(self._domains[kind].values):
                    holds_text = self._domains[kind].kind == "nominal"
                    if holds_text != isinstance(term.value, str):
                        raise DataError(
                            f"the tree asks '{literal.predicate}' for {term.value!r} of type '{kind}', which "
                            f"holds {'text' if holds_text else 'numbers'} here; give it as it was learned"
                        )

    def cut(self, kind: str, threshold: Any) -> int:
        """The largest code whose value is not above the threshold; -1: there is none."""
        domain = self._domains[kind]
        if domain.kind != "numeric" or isinstance(threshold, str):
            raise UsageError(f"a threshold {threshold!r} for type '{kind}', which is {domain.kind}: give '='")
        if domain.values.dtype.kind in "iu" and math.isfinite(threshold):
            limits = np.iinfo(np.int64)
            threshold = np.int64(min(max(math.floor(threshold), limits.min), limits.max))
        return int(np.searchsorted(domain.values, threshold, side="right")) - 1

    def value(self, kind: str, code: int) -> Value:
        return plain_value(self._domains[kind].values[code])

    def predicate(self, literal: Literal) -> int:
        if literal.predicate in PREDICATES:
            return PREDICATES[literal.predicate]
        if literal.predicate not in self.relations:
            known = ", ".join(sorted(self.relations)) or "none"
            raise DataError(f"no relation '{literal.predicate}' in the database; there are: {known}")
        return self.relations[literal.predicate]

    def query(self, query: Query, types: dict[int, str]) -> list[NativeLiteral]:
        """The literals in numbers. `types` are those of the variables bound so far; what the query binds is
        added."""
        return [(self.predicate(literal), self._terms(literal, types)) for literal in query]

    def _terms(self, literal: Literal, types: dict[int, str]) -> list[NativeTerm]:
        if literal.compares:
            return self._compared(literal, types)
        kinds = self.types[literal.predicate]
        if len(literal.terms) != len(kinds):
            raise UsageError(
                f"a literal of '{literal.predicate}' has {len(literal.terms)} terms; the relation has "
                f"{len(kinds)} columns"
            )
        for term, kind in zip(literal.terms, kinds, strict=True):
            if isinstance(term, Variable):
                types.setdefault(term.number, kind)
        return [self._term(term, kind) for term, kind in zip(literal.terms, kinds, strict=True)]

    def _term(self, term: Term, kind: str) -> NativeTerm:
        if isinstance(term, Variable):
            return VARIABLE, term.number
        return (CONSTANT, self.code(kind, term.value)) if isinstance(term, Constant) else (ANYTHING, 0)

    def _compared(self, literal: Literal, types: Mapping[int, str]) -> list[NativeTerm]:
        left, right = literal.terms
        for term in literal.terms:
            if isinstance(term, Variable) and term != KEY and term.number not in types:
                raise UsageError(
                    f"'{literal.predicate}' compares a variable that no relation before it binds; "
                    "put the comparison behind a literal that has it"
                )
        if not isinstance(left, Variable) or not isinstance(right, Variable | Constant):
            raise UsageError(f"'{literal.predicate}' compares a variable with a variable or a constant")
        if isinstance(right, Variable):
            return [(VARIABLE, left.number), (VARIABLE, right.number)]
        kind = types[left.number]
        code = self.code(kind, right.value) if literal.predicate == "=" else self.cut(kind, right.value)
        return [(VARIABLE, left.number), (CONSTANT, code)]


_known: WeakKeyDictionary[Coded, dict[str | None, NativeDatabase]] = WeakKeyDictionary()


def native_of(coded: Coded, key_type: str | None = None) -> NativeDatabase:
    """The database for the engine; it is made once. `key_type` is the type of the examples' keys, that of the
    first keyed relation where it is not said."""
    made = _known.setdefault(coded, {})
    if key_type not in made:
        made[key_type] = NativeDatabase(coded, key_type)
    return made[key_type]


def examples_of(examples: Sequence[int] | npt.NDArray[Any] | None, n: int) -> npt.NDArray[np.uint32]:
    """The examples asked for, by number; None: all."""
    if examples is None:
        return np.arange(n, dtype=np.uint32)
    given = np.asarray(examples)
    if given.size and (given.min() < 0 or given.max() >= n):
        raise UsageError(f"an example {int(given.max())}; the database has examples 0 to {n - 1}")
    return given.astype(np.uint32)


def _native_domain(domain: Domain) -> tuple[int, npt.NDArray[Any] | None]:
    if domain.kind != "numeric":
        return len(domain.values), None
    kind = np.int64 if domain.values.dtype.kind in "iu" else np.float64
    return len(domain.values), np.ascontiguousarray(domain.values, dtype=kind)


def _places(domain: Domain) -> dict[Any, int]:
    return {value: code for code, value in enumerate(domain.values.tolist())}


@dataclass(frozen=True)
class QueryEngine:
    """Switches that never change an answer: one enumeration for all tests of a node (`pack`), only the part
    of the query that a test is tied to (`connected`), all constants and thresholds of a place at once
    (`collect`), and what was found out of such parts, kept for other nodes and sets (`cache`, bounded by
    `cache_bytes`)."""

    pack: bool = True
    connected: bool = True
    collect: bool = True
    cache: bool = True
    cache_bytes: int = 256 << 20


def solve(
    coded: Coded,
    query: Query,
    examples: Sequence[int] | npt.NDArray[Any] | None = None,
    *,
    key_type: str | None = None,
) -> npt.NDArray[np.bool_]:
    """Whether the query has a solution among the facts of each example, in the order given; None: of all."""
    native = native_of(coded, key_type)
    found = _core.solve_query(native.core, native.query(query, {}), examples_of(examples, native.n_examples))
    return np.asarray(found).view(np.bool_)


def witness(
    coded: Coded, query: Query, example: int, *, key_type: str | None = None
) -> tuple[int | None, ...] | None:
    """The rows of the first solution, one for each literal, None for comparisons; None: there is no solution.

    Rows are tried in the order of their tables, literals as written: the first is the same every time.
    """
    native = native_of(coded, key_type)
    if not 0 <= example < native.n_examples:
        raise UsageError(f"an example {example}; the database has examples 0 to {native.n_examples - 1}")
    rows = _core.query_witness(native.core, native.query(query, {}), example)
    if query and not rows:
        return None
    return tuple(None if row < 0 else row for row in rows)


def route(
    coded: Coded,
    tree: RelationalTree,
    examples: Sequence[int] | npt.NDArray[Any] | None = None,
    *,
    key_type: str | None = None,
) -> npt.NDArray[np.int32]:
    """The leaf of each example, as the number of its node. The database need not be the one that the tree was
    grown from: constants and thresholds are looked up in its own domains."""
    native = native_of(coded, key_type)
    tests: list[list[NativeLiteral]] = [[] for _ in tree.nodes]
    types: list[dict[int, str]] = [{} for _ in tree.nodes]
    for i, node in enumerate(tree.nodes):
        if not node.is_leaf:
            types[node.yes], types[node.no] = dict(types[i]), types[i]
            native.check_constants(node.test)
            tests[i] = native.query(node.test, types[node.yes])
    yes, no = (np.array([getattr(n, way) for n in tree.nodes], dtype=np.int32) for way in ("yes", "no"))
    asked = examples_of(examples, native.n_examples)
    return np.asarray(_core.route_first_order(native.core, tests, yes, no, asked))


SIGNS = (Sign.OLD, Sign.NEW, Sign.EITHER, Sign.CONSTANT, Sign.FIXED, Sign.ANYTHING)


class BiasCodes:
    """The bias for the engine. `thresholds` are the values of thresholds that it lists, by their numbers;
    `domain_of` names the domain that codes each type."""

    def __init__(self, bias: Bias, database: NativeDatabase) -> None:
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
        numbers = [-1 if name is None else database.domains[name] for name in self.domain_of.values()]
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
                known = ", ".join(sorted(self.database.relations)) or "none"
                raise UsageError(f"a mode names '{name}', which is no relation; there are: {known}")
            kinds = self.bias.types.get(name, self.database.types[name])
            number = self.database.relations[name]
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
        """One list where the type is known, else one for each type: that of the comparison's variable."""
        kinds: Iterable[str] = self.domain_of if kind is None else (kind,)
        return [self._codes(predicate, values, self.domain_of[one]) for one in kinds]

    def _codes(self, predicate: str, values: tuple[Value, ...], domain: str | None) -> list[tuple[int, int]]:
        if domain is None:
            return []
        if predicate in COMPARISONS and predicate != EQUALS:
            if self.database.domain(domain).kind != "numeric":
                return []
            cuts = ((self.database.cut(domain, value), self._threshold(value)) for value in values)
            return list(dict.fromkeys(cuts))
        codes = dict.fromkeys(self.database.code(domain, value) for value in values)  # each but once
        return [(code, -1) for code in codes if code != NOWHERE]

    def _threshold(self, value: Value) -> int:
        if value not in self.thresholds:
            self.thresholds.append(value)
        return self.thresholds.index(value)


def _domains_of_types(bias: Bias, database: NativeDatabase) -> dict[str, str | None]:
    """The domain of each type: that of the columns it stands for. None: it stands for no column."""
    found: dict[str, str | None] = {bias.key_type: None}
    used = {pattern.predicate for mode in bias.modes for pattern in mode.patterns}
    used |= {pattern.predicate for ahead in bias.lookaheads for pattern in ahead.patterns}
    for name in [*bias.types, *sorted(used - set(bias.types))]:
        if name not in database.relations:
            continue
        kinds = bias.types.get(name, database.types[name])
        if len(kinds) != len(database.types[name]):
            raise UsageError(f"'{name}' has {len(database.types[name])} columns, its types are {len(kinds)}")
        for kind, domain in zip(kinds, database.types[name], strict=True):
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
