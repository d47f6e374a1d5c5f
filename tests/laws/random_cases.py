"""Tables straight from a seed: they do not shrink, but unlike Hypothesis's own they are rarely trivial."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import strategies as st

from tests.oracle.table import Classes, Column, Label, Parameters, Target, Targets, Value
from tests.strategies import CLASS_CRITERIA, FLOATS, INT64, LABELS, TARGETS, TEXTS, UINT64, WILD_TARGETS, Case

SKEWED = 0.4  # how often cells favour the first values of their pool


def cells(source: random.Random, n: int, pool: Sequence[Value]) -> tuple[Value | None, ...]:
    missing = source.choice([0.0, 0.0, 0.0, 0.05, 0.2, 0.5, 0.95])
    weights = [1.0 / (1 + i) ** 2 for i in range(len(pool))] if source.random() < SKEWED else None
    values = source.choices(pool, weights, k=n)
    return tuple(None if source.random() < missing else value for value in values)


def random_column(source: random.Random, n: int, name: str, n_categories: int) -> Column:
    kind = source.choice(["float", "integer", "nominal", "nominal"])
    if kind == "nominal":
        return Column(name, kind, cells(source, n, source.sample(LABELS, n_categories)))
    size = source.choice([2, 3, 6, 15, n])
    if kind == "integer":
        specials = source.choice([INT64, UINT64, range(-20, 20)])
        return Column(name, kind, cells(source, n, [source.choice(specials) for _ in range(size)]))
    pools = [
        [source.choice(FLOATS) for _ in range(size)],
        [float(source.randrange(-9, 9)) for _ in range(size)],
        [source.gauss(0, 1) for _ in range(size)],
        [source.choice([1.0, -1.0]) * 2.0 ** source.uniform(-1074, 1023) for _ in range(size)],
        [5e-324 * source.randrange(-12, 12) for _ in range(size)],
    ]
    return Column(name, kind, cells(source, n, source.choice(pools)))


def random_targets(source: random.Random, n: int) -> Targets:
    columns = []
    for _ in range(source.choice([1, 1, 2, 3])):
        pools = [
            [float(source.randrange(-3, 4)) for _ in range(n)],
            [source.gauss(0, 1) for _ in range(n)],
            [1e15 + source.randrange(-40, 40) / 8 for _ in range(n)],
            [source.choice(TARGETS) for _ in range(n)],
            [source.choice(WILD_TARGETS) for _ in range(n)],
            [source.choice([1.0, -1.0]) * 2.0 ** source.uniform(-300, 300) for _ in range(n)],
        ]
        columns.append(source.choice(pools))
    return Targets(tuple(zip(*columns, strict=True)))


def random_parameters(source: random.Random, criterion: str) -> Parameters:
    if source.random() < 0.5:
        return Parameters(criterion, source.choice(["subset", "value", "multiway"]))
    return Parameters(
        criterion,
        source.choice(["subset", "subset", "value", "multiway"]),
        source.choice([None, None, None, 1, 3, 6]),
        source.choice([2, 2, 3, 7, 0.07, 0.3]),
        source.choice([1, 1, 2, 3, 6, 0.03, 0.07, 0.2]),
        source.choice([0.0, 0.0, 0.0, 1e-12, 0.004, 0.03]),
    )


def random_case(seed: int) -> Case:
    source = random.Random(seed)
    n = source.choice([2, 4, 7, 12, 20, 30, 45, 60])
    columns = []
    for i in range(source.choice([1, 2, 3, 5])):
        n_categories = source.choice([2, 2, 3, 3, 4, 5, 6, 8, source.randrange(9, 13)])
        n_categories = source.randrange(13, 31) if source.random() < 0.15 else n_categories
        columns.append(random_column(source, n, f"x{i}", n_categories))
    if source.random() < 0.2:
        columns.append(Column("twin", columns[0].kind, columns[0].values))
    criterion = source.choice([*CLASS_CRITERIA, "variance", "variance"])
    target: Target
    if criterion == "variance":
        target = random_targets(source, n)
    else:
        every: list[list[Label]] = [list(TEXTS), list(range(12))]
        labels = source.choice(every)[: source.choice([2, 2, 3, 4, 7, 12])]
        target = Classes(tuple(source.choice(labels) for _ in range(n)))
    case = Case(tuple(columns), target, random_parameters(source, criterion))
    return without_information(case, n) if n <= 12 and source.random() < 0.3 else case


def without_information(case: Case, n: int) -> Case:
    """Every row with every target: each gain is 0, and what rounding leaves of it must not count."""
    rows = case.rows([row for row in range(n) for _ in range(min(n, 5))])
    targets = case.rows([row for _ in range(n) for row in range(min(n, 5))])
    return Case(rows.columns, targets.target, case.parameters)


random_cases = st.builds(random_case, st.integers(0, 2**64 - 1))
