"""Small databases of examples and trees drawn at random, with a plain answer to hold others against."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np

from hornbeam.relational.database import MISSING, Coded, Domain, Examples, Relation
from hornbeam.relational.logic import KEY, Anything, Constant, Literal, Query, Term, Variable
from hornbeam.relational.signature import Predicate, Route, Signature
from hornbeam.relational.tree import Node, RelationalTree

LABELS = ("late", "it's", 'a"b', 'x; DROP TABLE "visit"; --', "é\n", "back\\slash", "")
NUMBERS = (-1.5, 0.0, 0.1, 2.0, 3.25, 1e-7, 1e22)

PREDICATES = (
    Predicate(
        "visit", ("who", "thing", 'other "thing"', "weight"), ("key", "thing", "thing", "number"), key=0
    ),
    Predicate("kind", ("thing", "label"), ("thing", "label")),
    Predicate("part", ("thing", "label", "size"), ("own", "label", "number"), routes=(Route(0, "holds", 1),)),
    Predicate("holds", ("who", "own"), ("key", "own"), key=0),
)
SIGNATURE = Signature(
    {predicate.name: predicate for predicate in PREDICATES},
    key_type="key",
    examples="people",
    key_field="who",
    floats=frozenset(("number",)),
)

Row = tuple[Any, ...]


@dataclass(frozen=True)
class World:
    """Rows of each relation; None is missing. `owners` are the examples of the rows of `part`."""

    keys: tuple[str, ...]
    rows: dict[str, list[Row]]
    owners: list[int]

    def rows_of(self, relation: str, example: int) -> list[Row]:
        """Those that an example sees."""
        if relation == "kind":
            return self.rows[relation]
        if relation == "part":
            return [
                row for row, owner in zip(self.rows[relation], self.owners, strict=True) if owner == example
            ]
        return [row for row in self.rows[relation] if row[0] == self.keys[example]]


def draw_world(draw: random.Random) -> World:
    keys = tuple(f"k{i}'" for i in range(draw.randint(1, 5)))
    things = [f"t{i}" for i in range(4)]

    def perhaps(values: Any) -> Any:
        return None if draw.random() < 0.12 else draw.choice(values)

    visits = [
        (draw.choice(keys), perhaps(things), perhaps(things), perhaps(NUMBERS))
        for _ in range(draw.randint(0, 12))
    ]
    kinds = [(perhaps(things), perhaps(LABELS)) for _ in range(draw.randint(0, 5))]
    holds: list[Row] = []
    parts: list[Row] = []
    owners: list[int] = []
    for number in range(draw.randint(0, 5)):  # a thing of one's own belongs to one example
        example = draw.randrange(len(keys))
        holds.append((keys[example], f"o{number}"))
        for _ in range(draw.randint(0, 3)):
            parts.append((f"o{number}", perhaps(LABELS), perhaps(NUMBERS)))
            owners.append(example)
    return World(keys, {"visit": visits, "kind": kinds, "part": parts, "holds": holds}, owners)


def draw_tree(draw: random.Random, depth: int = 4, regression: bool = False) -> RelationalTree:
    """A tree with any tests; its counts say nothing of a world."""
    nodes: list[Node | None] = []

    def grow(level: int, known: dict[Variable, str]) -> int:
        place = len(nodes)
        nodes.append(None)
        counts = (
            (float(draw.randint(1, 9)), draw.choice(NUMBERS) + draw.random(), 1.0)
            if regression
            else tuple(float(draw.randint(0, 9)) for _ in range(3))
        )
        if level == 0 or draw.random() < 0.15:
            nodes[place] = Node(counts)
            return place
        test, more = draw_test(draw, known)
        yes = grow(level - 1, more)
        no = grow(level - 1, known)
        nodes[place] = Node(counts, test, yes, no)
        return place

    grow(depth, {})
    task: Any = "regression" if regression else "classification"
    classes = () if regression else ("neg", "po's", "zero\n")
    return RelationalTree(
        task, "Class of", classes, tuple(node for node in nodes if node), draw.random() < 0.5, SIGNATURE
    )


def draw_test(draw: random.Random, known: dict[Variable, str]) -> tuple[Query, dict[Variable, str]]:
    test: list[Literal] = []
    known = dict(known)
    for _ in range(draw.randint(1, 3)):
        numeric = [v for v, kind in known.items() if kind == "number"]
        if numeric and draw.random() < 0.5:
            value = draw.choice(NUMBERS) + draw.choice((0.0, 0.05))
            test.append(Literal(draw.choice(("<=", ">", "=")), (draw.choice(numeric), Constant(value))))
            continue
        predicate = draw.choice(PREDICATES)
        terms = []
        for i, kind in enumerate(predicate.types):
            terms.append(KEY if i == predicate.key else draw_term(draw, kind, known))
        test.append(Literal(predicate.name, tuple(terms)))
        pairs = [v for v, kind in known.items() if kind == "thing"]
        if len(pairs) > 1 and draw.random() < 0.1:
            test.append(Literal("=", (pairs[0], pairs[-1])))
    return tuple(test), known


def draw_term(draw: random.Random, kind: str, known: dict[Variable, str]) -> Term:
    old = [variable for variable, of in known.items() if of == kind]
    way = draw.random()
    if way < 0.15:
        return Anything()
    if way < 0.3 and kind in ("label", "thing", "number"):
        return Constant(
            draw.choice({"label": LABELS, "thing": ("t0", "t1", "never"), "number": NUMBERS}[kind])
        )
    if way < 0.65 and old:
        return draw.choice(old)
    fresh = Variable(1 + max((variable.number for variable in known), default=0))
    known[fresh] = kind
    return fresh


# plain answers


def holds(world: World, example: int, query: Query) -> bool:
    """Whether a query has a solution, by trying all rows."""
    return next(solutions(world, example, query, {KEY: world.keys[example]}), None) is not None


def solutions(
    world: World, example: int, query: Query, bound: dict[Variable, Any]
) -> Iterator[dict[Variable, Any]]:
    if not query:
        yield bound
        return
    literal, rest = query[0], query[1:]
    if literal.compares:
        left = bound[literal.terms[0]]  # type: ignore[index]
        term = literal.terms[1]
        right = term.value if isinstance(term, Constant) else bound[term]  # type: ignore[index]
        if left is None or right is None:
            return
        if {"<=": left <= right, ">": left > right, "=": left == right}[literal.predicate]:
            yield from solutions(world, example, rest, bound)
        return
    for row in world.rows_of(literal.predicate, example):
        more = matched(row, literal, bound)
        if more is not None:
            yield from solutions(world, example, rest, more)


def matched(row: Row, literal: Literal, bound: dict[Variable, Any]) -> dict[Variable, Any] | None:
    more = dict(bound)
    for value, term in zip(row, literal.terms, strict=True):
        if isinstance(term, Anything):
            continue
        wanted = term.value if isinstance(term, Constant) else more.get(term, MISSING)
        if isinstance(term, Variable) and term not in more:
            more[term] = value
        elif value is None or wanted is None or value != wanted:
            return None
    return more


def leaf_of(world: World, example: int, tree: RelationalTree) -> int:
    node, query = 0, ()  # type: tuple[int, Query]
    while not tree.nodes[node].is_leaf:
        held = tree.nodes[node]
        if holds(world, example, query + held.test):
            node, query = held.yes, query + held.test
        else:
            node = held.no
    return node


# other forms


def coded_of(world: World) -> Coded:
    values: dict[str, set[Any]] = {
        "key": set(world.keys),
        "thing": set(),
        "own": set(),
        "label": set(),
        "number": set(),
    }
    for predicate in PREDICATES:
        for row in world.rows[predicate.name]:
            for kind, value in zip(predicate.types, row, strict=True):
                values[kind] |= {value} - {None}
    domains, places = {}, {}
    for kind, held in values.items():
        ordered = sorted(held, key=lambda v: v if isinstance(v, float) else v.encode())
        of: Any = "numeric" if kind == "number" else "nominal"
        array = np.array(ordered, dtype=float if of == "numeric" else object)
        domains[kind], places[kind] = Domain(kind, of, array), {value: i for i, value in enumerate(ordered)}
    relations = {}
    for predicate in PREDICATES:
        rows = world.rows[predicate.name]
        codes = tuple(
            np.array([places[kind].get(row[i], MISSING) for row in rows], dtype=np.int32)
            for i, kind in enumerate(predicate.types)
        )
        owner = None
        if predicate.name == "part":
            owner = np.array(world.owners, dtype=np.int32)
        elif predicate.key is not None:
            owner = np.array([world.keys.index(row[0]) for row in rows], dtype=np.int32)
        relations[predicate.name] = Relation(
            predicate.name, predicate.columns, predicate.types, codes, owner, predicate.key
        )
    return Coded(Examples(np.array(world.keys, dtype=object)), domains, relations, "key")


def run_sql(world: World, dialect: str, query: str) -> dict[Any, Any]:
    """The answer for each key."""
    connection: Any = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    kinds = {"number": "DOUBLE" if dialect == "duckdb" else "REAL"}
    connection.execute("CREATE TABLE people (who VARCHAR)")
    connection.executemany("INSERT INTO people VALUES (?)", [(key,) for key in world.keys])
    for predicate in PREDICATES:
        names = [name.replace('"', '""') for name in predicate.columns]
        columns = ", ".join(
            f'"{name}" {kinds.get(kind, "VARCHAR")}'
            for name, kind in zip(names, predicate.types, strict=True)
        )
        connection.execute(f'CREATE TABLE "{predicate.name}" ({columns})')
        if world.rows[predicate.name]:
            marks = ", ".join("?" * len(names))
            connection.executemany(
                f'INSERT INTO "{predicate.name}" VALUES ({marks})', world.rows[predicate.name]
            )
    answers = dict(connection.execute(query).fetchall())
    connection.close()
    return answers
