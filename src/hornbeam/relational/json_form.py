"""The first-order tree as JSON, every number exact and read with suspicion, and its digest."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Final

from hornbeam.errors import DataError
from hornbeam.model.arrays import is_finite
from hornbeam.model.json_form import parse
from hornbeam.relational.logic import (
    COMPARISONS,
    KEY,
    Anything,
    Constant,
    Literal,
    Query,
    Term,
    Variable,
    plain_value,
)
from hornbeam.relational.signature import Signature
from hornbeam.relational.tree import Node, RelationalTree

_KEYS: Final = ("task", "target", "classes", "ties_to_last", "nodes", "signature")
_INFINITIES: Final = {"inf": math.inf, "-inf": -math.inf}


def to_json(tree: RelationalTree) -> str:
    return json.dumps(to_record(tree), separators=(",", ":"), allow_nan=False)


def to_record(tree: RelationalTree) -> dict[str, Any]:
    """Plain dicts, lists, texts and numbers."""
    return {
        "task": tree.task,
        "target": tree.target_name,
        "classes": [plain_value(label) for label in tree.classes],
        "ties_to_last": tree.ties_to_last,
        "nodes": [_node_record(node) for node in tree.nodes],
        "signature": None if tree.signature is None else tree.signature.to_record(),
    }


def _node_record(node: Node) -> dict[str, Any]:
    counts = [_short(count) for count in node.counts]
    if node.is_leaf:
        return {"counts": counts}
    return {"counts": counts, "test": query_record(node.test), "yes": node.yes, "no": node.no}


def _short(count: float) -> float | int:
    """Counts are mostly whole: as integers they are shorter and as exact."""
    number = float(count)
    return int(number) if number.is_integer() and abs(number) < 2**53 and str(number) != "-0.0" else number


def query_record(query: Query) -> list[list[Any]]:
    """Each literal as its predicate and its terms."""
    return [[literal.predicate, *map(_term_record, literal.terms)] for literal in query]


def _term_record(term: Term) -> dict[str, Any] | None:
    if isinstance(term, Anything):
        return None
    if isinstance(term, Variable):
        return {"variable": term.number}
    value = plain_value(term.value)
    if isinstance(value, float) and math.isinf(value):
        return {"number": str(value)}
    return {"constant": value}


def from_json(source: str) -> RelationalTree:
    return from_record(parse(source, "tree"))


def from_record(record: object) -> RelationalTree:
    """The tree of `to_record`, verified; DataError in one line for anything else."""
    if not isinstance(record, dict) or set(record) != set(_KEYS):
        raise DataError(f"tree: not an object with exactly the keys {', '.join(_KEYS)}")
    task, classes, nodes = record["task"], record["classes"], record["nodes"]
    if task not in ("classification", "regression"):
        raise DataError(f"tree: the task {str(task)[:40]!r} is neither classification nor regression")
    if not isinstance(classes, list) or not all(isinstance(label, (str, int, float)) for label in classes):
        raise DataError("tree: 'classes' is not a list of texts and numbers")
    if len({type(label) for label in classes}) > 1 or len(set(classes)) < len(classes):
        raise DataError("tree: the classes are of several types, or one of them is there twice")
    if bool(classes) != (task == "classification"):
        raise DataError(f"tree: {len(classes)} classes for {task}")
    if not isinstance(record["target"], str) or not isinstance(record["ties_to_last"], bool):
        raise DataError("tree: 'target' is no text, or 'ties_to_last' neither true nor false")
    if not isinstance(nodes, list) or not nodes:
        raise DataError("tree: 'nodes' is not a list of at least one node")
    regression = task == "regression"
    width = 3 if regression else len(classes)
    read = tuple(_read_node(node, i, width, regression) for i, node in enumerate(nodes))
    _check_shape(read)
    _check_variables(read)
    signature = None if record["signature"] is None else Signature.from_record(record["signature"])
    return RelationalTree(task, record["target"], tuple(classes), read, record["ties_to_last"], signature)


def _read_node(node: object, i: int, width: int, regression: bool) -> Node:
    if not isinstance(node, dict) or set(node) not in ({"counts"}, {"counts", "test", "yes", "no"}):
        raise DataError(f"tree: node {i} is neither a leaf (counts) nor a test (counts, test, yes, no)")
    counts = node["counts"]
    if not isinstance(counts, list) or len(counts) != width or not all(map(is_finite, counts)):
        raise DataError(f"tree: the counts of node {i} are not {width} numbers")
    numbers = tuple(map(float, counts))
    # Of classes no count is negative; of numbers neither how many there are nor their squared deviations.
    if min((numbers[0], numbers[2]) if regression else numbers) < 0.0:
        raise DataError(f"tree: a count of node {i} is negative")
    if "test" not in node:
        return Node(numbers)
    if type(node["yes"]) is not int or type(node["no"]) is not int:
        raise DataError(f"tree: a branch of node {i} is no whole number")
    test = read_query(node["test"], f"node {i}")
    if not test:
        raise DataError(f"tree: the test of node {i} has no literal")
    return Node(numbers, test, node["yes"], node["no"])


def read_query(record: object, place: str) -> Query:
    """The query of `query_record`, verified."""
    if not isinstance(record, list):
        raise DataError(f"tree: the test of {place} is not a list of literals")
    return tuple(_read_literal(entry, place) for entry in record)


def _read_literal(entry: object, place: str) -> Literal:
    if not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
        raise DataError(f"tree: a literal of {place} is not a list that begins with its predicate")
    literal = Literal(entry[0], tuple(_read_term(term, place) for term in entry[1:]))
    if literal.predicate in COMPARISONS:
        first = literal.terms[0] if len(literal.terms) == 2 else None
        if not isinstance(first, Variable) or isinstance(literal.terms[1], Anything):
            raise DataError(f"tree: a comparison of {place} is not between a variable and a term")
    return literal


def _read_term(term: object, place: str) -> Term:
    if term is None:
        return Anything()
    if isinstance(term, dict) and len(term) == 1:
        (kind, value), *_ = term.items()
        if kind == "variable" and type(value) is int and value >= 0:
            return Variable(value)
        if kind == "constant" and isinstance(value, (str, int, float)):
            return Constant(value)
        if kind == "number" and value in _INFINITIES:
            return Constant(_INFINITIES[value])
    raise DataError(f"tree: a term of {place} is neither a variable, a constant nor null")


def _check_shape(nodes: tuple[Node, ...]) -> None:
    """Refuse nodes that are not in preorder, where the yes branch of a node follows it and the no branch
    follows the subtree of the yes branch: then every node is reached once."""
    ends, waiting = 0, [0]
    while waiting:
        i = waiting.pop()
        if i != ends or i >= len(nodes):
            raise DataError(f"tree: node {i} is not where preorder has it, or is reached twice")
        ends += 1
        if not nodes[i].is_leaf:
            waiting += [nodes[i].no, nodes[i].yes]
    if ends != len(nodes):
        raise DataError(f"tree: node {ends} is reached by no branch")


def _check_variables(nodes: tuple[Node, ...]) -> None:
    """A comparison asks about variables that a literal before it has bound. They are numbered as they come,
    so that no number is above those of the terms on the path: the engine keeps a place for each."""
    bound: list[frozenset[Variable]] = [frozenset((KEY,))] * len(nodes)
    n_terms = [0] * len(nodes)
    for i, node in enumerate(nodes):
        known = bound[i]
        here = n_terms[i] + sum(len(literal.terms) for literal in node.test)
        for literal in node.test:
            variables = {term for term in literal.terms if isinstance(term, Variable)}
            if literal.compares and not variables <= known:
                raise DataError(f"tree: node {i} compares a variable that nothing on its path binds")
            if any(variable.number > here for variable in variables):
                raise DataError(f"tree: node {i} numbers a variable above all terms on its path")
            known |= variables
        if not node.is_leaf:
            bound[node.yes], bound[node.no] = known, bound[i]
            n_terms[node.yes], n_terms[node.no] = here, n_terms[i]


def digest_of(tree: RelationalTree) -> str:
    """The SHA-256 of the canonical form, in hexadecimal."""
    text = json.dumps(canonical(tree), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def canonical(tree: RelationalTree) -> list[Any]:
    """The nodes in preorder: what each asks, and what it holds.

    Classes that a node lacks leave no trace, so a fold that never saw a class has the digest of a lone fit.
    """
    return [tree.task, tree.ties_to_last, [_node(tree, i) for i in range(tree.n_nodes)]]


def _node(tree: RelationalTree, i: int) -> list[Any]:
    node = tree.nodes[i]
    if tree.task == "regression":
        return [query_record(node.test), *map(float, node.counts[:2])]
    held = [[_label(label), float(n)] for label, n in zip(tree.classes, node.counts, strict=True) if n]
    return [query_record(node.test), held]


def _label(label: Any) -> list[Any]:
    """True is 1 for Python, but another class."""
    value = plain_value(label)
    return [type(value).__name__, value]
