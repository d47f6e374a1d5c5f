"""The tree as Prolog: a decision list with cuts, in which the order of the clauses matters."""

from __future__ import annotations

from hornbeam.model.text import one_line
from hornbeam.relational.logic import ABOVE, AT_MOST, KEY, Anything, Literal, Query, Term, Variable
from hornbeam.relational.notation import atom, constant_term, literal_text, term_text
from hornbeam.relational.routes import routed
from hornbeam.relational.tree import RelationalTree
from hornbeam.relational.walk import queries_of


def to_prolog(tree: RelationalTree) -> str:
    """A clause for each leaf, in their order.

    Its body is the tests of the yes branches above the leaf. What the no branches say is left to the clauses
    before it: those of a yes branch end with one that takes whatever passed its test.
    """
    name = atom(tree.target_name)
    queries = [_whole(tree, query) for query in queries_of(tree)]
    lines = [
        f"% {name}(A, B): B is what the tree says of the example A. The first clause that succeeds decides,",
        "% so the order of the clauses matters, and so do the cuts.",
    ]
    for leaf in tree.leaves:
        said = constant_term(float(tree.answer(leaf)) if tree.task == "regression" else tree.answer(leaf))
        body = [goal for literal in queries[leaf] for goal in goals(literal, queries[leaf])]
        counted = one_line(_counts(tree, leaf))
        head = "A" if any(KEY in literal.terms for literal in queries[leaf]) else "_"
        lines.append(f"{name}({head}, B) :- {', '.join([*body, '!', f'B = {said}'])}.  % {counted}")
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
