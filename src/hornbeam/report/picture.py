"""From a tree to the plain records that are drawn, and to the questions that a page lets its reader ask."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.drawing import Picture, PictureNode
from hornbeam.drawing.text import count_text, number_text, percent_text
from hornbeam.model import Tree
from hornbeam.model.arrays import MULTIWAY, NUMERIC, SUBSET
from hornbeam.table import Attribute, Table

_MOST_QUESTIONS = 24
_MOST_LABELS = 400
_MOST_NODES = 4000


def picture_of(tree: Tree) -> Picture:
    """The whole tree as records; thresholds are rounded for reading, the text form has them exactly."""
    classes = tuple(str(label) for label in tree.classes or ())
    targets = tree.targets or ()
    arrays = {name: array.tolist() for name, array in tree.arrays.items()}
    parents, branches = _parents(tree, arrays)
    depths = tree.node_depths.tolist()
    nodes = []
    for node in range(tree.n_nodes):
        parent = parents[node]
        place = node - arrays["first_child"][parent] if parent >= 0 else -1
        test = question(tree, arrays, node)
        nodes.append(
            PictureNode(
                parent=parent,
                depth=depths[node],
                children=tuple(tree.children(node)),
                branch=branches[node],
                takes_missing=parent >= 0 and arrays["default_child"][parent] == place,
                test=test,
                name_length=_name_length(tree, arrays, node, test),
                rows=float(arrays["weight"][node]),
                prediction=_prediction(tree, classes, node),
                shares=_shares(arrays, node) if classes else (),
                means=tuple(tree.means[node].tolist()) if targets else (),
                spread=float(np.sqrt(max(0.0, arrays["impurity"][node]))) if len(targets) == 1 else 0.0,
            )
        )
    return Picture(tuple(nodes), classes, targets)


def question(tree: Tree, arrays: dict[str, list[Any]], node: int) -> str:
    """What a node asks, short: `age ≤ 37.5`, `colour = red`, or `colour` where branches name the labels."""
    kind = arrays["kind"][node]
    if not kind:
        return ""
    attribute: Attribute = tree.schema.attributes[arrays["attribute"][node]]
    if kind == NUMERIC and attribute.is_integer:
        return f"{attribute.name} ≤ {attribute.format(arrays['threshold_integer'][node])}"
    if kind == NUMERIC:
        threshold = arrays["threshold"][node]
        return f"{attribute.name} ≤ {number_text(threshold, 5 if abs(threshold) >= 1 else 4)}"
    if _names_labels(tree, arrays, node):
        return attribute.name
    return f"{attribute.name} = {_branch_labels(tree, arrays, node, 0)}"


def _name_length(tree: Tree, arrays: dict[str, list[Any]], node: int, test: str) -> int | None:
    """Where the attribute's name ends in the question; None where there is nothing but a name."""
    if not test:
        return None
    length = len(tree.schema.attributes[arrays["attribute"][node]].name)
    return length if length < len(test) else None


def _names_labels(tree: Tree, arrays: dict[str, list[Any]], node: int) -> bool:
    """Whether the branches carry labels: several go along one branch, or every label has its own."""
    if arrays["kind"][node] == MULTIWAY:
        return True
    return bool(arrays["kind"][node] == SUBSET) and len(tree.branch_codes(node, 0)) > 1


def _branch_labels(tree: Tree, arrays: dict[str, list[Any]], node: int, child: int) -> str:
    labels = tree.schema.attributes[arrays["attribute"][node]].labels
    return ", ".join(labels[code] or "(empty)" for code in tree.branch_codes(node, child).tolist())


def _parents(tree: Tree, arrays: dict[str, list[Any]]) -> tuple[list[int], list[str]]:
    parents, branches = [-1] * tree.n_nodes, [""] * tree.n_nodes
    for node in range(tree.n_nodes):
        for place, child in enumerate(tree.children(node)):
            parents[child] = node
            if _names_labels(tree, arrays, node):
                branches[child] = _branch_labels(tree, arrays, node, place)
            else:
                branches[child] = ("yes", "no")[place]
    return parents, branches


