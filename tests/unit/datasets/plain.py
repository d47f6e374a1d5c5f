"""The concepts once more, row by row in plain Python and from their published definitions alone."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]

EDUCATED = ({"level0", "level1"}, {"level1", "level2", "level3"}, {"level2", "level3", "level4"})
SEGMENTS = {  # the lit ones of: top, upper left, upper right, middle, lower left, lower right, bottom
    0: {1, 2, 3, 5, 6, 7},
    1: {3, 6},
    2: {1, 3, 4, 5, 7},
    3: {1, 3, 4, 6, 7},
    4: {2, 3, 4, 6},
    5: {1, 2, 4, 6, 7},
    6: {1, 2, 4, 5, 6, 7},
    7: {1, 3, 6},
    8: {1, 2, 3, 4, 5, 6, 7},
    9: {1, 2, 3, 4, 6, 7},
}


def agrawal_class(function: int, row: Row, income: Fraction) -> str:
    """A or B; `income` is the share of salary and commission that counts in functions 7 to 10."""
    if function <= 6:
        return "A" if agrawal_by_age(function, row) else "B"
    left = income * Fraction(row["salary"] + row["commission"])
    if function == 7:
        left -= Fraction(row["loan"]) / 5 + 20000
    elif function == 8:
        left -= 5000 * int(row["elevel"][-1]) + 20000
    elif function == 9:
        left -= 5000 * int(row["elevel"][-1]) + Fraction(row["loan"]) / 5 + 10000
    else:
        years = row["hyears"]
        equity = Fraction(row["hvalue"]) * (years - 20) / 10 if years >= 20 else 0
        left += Fraction(equity) / 5 - 5000 * int(row["elevel"][-1]) - 10000
    return "A" if left > 0 else "B"


def agrawal_by_age(function: int, row: Row) -> bool:
    age, salary, loan = row["age"], row["salary"], row["loan"]
    band = 0 if age < 40 else 1 if age < 60 else 2
    educated = row["elevel"] in EDUCATED[band]
    usual = ((50000, 100000), (75000, 125000), (25000, 75000))[band]
    if function == 1:
        return band != 1
    if function == 2:
        return usual[0] <= salary <= usual[1]
    if function == 3:
        return educated
    if function == 4:
        low, high = ((25000, 75000), (50000, 100000), (50000, 100000))[band] if educated else usual
        return low <= salary <= high
    if function == 5:
        inside = ((100000, 300000), (200000, 400000), (300000, 500000))[band]
        outside = ((200000, 400000), (300000, 500000), (100000, 300000))[band]
        low, high = inside if usual[0] <= salary <= usual[1] else outside
        return low <= loan <= high
    return usual[0] <= salary + row["commission"] <= usual[1]


def monks_class(problem: int, row: Row) -> int:
    if problem == 1:
        return int(row["head_shape"] == row["body_shape"] or row["jacket_color"] == "red")
    if problem == 2:
        first = ("round", "round", "yes", "sword", "red", "yes")
        names = ("head_shape", "body_shape", "is_smiling", "holding", "jacket_color", "has_tie")
        return int(sum(row[name] == value for name, value in zip(names, first, strict=True)) == 2)
    green_sword = row["jacket_color"] == "green" and row["holding"] == "sword"
    return int(green_sword or (row["jacket_color"] != "blue" and row["body_shape"] != "octagon"))
