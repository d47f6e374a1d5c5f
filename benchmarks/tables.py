"""The tables that are measured: real ones of 1,400 to 70,000 rows, and generated ones of any size."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests import real_data

# Every real set of that size with numeric attributes; the numeric columns are what all peers can take.
NUMERIC = (
    "yeast",
    "abalone",
    "spambase",
    "pendigits_train",
    "letter",
    "adult_train",
    "nomao",
    "electricity",
    "shuttle",
)
# Sets with text: whole tables, each peer given what it takes.
MIXED = (
    "car",
    "abalone",
    "mushroom",
    "led24",
    "nursery",
    "adult_train",
    "nomao",
    "electricity",
    "connect4",
)
COLUMNS = 20
NOISE = 0.05
TREE_DEPTH = 6


@dataclass(frozen=True)
class Case:
    """One table to learn from; `codes` are the labels as integers, `texts` the same labels as strings."""

    name: str
    table: Any
    codes: npt.NDArray[np.int64]
    texts: npt.NDArray[np.object_]
    got: str

    @property
    def shape(self) -> str:
        return f"{self.table.shape[0]}x{self.table.shape[1]}"

    def labels(self, kind: str) -> Any:
        return self.codes if kind == "integer" else self.texts


def with_labels(name: str, table: Any, target: Any, got: str) -> Case:
    texts = np.asarray(target, dtype=str)
    _, codes = np.unique(texts, return_inverse=True)
    return Case(name, table, codes.astype(np.int64), texts.astype(object), got)


def numeric_cases() -> Iterator[Case]:
    """The numeric columns of the real sets, as one float64 matrix for everybody."""
    for name in NUMERIC:
        data = real_data.load(name)
        matrix = np.ascontiguousarray(data.table[list(data.numeric)].to_numpy(dtype=np.float64))
        left_out = f", {len(data.nominal)} nominal left out" if data.nominal else ""
        yield with_labels(name, matrix, data.target, f"{len(data.numeric)} numeric columns{left_out}")


def mixed_cases() -> Iterator[Case]:
    """The whole real sets: text stays text, missing cells stay missing."""
    for name in MIXED:
        data = real_data.load(name)
        got = f"{len(data.numeric)} numeric and {len(data.nominal)} nominal columns"
        yield with_labels(name, data.table, data.target, got)


def generate(kind: str, rows: int, seed: int = 20261115) -> Case:
    """20 uniform columns. `rule`: three regions, whose tests are nearly as good as each other; `tree`: a tree
    of depth 6; both with 5 % noise. `noise`: labels that no column explains."""
    random = np.random.default_rng(seed)
    matrix = random.random((rows, COLUMNS))
    if kind == "noise":
        codes = random.integers(0, 2, rows)
    else:
        found = follow_rule(matrix) if kind == "rule" else follow_tree(matrix, random)
        codes = found.astype(np.int64)
        codes[random.random(rows) < NOISE] ^= 1
    return Case(
        name=size_name(kind, rows),
        table=matrix,
        codes=codes,
        texts=np.where(codes == 1, "yes", "no").astype(object),
        got=f"{COLUMNS} numeric columns",
    )


def size_name(kind: str, rows: int) -> str:
    return f"{kind} {rows // 1_000_000}M" if rows >= 1_000_000 else f"{kind} {rows // 1000}k"


def follow_rule(x: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """The rule behind the labels: three regions, each of two or three thresholds."""
    first = (x[:, 0] > 0.3) & (x[:, 1] <= 0.6) & (x[:, 2] > 0.25)
    second = (x[:, 3] > 0.5) & (x[:, 4] > 0.7)
    third = (x[:, 5] <= 0.2) & (x[:, 6] > 0.4)
    return first | second | third


def follow_tree(x: npt.NDArray[np.float64], random: np.random.Generator) -> npt.NDArray[np.bool_]:
    """A full tree of TREE_DEPTH levels: no column twice on a path, any label at a leaf."""
    labels = np.zeros(len(x), dtype=bool)

    def grow(rows: npt.NDArray[np.intp], columns: list[int], depth: int) -> None:
        if depth == 0:
            labels[rows] = random.random() < 0.5
            return
        column = int(random.choice(columns))
        goes_left = x[rows, column] <= random.uniform(0.3, 0.7)
        rest = [other for other in columns if other != column]
        grow(rows[goes_left], rest, depth - 1)
        grow(rows[~goes_left], rest, depth - 1)

    grow(np.arange(len(x)), list(range(COLUMNS)), TREE_DEPTH)
    return labels
