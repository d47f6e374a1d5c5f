"""The oracle's trees answer to a change of the table as the law says."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import strategies
from tests.laws.metamorphic import ANY, FEWER, LAWS
from tests.oracle.canonical import Form, canonical_form
from tests.oracle.grow import grow
from tests.strategies import Case

pytestmark = pytest.mark.recorded


def by_oracle(case: Case) -> Form:
    return canonical_form(grow(case.columns, case.target, case.parameters), case.columns, case.target)


@pytest.mark.parametrize("law", LAWS)
def test_the_oracle_keeps_the_law(law: str) -> None:
    LAWS[law](by_oracle)


@FEWER
@given(ANY, st.data())
def test_a_multiplicity_is_as_good_as_copies(case: Case, data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(0, 3), min_size=case.n, max_size=case.n))
    assume(any(times))
    copies = case.rows([row for row in range(case.n) for _ in range(times[row])])
    lone = canonical_form(grow(copies.columns, copies.target, case.parameters), copies.columns, copies.target)
    counted = grow(case.columns, case.target, case.parameters, times)
    assert canonical_form(counted, case.columns, case.target) == lone


@FEWER
@given(strategies.cases(plain=True), st.data())
def test_the_order_of_columns_only_decides_ties(case: Case, data: st.DataObject) -> None:
    assume(case.parameters.criterion != "gain_ratio")
    permuted = case.with_columns(data.draw(st.permutations(case.columns)))
    roots = [grow(c.columns, c.target, c.parameters)[0] for c in (case, permuted)]
    assert roots[0].gain == roots[1].gain
    assert (roots[0].choice is None) == (roots[1].choice is None)
