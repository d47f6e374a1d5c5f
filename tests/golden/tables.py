"""Small tables drawn by a generator of their own: no library's random numbers can change them."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeVar

import pyarrow as pa

T = TypeVar("T")
COLOURS = ("red", "green", "blue", "grün")
TOWNS = ("Aalst", "Bruges", "Ghent", "Leuven", "Liège", "Mons", "Namur", "Ostend", "Ypres")
ATTRIBUTES = ("age", "income", "height", "colour", "town", "member")
_MASK = 2**64 - 1


class Draw:
    """SplitMix64 (Steele, Lea and Flood 2014): a counter, and a mix of its bits."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def word(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        return self.word() % n

    def share(self) -> float:
        """From 0 to 1, without 1."""
        return (self.word() >> 11) / 2**53

    def one_of(self, given: Sequence[T]) -> T:
        return given[self.below(len(given))]

    def shuffled(self, given: Sequence[T]) -> list[T]:
        left = list(given)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]


def _person(draw: Draw, number: int) -> dict[str, Any]:
    age = 18 + draw.below(63)
    income = round(900 + 4000 * draw.share() ** 2 + 20 * age, 2)
    height = 1.4 + (draw.share() + draw.share() + draw.share()) / 4
    colour, town, member = draw.one_of(COLOURS), draw.one_of(TOWNS), draw.below(3) == 0
    score = income / 1000 + (age > 45) * 1.5 - member * 2 + (town in TOWNS[2:5]) + (colour == "blue")
    amount = score * 10 + height + draw.share() * 12
    noisy = score + draw.share() * 3
    return {
        "id": number,
        "age": age,
        "income": income,
        "height": height,
        "colour": colour,
        "town": town,
        "member": member,
        "class": "low" if noisy < 4 else "middle" if noisy < 6 else "high",
        "amount": amount,
        "change": round(draw.share() * 8 - (age < 40) * 4, 1),
        "weight": draw.one_of((0.0, 0.1, 0.5, 1.0, 1.0, 2.0, 3.7)),
    }


@functools.cache
def people(rows: int = 240, *, seed: int = 1, gaps: float = 0.0) -> pa.Table:
    """Persons with two numbers of ties, one without, text, truth values, a class, two numbers to predict."""
    draw = Draw(seed)
    drawn = [_person(draw, number) for number in range(rows)]
    holes = Draw(seed + 1)
    for person in drawn:
        for name in ATTRIBUTES:
            if holes.share() < gaps:
                person[name] = None
    return pa.Table.from_pylist(drawn)