def _prediction(tree: Tree, classes: tuple[str, ...], node: int) -> str:
    if classes:
        return classes[int(tree.leaf_class[node])]
    return ", ".join(number_text(mean) for mean in tree.means[node].tolist())


def _shares(arrays: dict[str, list[Any]], node: int) -> tuple[tuple[int, float], ...]:
    begin, end = arrays["count_start"][node], arrays["count_start"][node + 1]
    counts = arrays["count"][begin:end]
    total = sum(counts)
    shares = zip(arrays["count_class"][begin:end], counts, strict=True)
    return tuple((code, count / total) for code, count in shares if count)


def questions_of(tree: Tree, picture: Picture, table: Table) -> dict[str, Any] | None:
    """What the page's script needs to route a row; None where the tree is too large or asks for dates.

    The row that a reader starts from has the medians and most common labels of the training rows.
    """
    arrays = {name: array.tolist() for name, array in tree.arrays.items()}
    used = sorted({a for a in arrays["attribute"] if a >= 0})
    attributes = [tree.schema.attributes[a] for a in used]
    plain = all(a.kind == "nominal" or a.type in ("float64", "int64") for a in attributes)
    few = len(used) <= _MOST_QUESTIONS and all(len(a.labels) <= _MOST_LABELS for a in attributes)
    if not used or not plain or not few or tree.n_nodes > _MOST_NODES:
        return None
    place = {attribute: position for position, attribute in enumerate(used)}
    fields = []
    for index, attribute in zip(used, attributes, strict=True):
        entry: dict[str, Any] = {"name": attribute.name, "value": _typical(table, index)}
        if attribute.kind == "nominal":
            entry["labels"] = [label or "(empty)" for label in attribute.labels]
        fields.append(entry)
    return {
        "attributes": fields,
        "nodes": [_asked(tree, picture, arrays, place, n) for n in range(tree.n_nodes)],
    }


def _typical(table: Table, index: int) -> float | int | None:
    column = table.columns[index]
    if column.kind == "nominal":
        known = column.values[column.values >= 0]
        return int(np.bincount(known).argmax()) if len(known) else None
    if column.kind == "float":
        known = column.values[np.isfinite(column.values)]
        return float(f"{np.median(known):.5g}") if len(known) else None
    known = column.values if column.missing is None else column.values[column.missing == 0]
    return int(np.sort(known)[len(known) // 2]) if len(known) else None


def _asked(
    tree: Tree, picture: Picture, arrays: dict[str, list[Any]], place: dict[int, int], node: int
) -> dict[str, Any]:
    """A node for the script.

    b branch; at a leaf p prediction, w how many rows say so; else q question, a attribute, t threshold
    or m labels to children, c first child, d child of missing values.
    """
    shown = picture.nodes[node]
    best = max((share for _, share in shown.shares), default=None)
    agree = "" if best is None else f", {percent_text(best)} of them {shown.prediction}"
    entry: dict[str, Any] = {"b": shown.branch}
    if not shown.children:
        return entry | {"p": shown.prediction, "w": f"{count_text(shown.rows)} training rows{agree}"}
    entry |= {"q": shown.test, "a": place[arrays["attribute"][node]]}
    entry |= {"c": shown.children[0], "d": arrays["default_child"][node]}
    if arrays["kind"][node] != NUMERIC:
        begin, end = arrays["branch_start"][node], arrays["branch_start"][node + 1]
        # A category listed as absent (child -1) follows the default, as do those that are not listed.
        listed = zip(arrays["branch_code"][begin:end], arrays["branch_child"][begin:end], strict=True)
        return entry | {"m": {code: child for code, child in listed if child >= 0}}
    attribute = tree.schema.attributes[arrays["attribute"][node]]
    threshold = arrays["threshold_integer" if attribute.is_integer else "threshold"][node]
    # Infinity has no JSON number; the largest double answers alike for every number that can be typed.
    return entry | {"t": max(-1.7e308, min(1.7e308, threshold))}
