"""Agrawal's ten functions (Agrawal, Imielinski and Swami 1993): who is in group A."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .streams import Truths, Values

People = Mapping[str, Values]

# Only the disposable income is a sum of fractions: 0.67 or 2/3 of the income, a fifth of the loan, a fiftieth
# of the house for each year. It is counted in units of 1/300, where all of them are whole.
UNIT = 300

_EDUCATED = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 1]], dtype=np.bool_)
_MIDDLE, _HIGH, _LOW = 50_000, 75_000, 25_000  # where the ranges of salary begin
_RANGE = np.array([_MIDDLE, _HIGH, _LOW])
_RANGE_EDUCATED = np.array([_LOW, _MIDDLE, _MIDDLE])
_LOAN_INSIDE = np.array([100_000, 200_000, 300_000])
_LOAN_OUTSIDE = np.array([200_000, 300_000, 100_000])

RELEVANT: dict[int, tuple[str, ...]] = {
    1: ("age",),
    2: ("age", "salary"),
    3: ("age", "elevel"),
    4: ("age", "elevel", "salary"),
    5: ("age", "salary", "loan"),
    6: ("age", "salary", "commission"),
    7: ("salary", "commission", "loan"),
    8: ("salary", "commission", "elevel"),
    9: ("salary", "commission", "elevel", "loan"),
    10: ("salary", "commission", "elevel", "hvalue", "hyears"),
}


def in_group_a(function: int, people: People, income_share: int) -> Truths:
    """Who is in group A; `income_share` is what counts of salary and commission, in units of 1/300."""
    if function <= 6:
        return _BY_AGE[function](people, _band(people["age"]))
    return _disposable(function, people, income_share) > 0


def _band(age: Values) -> Values:
    """0 below 40, 1 below 60, 2 from there."""
    return (age >= 40).astype(np.int8) + (age >= 60)


def _within(values: Values, low: Values, width: int) -> Truths:
    return np.asarray((low <= values) & (values <= low + width), dtype=np.bool_)


def _by_salary(people: People, band: Values) -> Truths:
    return _within(people["salary"], _RANGE[band], 50_000)


def _by_education(people: People, band: Values) -> Truths:
    return np.asarray(_EDUCATED[band, people["elevel"]])


def _by_education_and_salary(people: People, band: Values) -> Truths:
    low = np.where(_by_education(people, band), _RANGE_EDUCATED[band], _RANGE[band])
    return _within(people["salary"], low, 50_000)


def _by_salary_and_loan(people: People, band: Values) -> Truths:
    low = np.where(_by_salary(people, band), _LOAN_INSIDE[band], _LOAN_OUTSIDE[band])
    return _within(people["loan"], low, 200_000)


_BY_AGE: dict[int, Callable[[People, Values], Truths]] = {
    1: lambda people, band: band != 1,
    2: _by_salary,
    3: _by_education,
    4: _by_education_and_salary,
    5: _by_salary_and_loan,
    6: lambda people, band: _within(people["salary"] + people["commission"], _RANGE[band], 50_000),
}


def _disposable(function: int, people: People, income_share: int) -> Values:
    fixed = 20_000 if function in (7, 8) else 10_000
    left: Values = income_share * (people["salary"] + people["commission"]) - UNIT * fixed
    if function in (7, 9):
        left = left - UNIT // 5 * people["loan"]
    if function >= 8:
        left = left - UNIT * 5_000 * people["elevel"]
    if function == 10:
        years = np.maximum(people["hyears"] - 20, 0)
        left = left + UNIT // 50 * people["hvalue"] * years
    return left
