"""The language bias and the tests that it offers at a node, in the order that breaks ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.oracle.facts import (
    ANYTHING,
    COMPARISONS,
    KEY,
    OPEN,
    Const,
    Database,
    Literal,
    Query,
    Term,
    Value,
    Var,
)


@dataclass(frozen=True)
class Place:
    """sign is one of + - +- # = _; constants are those of # and =."""

    sign: str
    name: str | None = None
    constants: tuple[Value, ...] | None = None


@dataclass(frozen=True)
class Pattern:
    predicate: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Mode:
    patterns: tuple[Pattern, ...]
    most: int | None = None


@dataclass(frozen=True)
class Lookahead:
    after: Pattern
    then: tuple[Pattern, ...]


@dataclass(frozen=True)
class Bias:
    key_type: str
    types: Mapping[str, tuple[str, ...]]
    modes: tuple[Mode, ...]
    lookaheads: tuple[Lookahead, ...] = ()
    max_lookahead: int = 1

    def types_of(self, query: Query) -> dict[int, str]:
        """The variables of a query with their types, by number."""
        found = {KEY.number: self.key_type}
        for literal in query:
            if literal.predicate not in COMPARISONS:
                for term, kind in zip(literal.terms, self.types[literal.predicate], strict=True):
                    if isinstance(term, Var):
                        found.setdefault(term.number, kind)
        return found


@dataclass(frozen=True)
class Draft:
    """A test while it is put together: literals, the terms of the literal at hand, what names stand for, and
    the types of all variables so far, in the order of their numbers."""

    literals: Query
    terms: tuple[Term, ...]
    names: Mapping[str, Var]
    types: Mapping[int, str]

    def with_term(self, place: Place, term: Term, kind: str | None) -> Draft:
        names, types = self.names, self.types
        if isinstance(term, Var):
            if place.name is not None:
                names = {**names, place.name: term}
            if term.number not in types:
                assert kind is not None
                types = {**types, term.number: kind}
        return replace(self, terms=(*self.terms, term), names=names, types=types)

    @property
    def fresh(self) -> Var:
        return Var(len(self.types))

    @property
    def has_threshold(self) -> bool:
        return any(OPEN in literal.terms for literal in self.literals)


@dataclass(frozen=True)
class Refinement:
    """A node's query and the bias."""

    database: Database
    bias: Bias
    query: Query

    def tests(self) -> list[Query]:
        """Every test, without literals that the query has already; the first of equal ones."""
        found: dict[Query, None] = {}
        start = Draft((), (), {}, self.bias.types_of(self.query))
        for mode in self.bias.modes:
            present = sum(literal.predicate == mode.patterns[0].predicate for literal in self.query)
            if mode.most is not None and present >= mode.most:
                continue
            for draft in self.conjunctions(mode.patterns, start, start.types):
                for raw in self.extensions(draft, self.bias.max_lookahead):
                    found.setdefault(tuple(x for x in dict.fromkeys(raw) if x not in self.query))
        return [test for test in found if test]

    def extensions(self, draft: Draft, depth: int) -> Iterator[Query]:
        """The test, then what may be seen ahead of its last literal, each with what is seen from there."""
        yield draft.literals
        if depth == 0:
            return
        for lookahead in self.bias.lookaheads:
            names = fit(lookahead.after, draft.literals[-1])
            if names is None:
                continue
            started = replace(draft, names=names)
            for longer in self.conjunctions(lookahead.then, started, draft.types):
                yield from self.extensions(longer, depth - 1)

    def conjunctions(
        self, patterns: Sequence[Pattern], draft: Draft, visible: Mapping[int, str]
    ) -> Iterator[Draft]:
        """The draft with one literal more for each pattern; variables without a name come from `visible`."""
        if not patterns:
            yield draft
            return
        for filled in self.filled(patterns[0], draft, visible):
            literal = Literal(patterns[0].predicate, filled.terms)
            if OPEN in literal.terms and filled.has_threshold:
                continue  # a test has one threshold at most
            longer = replace(filled, literals=(*filled.literals, literal), terms=())
            yield from self.conjunctions(patterns[1:], longer, visible)

    def filled(self, pattern: Pattern, draft: Draft, visible: Mapping[int, str]) -> Iterator[Draft]:
        """The draft with every choice of terms; the last place varies fastest."""
        at = len(draft.terms)
        if at == len(pattern.places):
            yield draft
            return
        kind = self.type_at(pattern.predicate, at, draft)
        for term in self.choices(pattern, at, kind, draft, visible):
            yield from self.filled(pattern, draft.with_term(pattern.places[at], term, kind), visible)

    def type_at(self, predicate: str, at: int, draft: Draft) -> str | None:
        """The type of a column. A comparison has that of its variable: None before it has one."""
        if predicate in self.bias.types:
            return self.bias.types[predicate][at]
        if at == 0:
            return None
        first = draft.terms[0]
        assert isinstance(first, Var)
        return draft.types[first.number]

    def choices(
        self, pattern: Pattern, at: int, kind: str | None, draft: Draft, visible: Mapping[int, str]
    ) -> list[Term]:
        place = pattern.places[at]
        if place.sign == "_":
            return [ANYTHING]
        if place.sign in ("#", "="):
            return self.constants(pattern, at, kind)
        if place.name is not None and place.name in draft.names:
            named = draft.names[place.name]
            return (
                [named] if self.suits(pattern.predicate, at, kind, named, draft.types[named.number]) else []
            )
        fresh: list[Term] = [draft.fresh] if "-" in place.sign else []
        old = [Var(v) for v, t in visible.items() if self.suits(pattern.predicate, at, kind, Var(v), t)]
        return [*fresh, *old] if "+" in place.sign else fresh

    def suits(self, predicate: str, at: int, kind: str | None, variable: Var, its_type: str) -> bool:
        """Whether the variable may stand there."""
        if predicate in COMPARISONS and kind is None:
            ordered = predicate != "="
            return variable != KEY and (self.database.domains[its_type].is_numeric or not ordered)
        relation = self.database.relations.get(predicate)
        if relation is not None and relation.key == at:
            return variable == KEY
        return its_type == kind

    def constants(self, pattern: Pattern, at: int, kind: str | None) -> list[Term]:
        given = pattern.places[at].constants
        if given is not None:
            return [Const(value) for value in given]
        if pattern.predicate in ("<=", ">"):
            return [OPEN]
        assert kind is not None
        domain = self.database.domains[kind]
        if pattern.predicate == "=":
            return [Const(value) for value in domain.values]
        rows = self.database.relations[pattern.predicate].rows
        seen = {value for row in rows if (value := row[at]) is not None}
        return [Const(value) for value in domain.ascending(seen)]


def fit(after: Pattern, literal: Literal) -> dict[str, Var] | None:
    """What the names of a pattern stand for in a literal, if it fits."""
    if after.predicate != literal.predicate:
        return None
    names: dict[str, Var] = {}
    for place, term in zip(after.places, literal.terms, strict=True):
        if place.sign == "=" and term != Const((place.constants or ("",))[0]):
            return None
        if place.sign in ("_", "=") or place.name is None:
            continue
        if not isinstance(term, Var) or names.setdefault(place.name, term) != term:
            return None
    return names
