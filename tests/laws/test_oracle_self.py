"""The oracle's own known answers: hand-made trees and exact arithmetic."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import oracle
from tests.oracle.candidates import Choice, midpoint
from tests.oracle.canonical import canonical_form, digest
from tests.oracle.grow import TreeNode, grow, minimum
from tests.oracle.quality import nearest, xlog
from tests.oracle.table import Classes, Column, Parameters, Targets


def floats(name: str, *values: float | None) -> Column:
    return Column(name, "float", values)


def words(name: str, text: str) -> Column:
    """One-letter categories; a dot is missing."""
    return Column(name, "nominal", tuple(None if letter == "." else letter for letter in text))


def letters(text: str) -> Classes:
    return Classes(tuple(text))


def root(columns: Sequence[Column], target: Classes | Targets, **parameters: object) -> TreeNode:
    return grow(columns, target, Parameters(**parameters))[0]  # type: ignore[arg-type]


def chosen(node: TreeNode) -> Choice:
    assert node.choice is not None
    return node.choice


def test_the_oracle_imports_nothing_but_the_standard_library() -> None:
    for path in Path(oracle.__path__[0]).glob("*.py"):
        for statement in ast.walk(ast.parse(path.read_text())):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                of = statement.module if isinstance(statement, ast.ImportFrom) else None
                names = [of] if of else [alias.name for alias in statement.names]
                for name in names:
                    assert name.split(".")[0] in sys.stdlib_module_names or name.startswith(
                        "tests.oracle."
                    ), path


def log2_by_squaring(m: int, bits: int = 160) -> Fraction:
    """log2(m), rounded down to so many binary digits: square, and see whether it passed two."""
    whole, one = m.bit_length() - 1, 1 << 400
    x, result = (m * one) >> whole, whole
    for _ in range(bits):
        x = x * x // one
        result = 2 * result + (1 if x >= 2 * one else 0)
        x = x // 2 if x >= 2 * one else x
    return Fraction(result, 1 << bits)


@pytest.mark.parametrize("m", [*range(70), 1000, 4095, 4097, 10**6 + 3, 2**31 - 1, 2**31, 10**12 + 39])
def test_xlog_is_correctly_rounded(m: int) -> None:
    expected = 0.0 if m == 0 else float(m * log2_by_squaring(m))
    assert xlog(m) == expected


def test_xlog_of_a_power_of_two_is_exact() -> None:
    assert [xlog(m) for m in (0, 1, 2, 4, 8, 1024)] == [0.0, 0.0, 2.0, 8.0, 24.0, 10240.0]
    assert xlog(3) == float("4.754887502163468544361216831843")


@pytest.mark.recorded
@given(st.integers(-(2**1200), 2**1200), st.integers(1, 2**1200))
def test_nearest_is_nearest(numerator: int, denominator: int) -> None:
    exact, found = Fraction(numerator, denominator), nearest(numerator, denominator)
    if math.isinf(found):
        assert abs(exact) >= Fraction(2**1024 - 2**970)
        return
    for other in (math.nextafter(found, -math.inf), math.nextafter(found, math.inf)):
        if math.isfinite(other):
            assert abs(exact - Fraction(found)) <= abs(exact - Fraction(other))


def test_zero_has_no_sign() -> None:
    assert math.copysign(1.0, nearest(-1, 2**1080)) == 1.0
    assert midpoint(0.0, math.inf).hex() == "0x0.0p+0"  # type: ignore[union-attr]
    assert chosen(root([floats("x", -0.0, math.inf)], letters("ab"))).candidate.threshold.hex() == "0x0.0p+0"  # type: ignore[union-attr]


def test_thresholds_lie_between_their_values() -> None:
    huge = sys.float_info.max
    assert midpoint(1.0, 2.0) == 1.5
    assert midpoint(1.0, math.nextafter(1.0, 2)) == 1.0
    assert midpoint(-huge, huge) == 0.0
    assert midpoint(math.nextafter(huge, 0), huge) == math.nextafter(huge, 0)
    assert midpoint(1.0, math.inf) == 1.0
    assert midpoint(-math.inf, math.inf) == -math.inf
    assert midpoint(-math.inf, 3.0) == -math.inf
    assert midpoint(-5e-324, 0.0) == -5e-324
    assert midpoint(-(2**63), 2**63 - 1) == -1
    assert midpoint(-2, -1) == -2
    assert midpoint(1, 2) == 1


@pytest.mark.recorded
@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_a_threshold_parts_any_two_floats(a: float, b: float) -> None:
    assume(a != b)
    lo, hi = min(a, b) + 0.0, max(a, b) + 0.0
    assert lo <= midpoint(lo, hi) < hi


@pytest.mark.parametrize(
    ("criterion", "quality", "gain"), [("gini", 0.5, 0.5), ("entropy", 1.0, 1.0), ("gain_ratio", 1.0, 1.0)]
)
def test_a_clean_cut_has_the_gain_of_the_book(criterion: str, quality: float, gain: float) -> None:
    node = root([floats("x", 1.0, 2.0, 3.0, 4.0)], letters("aabb"), criterion=criterion)
    choice = chosen(node)
    assert (choice.candidate.threshold, choice.default, choice.quality, choice.gain) == (
        2.5,
        0,
        quality,
        gain,
    )
    assert node.impurity == gain


def test_variance_has_the_gain_of_the_book() -> None:
    node = root(
        [floats("x", 1.0, 2.0, 3.0, 4.0)], Targets(((0.0,), (0.0,), (1.0,), (1.0,))), criterion="variance"
    )
    assert (node.impurity, node.gain, chosen(node).candidate.threshold) == (0.25, 0.25, 2.5)
    several = Targets(((0.0, 0.0), (0.0, 2.0), (1.0, 0.0), (1.0, 2.0)))
    assert root([floats("x", 1.0, 2.0, 3.0, 4.0)], several, criterion="variance").impurity == 1.25
    multiway = root(
        [words("w", "aabb")],
        Targets(((0.0,), (0.0,), (1.0,), (1.0,))),
        nominal="multiway",
        criterion="variance",
    )
    assert multiway.gain == 0.25


def test_an_offset_does_not_hide_a_variance() -> None:
    target = Targets(tuple((1e15 + step,) for step in (0.0, 0.125, 1.0, 1.125)))
    node = root([floats("x", 1.0, 2.0, 3.0, 4.0)], target, criterion="variance")
    assert (node.gain, chosen(node).candidate.threshold) == (0.25, 2.5)


XOR = [floats("x", 0.0, 0.0, 1.0, 1.0), floats("y", 0.0, 1.0, 0.0, 1.0)]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_xor_splits_at_zero_gain(criterion: str) -> None:
    nodes = grow(XOR, letters("abba"), Parameters(criterion))
    assert [XOR[chosen(node).candidate.attribute].name for node in nodes if node.choice] == ["x", "y", "y"]
    assert (nodes[0].gain, len(nodes)) == (0.0, 7)


def test_xor_splits_at_zero_gain_for_numbers_and_not_for_gain_ratio() -> None:
    assert len(grow(XOR, Targets(((0.0,), (1.0,), (1.0,), (0.0,))), Parameters("variance"))) == 7
    assert len(grow(XOR, letters("abba"), Parameters("gain_ratio"))) == 1
    assert len(grow(XOR, letters("abba"), Parameters(min_impurity_decrease=1e-12))) == 1


def test_ties_go_to_the_lower_attribute_then_the_smaller_threshold() -> None:
    columns = [floats("one", 1.0, 1.0, 1.0), floats("two", 1.0, 2.0, 3.0), floats("three", 1.0, 2.0, 3.0)]
    choice = chosen(root(columns, letters("aba")))
    assert (choice.candidate.attribute, choice.candidate.threshold) == (1, 1.5)


def test_missing_rows_go_to_the_better_side() -> None:
    assert chosen(root([floats("x", 1.0, 2.0, None)], letters("abb"))).default == 1
    assert chosen(root([floats("x", 1.0, 2.0, None)], letters("baa"))).default == 1
    assert chosen(root([floats("x", 1.0, 2.0, None)], letters("aba"))).default == 0


def test_missing_rows_go_left_where_both_sides_are_as_good() -> None:
    node = root([floats("x", 1.0, 2.0, None, None)], letters("abab"))
    assert (chosen(node).default, [b.n for b in chosen(node).branches]) == (0, [3, 1])


def test_without_missing_rows_the_larger_child_is_the_default_tie_left() -> None:
    assert chosen(root([floats("x", 1.0, 2.0, 3.0)], letters("abb"))).default == 1
    assert chosen(root([floats("x", 1.0, 2.0, 3.0)], letters("aab"))).default == 0
    assert chosen(root([floats("x", 1.0, 2.0)], letters("ab"))).default == 0


def test_the_only_admissible_side_takes_the_missing_rows() -> None:
    columns, target = [floats("x", 1.0, 2.0, 2.0, None)], letters("abba")
    assert chosen(root(columns, target)).default == 0
    assert (
        chosen(root(columns, letters("abbb"), min_samples_leaf=2)).default == 0
    )  # right would leave one row left
    assert root(columns, target, min_samples_leaf=3).choice is None


def test_multiway_sends_missing_rows_to_the_branch_with_most_known_rows() -> None:
    choice = chosen(root([words("w", "abbcc..")], letters("xyyzzxx"), nominal="multiway"))
    assert (choice.default, [branch.n for branch in choice.branches]) == (1, [1, 4, 2])
    assert (
        root([words("w", "abbcc..")], letters("xyyzzxx"), nominal="multiway", min_samples_leaf=2).choice
        is None
    )
    assert root([words("w", "aaaa..")], letters("xyyzxx"), nominal="multiway").choice is None


def test_the_smaller_mask_wins_and_the_first_label_is_left() -> None:
    choice = chosen(root([words("w", "abcd")], letters("xyxy")))
    assert choice.candidate.child_of == (("a", 0), ("b", 1), ("c", 0), ("d", 1))
    assert chosen(root([words("w", "abc")], letters("xyz"))).candidate.child_of == (
        ("a", 0),
        ("b", 1),
        ("c", 1),
    )


def test_beyond_twelve_categories_the_shorter_prefix_wins() -> None:
    """The first has only x, the last only y, the others both: to split off either is as good."""
    column = words("w", "a" + "bcdefghijkl" * 2 + "m")
    target = letters("x" + "x" * 11 + "y" * 11 + "y")
    child_of = chosen(root([column], target)).candidate.child_of
    assert [label for label, child in child_of if child == 0] == ["a"]


def test_labels_go_by_their_bytes() -> None:
    column = Column("w", "nominal", ("\U0001f600", "\uffff", "a", "Z"))
    child_of = chosen(root([column], letters("wxyz"), nominal="multiway")).candidate.child_of
    assert [label for label, _ in child_of] == ["Z", "a", "\uffff", "\U0001f600"]


def test_value_prefers_the_first_of_two() -> None:
    assert chosen(root([words("w", "aabb")], letters("xxyy"), nominal="value")).candidate.child_of == (
        ("a", 0),
        ("b", 1),
    )
    child_of = chosen(root([words("w", "abc")], letters("xyx"), nominal="value")).candidate.child_of
    assert child_of == (("a", 1), ("b", 0), ("c", 1))


def test_sizes_may_be_fractions() -> None:
    assert (minimum(0.5, 5, 1), minimum(0.07, 100, 1), minimum(0.01, 10, 2), minimum(3, 100, 2)) == (
        3,
        8,
        2,
        3,
    )


def test_stopping_rules_stop() -> None:
    columns, target = [floats("x", 1.0, 2.0, 3.0, 4.0)], letters("abab")
    full = grow(columns, target)
    assert len(full) == 7
    assert len(grow(columns, target, Parameters(max_depth=1))) == 3
    assert len(grow(columns, target, Parameters(min_samples_split=3))) == 5
    assert len(grow(columns, target, Parameters(min_samples_leaf=2))) == 3
    assert len(grow(columns, target, Parameters(min_samples_leaf=0.6))) == 1


def test_min_impurity_decrease_is_weighted_by_the_share_of_rows() -> None:
    columns, target = [floats("x", 1.0, 2.0, 3.0, 4.0)], letters("aabc")
    gains = [(node.stats.n, node.gain) for node in grow(columns, target) if node.choice]
    assert gains == [(4, pytest.approx(0.375)), (2, 0.5)]
    assert len(grow(columns, target, Parameters(min_impurity_decrease=0.25))) == 5
    assert len(grow(columns, target, Parameters(min_impurity_decrease=0.2500001))) == 3


def test_the_canonical_form_is_the_one_of_the_docs() -> None:
    columns, target = (
        [floats("age", 10.0, 20.0, 40.0, 50.0, 60.0)],
        Classes(("no", "no", "yes", "yes", "yes")),
    )
    form = canonical_form(grow(columns, target), columns, target)
    text = Path(__file__).resolve().parents[2].joinpath("docs", "law.md").read_text()
    example = next(line.strip() for line in text.splitlines() if line.startswith('    [{"children"'))
    assert form == ast.literal_eval(example)
    assert digest(form) == "5dd5cc8ffba6bedb954aa7372b92a1c8755d8b3ff4b1eefde2e4b9ffef6f9f2a"
