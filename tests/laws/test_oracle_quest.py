"""The oracle's QUEST against what others compute: p-values, eigenvectors, coordinates, and no bias."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.oracle.candidates import Group
from tests.oracle.coordinates import chi_square, coordinates, leading
from tests.oracle.grow import grow
from tests.oracle.growth import TreeNode
from tests.oracle.log_p import exp, ln, ln_gamma, log_p_chi_square, log_p_f
from tests.oracle.table import AllParameters, ClassCounts, Classes, Column

pytestmark = pytest.mark.recorded


@pytest.mark.parametrize("between_df", [1, 2, 3, 11])
@pytest.mark.parametrize("within_df", [1, 2, 7, 50, 3000])
def test_p_values_of_f(between_df: int, within_df: int) -> None:
    for ratio in (1e-4, 0.01, 0.3, 0.9, 1.0, 1.3, 4.0, 30.0, 900.0):
        between, within = ratio * between_df, float(within_df)
        p = stats.beta.cdf(within / (between + within), within_df / 2, between_df / 2)
        if p > 1e-280:
            found = log_p_f(between, within, between_df, within_df)
            assert found == pytest.approx(math.log(p), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("df", [1, 2, 3, 12, 99, 3001])
def test_p_values_of_chi_square(df: int) -> None:
    for ratio in (1e-3, 0.1, 0.7, 1.0, 1.2, 3.0, 20.0):
        expected = stats.chi2.logsf(ratio * df, df)
        if math.isfinite(expected):
            assert log_p_chi_square(ratio * df, df) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_p_values_at_the_ends() -> None:
    assert log_p_f(0.0, 1.0, 1, 8) == 0.0
    assert log_p_f(1.0, 1.0, 1, 0) == 0.0
    assert log_p_f(1.0, 0.0, 1, 8) == -1.7976931348623157e308
    assert log_p_chi_square(0.0, 4) == 0.0
    assert -8e12 < log_p_f(1.0, 1e-300, 1, 10**10) < -1e12


@given(st.floats(1e-300, 1e300), st.floats(-700.0, 40.0), st.floats(0.5, 1e9))
def test_functions(x: float, t: float, z: float) -> None:
    assert ln(x) == pytest.approx(math.log(x), rel=4e-16)
    assert exp(t) == pytest.approx(math.exp(t), rel=1e-14)
    assert ln_gamma(z) == pytest.approx(math.lgamma(z), rel=1e-13, abs=1e-13)


def groups(counts: list[list[int]]) -> list[Group]:
    return [Group(f"v{j:02d}", ClassCounts(sum(row), tuple(row), sum(row))) for j, row in enumerate(counts)]


TABLES = st.tuples(st.integers(2, 9), st.integers(2, 9), st.integers(0, 2**32 - 1))


def drawn(shape: tuple[int, int, int]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    rows, columns, seed = shape
    table = np.random.default_rng(seed).integers(0, 12, (rows, columns))
    return table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]  # type: ignore[no-any-return]


@given(TABLES)
def test_statistic_and_coordinates(shape: tuple[int, int, int]) -> None:
    """The coordinate is the linear function of indicators that tells classes apart best."""
    table = drawn(shape)
    if min(table.shape) < 2:
        return
    expected = stats.chi2_contingency(table, correction=False)
    statistic, df = chi_square(groups(table.tolist()))
    assert statistic == pytest.approx(expected.statistic)
    assert df == expected.dof
    score = np.array(coordinates(groups(table.tolist())), dtype=float)
    n, sizes, classes = table.sum(), table.sum(axis=1), table.sum(axis=0)
    share = (
        np.linalg.svd((table - np.outer(sizes, classes) / n) / np.sqrt(np.outer(sizes, classes)))[1][0] ** 2
    )
    centred = score - (sizes @ score) / n
    between = ((table.T @ centred) ** 2 / classes).sum()
    assert between / (sizes @ centred**2) == pytest.approx(share, rel=1e-9, abs=1e-12)


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_leading_eigenvectors(size: int, seed: int) -> None:
    random_rows = np.random.default_rng(seed).normal(size=(size, size))
    matrix = random_rows @ random_rows.T
    vector = np.array(leading(matrix.tolist()))
    assert np.linalg.norm(vector) == pytest.approx(1.0)
    assert vector @ matrix @ vector == pytest.approx(np.linalg.eigvalsh(matrix)[-1])


def test_many_values_give_no_advantage() -> None:
    """Attributes that know nothing of the classes are selected alike, however many values they have."""
    source, chosen = random.Random(1), [0, 0, 0]
    for _ in range(300):
        n = 60
        target = Classes(tuple(source.randrange(2) for _ in range(n)))
        columns = [
            Column("many", "float", tuple(source.gauss(0, 1) for _ in range(n))),
            Column("two", "float", tuple(float(source.randrange(2)) for _ in range(n))),
            Column("labels", "nominal", tuple(f"v{source.randrange(8)}" for _ in range(n))),
        ]
        root = grow(columns, target, AllParameters("quest", max_depth=1))[0]
        if root.choice is not None:
            chosen[root.choice.candidate.attribute] += 1
    assert sum(chosen) > 290
    assert min(chosen) > 70  # gini: almost always one of the many values


def root_of(columns: list[Column], labels: str, **parameters: float) -> TreeNode:
    return grow(columns, Classes(tuple(labels)), AllParameters("quest", max_depth=1, **parameters))[0]  # type: ignore[arg-type]


def threshold_of(node: TreeNode) -> float | int | None:
    assert node.choice is not None
    return node.choice.candidate.threshold


def test_cuts_by_hand() -> None:
    def numbers(*values: float | None) -> list[Column]:
        return [Column("x", "float", values)]

    # Equal spreads and sizes: half-way between the means 2 and 9, and so between 3 and 8.
    assert threshold_of(root_of(numbers(1, 2, 3, 8, 9, 10), "aaabbb")) == 5.5
    # The wide class reaches further: (z - 4)^2 / 1 and (z - 20)^2 / 100 part at about 7.
    assert threshold_of(root_of(numbers(3, 4, 5, 8, 10, 20, 30), "aaabbbb")) == 6.5
    # A superclass of equal values is cut off, on either side.
    assert threshold_of(root_of(numbers(2, 2, 2, 3, 5, 9), "aaabbb")) == 2.5
    assert threshold_of(root_of(numbers(9, 9, 9, 8, 5, 2), "aaabbb")) == 8.5
    # Three classes: a and b are near each other, c is far.
    assert threshold_of(root_of(numbers(1, 2, 3, 4, 20, 21), "aabbcc")) == 12.0
    # A cut that leaves too few rows makes a leaf.
    assert root_of(numbers(1, 2, 3, 8, 9, 10), "aaabbb", min_samples_leaf=4).choice is None
    # Missing rows go where more rows are.
    found = root_of(numbers(1, 2, 3, 8, 9, 10, 11, None, None), "aaabbbbab").choice
    assert found is not None
    assert (found.default, [branch.rows for branch in found.branches]) == (1, [3, 6])


def test_categories_by_hand() -> None:
    labels = Column("x", "nominal", tuple("pqrspqrspqrs"))
    other = Column("y", "float", (1.0, 2.0, 1.0, 2.0) * 3)
    node = root_of([other, labels], "aabbaabbaabb")
    assert node.choice is not None
    assert node.choice.candidate.child_of == (("p", 0), ("q", 0), ("r", 1), ("s", 1))
    assert [c.candidate.attribute for c in node.competitors] == [0]


def test_xor_is_split_half_way() -> None:
    node = root_of([Column("x", "float", (0.0, 0.0, 1.0, 1.0))], "abba")
    assert threshold_of(node) == 0.5
