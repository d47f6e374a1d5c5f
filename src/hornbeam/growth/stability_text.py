"""The stability of a tree as indented lines, a node each, as its own text is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hornbeam.growth.arms import Arm, NodeStability
from hornbeam.model.text import DEEPEST_INDENT, INDENT, share_text
from hornbeam.model.walk import leaves_below

if TYPE_CHECKING:
    from hornbeam.growth.stability import Stability


def to_text(stability: Stability, max_depth: int | None = None) -> str:
    folds = f"{stability.n_folds} fold{'' if stability.n_folds == 1 else 's'}"
    head = (
        f"Stability over {folds}: {share_text(stability.root_agreement)} agree at the root, "
        f"{share_text(stability.agreement)} of the tests that a row meets are the same."
    )
    shape = "Each line: condition  examples  what it asks or answers  folds that do the same; * is a leaf."
    return "\n".join([head, shape, *_lines(stability, max_depth)]) + "\n"


def _lines(stability: Stability, max_depth: int | None) -> Iterator[str]:
    tree, below = stability.tree, leaves_below(stability.tree)
    waiting: list[tuple[int, str]] = [(0, "root")]
    while waiting:
        node, condition = waiting.pop()
        record = stability[node]
        indent = INDENT * min(record.depth, DEEPEST_INDENT)
        deep = f"[depth {record.depth}] " if record.depth > DEEPEST_INDENT else ""
        yield f"{indent}{deep}{condition}  n={record.rows}  {says(record)}"
        yield from (f"{indent}    ({arm_text(arm)})" for arm in record.alternatives)
        if record.is_leaf:
            continue
        if max_depth is not None and record.depth >= max_depth:
            yield f"{indent}{INDENT}... {below[node]} leaves below"
            continue
        for k, child in reversed(list(enumerate(tree.children(node)))):
            waiting.append((child, tree.branch_text(node, k)))


def says(record: NodeStability) -> str:
    """`asks age <= 41.5  9 of 10 folds, 40 to 41.5`."""
    count = f"{record.same} of {record.folds} folds"
    if record.is_leaf:
        more = "" if record.agreeing in (None, record.same) else f", {record.agreeing} with this answer"
        spread = "" if record.means is None or record.same == 0 else f", {record.means.text}"
        return f"{record.prediction} *  {count}{more}{spread}"
    spread = "" if record.band is None or record.same == 0 else f", {record.band.text}"
    return f"asks {record.test}  {count}{spread}"


def arm_text(arm: Arm) -> str:
    """`3 folds: age <= 41.5`."""
    return f"{len(arm.folds)} fold{'' if len(arm.folds) == 1 else 's'}: {arm.test}"
