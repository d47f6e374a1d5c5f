"""People of Agrawal's in Parquet files, a part each, with as many attributes and classes as asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hornbeam_experiments.boat.people import people, write

OWN = 9  # attributes of a person; more are random numbers
MANY_VALUES = (130_001, 75_001, 1_300_000, 500_001)  # of salary, commission, house and loan
FEW_VALUES = 130  # of the other five together
_FIRST = ("salary", "hvalue", "age", "loan", "commission", "elevel", "hyears", "car", "zipcode")
_OPTIONS: dict[str, Any] = {"seed": 1, "function": 7, "noise": 0.05}


@dataclass(frozen=True)
class Shape:
    """A scan: of how much, counted at a tree of so many levels, and who makes it."""

    rows: int
    attributes: int = OWN
    levels: int = 4
    classes: int = 2
    buckets: int = 1024
    parts: int = 8
    workers: int = 2
    listed: bool = False
    """Whether the values of attributes with many are listed one by one, as RainForest does it."""

    @property
    def nodes(self) -> int:
        return (1 << self.levels) - 1


def values_listed(rows: float, level: int, joint: int) -> float:
    """Values of the attributes with many that so many rows have at the nodes of a level, with one of so many
    classes, if all are alike and each test above halves one attribute."""
    nodes, attributes = 1 << level, len(MANY_VALUES)
    values = [joint * n / (1 << (level + i) // attributes) for i, n in enumerate(MANY_VALUES)]
    return nodes * sum(n * -math.expm1(-rows / nodes / n) for n in values)


def columns_of(shape: Shape) -> list[str] | None:
    """Some attributes and the class; None: all that the files have."""
    return [*_FIRST[: shape.attributes], "class"] if shape.attributes < OWN else None


def files_of(shape: Shape, folder: Path) -> list[str]:
    """The parts, written where they are not there yet."""
    extra = max(0, shape.attributes - OWN)
    each = -(-shape.rows // shape.parts)
    paths = []
    for i in range(shape.parts):
        path = folder / f"{shape.rows}-{shape.parts}-{extra}-{shape.classes}-{i}.parquet"
        rows = min(each, shape.rows - i * each)
        if not path.exists():
            made = people(rows, start=i * each, extra=extra, **_OPTIONS)
            write(map(partial(_classified, shape.classes), made), path)
        paths.append(str(path))
    return paths


def _classified(classes: int, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Further classes part the two by the loan, as if at random."""
    if classes == 2:
        return batch
    loan: Any = batch.column("loan").to_numpy()
    names = np.array([f"{label}{n}" for n in range(classes // 2) for label in "AB"], dtype=object)
    own = batch.column("class").to_numpy(zero_copy_only=False) == "B"
    codes = 2 * ((loan // 1000) % (classes // 2)).astype(np.int64) + own
    place = batch.schema.get_field_index("class")
    return batch.set_column(place, "class", pa.array(names[codes], pa.string()))
