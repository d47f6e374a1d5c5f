"""The digest of a first-order tree: of a canonical form without names of tables, zeros or encodings."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hornbeam.relational.json_form import query_record
from hornbeam.relational.logic import plain_value
from hornbeam.relational.tree import RelationalTree


def digest_of(tree: RelationalTree) -> str:
    """A SHA-256 in hexadecimal."""
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
