"""Tables for the laws of lookahead: known parities, and small random ones that brute force can solve."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from tests.oracle.lookahead import Search
from tests.oracle.table import Classes, Column
from tests.strategies import LABELS, Case, cells, parameters, positions


def parity(relevant: int, irrelevant: int) -> tuple[list[Column], Classes]:
    """All rows of so many bits, the irrelevant ones first; the class is the parity of the others."""
    rows = list(itertools.product("01", repeat=irrelevant + relevant))
    columns = [
        Column(f"a{i}", "nominal", tuple(row[i] for row in rows)) for i in range(irrelevant + relevant)
    ]
    return columns, Classes(tuple(str(row[irrelevant:].count("1") % 2) for row in rows))


def everyone(target: Classes) -> tuple[int, ...]:
    return tuple(range(len(target.labels)))


def searched(case: Case, **how: object) -> Search:
    assert isinstance(case.target, Classes)
    return Search.of(case.columns, case.target, case.parameters.nominal, **how)


@st.composite
def small_columns(draw: st.DrawFn, n: int, name: str, most: int) -> Column:
    if draw(st.booleans()):
        pool = [float(i) for i in range(draw(st.integers(1, 5)))]
        return Column(name, "float", draw(cells(n, pool)))
    pool_of_labels = draw(st.permutations(LABELS))[: draw(st.integers(1, most))]
    return Column(name, "nominal", draw(cells(n, pool_of_labels)))


@st.composite
def small_cases(draw: st.DrawFn, rows: int = 12, most: int = 5) -> Case:
    """Up to three attributes, with ties, missing cells and contradictions; all modes of nominal tests."""
    n = draw(st.integers(1, rows))
    columns = [draw(small_columns(n, f"x{i}", most)) for i in range(draw(st.integers(1, 3)))]
    codes = draw(positions(n, draw(st.sampled_from([1, 2, 2, 2, 3, 4]))))
    return Case(tuple(columns), Classes(tuple(codes)), draw(parameters(["entropy"], plain=True)))


def many_valued_cases() -> st.SearchStrategy[Case]:
    """Categories beyond those whose every subset is a test."""
    return small_cases(40, 16).map(lambda case: case.having(nominal="subset"))
