"""The tree of the package is the tree of the oracle: node by node, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.agreement import agree
from tests.laws.random_cases import random_cases
from tests.laws.reading import (
    FormAndNumbers,
    fields,
    fit,
    form_and_numbers,
    frame,
    needs_package,
    oracles_form_and_numbers,
    preorder,
)
from tests.oracle.canonical import digest
from tests.oracle.grow import grow
from tests.strategies import Case

pytestmark = needs_package
ANY = st.one_of(strategies.cases(), random_cases)


def assert_identical(case: Case, estimator: Any) -> None:
    def expected() -> tuple[FormAndNumbers, str]:
        nodes = grow(case.columns, case.target, case.parameters)
        found = oracles_form_and_numbers(case, nodes)
        return found, digest(found[0])

    tree = estimator.tree_
    agree(case, (form_and_numbers(fields(tree)), tree.digest), expected)
    event(f"nodes: {min(tree.n_nodes, 32).bit_length()} bits")


@pytest.mark.agreed
@given(strategies.classification(), st.sampled_from(["str", "category"]))
def test_a_classification_tree_is_the_oracles(case: Case, face: str) -> None:
    assert_identical(case, fit(case, face=face))


@pytest.mark.agreed
@given(strategies.regression(), st.sampled_from(["str", "category"]))
def test_a_regression_tree_is_the_oracles(case: Case, face: str) -> None:
    assert_identical(case, fit(case, face=face))


@pytest.mark.agreed
@given(strategies.many_categories())
def test_a_tree_of_many_categories_is_the_oracles(case: Case) -> None:
    assert_identical(case, fit(case))


@pytest.mark.agreed
@settings(max_examples=5 * settings.default.max_examples)  # type: ignore[union-attr]
@given(random_cases)
def test_a_tree_of_a_random_table_is_the_oracles(case: Case) -> None:
    assert_identical(case, fit(case))


@pytest.mark.agreed
@given(strategies.classification(kinds=["float"]))
def test_a_tree_of_a_numpy_array_is_the_oracles(case: Case) -> None:
    gaps = [[np.nan if v is None else float(v) for v in column.values] for column in case.columns]
    X = np.array(gaps, dtype=np.float64).T  # Fortran order: columns are strided, not copied
    estimator = fit(case, X)
    names = estimator.tree_.schema.names
    renamed = [replace(c, name=name) for c, name in zip(case.columns, names, strict=True)]
    assert_identical(case.with_columns(renamed), estimator)


@given(ANY)
def test_training_rows_reach_the_leaves_that_counted_them(case: Case) -> None:
    estimator = fit(case)
    tree = fields(estimator.tree_)
    leaves = np.asarray(estimator.apply(frame(case.columns)))
    reached = {
        int(node): int(count) for node, count in zip(*np.unique(leaves, return_counts=True), strict=True)
    }
    assert reached == {i: int(tree.rows[i]) for i in preorder(tree) if int(tree.kind[i]) == 0}


@given(ANY)
def test_threads_change_nothing(case: Case) -> None:
    assert fit(case, n_jobs=1).tree_.digest == fit(case, n_jobs=2).tree_.digest
