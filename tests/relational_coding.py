"""What the oracle of first-order trees reads, as the package reads it, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hornbeam.relational import bias as package_bias
from hornbeam.relational import database as records
from hornbeam.relational import logic, tree
from tests.oracle.facts import Anything, Const, Database, Domain, Literal, Query, Relation, Term, Value, Var
from tests.oracle.first_order import Node
from tests.oracle.refinement import Bias, Pattern, Place
from tests.oracle.table import Classes, Target


def coded(database: Database, target: Target, key_type: str, ties_to_last: bool = False) -> records.Coded:
    """The same database with values for codes; the domain of the keys has all keys."""
    domains = dict(database.domains)
    known = domains.get(key_type, Domain("nominal", ()))
    domains[key_type] = Domain(known.kind, tuple(known.ascending({*known.values, *database.keys})))
    return records.Coded(
        examples_of(database, target, ties_to_last),
        {name: domain_of(name, domain) for name, domain in domains.items()},
        {name: relation_of(name, relation, domains) for name, relation in database.relations.items()},
        key_type,
    )


def examples_of(database: Database, target: Target, ties_to_last: bool) -> records.Examples:
    keys = np.array(database.keys, dtype=object)
    if isinstance(target, Classes):
        codes = np.array([target.order.index(label) for label in target.labels], dtype=np.int32)
        return records.Examples(keys, "y", "classification", target.order, codes, ties_to_last)
    numbers = np.array([row[0] for row in target.rows], dtype=np.float64)
    return records.Examples(keys, "y", "regression", (), numbers, ties_to_last)


def domain_of(name: str, domain: Domain) -> records.Domain:
    dtype: Any = {"nominal": object, "integer": np.int64, "float": np.float64}[domain.kind]
    kind = "numeric" if domain.is_numeric else "nominal"
    return records.Domain(name, kind, np.array(domain.values, dtype=dtype))  # type: ignore[arg-type]


def relation_of(name: str, relation: Relation, domains: Mapping[str, Domain]) -> records.Relation:
    codes = []
    for at, kind in enumerate(relation.types):
        place: dict[Value | None, int] = {value: code for code, value in enumerate(domains[kind].values)}
        place[None] = records.MISSING
        codes.append(np.array([place[row[at]] for row in relation.rows], dtype=np.int32))
    return records.Relation(
        name,
        tuple(f"c{at}" for at in range(len(relation.types))),
        relation.types,
        tuple(codes),
        None if relation.owner is None else np.array(relation.owner, dtype=np.int32),
        relation.key,
    )


def bias_of(bias: Bias) -> package_bias.Bias:
    def pattern(given: Pattern) -> package_bias.Pattern:
        return package_bias.Pattern(given.predicate, tuple(place(p) for p in given.places))

    def place(given: Place) -> package_bias.Placemarker:
        return package_bias.Placemarker(package_bias.Sign(given.sign), given.name, given.constants)

    return package_bias.Bias(
        bias.key_type,
        dict(bias.types),
        tuple(package_bias.Mode(tuple(map(pattern, m.patterns)), m.most) for m in bias.modes),
        tuple(
            package_bias.LookaheadDeclaration(pattern(x.after), tuple(map(pattern, x.then)))
            for x in bias.lookaheads
        ),
        bias.max_lookahead,
    )


def term_of(term: Term) -> logic.Term:
    if isinstance(term, Var):
        return logic.Variable(term.number)
    if isinstance(term, Anything):
        return logic.Anything()
    assert isinstance(term, Const)
    return logic.Constant(term.value)


def literal_of(literal: Literal) -> logic.Literal:
    return logic.Literal(literal.predicate, tuple(map(term_of, literal.terms)))


def query_of(query: Query) -> logic.Query:
    return tuple(map(literal_of, query))


def nodes_of(root: Node) -> tuple[tree.Node, ...]:
    """The nodes of the oracle's tree as those of the package, in preorder."""
    found: list[tree.Node] = []

    def visit(node: Node) -> int:
        at = len(found)
        found.append(tree.Node(node.counts))
        if node.yes is not None and node.no is not None:
            yes = visit(node.yes)
            no = visit(node.no)
            found[at] = tree.Node(node.counts, query_of(node.test), yes, no)
        return at

    visit(root)
    return tuple(found)
