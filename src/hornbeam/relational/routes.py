"""Literals that say which example a row belongs to, where the row itself does not name it."""

from __future__ import annotations

from hornbeam.errors import UsageError
from hornbeam.relational.logic import KEY, Anything, Literal, Query, Term, Variable, variables_of
from hornbeam.relational.signature import Predicate, Route, Signature


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
            if not any(_is_said(tuple(result), above) for _, above in ways):
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


def _is_said(query: Query, above: Literal) -> bool:
    """Whether a literal of the query already says as much, and more."""
    return any(
        other.predicate == above.predicate
        and all(isinstance(a, Anything) or a == b for a, b in zip(above.terms, other.terms, strict=True))
        for other in query
    )


def _replaced(terms: tuple[Term, ...], place: int, term: Term) -> tuple[Term, ...]:
    return (*terms[:place], term, *terms[place + 1 :])
