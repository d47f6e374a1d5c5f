"""Examples as small databases, and conjunctive queries over them, solved by backtracking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

Value = str | int | float | bool
Row = tuple[Value | None, ...]
Binding = Mapping[int, Value | None]

COMPARISONS = ("=", "<=", ">")


@dataclass(frozen=True)
class Var:
    """Variable 0 is the key of the example."""

    number: int


@dataclass(frozen=True)
class Const:
    value: Value


@dataclass(frozen=True)
class Anything:
    """`_`: any value, a missing one too."""


@dataclass(frozen=True)
class Open:
    """The place of a threshold that the training set fills in."""


Term = Var | Const | Anything | Open
KEY, ANYTHING, OPEN = Var(0), Anything(), Open()


@dataclass(frozen=True)
class Literal:
    predicate: str
    terms: tuple[Term, ...]


Query = tuple[Literal, ...]


@dataclass(frozen=True)
class Domain:
    """The values of a type; kind is "nominal", "integer" or "float"."""

    kind: str
    values: tuple[Value, ...]

    @property
    def is_numeric(self) -> bool:
        return self.kind != "nominal"

    def ascending(self, values: set[Value]) -> list[Value]:
        """Numbers by value, labels by their UTF-8 bytes."""
        return sorted(values, key=(lambda v: v) if self.is_numeric else (lambda v: str(v).encode("utf-8")))


@dataclass(frozen=True)
class Relation:
    """Facts in the order of their table. `owner` names the example of each row, None: all share them. `key`
    is the column that holds the key of the example, if there is one. A missing value is None."""

    types: tuple[str, ...]
    rows: tuple[Row, ...]
    owner: tuple[int, ...] | None = None
    key: int | None = None

    @cached_property
    def of_example(self) -> Mapping[int, list[Row]]:
        found: dict[int, list[Row]] = {}
        for row, example in zip(self.rows, self.owner or (-1,) * len(self.rows), strict=True):
            found.setdefault(example, []).append(row)
        return found

    @cached_property
    def by_value(self) -> Mapping[tuple[int, int, Value | None], list[Row]]:
        """The rows of an example with a value in a column: only a way not to read all of them."""
        found: dict[tuple[int, int, Value | None], list[Row]] = {}
        for example, rows in self.of_example.items():
            for row in rows:
                for column, value in enumerate(row):
                    found.setdefault((example, column, value), []).append(row)
        return found

    def rows_with(self, example: int, terms: Sequence[Term], binding: Binding) -> Sequence[Row]:
        """The rows of an example that agree with the first term that has a value."""
        whose = -1 if self.owner is None else example
        for column, term in enumerate(terms):
            if column != self.key and (value := value_of(term, binding)) is not UNBOUND:
                return () if value is None else self.by_value.get((whose, column, value), ())  # type: ignore[arg-type]
        return self.of_example.get(whose, ())


UNBOUND = object()


def value_of(term: Term, binding: Binding) -> object:
    """The value that a term has: UNBOUND where it has none, None where it is missing."""
    if isinstance(term, Var):
        return binding.get(term.number, UNBOUND)
    return term.value if isinstance(term, Const) else UNBOUND


@dataclass(frozen=True)
class Database:
    """The keys of the examples, the domains of the types, the relations by name."""

    keys: tuple[Value, ...]
    domains: Mapping[str, Domain]
    relations: Mapping[str, Relation]

    def start(self, example: int) -> Binding:
        return {0: self.keys[example]}


def match(terms: Sequence[Term], row: Row, binding: Binding) -> Binding | None:
    """The binding that makes the terms this row. What is missing equals nothing, but may be bound."""
    extended = dict(binding)
    for term, value in zip(terms, row, strict=True):
        known = value_of(term, extended)
        if known is not UNBOUND:
            if known is None or value is None or known != value:
                return None
        elif isinstance(term, Var):
            extended[term.number] = value
    return extended


def compare(literal: Literal, binding: Binding) -> bool:
    a, b = (value_of(term, binding) for term in literal.terms)
    if a is None or b is None:
        return False
    if literal.predicate == "=":
        return a == b
    below: bool = a <= b  # type: ignore[operator]
    return below if literal.predicate == "<=" else not below


def steps(database: Database, query: Query, example: int, binding: Binding) -> Iterator[Binding | None]:
    """Backtracking through the literals as written and the rows of their tables in order: None for every row
    that fits its literal, a binding for every solution."""
    if not query:
        yield binding
        return
    literal, rest = query[0], query[1:]
    if literal.predicate in COMPARISONS:
        if compare(literal, binding):
            yield from steps(database, rest, example, binding)
        return
    for row in database.relations[literal.predicate].rows_with(example, literal.terms, binding):
        extended = match(literal.terms, row, binding)
        if extended is not None:
            yield None
            yield from steps(database, rest, example, extended)


def solutions(database: Database, query: Query, example: int, binding: Binding) -> Iterator[Binding]:
    return (found for found in steps(database, query, example, binding) if found is not None)


def holds(database: Database, query: Query, example: int) -> bool:
    """Whether the query has a solution among the facts of the example and those that all share."""
    return any(True for _ in solutions(database, query, example, database.start(example)))


def variables(literals: Sequence[Literal]) -> frozenset[int]:
    """The variables of the literals but the key."""
    return frozenset(t.number for literal in literals for t in literal.terms if isinstance(t, Var)) - {0}


def connected(query: Query, test: Query) -> Query:
    """The literals of the query that share variables with the test, or with others that do."""
    reached, part = variables(test), frozenset[Literal]()
    while True:
        joined = frozenset(literal for literal in query if variables([literal]) & reached)
        if joined == part:
            return tuple(literal for literal in query if literal in part)
        part, reached = joined, reached | variables(tuple(joined))


def is_over(database: Database, query: Query, test: Query, example: int, budget: int) -> bool:
    """Whether more rows than the budget fit their literals before the first solution of the test behind the
    connected part of the query; with an open threshold, before all solutions have been seen."""
    closed = tuple(literal for literal in test if OPEN not in literal.terms)
    spent = 0
    for found in steps(database, connected(query, test) + closed, example, database.start(example)):
        if found is None:
            spent += 1
        elif closed == test:
            break
        if spent > budget:
            return True
    return False
