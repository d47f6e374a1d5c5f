"""The questions that a page lets its reader ask the tree: what the page's script needs to route a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.drawing import Picture
from hornbeam.drawing.text import count_text, percent_text
from hornbeam.model import Tree
from hornbeam.table import Table

_MOST_QUESTIONS = 24
_MOST_LABELS = 400
_MOST_NODES = 4000


def questions_of(tree: Tree, picture: Picture, table: Table) -> dict[str, Any] | None:
    """What the page's script needs to route a row; None where the tree is too large or asks for dates.

    The row that a reader starts from has the medians and most common labels of the training rows.
    """
    used = sorted({a for a in tree.arrays["attribute"].tolist() if a >= 0})
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
    return {"attributes": fields, "nodes": [_asked(tree, picture, place, n) for n in range(tree.n_nodes)]}


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


def _asked(tree: Tree, picture: Picture, place: dict[int, int], node: int) -> dict[str, Any]:
    """A node for the script.

    b branch; at a leaf p prediction, w how many rows say so; else q question, a attribute, t threshold
    or m labels to children, c first child, d child of missing values.
    """
    shown = picture.nodes[node]
    held = dict(shown.shares).get(int(tree.leaf_class[node]), 0.0) if shown.shares else None
    agree = "" if held is None else f", {percent_text(held)} of them {shown.prediction}"
    entry: dict[str, Any] = {"b": shown.branch}
    if not shown.children:
        return entry | {"p": shown.prediction, "w": f"{count_text(shown.rows)} training rows{agree}"}
    test = tree.tests[node]
    entry |= {"q": shown.test, "a": place[test.attribute], "c": shown.children[0], "d": test.default}
    if not test.is_numeric:
        return entry | {"m": {code: k for k, codes in enumerate(test.branches) for code in codes}}
    # Infinity has no JSON number; the largest double answers alike for every number that can be typed.
    return entry | {"t": max(-1.7e308, min(1.7e308, test.bound))}