@functools.cache
def typed(rows: int = 150, *, seed: int = 5) -> pa.Table:
    """A column for each type that is ranked exactly, and a class that some of them decide."""
    draw = Draw(seed)
    begin = dt.datetime(2001, 9, 9, 1, 46, 40)
    far = [2**62 + draw.below(400) for _ in range(rows)]
    columns = {
        "int64": pa.array(far, pa.int64()),
        "uint64": pa.array([2**64 - 1 - draw.below(90) for _ in far], pa.uint64()),
        "int8": pa.array([draw.below(200) - 100 for _ in far], pa.int8()),
        "float32": pa.array([draw.share() for _ in far], pa.float32()),
        "wild": pa.array([draw.one_of((-1e308, -0.0, 0.0, 5e-324, 1e-300, 1e308)) for _ in far]),
        "decimal": pa.array([Decimal(draw.below(9999)) / 100 for _ in far], pa.decimal128(9, 2)),
        "date": pa.array([dt.date(1999, 1, 1) + dt.timedelta(draw.below(900)) for _ in far]),
        "moment": pa.array([begin + dt.timedelta(microseconds=draw.below(10**12)) for _ in far]),
        "zoned": pa.array(
            [begin + dt.timedelta(hours=draw.below(999)) for _ in far], pa.timestamp("s", "UTC")
        ),
        "clock": pa.array([dt.time(draw.below(24), draw.below(60)) for _ in far]),
        "span": pa.array([dt.timedelta(seconds=draw.below(5000)) for _ in far]),
        "coded": pa.array([draw.one_of(COLOURS) for _ in far]).dictionary_encode(),
    }
    late = [moment.hour % 7 for moment in columns["moment"].to_pylist()]
    labels = [
        (value % 2**62 // 100 + hour // 3 + draw.below(2)) % 4 for value, hour in zip(far, late, strict=True)
    ]
    return pa.table(columns | {"class": labels})


@functools.cache
def codes(rows: int = 400, *, seed: int = 9) -> pa.Table:
    """Nominal columns of 40 and 150 categories, and one whose category decides alone."""
    draw = Draw(seed)
    near = [draw.below(40) for _ in range(rows)]
    many = [min(draw.below(150), draw.below(150)) for _ in range(rows)]
    labels = ["a" if n % 7 < 3 else "b" if (m * 13) % 5 < 3 else "c" for n, m in zip(near, many, strict=True)]
    return pa.table(
        {
            "near": [f"k{value}" for value in near],
            "many": [f"m{value:03d}" for value in many],
            "number": [draw.below(9) for _ in near],
            "class": [draw.one_of("abc") if draw.below(8) == 0 else label for label in labels],
        }
    )


@functools.cache
def parity(rows: int = 160, *, bits: int = 3, idle: int = 3, seed: int = 11, wrong: float = 0.0) -> pa.Table:
    """The class is whether an odd number of the first bits is set."""
    draw = Draw(seed)
    table = [[draw.below(2) for _ in range(bits + idle)] for _ in range(rows)]
    labels = [(sum(row[:bits]) + (draw.share() < wrong)) % 2 for row in table]
    columns = {f"x{i}": [row[i] for row in table] for i in range(bits + idle)}
    return pa.table(columns | {"class": ["odd" if label else "even" for label in labels]})


def attributes(table: pa.Table) -> pa.Table:
    """The table without what is predicted, weighs or names a row."""
    others = {"id", "class", "amount", "change", "weight"}
    return table.select([name for name in table.column_names if name not in others])


def splits(
    rows: int, folds: int, seed: int, *, overlapping: bool = False
) -> list[tuple[list[int], list[int]]]:
    """Training and test rows of each fold; overlapping: a third of the rows tests, drawn anew each time."""
    draw = Draw(seed)
    dealt = draw.shuffled(range(rows))
    tests = [sorted(dealt[fold::folds]) for fold in range(folds)]
    if overlapping:
        tests = [sorted(draw.shuffled(range(rows))[: rows // 3]) for _ in range(folds)]
    return [([row for row in range(rows) if row not in set(test)], test) for test in tests]


@functools.cache
def shop(customers: int = 120, *, seed: int = 21) -> dict[str, pa.Table]:
    """Customers, their orders and items. Who leaves is old, or had a late order with a cheap item."""
    draw = Draw(seed)
    people_, orders, items = [], [], []
    for customer in range(1, customers + 1):
        bad, spent = False, 0.0
        for _ in range(draw.below(5)):
            status = draw.one_of(("late", "on time", "on time", "it's back"))
            orders.append({"id": len(orders) + 1, "customer": customer, "status": status})
            for _ in range(draw.below(4)):
                price = round(30 * draw.share(), 2)
                items.append({"id": len(items) + 1, "order": len(orders), "price": price})
                bad, spent = bad or (status == "late" and price <= 12.5), spent + price
        city, age = draw.one_of(("Ghent", "Leuven", None)), 18 + draw.below(60)
        churn = (bad or (age > 55 and city != "Ghent")) ^ (draw.below(8) == 0)
        spent = round(spent + (30 if city == "Ghent" else 0) + 5 * draw.share(), 2)
        people_.append(
            {"id": customer, "city": city, "age": age, "churn": "yes" if churn else "no", "spent": spent}
        )
    tables = {"customers": people_, "orders": orders, "items": items}
    return {name: pa.Table.from_pylist(table) for name, table in tables.items()}


SHOP_KEYS = {"customers": "id", "orders": "id", "items": "id"}
SHOP_REFERENCES = {"orders": {"customer": "customers"}, "items": {"order": "orders"}}
