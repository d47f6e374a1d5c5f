"""Trees from tests that somebody else chooses: rows are parted level by level, the result is a Tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hornbeam.model import Tree
from hornbeam.model.arrays import DTYPES, MULTIWAY, NUMERIC
from hornbeam_experiments.baselines.coded import Array, Coded, Rows


@dataclass(frozen=True)
class Question:
    """NUMERIC: is the rank at most `code`? VALUE: is it that category? MULTIWAY: which category is it?"""

    kind: int
    attribute: int
    code: int = -1


@dataclass
class Draft:
    """A node of a tree to be: its rows, and its test with the codes that each branch takes."""

    rows: Rows
    test: Question | None = None
    first_child: int = -1
    parts: list[tuple[Array, Rows]] = field(default_factory=list)


Choose = Callable[[Rows], Question | None]


def grow_by(coded: Coded, choose: Choose) -> Tree:
    """The tree that has at each node the test chosen for its rows; None, or one class, makes a leaf."""
    drafts = [Draft(np.arange(coded.n_rows))]
    for draft in drafts:  # grows while it is read
        test = None if is_pure(coded, draft.rows) else choose(draft.rows)
        parts = [] if test is None else branches(coded, test, draft.rows)
        if len(parts) < 2:
            continue
        draft.test, draft.parts, draft.first_child = test, parts, len(drafts)
        drafts += [Draft(rows) for _, rows in parts]
    return tree_of(coded, drafts)


def is_pure(coded: Coded, rows: Rows) -> bool:
    classes = coded.classes[rows]
    return bool((classes == classes[0]).all())


def branches(coded: Coded, test: Question, rows: Rows) -> list[tuple[Array, Rows]]:
    """The codes and the rows of each branch that has any."""
    cells = coded.cells[rows, test.attribute]
    present = np.unique(cells)
    if test.kind == MULTIWAY:
        sides = [present[i : i + 1] for i in range(len(present))]
    else:
        goes_left = present <= test.code if test.kind == NUMERIC else present == test.code
        sides = [side for side in (present[goes_left], present[~goes_left]) if len(side)]
    return [(side, rows[np.isin(cells, side)]) for side in sides]


def tree_of(coded: Coded, drafts: Sequence[Draft]) -> Tree:
    """The arrays of hornbeam.model; drafts come level by level, so children are neighbours."""
    counts = np.stack(
        [np.bincount(coded.classes[draft.rows], minlength=coded.n_classes) for draft in drafts]
    ).astype(np.float64)
    total = counts.sum(axis=1)
    entropy = np.array([bits(row) for row in counts])
    arrays: dict[str, Any] = {name: np.zeros(len(drafts), dtype) for name, dtype in DTYPES.items()}
    for name in ("attribute", "first_child", "default_child"):
        arrays[name][:] = -1  # leaves have none
    codes: list[int] = []
    children: list[int] = []
    starts = [0]
    for i, draft in enumerate(drafts):
        if draft.test is not None:
            _fill(coded, arrays, i, draft)
            below = slice(draft.first_child, draft.first_child + len(draft.parts))
            arrays["gain"][i] = max(0.0, entropy[i] - float(total[below] @ entropy[below]) / total[i])
            if draft.test.kind != NUMERIC:
                pairs = [(int(c), child) for child, (side, _) in enumerate(draft.parts) for c in side]
                codes += [code for code, _ in sorted(pairs)]
                children += [child for _, child in sorted(pairs)]
        starts.append(len(codes))
    owner, classes = np.nonzero(counts)
    arrays |= {
        "rows": total.astype(np.int64),
        "weight": total,
        "impurity": entropy,
        "branch_start": np.array(starts, np.int64),
        "branch_code": np.array(codes, np.int32),
        "branch_child": np.array(children, np.int32),
        "count_start": np.concatenate(([0], np.cumsum(np.count_nonzero(counts, axis=1)))).astype(np.int64),
        "count_class": classes.astype(np.int32),
        "count": counts[owner, classes],
        "mean": np.zeros(0),
    }
    return Tree(coded.schema, arrays, classes=coded.labels.tolist())


def _fill(coded: Coded, arrays: dict[str, Any], i: int, draft: Draft) -> None:
    """The test of one inner node."""
    test = draft.test
    assert test is not None
    arrays["kind"][i], arrays["attribute"][i] = test.kind, test.attribute
    arrays["first_child"][i], arrays["n_children"][i] = draft.first_child, len(draft.parts)
    arrays["default_child"][i] = int(np.argmax([len(rows) for _, rows in draft.parts]))
    if test.kind == NUMERIC:
        (left, _), (right, _) = draft.parts
        threshold = coded.midpoint(test.attribute, int(left[-1]), int(right[0]))
        name = "threshold_integer" if isinstance(threshold, int) else "threshold"
        arrays[name][i] = threshold


def bits(counts: Array) -> float:
    """The entropy of class counts."""
    shares = counts[counts > 0] / counts.sum()
    return float(max(0.0, -(shares * np.log2(shares)).sum()))
