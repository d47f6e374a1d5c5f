"""Larger tables than the oracle can grow: generated ones with every kind of column, and the real sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from hornbeam.growth import ClassTarget, NumericTarget
from hornbeam.model import Tree
from hornbeam.table import Table, encode_classes, from_data

Target = ClassTarget | NumericTarget
CATEGORIES = (3, 20, 200)
GAPS = 0.1


def attributes(rng: np.random.Generator, n: int, *, nominal: bool) -> pd.DataFrame:
    """Floats with and without ties, integers few and vast, gaps in a tenth of some columns, nominal ones."""
    columns: dict[str, Any] = {
        "wide": rng.normal(size=n),
        "ties": rng.normal(size=n).round(1),
        "few": rng.integers(0, 7, n),
        "vast": rng.integers(-(2**62), 2**62, n),
        "gaps": np.where(rng.random(n) < GAPS, np.nan, rng.normal(size=n).round(2)),
    }
    if not nominal:
        return pd.DataFrame(columns)
    for size in CATEGORIES:
        labels = np.array([f"label {i}" for i in range(size)], dtype=object)[rng.integers(0, size, n)]
        if size == CATEGORIES[1]:
            labels[rng.random(n) < GAPS] = None
        columns[f"of {size}"] = labels
    return pd.DataFrame(columns)


def answer(rng: np.random.Generator, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    """A number that depends on several columns, with as much noise as signal."""
    total = frame["wide"] + frame["ties"] * (frame["few"] > 3)
    for column in frame.columns.intersection([f"of {size}" for size in CATEGORIES]):
        total = total + pd.factorize(frame[column], sort=True)[0] % 5 * 0.3
    return np.asarray(total + rng.normal(size=len(frame)), dtype=np.float64)


def class_target(rng: np.random.Generator, frame: pd.DataFrame, n_classes: int) -> ClassTarget:
    score = answer(rng, frame)
    cuts = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return ClassTarget(*encode_classes(np.searchsorted(cuts, score)))


def numeric_target(rng: np.random.Generator, frame: pd.DataFrame, n_targets: int) -> NumericTarget:
    """The first target as it is, the second in tenths, the third in whole numbers."""
    columns = [answer(rng, frame)]
    columns += [answer(rng, frame).round(2 - i) for i in range(1, n_targets)]
    values = np.ascontiguousarray(np.column_stack(columns))
    return NumericTarget(values, tuple(f"y{i}" for i in range(n_targets)))


def generated(n: int, *, classes: int = 0, targets: int = 0, nominal: bool = True) -> tuple[Table, Target]:
    """The same table and target each time."""
    rng = np.random.default_rng([n, classes, targets, nominal])
    frame = attributes(rng, n, nominal=nominal)
    target = class_target(rng, frame, classes) if classes else numeric_target(rng, frame, targets)
    return from_data(frame), target


def take(table: Table, target: Target, rows: npt.NDArray[np.int64]) -> tuple[Table, Target]:
    """Some rows, any of them several times, in the given order; labels and categories stay as they are."""
    columns = tuple(
        type(column)(
            column.kind,
            np.ascontiguousarray(column.values[rows]),
            None if column.missing is None else np.ascontiguousarray(column.missing[rows]),
        )
        for column in table.columns
    )
    part = Table(table.schema, columns, len(rows))
    if isinstance(target, ClassTarget):
        return part, ClassTarget(target.codes[rows], target.labels)
    return part, NumericTarget(np.ascontiguousarray(target.values[rows]), target.names)


def assert_same(tree: Tree, expected: Tree, what: object = "") -> None:
    """Every array to the last byte, and the digest."""
    assert list(tree.arrays) == list(expected.arrays), what
    for name, values in expected.arrays.items():
        given = tree.arrays[name]
        assert given.dtype == values.dtype, (what, name)
        assert given.shape == values.shape, (what, name, given.shape, values.shape)
        if given.tobytes() != values.tobytes():
            at = int(np.flatnonzero(given != values)[0]) if (given != values).any() else -1
            raise AssertionError(f"{what}: {name}[{at}] is {given[at]!r}, expected {values[at]!r}")
    assert tree.digest == expected.digest, what
