"""Agrawal's people (AIS93): nine attributes, ten functions, and what papers do to them.

Three profiles, because the paper, the generator of MOA and the C program of the Quest project differ. Random
numbers are our own in all of them: a profile has the distribution of its original, not its rows.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam import arguments
from hornbeam.errors import UsageError

from .family import (
    CLASS,
    MOST_EXTRA,
    GeneratedColumn,
    TableFamily,
    choice,
    draw_extra,
    extra_columns,
    integer,
    labelled,
    real,
    share,
    whole,
)
from .streams import Reals, Rows, Truths, Values

LEVELS = tuple(f"level{number}" for number in range(5))
CARS = tuple(f"car{number}" for number in range(1, 21))
ZIPCODES = tuple(f"zipcode{number}" for number in range(1, 10))
LABELS = {"elevel": LEVELS, "car": CARS, "zipcode": ZIPCODES}
ATTRIBUTES = ("salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan")
MONEY = ("salary", "commission", "hvalue", "loan")
# The lowest and the highest value. The house has a range for each zipcode, and its end is the profile's.
LIMITS = {
    "salary": (20_000, 150_000),
    "commission": (10_000, 75_000),
    "age": (20, 80),
    "hyears": (1, 30),
    "loan": (0, 500_000),
}
INVERTED = "inverted"


@dataclass(frozen=True)
class Profile:
    """One reading of the generator: that of the paper, or of a program that differs from it."""

    whole: bool  # are amounts of money whole numbers?
    commission_share: float  # how many of those with a low salary get a commission
    income_share: int  # of salary and commission in functions 7 to 10, in units of 1/300
    reach: float  # the perturbation's share of the range goes from -reach to reach
    clamped_house: int | None  # where a perturbed house ends, as others end at LIMITS; None: nothing ends


PROFILES = {
    "ais93": Profile(True, 1.0, 201, 0.5, None),
    "moa": Profile(False, 1.0, 200, 1.0, 135_000),
    "quest-c": Profile(True, 0.5, 200, 1.0, 1_350_000),
}


@dataclass(frozen=True)
class Agrawal(TableFamily):
    """`noise` changes labels, `perturbation` moves numbers after labelling, `extra` adds random attributes.

    In the region `changed` (read before the perturbation) the label is that of function `changed_to`, or the
    other one.
    """

    name: ClassVar[str] = "agrawal"
    asks: ClassVar[str] = "Which group are Agrawal's people in, by function {0.function}?"

    function: int = choice(1, range(1, 11))
    profile: str = choice("ais93", PROFILES)
    perturbation: float = share()
    noise: float = share()
    extra: int = whole(0, 0, MOST_EXTRA)
    changed: str | None = None
    changed_to: int | str = choice(INVERTED, (INVERTED, *range(1, 11)))

    def __post_init__(self) -> None:
        super().__post_init__()
        if arguments.text_or_none("changed", self.changed) is not None:
            self._region()
        elif self.changed_to != INVERTED:
            raise UsageError(
                f"changed_to {self.changed_to}: say where as well, for instance changed 'age>=60'"
            )
        if self.changed_to == self.function:
            raise UsageError(
                f"changed_to {self.changed_to}: that is the function everywhere; name another one"
            )

    def columns(self) -> tuple[GeneratedColumn, ...]:
        money = integer if PROFILES[self.profile].whole else real
        numbers = {name: money(name) if name in MONEY else integer(name, few=True) for name in ATTRIBUTES}
        names = {name: labelled(name, labels) for name, labels in LABELS.items()}
        own = (numbers | names).values()
        return (*own, *extra_columns(self.extra), labelled(CLASS, ("A", "B")))

    def relevant(self, seed: int) -> tuple[str, ...]:
        names = RELEVANT[self.function]
        if self.changed is not None:
            names += self._region().attributes
            names += RELEVANT[self.changed_to] if isinstance(self.changed_to, int) else ()
        return tuple(dict.fromkeys(names))

    def draw(self, rows: Rows) -> list[Values]:
        profile = PROFILES[self.profile]
        people = draw_people(rows, profile)
        in_a = self._label(people, rows) ^ rows.chance("agrawal/noise", self.noise)
        if self.perturbation > 0:
            people = perturb(rows, people, profile, self.perturbation)
        return [*people.values(), *draw_extra(rows, self.extra), np.where(in_a, 0, 1).astype(np.int8)]

    def _region(self) -> Region:
        return parse_region(self.changed or "", {name: LABELS.get(name, ()) for name in ATTRIBUTES})

    def _label(self, people: dict[str, Values], rows: Rows) -> Truths:
        income_share = PROFILES[self.profile].income_share
        in_a = in_group_a(self.function, people, income_share)
        if self.changed is None:
            return in_a
        other = (
            in_group_a(self.changed_to, people, income_share) if isinstance(self.changed_to, int) else ~in_a
        )
        return np.where(self._region().covers(people, rows.count), other, in_a)


def draw_people(rows: Rows, profile: Profile) -> dict[str, Values]:
    """The nine attributes, nominal ones as codes; the same people for every function and every noise."""

    def money(name: str, low: int, high: int) -> Values:
        if profile.whole:
            return rows.between(f"agrawal/{name}", low, high)
        return low + (high - low) * rows.unit(f"agrawal/{name}")

    salary = money("salary", *LIMITS["salary"])
    paid = salary < 75_000
    if profile.commission_share < 1:
        paid &= rows.chance("agrawal/commissioned", profile.commission_share)
    zipcode = rows.below("agrawal/zipcode", 9)
    house = 50_000 * (9 - zipcode)  # half the worth that the zipcode stands for
    unit = "agrawal/hvalue"
    return {
        "salary": salary,
        "commission": np.where(paid, money("commission", *LIMITS["commission"]), 0),
        "age": rows.between("agrawal/age", *LIMITS["age"]),
        "elevel": rows.below("agrawal/elevel", 5),
        "car": rows.below("agrawal/car", 20),
        "zipcode": zipcode,
        "hvalue": house + (rows.below(unit, 2 * house + 1) if profile.whole else 2 * house * rows.unit(unit)),
        "hyears": rows.between("agrawal/hyears", *LIMITS["hyears"]),
        "loan": money("loan", *LIMITS["loan"]),
    }


def perturb(rows: Rows, people: dict[str, Values], profile: Profile, share: float) -> dict[str, Values]:
    """Each number moved by a random part of `share` of its range; a commission of 0 stays 0."""

    def moved(name: str, width: int | Values) -> Reals:
        step = 2 * rows.unit(f"agrawal/perturbed/{name}") - 1
        return np.asarray(people[name] + profile.reach * share * width * step, dtype=np.float64)

    result = dict(people)
    for name, (low, high) in LIMITS.items():
        values = moved(name, high - low)
        result[name] = values if profile.clamped_house is None else np.clip(values, low, high)
    house = moved("hvalue", 100_000 * (9 - people["zipcode"]))
    result["hvalue"] = house if profile.clamped_house is None else np.clip(house, 0, profile.clamped_house)
    result["commission"] = np.where(people["commission"] > 0, result["commission"], 0)
    rounded = [name for name in (*LIMITS, "hvalue") if profile.whole or name not in MONEY]
    return result | {name: np.floor(result[name] + 0.5).astype(np.int64) for name in rounded}


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


_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|==|!=|<|>)\s*([\w.+-]+)\s*")
_COMPARE: dict[str, Callable[[Values, float], Values]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_FORM = "ATTRIBUTE OP VALUE, joined by 'and', for instance 'age>=60 and elevel==level2'"


@dataclass(frozen=True)
class Region:
    """The people for whom every condition holds: an attribute, a comparison, a number or the code of a
    label."""

    conditions: tuple[tuple[str, str, float], ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _, _ in self.conditions))

    def covers(self, columns: Mapping[str, Values], count: int) -> Truths:
        inside = np.ones(count, dtype=np.bool_)
        for name, sign, bound in self.conditions:
            inside &= _COMPARE[sign](columns[name], bound)
        return inside


def parse_region(text: str, attributes: Mapping[str, tuple[str, ...]]) -> Region:
    """Read a region; `attributes` gives the labels of each attribute, none where it is numeric."""
    return Region(tuple(_condition(text, part, attributes) for part in re.split(r"\band\b", text)))


def _condition(text: str, part: str, attributes: Mapping[str, tuple[str, ...]]) -> tuple[str, str, float]:
    match = _CONDITION.fullmatch(part)
    if match is None:
        raise UsageError(f"region {text!r}: {part.strip()!r} is no condition; write {_FORM}")
    name, sign, value = match.groups()
    if name not in attributes:
        raise UsageError(
            f"region {text!r}: there is no attribute {name!r}; there are {', '.join(attributes)}"
        )
    labels = attributes[name]
    if not labels:
        return name, sign, _number(text, name, value)
    if sign not in ("==", "!="):
        raise UsageError(f"region {text!r}: {name!r} is nominal; only == and != are allowed there")
    if value not in labels:
        raise UsageError(
            f"region {text!r}: {name!r} has no label {value!r}; its labels are {', '.join(labels)}"
        )
    return name, sign, labels.index(value)


def _number(text: str, name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"region {text!r}: {name!r} is numeric and {value!r} is no number; write {_FORM}")
    return number
