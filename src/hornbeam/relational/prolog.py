"""Values, literals and trees as Prolog, and as people read them; a tree is a decision list with cuts."""

from __future__ import annotations

import math

from hornbeam.model.text import one_line
from hornbeam.relational.ace.terms import atom
from hornbeam.relational.logic import (
    ABOVE,
    AT_MOST,
    KEY,
    Anything,
    Constant,
    Literal,
    Query,
    Term,
    Variable,
    plain_value,
    variable_name,
)
from hornbeam.relational.signature import routed
from hornbeam.relational.tree import RelationalTree
from hornbeam.table.storage import format_code, parse_type


def value_text(constant: Constant) -> str:
    """A constant for people: text in quotes, floating-point numbers rounded to six digits."""
    value = plain_value(constant.value)
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return format(value, ".6g") if isinstance(value, float) else str(value)


def stored_text(constant: Constant, storage: str) -> str:
    """A constant of a type whose values stand for something else: a truth value, a date, a time."""
    if storage == "boolean":
        return one_line(str(constant.value))
    if storage and isinstance(plain_value(constant.value), int):
        return format_code(parse_type(storage), int(constant.value))
    return value_text(constant)


def term_text(term: Term) -> str:
    """A term as Prolog reads it."""
    if isinstance(term, Anything):
        return "_"
    return variable_name(term) if isinstance(term, Variable) else constant_term(term.value)


def constant_term(value: object) -> str:
    """A value as a term: texts are atoms, and no text can end its quotes."""
    value = plain_value(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_term(value)
    return str(value) if isinstance(value, int) else atom(str(value))


def float_term(value: float) -> str:
    """Prolog wants digits on both sides of the point, and no sign of plus in an exponent."""
    if math.isinf(value) or math.isnan(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    digits, _, exponent = repr(value).partition("e")
    digits += "" if "." in digits else ".0"
    return f"{digits}e{int(exponent)}" if exponent else digits


def literal_text(literal: Literal) -> str:
    """`atom(A,C,D,27,E)`, or `D =< 12.5` for a comparison."""
    if literal.compares:
        sign = "=<" if literal.predicate == AT_MOST else literal.predicate
        return f"{term_text(literal.terms[0])} {sign} {term_text(literal.terms[1])}"
    if not literal.terms:
        return atom(literal.predicate)
    return f"{atom(literal.predicate)}({','.join(map(term_text, literal.terms))})"


def query_text(query: Query) -> str:
    return ",".join(map(literal_text, query))


def to_prolog(tree: RelationalTree) -> str:
    """A clause for each leaf, in their order.

    Its body is the tests of the yes branches above the leaf. What the no branches say is left to the clauses
    before it: those of a yes branch end with one that takes whatever passed its test.
    """
    name = atom(tree.target_name)
    queries = [_whole(tree, query) for query in tree.queries]
    lines = [
        f"% {name}(A, B): B is what the tree says of the example A. The first clause that succeeds decides,",
        "% so the order of the clauses matters, and so do the cuts.",
    ]
    for leaf in tree.leaves:
        answer = constant_term(float(tree.answer(leaf)) if tree.task == "regression" else tree.answer(leaf))
        body = [goal for literal in queries[leaf] for goal in goals(literal, queries[leaf])]
        counted = one_line(_counts(tree, leaf))
        head = "A" if any(KEY in literal.terms for literal in queries[leaf]) else "_"
        lines.append(f"{name}({head}, B) :- {', '.join([*body, '!', f'B = {answer}'])}.  % {counted}")
    return "\n".join(lines) + "\n"


def _whole(tree: RelationalTree, query: Query) -> Query:
    return query if tree.signature is None else routed(query, tree.signature)


def goals(literal: Literal, query: Query) -> list[str]:
    """A literal as goals; what only one literal names is `_`. Only a number has a side of a threshold."""
    if literal.predicate in (AT_MOST, ABOVE):
        return [f"number({term_text(literal.terms[0])})", literal_text(literal)]
    if literal.compares:
        return [literal_text(literal)]
    return [literal_text(Literal(literal.predicate, tuple(_shown(term, query) for term in literal.terms)))]


def _shown(term: Term, query: Query) -> Term:
    if not isinstance(term, Variable) or term == KEY:
        return term
    times = sum(other == term for literal in query for other in literal.terms)
    return term if times > 1 else Anything()


def _counts(tree: RelationalTree, leaf: int) -> str:
    if tree.task == "regression":
        return f"{tree.size(leaf):g} examples"
    held = zip(tree.classes, tree.nodes[leaf].counts, strict=True)
    return ", ".join(f"{label} {count:g}" for label, count in held if count)
