"""Random tables with targets, weights and parameters: types, ties, gaps, extremes, sizes at every width."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[Any]

ROWS = (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 40, 60, 63, 65, 127, 129, 255, 256, 257, 300, 511, 513)
CLASSES = (1, 2, 2, 2, 3, 3, 5, 8, 9, 16, 17, 33, 64, 65, 255, 257, 300)
CATEGORIES = (1, 2, 3, 5, 11, 12, 13, 33, 64, 65, 257)
LABELS = (
    "a",
    "B",
    "é",
    "日本",
    "\U0001f600",
    "10",
    "9",
    " ",
    "",
    "NULL",
    "o'x",
    '"q"',
    "\\",
    "a\nb",
    "true",
    "NaN",
)
FLOATS = (0.0, -0.0, 1.0, 5e-324, -5e-324, 1e-300, 1e300, 1.7e308, -1.7e308, np.inf, -np.inf, 0.1, 0.3)
INTEGERS = (0, 1, -1, 2**63 - 1, 2**63 - 2, -(2**63), 2**53, 2**53 + 1, -(2**31))
GAPS = (0.0, 0.0, 0.0, 0.05, 0.3, 0.9)
CRITERIA = ("gini", "gini", "gini", "entropy", "entropy", "gain_ratio", "correlation", "c45", "quest")


@dataclass(frozen=True, eq=False)
class Case:
    """Rows of a table with what is to be predicted, and how a tree is grown from them."""

    table: pa.Table
    target: Array
    weights: Array | None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def classifies(self) -> bool:
        return self.parameters["criterion"] != "variance"

    @property
    def has_wide_target(self) -> bool:
        return self.target.ndim > 1

    def take(self, rows: Array) -> Case:
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, table=self.table.take(pa.array(rows)), target=self.target[rows], weights=weights)

    def having(self, **changes: Any) -> Case:
        return replace(self, parameters={**self.parameters, **changes})

    def __str__(self) -> str:
        weights = "" if self.weights is None else ", weighted"
        kinds = ", ".join(str(field.type) for field in self.table.schema)
        return f"{self.n_rows} rows of {kinds}{weights}; {self.parameters}"


def draw(rng: random.Random) -> Case:
    generator = np.random.default_rng(rng.getrandbits(63))
    n = rng.choice(ROWS)
    columns = [_column(rng, generator, n) for _ in range(rng.randint(1, 6))]
    table = pa.table({f"x{i}": column for i, column in enumerate(columns)})
    if rng.random() < 0.75:
        target, parameters = _classes(rng, generator, n)
    else:
        target, parameters = _numbers(rng, generator, n), {"criterion": "variance"}
    if rng.random() < 0.2:
        repeated = generator.integers(0, max(1, n // 3), n)
        table, target = table.take(pa.array(repeated)), target[repeated]
    parameters |= _limits(rng, parameters["criterion"])
    weights = _weights(rng, generator, n) if parameters["criterion"] != "quest" else None
    return Case(table, target, weights, parameters)


def _column(rng: random.Random, generator: np.random.Generator, n: int) -> pa.Array:
    gaps = rng.choice(GAPS)
    mask = generator.random(n) < gaps if gaps else None
    kinds: tuple[Callable[[], pa.Array], ...] = (
        lambda: pa.array(_floats(rng, generator, n), mask=mask),
        lambda: pa.array(_floats(rng, generator, n), mask=mask),
        lambda: pa.array(_integers(rng, generator, n), mask=mask),
        lambda: _nominal(rng, generator, n, mask),
        lambda: _nominal(rng, generator, n, mask),
        lambda: pa.array(generator.random(n) < 0.5, mask=mask),
        lambda: pa.array(generator.integers(-9999, 9999, n).astype("int32"), mask=mask).cast(pa.date32()),
        lambda: pa.array(generator.integers(-(2**40), 2**50, n), mask=mask).cast(pa.timestamp("us")),
    )
    return rng.choice(kinds)()


def _floats(rng: random.Random, generator: np.random.Generator, n: int) -> Array:
    kinds: tuple[Callable[[], Array], ...] = (
        lambda: generator.normal(size=n),
        lambda: generator.integers(0, rng.choice((2, 5, 40)), n).astype(np.float64),
        lambda: generator.choice(np.array(FLOATS), n),
        lambda: np.ldexp(generator.choice([-1.0, 1.0], n), generator.integers(-1074, 1023, n)),
        lambda: np.round(generator.normal(size=n), 1),
        lambda: 1e15 + generator.integers(-40, 40, n) / 8,
        lambda: 1.0 + generator.integers(0, 6, n) * 2.0**-52,
    )
    return rng.choice(kinds)()


def _integers(rng: random.Random, generator: np.random.Generator, n: int) -> Array:
    if rng.random() < 0.4:
        return generator.choice(np.array(INTEGERS), n)
    return generator.integers(0, rng.choice((2, 7, 300, 2**40)), n) - rng.choice((0, 3, 2**62))


def _nominal(rng: random.Random, generator: np.random.Generator, n: int, mask: Array | None) -> pa.Array:
    many = min(rng.choice(CATEGORIES), max(n, 1))
    labels = [*LABELS, *(f"k{i}" for i in range(many))][:many]
    rng.shuffle(labels)
    shares = 1.0 / (1.0 + np.arange(many)) ** rng.choice((0, 2))
    codes = generator.choice(many, n, p=shares / shares.sum())
    column = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=mask), pa.array(labels))
    return column.cast(pa.string()) if rng.random() < 0.7 else column


def _classes(rng: random.Random, generator: np.random.Generator, n: int) -> tuple[Array, dict[str, Any]]:
    many = rng.choice(CLASSES)
    shares = 1.0 / (1.0 + np.arange(many)) ** rng.choice((0, 3))
    codes = generator.choice(many, n, p=shares / shares.sum())
    parameters: dict[str, Any] = {"criterion": rng.choice(CRITERIA)}
    if parameters["criterion"] != "quest" and rng.random() < 0.15:
        parameters["class_weight"] = "balanced"
    if rng.random() < 0.5:
        return np.array([f"c{i}" for i in range(many)], dtype=object)[codes], parameters
    return (codes * 3 - 5).astype(np.int64), parameters


def _numbers(rng: random.Random, generator: np.random.Generator, n: int) -> Array:
    kinds: tuple[Callable[[], Array], ...] = (
        lambda: generator.normal(size=n),
        lambda: generator.integers(-4, 4, n).astype(np.float64),
        lambda: 1e15 + generator.integers(-40, 40, n) / 8,
        lambda: np.ldexp(generator.choice([-1.0, 1.0], n), generator.integers(-300, 300, n)),
        lambda: generator.choice([0.0, 5e-324, 1e-160, 1e90, -1e90, 1e-300], n),
        lambda: generator.choice([0.1, 0.2, 0.3, -0.1], n),
        lambda: np.full(n, 0.1),
    )
    targets = [rng.choice(kinds)() for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    return targets[0] if len(targets) == 1 else np.column_stack(targets)


def _limits(rng: random.Random, criterion: str) -> dict[str, Any]:
    limits: dict[str, Any] = {
        "nominal": "subset" if criterion == "quest" else rng.choice(("subset", "value", "multiway"))
    }
    if rng.random() < 0.6:
        limits["max_depth"] = rng.choice((None, 1, 2, 4, 8))
        limits["min_samples_split"] = rng.choice((2, 2, 3, 12, 0.07, 0.3))
        limits["min_samples_leaf"] = rng.choice((1, 1, 2, 7, 0.01, 0.1))
        limits["min_impurity_decrease"] = rng.choice((0.0, 0.0, 1e-4, 0.02))
    if rng.random() < 0.2:
        limits["min_objs"] = rng.choice((1, 2, 2.5, 0.1))
    if rng.random() < 0.15:
        limits["competitors"] = rng.choice((1, 3))
    pruned = rng.random()
    if pruned < 0.12 and criterion != "variance":
        limits |= {"prune": "error_based", "confidence": rng.choice((0.25, 0.001, 1.0))}
    elif pruned < 0.22:
        limits |= {"prune": "cost_complexity", "ccp_alpha": rng.choice((0.0, 0.001, 0.1))}
    return limits


def _weights(rng: random.Random, generator: np.random.Generator, n: int) -> Array | None:
    kinds: tuple[Callable[[], Array], ...] = (
        lambda: generator.integers(0, 4, n).astype(np.float64),
        lambda: generator.random(n) + 0.01,
        lambda: 2.0 ** generator.uniform(-30, 30, n),
        lambda: np.ldexp(1.0, generator.integers(-200, 200, n)),
    )
    if rng.random() < 0.75:
        return None
    weights = rng.choice(kinds)()
    return weights if weights.any() else None
