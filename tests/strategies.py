"""Hypothesis tables in plain Python structures: small, full of ties, and unkind on purpose."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from tests.oracle.table import Classes, Column, Label, Parameters, Target, Targets, Value

HUGE = 1.7976931348623157e308
FLOATS = [0.0, -0.0, 1.0, 1.5, 2.0, 3.0, -1.0, 0.1, 0.2, 0.30000000000000004, 1e-300, 1e300, HUGE, -HUGE]
FLOATS += [5e-324, 1e-323, 1.5e-323, -5e-324, 2.2250738585072014e-308, float("inf"), float("-inf")]
FLOATS += [1.0000000000000002, 9007199254740993.0, 16777217.0, 16777216.0]
INT64 = [0, 1, 2, 3, 5, -1, -2, -3, 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1, 2**53, 2**53 + 1]
UINT64 = [0, 1, 2, 3, 7, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2]
TARGETS = [0.0, 1.0, -1.0, 0.1, 0.2, 0.3, 1e15, 1e15 + 1, 1e15 + 0.125, -1e15, 1e-15, 3e-5]
WILD_TARGETS = [*TARGETS, 5e-324, -5e-324, 1e-160, 3e-160, 1e100, -1e100, 1e90, 1e-300]
# U+FFFF and U+1F600 change places between UTF-16 and UTF-8, "Z" and "a" between bytes and dictionary.
LABELS = [
    "a",
    "b",
    "c",
    "B",
    "Z",
    "aa",
    "é",
    "ß",
    "zz",
    "日本",
    "\uffff",
    "\U0001f600",
    "10",
    "9",
    " ",
    "a b",
    "-",
]
LABELS += [f"k{i}" for i in range(20)]
NAMES = ["x0", "x1", "größe", "a b", "x10", "x2"]
TEXTS = ["no", "yes", "A", "a", "é", "\U0001f600", "10", "9", "c8", "c9", "c10", "c11"]


@dataclass(frozen=True)
class Case:
    """One call: a table, a target, parameters."""

    columns: tuple[Column, ...]
    target: Target
    parameters: Parameters

    @property
    def n(self) -> int:
        return len(self.columns[0].values)

    def rows(self, order: Sequence[int]) -> Case:
        """The same call on these rows, in this order, repeats allowed."""
        columns = tuple(replace(c, values=tuple(c.values[i] for i in order)) for c in self.columns)
        if isinstance(self.target, Classes):
            return Case(columns, Classes(tuple(self.target.labels[i] for i in order)), self.parameters)
        return Case(columns, Targets(tuple(self.target.rows[i] for i in order)), self.parameters)

    def with_columns(self, columns: Sequence[Column]) -> Case:
        return replace(self, columns=tuple(columns))

    def having(self, **parameters: object) -> Case:
        return replace(self, parameters=replace(self.parameters, **parameters))  # type: ignore[arg-type]

    @property
    def most_categories(self) -> int:
        return max((len(set(c.values) - {None}) for c in self.columns if c.kind == "nominal"), default=0)


def row_counts(most: int = 60) -> st.SearchStrategy[int]:
    return st.one_of(st.integers(1, 6), st.integers(7, 20), st.integers(21, most))


@st.composite
def pools(draw: st.DrawFn, one: st.SearchStrategy[Any], sizes: Sequence[int]) -> list[Any]:
    """The values a column is made of: as many as one of the sizes says, repeats allowed."""
    size = draw(st.sampled_from(sizes))
    return draw(st.lists(one, min_size=size, max_size=size))


@st.composite
def positions(draw: st.DrawFn, n: int, choices: int) -> list[int]:
    """n indices below `choices`: drawn one by one where that shrinks well, else from a drawn seed."""
    if n <= 6:
        return draw(st.lists(st.integers(0, choices - 1), min_size=n, max_size=n))
    source = random.Random(draw(st.integers(0, 2**32 - 1)))
    return [source.randrange(choices) for _ in range(n)]


@st.composite
def cells(draw: st.DrawFn, n: int, pool: Sequence[Value]) -> tuple[Value | None, ...]:
    """n cells out of a pool, with none, some, many, or only missing values."""
    missing = draw(st.sampled_from([0, 0, 0, 0, 0, 0, 1, 3, 6, 12, 19, 20]))  # of twenty
    values = [pool[i] for i in draw(positions(n, len(pool)))]
    if missing == 0:
        return tuple(values)
    return tuple(None if die < missing else v for v, die in zip(values, draw(positions(n, 20)), strict=True))


@st.composite
def float_columns(draw: st.DrawFn, n: int, name: str, ordinary: bool = False) -> Column:
    anything = st.floats(allow_nan=False)
    special = st.sampled_from(FLOATS)
    simple = st.integers(-8, 8).map(float)
    one = draw(
        st.sampled_from([simple] if ordinary else [simple, special, anything, st.one_of(special, simple)])
    )
    return Column(name, "float", draw(cells(n, draw(pools(one, [2, 3, 3, 5, 8, 12, 20, 1])))))


@st.composite
def integer_columns(draw: st.DrawFn, n: int, name: str) -> Column:
    simple = st.integers(-6, 6)
    extreme = st.one_of(st.sampled_from(INT64), st.integers(-(2**63), 2**63 - 1))
    one = draw(st.sampled_from([simple, extreme, st.sampled_from(UINT64)]))
    return Column(name, "integer", draw(cells(n, draw(pools(one, [2, 3, 4, 6, 8, 10, 1])))))


@st.composite
def nominal_columns(draw: st.DrawFn, n: int, name: str, most: int = 30) -> Column:
    shapes = [(2, 5), (2, 5), (6, 9), (6, 12), (13, 30), (1, 1)]
    low, high = draw(st.sampled_from([(a, min(b, most)) for a, b in shapes if a <= most]))
    size = draw(st.integers(low, high))
    pool = draw(st.permutations(LABELS))[:size]
    return Column(name, "nominal", draw(cells(n, pool)))


@st.composite
def tables(
    draw: st.DrawFn, n: int, kinds: Sequence[str] = ("float", "integer", "nominal"), most: int = 30
) -> tuple[Column, ...]:
    names = draw(st.permutations(NAMES))
    columns = []
    for name in names[: draw(st.integers(1, 4))]:
        kind = draw(st.sampled_from(kinds))
        if kind == "float":
            columns.append(draw(float_columns(n, name)))
        elif kind == "integer":
            columns.append(draw(integer_columns(n, name)))
        else:
            columns.append(draw(nominal_columns(n, name, most)))
    return tuple(columns)


@st.composite
def classes(draw: st.DrawFn, n: int, columns: Sequence[Column]) -> Classes:
    """1 to 12 classes, of any type, at random or as a function of a column."""
    kinds: list[list[Label]] = [list(range(12)), list(TEXTS), [False, True], [-1.0, 2.0, 3.0], [-5, 7, 2**40]]
    labels = draw(st.sampled_from(kinds))
    k = min(len(labels), draw(st.sampled_from([2, 2, 2, 3, 3, 3, 4, 5, 6, 7, 9, 12, 12, 1])))
    codes = draw(positions(n, k))
    varied = [column for column in columns if len(set(column.values)) > 1]
    if varied and draw(st.integers(0, 5)) == 3:
        column = draw(st.sampled_from(varied))
        seen = {value: i for i, value in enumerate(dict.fromkeys(map(column.at, range(n))))}
        codes = [seen[column.at(row)] % k for row in range(n)]
    return Classes(tuple(labels[code] for code in codes))


@st.composite
def targets(draw: st.DrawFn, n: int, wild: bool = True) -> Targets:
    """1 to 3 targets: few values, offsets that dwarf them, and, if wild, exponents over the whole range."""
    simple = st.integers(-4, 4).map(float)
    offset = st.integers(-40, 40).map(lambda i: 1e15 + i / 8)
    ordinary = [simple, offset, st.sampled_from(TARGETS), st.floats(-1e6, 1e6)]
    unruly = [st.sampled_from(WILD_TARGETS), st.floats(-1e100, 1e100)]
    columns = []
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        one = draw(st.sampled_from(ordinary + unruly if wild else ordinary))
        pool = draw(pools(one, [2, 3, 10, 40, 1]))
        columns.append([pool[i] for i in draw(positions(n, len(pool)))])
    return Targets(tuple(zip(*columns, strict=True)))


@st.composite
def parameters(draw: st.DrawFn, criteria: Sequence[str], plain: bool = False) -> Parameters:
    """Any parameters; plain ones leave the stopping rule at its defaults."""
    criterion = draw(st.sampled_from(criteria))
    nominal = draw(st.sampled_from(["subset", "value", "multiway"]))
    if plain or draw(st.booleans()):
        return Parameters(criterion, nominal)
    return Parameters(
        criterion,
        nominal,
        draw(st.sampled_from([None, None, None, 1, 2, 4])),
        draw(st.sampled_from([2, 2, 2, 3, 5, 12, 0.01, 0.07, 0.3, 1.0])),
        draw(st.sampled_from([1, 1, 1, 2, 3, 5, 0.01, 0.07, 0.1, 0.3])),
        draw(st.sampled_from([0.0, 0.0, 0.0, 1e-12, 0.01, 0.05, 0.25])),
    )


CLASS_CRITERIA = ("gini", "entropy", "gain_ratio")


@st.composite
def classification(
    draw: st.DrawFn,
    criteria: Sequence[str] = CLASS_CRITERIA,
    kinds: Sequence[str] = ("float", "integer", "nominal"),
    most: int = 30,
    plain: bool = False,
) -> Case:
    n = draw(row_counts())
    columns = draw(tables(n, kinds, most))
    return Case(columns, draw(classes(n, columns)), draw(parameters(criteria, plain)))


@st.composite
def regression(
    draw: st.DrawFn,
    kinds: Sequence[str] = ("float", "integer", "nominal"),
    most: int = 30,
    plain: bool = False,
    wild: bool = True,
) -> Case:
    n = draw(row_counts(40))
    columns = draw(tables(n, kinds, most))
    return Case(columns, draw(targets(n, wild)), draw(parameters(["variance"], plain)))


@st.composite
def many_categories(draw: st.DrawFn) -> Case:
    """One or two columns with more than twelve categories: the two rules beyond exhaustive search."""
    n = draw(st.integers(20, 60))
    columns = []
    for i in range(draw(st.integers(1, 2))):
        pool = draw(st.permutations(LABELS))[: draw(st.integers(13, 30))]
        columns.append(Column(f"x{i}", "nominal", draw(cells(n, pool))))
    criterion = draw(st.sampled_from([*CLASS_CRITERIA, "variance"]))
    min_leaf = draw(st.sampled_from([1, 1, 3, 8]))
    chosen = Parameters(criterion, "subset", draw(st.sampled_from([None, 2])), 2, min_leaf)
    if criterion == "variance":
        return Case(tuple(columns), draw(targets(n)), chosen)
    codes = draw(positions(n, draw(st.integers(2, 6))))
    return Case(tuple(columns), Classes(tuple(codes)), chosen)


def cases(plain: bool = False) -> st.SearchStrategy[Case]:
    return st.one_of(classification(plain=plain), regression(plain=plain), many_categories())
