"""Random tables for growth over sources: a few thousand rows, unkind columns, and limits far too small."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam.boat.task import Sampling

Array = npt.NDArray[Any]
Random = np.random.Generator

HUGE = 1.7976931348623157e308
CRITERIA = ["gini", "gini", "entropy", "gain_ratio", "correlation"]


@dataclass(frozen=True)
class SourceCase:
    """A table whose column "class" is to be told from the others, and what growing is told."""

    table: pa.Table
    parameters: dict[str, Any]
    memory_limit: int
    sample: int
    """The most rows of the sample."""
    sampling: Sampling
    piece: int
    """Rows of a chunk."""
    seed: int


def floats(rng: Random, rows: int) -> Array:
    """Many different values."""
    return rng.normal(size=rows) * 10.0 ** rng.integers(-3, 4)


def tied_floats(rng: Random, rows: int) -> Array:
    return rng.normal(size=rows).round(int(rng.integers(0, 3)))


def few_integers(rng: Random, rows: int) -> Array:
    return rng.integers(0, rng.integers(1, 12), rows)


def many_integers(rng: Random, rows: int) -> Array:
    return rng.integers(-(10**6), 10**6, rows)


def wild_integers(rng: Random, rows: int) -> Array:
    """Up to both ends of 64 bits."""
    ends = np.array([2**63 - 1, 2**63 - 2, -(2**63), 0, 1, 2**53, 2**53 + 1])
    return np.where(rng.random(rows) < 0.5, rng.integers(-50, 50, rows), rng.choice(ends, rows))


def unsigned(rng: Random, rows: int) -> Array:
    return rng.integers(2**63 - 40, 2**63 + 40, rows, dtype=np.uint64)


def wild_floats(rng: Random, rows: int) -> Array:
    """Signed zeros, infinities, the smallest and the greatest."""
    pool = np.array([0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, HUGE, -HUGE, 1.0, 1.0000000000000002])
    wide = np.sign(rng.normal(size=rows)) * 2.0 ** rng.uniform(-1070, 1020, rows)
    return np.where(rng.random(rows) < 0.4, rng.choice(pool, rows), wide)


def point_mass(rng: Random, rows: int) -> Array:
    """One value of most rows, as AIS93's commission."""
    return np.where(rng.random(rows) < rng.uniform(0.3, 0.97), 0.0, rng.uniform(10, 75, rows))


def single_precision(rng: Random, rows: int) -> Array:
    return rng.normal(size=rows).astype(np.float32)


def stamps(rng: Random, rows: int) -> Array:
    unit = rng.choice(["s", "ms", "ns"])
    return np.array(rng.integers(0, 10**6, rows), dtype=f"datetime64[{unit}]")


def days(rng: Random, rows: int) -> Array:
    return np.array(rng.integers(-300, 300, rows), dtype="datetime64[D]")


def constant(rng: Random, rows: int) -> Array:
    return np.full(rows, 7.5 if rng.random() < 0.5 else np.nan)


def labels(rng: Random, rows: int) -> Array:
    n = int(rng.choice([2, 3, 5, 9, 12, 13, 20, 40]))
    chance = rng.dirichlet(np.full(n, rng.choice([0.3, 5.0])))
    return np.array([f"{'ab'[i % 2]}{i}" for i in range(n)])[rng.choice(n, rows, p=chance)]


KINDS: list[Callable[[Random, int], Array]] = [floats, floats, tied_floats, few_integers, many_integers]
KINDS += [wild_integers, unsigned, wild_floats, point_mass, point_mass, single_precision, stamps, days]
KINDS += [constant, labels, labels, labels]


def ranked(values: Array) -> Array:
    """Places in the order of values, from 0 to 1."""
    _, places = np.unique(values, return_inverse=True)
    return places / max(1, places.max(initial=0))


