"""Certificates agree with STreeD, which proves the least error of trees of bounded depth and size."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from hornbeam import AnytimeTreeClassifier
from tests.real_data import RealSet

pystreed = pytest.importorskip("pystreed", reason="pystreed is not installed (the test extra has it)")
pytestmark = pytest.mark.house  # another's native code, which sanitizers need not hear of

FEW = settings(max_examples=max(12, settings.default.max_examples // 10), deadline=None)  # type: ignore[union-attr]
DEEPEST = 4


def errors_of(bits: Any, classes: Any, depth: int, inner: int) -> int:
    """The rows that the best tree of so many levels and inner nodes gets wrong."""
    model = pystreed.STreeDClassifier(max_depth=depth, max_num_nodes=min(inner, 2**depth - 1))
    model.fit(bits, classes)
    assert model.fit_result.is_optimal()
    return int(np.count_nonzero(model.predict(bits) != classes))


def proved(table: Any, classes: Any) -> AnytimeTreeClassifier:
    """A consistent tree with a certificate that none is smaller."""
    model = AnytimeTreeClassifier(objective="size", max_time=None, random_state=0).fit(table, classes)
    assert model.status_ == "proved"
    assert model.score(table, classes) == 1.0
    return model


@st.composite
def consistent_tables(draw: st.DrawFn) -> tuple[Any, Any]:
    """Different rows of up to four bits, and a class for each."""
    columns = draw(st.integers(1, DEEPEST))
    every = list(itertools.product((0, 1), repeat=columns))
    rows = draw(st.lists(st.sampled_from(every), min_size=2, max_size=len(every), unique=True))
    codes = draw(st.lists(st.integers(0, draw(st.integers(1, 3))), min_size=len(rows), max_size=len(rows)))
    classes = np.unique(codes, return_inverse=True)[1]
    return np.array(rows), classes


@FEW
@given(consistent_tables())
def test_as_many_leaves_as_proved_are_needed_and_suffice(table: tuple[Any, Any]) -> None:
    """No path asks for more than four bits, so a depth of four leaves nothing out."""
    bits, classes = table
    leaves = proved(bits.astype(float), classes).get_n_leaves()
    event(f"{leaves} leaves")
    if leaves > 1:
        assert errors_of(bits, classes, DEEPEST, leaves - 1) == 0
    if leaves > 2:
        assert errors_of(bits, classes, DEEPEST, leaves - 2) > 0


@pytest.mark.parametrize(("name", "leaves", "depth"), [("1", 7, 4), ("2", 33, 6), ("3", 16, 6)])
def test_the_fewest_leaves_of_monks_problems_are_those_of_streed(
    real_set: Callable[[str], RealSet], name: str, leaves: int, depth: int
) -> None:
    real = real_set(f"monks{name}_train")
    classes = np.unique(real.target.to_numpy(str), return_inverse=True)[1]
    assert proved(real.table, classes).get_n_leaves() == leaves
    bits = pd.get_dummies(real.table).to_numpy(int)
    assert errors_of(bits, classes, depth, leaves - 1) == 0
    assert errors_of(bits, classes, depth, leaves - 2) > 0
