"""The canonical form of a tree and its digest (docs/law.md, "Digest")."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from tests.oracle.grow import TreeNode, means
from tests.oracle.quality import nearest
from tests.oracle.table import ClassCounts, Classes, Column, Exact, Label, Target

Form = list[dict[str, Any]]


def number(x: float | Exact) -> int | str:
    """A count or a weight sum: an integer where its double is one, else that double."""
    double = x if isinstance(x, float) else nearest(x)
    return int(double) if double.is_integer() else double.hex()


def label_value(label: Label) -> bool | int | str:
    return (label + 0.0).hex() if isinstance(label, float) else label


def threshold_value(threshold: float) -> int | str:
    return (threshold + 0.0).hex() if isinstance(threshold, float) else threshold


def canonical_form(nodes: Sequence[TreeNode], columns: Sequence[Column], target: Target) -> Form:
    return [canonical_node(node, columns, target) for node in nodes]


def canonical_node(node: TreeNode, columns: Sequence[Column], target: Target) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if isinstance(node.stats, ClassCounts):
        assert isinstance(target, Classes)
        pairs = zip(target.order, node.stats.counts, strict=True)
        result["counts"] = [[label_value(label), number(count)] for label, count in pairs if count > 0]
    else:
        result["weight"] = number(node.stats.n)
        result["mean"] = [mean.hex() for mean in means(node.stats)]
    if node.choice is None:
        return result
    candidate = node.choice.candidate
    name = columns[candidate.attribute].name
    if candidate.threshold is not None:
        result["test"] = ["numeric", name, threshold_value(candidate.threshold)]
    else:
        result["test"] = [candidate.kind, name, [[label, child] for label, child in candidate.child_of]]
    result["children"] = len(candidate.branches)
    result["default"] = node.choice.default
    return result


def digest(form: Form) -> str:
    text = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