def random_classes(rng: Random, columns: list[Array]) -> Array:
    """Classes by a few tests on the columns, with noise."""
    rows, k = len(columns[0]), int(rng.choice([2, 2, 2, 3, 4, 7, 11, 12]))
    classes = np.zeros(rows, dtype=np.int64)
    for _ in range(int(rng.choice([0, 1, 1, 2, 3, 4]))):
        place = ranked(columns[rng.integers(len(columns))])
        low, high = np.sort(rng.random(2))
        inside = (place > low) & (place <= high) if rng.random() < 0.4 else place > high
        classes = np.where(inside, (classes + rng.integers(1, k)) % k, classes)
    noise = rng.choice([0.0, 0.0, 0.002, 0.002, 0.01, 0.1, 0.3, 0.5])
    return np.where(rng.random(rows) < noise, rng.integers(0, k, rows), classes)


def random_columns(rng: Random, rows: int) -> list[Array]:
    columns = [KINDS[rng.integers(len(KINDS))](rng, rows) for _ in range(rng.integers(1, 7))]
    if rng.random() < 0.3:  # a column twice, or one that orders rows the same way
        first = columns[rng.integers(len(columns))]
        columns.append(first if rng.random() < 0.5 else (ranked(first) * 1000.0) ** 3)
    return columns


def cells(rng: Random, values: Array, missing: float) -> pa.Array:
    absent = rng.random(len(values)) < missing
    absent |= values != values
    return pa.array(values.tolist() if values.dtype.kind == "U" else values, mask=absent)


def random_table(rng: Random, rows: int) -> pa.Table:
    columns = random_columns(rng, rows)
    if rng.random() < 0.15:
        columns = [column for column in columns for _ in range(2)]
    gone = [float(rng.choice([0, 0, 0, 0.02, 0.2, 0.6])) if rng.random() < 0.7 else 0.0 for _ in columns]
    found = {f"x{i}": cells(rng, v, m) for i, (v, m) in enumerate(zip(columns, gone, strict=True))}
    if rng.random() < 0.1:
        found["none"] = pa.nulls(rows, pa.float64() if rng.random() < 0.5 else pa.string())
    found["class"] = pa.array([f"c{c:02}" for c in random_classes(rng, columns)])
    return pa.table(found)


def random_parameters(draw: random.Random) -> dict[str, Any]:
    given: dict[str, Any] = {
        "criterion": draw.choice(CRITERIA),
        "nominal": draw.choice(["subset", "subset", "value"]),
        "max_depth": draw.choice([None, None, 1, 3, 5, 6, 8]),
    }
    if draw.random() < 0.6:
        given["min_samples_leaf"] = draw.choice([1, 2, 5, 30, 0.001, 0.02])
    if draw.random() < 0.3:
        given["min_samples_split"] = draw.choice([2, 10, 100, 0.05])
    if draw.random() < 0.3:
        given["min_impurity_decrease"] = draw.choice([1e-12, 1e-5, 1e-3, 0.02])
    if draw.random() < 0.2:
        given["min_objs"] = draw.choice([0.5, 2, 7.5])
    return given


def random_case(seed: int) -> SourceCase:
    rng, draw = np.random.default_rng([seed, 77]), random.Random(seed)
    rows = draw.choice([1, 2, 40, 300]) if draw.random() < 0.1 else draw.randrange(800, 4000)
    table = random_table(rng, rows)
    sampling = Sampling(
        bootstraps=draw.choice([3, 3, 3, 4, 5, 8]),
        rows=draw.choice([50, 200, 500, 500]),
        depth=draw.choice([2, 4, 6]),
        buckets=draw.choice([8, 16, 30, 128, 512]),
        least=20,
        sure=draw.choice([2, 5, 20]),
    )
    return SourceCase(
        table,
        random_parameters(draw),
        memory_limit=draw.choice([3_000, 40_000, 150_000, 400_000, 2_000_000, 10_000_000]),
        sample=draw.choice([60, 200, 500, 1000, 5000]),
        sampling=sampling,
        piece=draw.choice([100, 1000, 10_000]),
        seed=seed,
    )
