"""What predicates are called in a database, how rows come to an example, and the literals that say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any, Final

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.database import Coded, Codes, Relation
from hornbeam.relational.logic import KEY, Anything, Literal, Query, Term, Variable, variables_of
from hornbeam.table.storage import parse_type

_PREDICATE_KEYS: Final = (
    "columns", "types", "key", "identity", "routes", "table", "fields", "counts", "time", "hidden"
)  # fmt: skip


@dataclass(frozen=True)
class Route:
    """How a row without key comes to its example: its own column holds that column of another relation."""

    column: int
    relation: str
    target: int


@dataclass(frozen=True)
class Counted:
    """A derived relation of two columns: the key of a row, and how many rows of a table refer to it by a
    field; of those later rows are not seen where `time` names a field."""

    table: str
    field: str
    time: str | None = None


@dataclass(frozen=True)
class Predicate:
    """A relation as it is spoken of; `table` and `fields` are what a database calls it and its columns."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    key: int | None = None
    """The column that holds the key of the example."""
    identity: int | None = None
    """The column that no two rows share: the row's own name."""
    routes: tuple[Route, ...] = ()
    """The ways from rows that do not name their example to it; each of several ways is enough by itself."""
    table: str | None = None
    fields: tuple[str, ...] = ()
    """The columns of the table, where they are called otherwise than `columns`."""
    counts: Counted | None = None
    time: str | None = None
    """The field of the table that says when a row came to be, where later rows are not seen."""
    hidden: bool = False
    """Whether rows belong to examples by columns that no literal has, so that no query can say whose."""

    def field_of(self, column: int) -> str:
        return self.fields[column] if self.fields else self.columns[column]

    def to_record(self) -> dict[str, Any]:
        routes = [[route.column, route.relation, route.target] for route in self.routes]
        counts = None if self.counts is None else [self.counts.table, self.counts.field, self.counts.time]
        plain = {name: getattr(self, name) for name in ("key", "identity", "table", "time", "hidden")}
        lists = {name: list(getattr(self, name)) for name in ("columns", "types", "fields")}
        return {**lists, **plain, "routes": routes, "counts": counts}


@dataclass(frozen=True)
class Signature:
    """All predicates, and the table of the examples."""

    predicates: Mapping[str, Predicate]
    key_type: str = "key"
    examples: str = "examples"
    """The table with a row for each example, and its column with their keys."""
    key_field: str = "key"
    time_field: str | None = None
    """The column that says up to when rows of an example are seen."""
    floats: frozenset[str] = field(default=frozenset())
    """The types whose values are floating-point numbers: a NaN there is a missing value."""
    storages: Mapping[str, str] = field(default_factory=dict)
    """The types whose values stand for something else: truth values, dates, times (`Domain.storage`)."""
    named: bool = True
    """Whether columns have names of their own; else a literal is best read as it is written in logic."""

    def predicate_of(self, literal: Literal) -> Predicate | None:
        """The predicate of a literal; None where there is none with so many columns."""
        predicate = self.predicates.get(literal.predicate)
        return predicate if predicate is not None and len(predicate.columns) == len(literal.terms) else None

    @classmethod
    def of(cls, coded: Coded, **facts: Any) -> Signature:
        """What coded data alone says: each relation is a table of its name."""
        floats = {name for name, domain in coded.domains.items() if domain.values.dtype.kind == "f"}
        storages = {name: domain.storage for name, domain in coded.domains.items() if domain.storage}
        predicates = {name: _predicate(relation) for name, relation in coded.relations.items()}
        keyed = (r.types[r.key] for r in coded.relations.values() if r.key is not None)
        known = {"key_type": next(keyed, "key"), "floats": frozenset(floats), "storages": storages} | facts
        return cls(predicates, **known)

    def to_record(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "predicates": {name: predicate.to_record() for name, predicate in self.predicates.items()},
            "key_type": self.key_type,
            "examples": self.examples,
            "key_field": self.key_field,
            "time_field": self.time_field,
            "floats": sorted(self.floats),
            "storages": dict(self.storages),
            "named": self.named,
        }

    @classmethod
    def from_record(cls, record: object) -> Signature:
        """The signature of `to_record`, verified; DataError in one line for anything else."""
        try:
            return _read(record)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            raise DataError("signature: not an object as Signature.to_record writes it") from None


def _predicate(relation: Relation[Codes]) -> Predicate:
    return Predicate(relation.name, relation.columns, relation.types, relation.key, relation.row_key)


def _read(record: Any) -> Signature:
    predicates = {str(name): _read_predicate(name, entry) for name, entry in record["predicates"].items()}
    _check_routes(predicates)
    texts = {name: _text(record[name]) for name in ("key_type", "examples", "key_field")}
    time = record["time_field"]
    return Signature(
        predicates,
        **texts,
        time_field=None if time is None else _text(time),
        floats=frozenset(map(_text, record["floats"])),
        storages={_text(kind): _storage(of) for kind, of in record["storages"].items()},
        named=bool(record["named"]),
    )


