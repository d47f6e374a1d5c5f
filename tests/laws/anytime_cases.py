"""A search of the package and one of the oracle over the same table, set side by side."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hornbeam.anytime import Budget, ExpectedError, Improvement, Lookahead, Sketch, TreeSize
from hornbeam.growth import ClassTarget
from hornbeam.table import Table, from_data
from tests.laws.reading import fields, form_of, frame
from tests.oracle import improve
from tests.oracle.canonical import Form, canonical_form
from tests.oracle.table import Classes
from tests.strategies import Case

GRANULARITIES = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 1.0])
STATES = st.integers(0, 2**64 - 1)
MEASURES = st.sampled_from(["size", "error"])


def table_of(case: Case) -> tuple[Table, ClassTarget]:
    assert isinstance(case.target, Classes)
    labels, codes = np.unique(np.array(case.target.labels), return_inverse=True)
    return from_data(frame(case.columns)), ClassTarget(codes.astype(np.int32), labels)


def looking(case: Case, threads: int = 1, **switches: Any) -> Lookahead:
    nominal = case.parameters.nominal
    return Lookahead(*table_of(case), nominal=nominal, threads=threads, **switches)


def searching(
    case: Case,
    measure: str = "size",
    granularity: float = 0.1,
    random_state: int = 0,
    bound: str = "proved",
    referee: bool = False,
    **how: Any,
) -> Improvement:
    objective = TreeSize(bound) if measure == "size" else ExpectedError()
    lookahead = looking(case, **how)
    return Improvement.begin(
        lookahead, objective, granularity=granularity, seed=random_state, referee=referee
    )


def path_of(sketch: Sketch, node: int) -> tuple[int, ...]:
    """A node by its branches from the root."""
    above = [*sketch.ancestors(node).tolist(), node]
    return tuple(list(sketch.children(a)).index(b) for a, b in itertools.pairwise(above))


def steps_of(search: Improvement, **limits: Any) -> tuple[list[tuple[Any, ...]], str]:
    """What the oracle's steps hold, and the status that it ends with."""
    steps: list[tuple[Any, ...]] = []
    before = search.now.sketch
    first = True
    for state in search.run(Budget(**limits)):
        if not first:
            last = search.last
            assert last is not None
            chosen = last.chosen
            steps.append(
                (
                    state.iteration - 1,
                    path_of(before, chosen.node),
                    chosen.r,
                    chosen.cost,
                    last.accepted,
                    state.leaves,
                    state.expected_error,
                )
            )
        before, first = search.now.sketch, False
    return steps, search.status


def oracle_steps(search: improve.Improvement, **limits: Any) -> tuple[list[tuple[Any, ...]], str]:
    steps, status = search.run(**limits)
    return [tuple(vars(step).values()) for step in steps], status


def tree_form(search: Improvement) -> Form:
    return form_of(fields(search.handed_out()))


def oracle_form(search: improve.Improvement, pruned: bool = False) -> Form:
    nodes = search.handed_out(pruned).preorder()
    return canonical_form(nodes, search.columns, search.target)
