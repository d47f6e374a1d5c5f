"""Known answers of the rules of choice and of their ties, and what they say for themselves."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hornbeam.validation.selection import SelectionRule, SettingChoice, SettingEstimates

PARAMS = [{"max_depth": depth} for depth in (1, 2, 3, 4)]


def chosen(select: str, estimates: SettingEstimates, measure: str = "accuracy") -> SettingChoice:
    return SelectionRule(PARAMS, "score", measure, "mean", select).choose(estimates)


def test_the_best_wins_then_fewer_leaves_then_the_order_of_the_grid() -> None:
    errors = [0.1] * 4
    choice = chosen("best", SettingEstimates([0.5, 0.75, 0.7, 0.6], errors, [1, 9, 2, 3]))
    assert choice == SettingChoice(1, 1, "max_depth=2 has the highest cross-validated accuracy, 0.7500.")
    tied = chosen(
        "best", SettingEstimates([Fraction(3, 4), Fraction(1, 4), Fraction(6, 8), 0.75], errors, [5, 1, 4, 4])
    )
    assert tied.chosen == tied.best == 2
    assert tied.reason == (
        "Of 3 settings that share the highest cross-validated accuracy, 0.7500, "
        "max_depth=3 gives the smallest tree (4 leaves)."
    )


def test_one_standard_error_gives_the_smallest_tree_near_the_best() -> None:
    estimates = SettingEstimates([0.70, 0.74, 0.78, 0.80], [0.04, 0.04, 0.04, 0.0025], [1, 3, 3, 9])
    choice = chosen("1se", estimates)
    assert (choice.chosen, choice.best) == (3 - 1, 3)  # 0.75 is needed
    assert choice.reason == (
        "Of 2 settings within one standard error (0.0500) of the highest cross-validated accuracy, 0.8000, "
        "max_depth=3 gives the smallest tree (3 leaves)."
    )
    wide = SettingEstimates([0.70, 0.74, 0.78, 0.80], [0.0, 0.0, 0.0, 0.0049], [4, 3, 3, 9])
    assert chosen("1se", wide).chosen == 2  # as small as the second, and better
    exact = [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2), Fraction(1, 10)]
    # 0.5 - 0.2 is not 0.3 in doubles.
    on_the_line = SettingEstimates(exact, [Fraction(1, 25)] * 4, [2, 1, 9, 1])
    assert chosen("1se", on_the_line).chosen == 1
    alone = SettingEstimates([0.1, 0.2, 0.3, 0.8], [math.nan] * 4, [1, 1, 1, 9])
    assert chosen("1se", alone).chosen == 3


def test_the_smallest_of_what_repetitions_choose() -> None:
    rounds = [[0.9, 0.1, 0.1, 0.2], [0.1, 0.9, 0.1, 0.2], [0.1, 0.1, 0.1, 0.9]]
    estimates = SettingEstimates([0.5, 0.6, 0.1, 0.7], [0.1] * 4, [5, 3, 1, 3], rounds)
    choice = chosen("smallest", estimates)
    assert (choice.chosen, choice.best) == (3, 3)  # as small as the second, and of the better estimate
    assert choice.reason == (
        "Of the settings that 3 repetitions chose, each by its own folds, "
        "max_depth=4 gives the smallest tree (3 leaves)."
    )
    assert chosen("smallest", SettingEstimates([0.5, 0.6, 0.1, 0.2], [0.1] * 4, [5, 3, 1, 3])).chosen == 1


def test_what_is_not_a_number_never_wins() -> None:
    estimates = SettingEstimates([math.nan, 0.1, math.nan, -1.0], [math.nan] * 4, [1, 5, 1, 5])
    for select in ("best", "1se"):
        assert chosen(select, estimates).chosen == 1


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("r2", "the highest cross-validated R², -0.2000"),
        ("cost", "the lowest cross-validated cost, 0.2000"),
        ("neg_log_loss", "the lowest cross-validated log loss, 0.2000"),
        ("f1_macro", "the highest cross-validated f1_macro, -0.2000"),
    ],
)
def test_a_loss_is_shown_as_a_loss(measure: str, said: str) -> None:
    assert (
        said in chosen("best", SettingEstimates([-1.0, -0.2, -0.5, -0.5], [0.1] * 4, [1] * 4), measure).reason
    )