def _check_routes(predicates: dict[str, Predicate]) -> None:
    """Routes lead to predicates that are there, and in the end to ones without routes."""
    for name, predicate in predicates.items():
        for route in predicate.routes:
            above = predicates[route.relation]
            if route.column >= len(predicate.columns) or route.target >= len(above.columns):
                raise ValueError(name)
    ways = {name: {route.relation for route in of.routes} for name, of in predicates.items()}
    TopologicalSorter(ways).prepare()  # a ValueError where they go round in a circle


def _read_predicate(name: str, entry: Any) -> Predicate:
    if set(entry) != set(_PREDICATE_KEYS):
        raise ValueError(name)
    columns, types, fields = (tuple(map(_text, entry[key])) for key in ("columns", "types", "fields"))
    if len(types) != len(columns) or len(fields) not in (0, len(columns)):
        raise ValueError(name)
    for place in (entry["key"], entry["identity"]):
        if place is not None and not (type(place) is int and 0 <= place < len(columns)):
            raise ValueError(name)
    counts = entry["counts"]
    return Predicate(
        name,
        columns,
        types,
        entry["key"],
        entry["identity"],
        tuple(Route(_place(column), _text(to), _place(target)) for column, to, target in entry["routes"]),
        None if entry["table"] is None else _text(entry["table"]),
        fields,
        None if counts is None else _read_counted(counts),
        None if entry["time"] is None else _text(entry["time"]),
        bool(entry["hidden"]),
    )


def _read_counted(counts: list[Any]) -> Counted:
    table, field_, time = counts
    return Counted(_text(table), _text(field_), None if time is None else _text(time))


def _place(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(value)
    return value


def _storage(value: object) -> str:
    text = _text(value)
    if text != "boolean":
        parse_type(text)
    return text


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def routed(query: Query, signature: Signature) -> Query:
    """The query with a literal more for each step that leads an unkeyed row to its example.

    The engine keeps rows by example, and so never needs them; a database sees all rows at once.
    """
    result: list[Literal] = list(query)
    done = 0
    while done < len(result):
        literal = result[done]
        predicate = signature.predicates.get(literal.predicate)
        if predicate is not None and predicate.hidden:
            raise UsageError(
                f"rows of {predicate.name!r} belong to examples by columns that are excluded, so no query "
                "can say whose they are; exclude less, and let the bias leave such columns out instead"
            )
        if predicate is not None and predicate.routes and not _is_known(result[:done], literal, predicate):
            ways = [_with_route(tuple(result), literal, route, signature) for route in predicate.routes]
            if not any(_is_implied(tuple(result), above) for _, above in ways):
                result[done : done + 1] = _only(ways, predicate)
        done += 1
    return tuple(result)


def _only(ways: list[tuple[Literal, Literal]], predicate: Predicate) -> tuple[Literal, Literal]:
    if len(ways) == 1:
        return ways[0]
    shown = " or ".join(dict.fromkeys(above.predicate for _, above in ways))
    raise UsageError(
        f"a test asks about {predicate.name!r} alone, whose rows examples see by {shown}; let its mode name "
        "the row that leads there, so that a query can say whose they are"
    )


def _with_route(
    query: Query, literal: Literal, route: Route, signature: Signature
) -> tuple[Literal, Literal]:
    """The literal with a term that its route can start from, and the literal that it leads to."""
    link: Term = literal.terms[route.column]
    if isinstance(link, Anything):
        link = Variable(1 + max((variable.number for variable in variables_of(query)), default=0))
        literal = Literal(literal.predicate, _replaced(literal.terms, route.column, link))
    goal = signature.predicates[route.relation]
    terms: tuple[Term, ...] = (Anything(),) * len(goal.columns)
    terms = _replaced(terms, route.target, link)
    if goal.key is not None:
        terms = _replaced(terms, goal.key, KEY)
    return literal, Literal(goal.name, terms)


def _is_known(before: list[Literal], literal: Literal, predicate: Predicate) -> bool:
    """Whether the row is one that a literal before it has brought, and led to its example."""
    if predicate.identity is None or not isinstance(literal.terms[predicate.identity], Variable):
        return False
    name = literal.terms[predicate.identity]
    return any(
        other.predicate == predicate.name and other.terms[predicate.identity] == name for other in before
    )


def _is_implied(query: Query, above: Literal) -> bool:
    """Whether a literal of the query already says as much, and more."""
    return any(
        other.predicate == above.predicate
        and all(isinstance(a, Anything) or a == b for a, b in zip(above.terms, other.terms, strict=True))
        for other in query
    )


def _replaced(terms: tuple[Term, ...], place: int, term: Term) -> tuple[Term, ...]:
    return (*terms[:place], term, *terms[place + 1 :])
