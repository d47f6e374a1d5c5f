"""Agrawal's people (AIS93): nine attributes, ten functions, and what papers do to them.

Three profiles, because the paper, the generator of MOA and the C program of the Quest project differ. Random
numbers are our own in all of them: a profile has the distribution of its original, not its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.errors import UsageError

from .agrawal_functions import RELEVANT, in_group_a
from .family import CLASS, MOST_EXTRA, Family, Plan, draw_extra, extra_plans, integer, labelled, real
from .options import check_choice, check_count, check_share
from .regions import Region, parse_region
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
    """In what the paper and the programs differ."""

    whole: bool  # are amounts of money whole numbers?
    commission_share: float  # how many of those with a low salary get a commission
    income_share: int  # of salary and commission in functions 7 to 10, in units of 1/300
    reach: float  # the perturbation's share of the range goes from -reach to reach
    clamped_house: (
        int | None
    )  # perturbed values end at the limits, the house's at this one; None: nothing ends


PROFILES = {
    "ais93": Profile(True, 1.0, 201, 0.5, None),
    "moa": Profile(False, 1.0, 200, 1.0, 135_000),
    "quest-c": Profile(True, 0.5, 200, 1.0, 1_350_000),
}


@dataclass(frozen=True)
class Agrawal(Family):
    """`noise` changes labels, `perturbation` moves numbers after labelling, `extra` adds random attributes.

    In the region `changed` (read before the perturbation) the label is that of function `changed_to`, or the
    other one.
    """

    name: ClassVar[str] = "agrawal"

    function: int = 1
    profile: str = "ais93"
    perturbation: float = 0.0
    noise: float = 0.0
    extra: int = 0
    changed: str | None = None
    changed_to: int | str = INVERTED

    def __post_init__(self) -> None:
        check_choice("function", self.function, range(1, 11))
        check_choice("profile", self.profile, PROFILES)
        check_share("perturbation", self.perturbation)
        check_share("noise", self.noise)
        check_count("extra", self.extra, 0, MOST_EXTRA)
        check_choice("changed_to", self.changed_to, (INVERTED, *range(1, 11)))
        if self.changed is not None:
            self._region()
        elif self.changed_to != INVERTED:
            raise UsageError(
                f"changed_to {self.changed_to}: say where as well, for instance changed 'age>=60'"
            )
        if self.changed_to == self.function:
            raise UsageError(
                f"changed_to {self.changed_to}: that is the function everywhere; name another one"
            )

    @property
    def title(self) -> str:
        return f"Which group are Agrawal's people in, by function {self.function}?"

    def plans(self) -> tuple[Plan, ...]:
        money = integer if PROFILES[self.profile].whole else real
        numbers = {name: money(name) if name in MONEY else integer(name, few=True) for name in ATTRIBUTES}
        names = {name: labelled(name, labels) for name, labels in LABELS.items()}
        own = (numbers | names).values()
        return (*own, *extra_plans(self.extra), labelled(CLASS, ("A", "B")))

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
