"""The engine's switches, and queries asked of a database: which examples have solutions, by which rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import UsageError
from hornbeam.relational.logic import Query
from hornbeam.relational.native import NativeLiteral, examples_of, native_of
from hornbeam.relational.records import Coded
from hornbeam.relational.tree import RelationalTree


@dataclass(frozen=True)
class Engine:
    """Switches that never change an answer: one enumeration for all tests of a node (`pack`), only the part
    of the query that a test is tied to (`connected`), all constants and thresholds of a place at once
    (`collect`), and what was found out of such parts, kept for other nodes and sets (`cache`, bounded by
    `cache_bytes`)."""

    pack: bool = True
    connected: bool = True
    collect: bool = True
    cache: bool = True
    cache_bytes: int = 256 << 20


def solve(
    coded: Coded,
    query: Query,
    examples: Sequence[int] | npt.NDArray[Any] | None = None,
    *,
    key_type: str | None = None,
) -> npt.NDArray[np.bool_]:
    """Whether the query has a solution among the facts of each example, in the order given; None: of all."""
    native = native_of(coded, key_type)
    found = _core.solve_query(native.core, native.query(query, {}), examples_of(examples, native.n_examples))
    return np.asarray(found).view(np.bool_)


def witness(
    coded: Coded, query: Query, example: int, *, key_type: str | None = None
) -> tuple[int | None, ...] | None:
    """The rows of the first solution, one for each literal, None for comparisons; None: there is no solution.

    Rows are tried in the order of their tables, literals as written: the first is the same every time.
    """
    native = native_of(coded, key_type)
    if not 0 <= example < native.n_examples:
        raise UsageError(f"an example {example}; the database has examples 0 to {native.n_examples - 1}")
    rows = _core.query_witness(native.core, native.query(query, {}), example)
    if query and not rows:
        return None
    return tuple(None if row < 0 else row for row in rows)


def route(
    coded: Coded,
    tree: RelationalTree,
    examples: Sequence[int] | npt.NDArray[Any] | None = None,
    *,
    key_type: str | None = None,
) -> npt.NDArray[np.int32]:
    """The leaf of each example, as the number of its node. The database need not be the one that the tree was
    grown from: constants and thresholds are looked up in its own domains."""
    native = native_of(coded, key_type)
    tests: list[list[NativeLiteral]] = [[] for _ in tree.nodes]
    waiting: list[tuple[int, dict[int, str]]] = [(0, {})]
    while waiting:
        number, types = waiting.pop()
        node = tree.nodes[number]
        if node.is_leaf:
            continue
        inside = dict(types)
        native.check_constants(node.test)
        tests[number] = native.query(node.test, inside)
        waiting += [(node.yes, inside), (node.no, types)]
    yes, no = (np.array([getattr(n, way) for n in tree.nodes], dtype=np.int32) for way in ("yes", "no"))
    asked = examples_of(examples, native.n_examples)
    return np.asarray(_core.route_first_order(native.core, tests, yes, no, asked))
