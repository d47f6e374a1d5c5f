"""What anytime induction is measured on: hidden concepts of any seed, three real sets, ten folds of each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from hornbeam.datasets import Dataset, make_multiplexer, make_xor
from hornbeam.growth import ClassTarget
from hornbeam.table import Table, from_data
from tests import real_data

FOLDS = 10
CUTS = 8  # of a numeric column, for peers that know bits alone

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows as everybody may want them; the same columns and categories in every sample of a set."""

    frame: pd.DataFrame
    one_hot: npt.NDArray[np.float64]
    bits: npt.NDArray[np.int64]
    codes: Codes

    @cached_property
    def table(self) -> Table:
        return from_data(self.frame)

    def take(self, rows: Any) -> "Sample":
        return Sample(self.frame.iloc[rows], self.one_hot[rows], self.bits[rows], self.codes[rows])


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from and rows to be judged by."""

    learn: Sample
    judge: Sample
    n_classes: int
    seed: int

    @property
    def target(self) -> ClassTarget:
        return ClassTarget(self.learn.codes.astype(np.int32), np.arange(self.n_classes))


def whole(frame: pd.DataFrame, target: Any) -> Sample:
    """A set in every form: text one-hot, and numbers above so many quantiles."""
    _, codes = np.unique(np.asarray(target).astype(str), return_inverse=True)
    one_hot = pd.get_dummies(frame).to_numpy(dtype=np.float64)
    return Sample(frame, one_hot, bits_of(one_hot), codes.astype(np.int64))


def bits_of(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """A column of 0 and 1 is its own bit; other numbers are compared with their quantiles."""
    found = []
    for column in matrix.T:
        if np.isin(column, (0.0, 1.0)).all():
            found.append(column.astype(np.int64))
            continue
        cuts = np.unique(np.quantile(column, np.linspace(0, 1, CUTS + 2)[1:-1]))
        found.extend((column > cut).astype(np.int64) for cut in cuts)
    return np.column_stack(found)


def generated(made: Dataset) -> Sample:
    frame = made.X.to_pandas().astype(np.int64)
    return whole(frame, made.y.to_numpy())


def real(name: str) -> Sample:
    data = real_data.load(name)
    text = {column: "category" for column in data.nominal}
    return whole(data.table.astype(text), data.target)


def parted(rows: Sample, n_learn: int, seed: int) -> Task:
    """The first rows to learn from, the others to be judged by."""
    order = np.arange(len(rows.codes))
    return Task(rows.take(order[:n_learn]), rows.take(order[n_learn:]), 2, seed)


def xor5(seed: int) -> Task:
    return parted(generated(make_xor(1_200, bits=5, seed=seed)), 200, seed)


def xor10(seed: int) -> Task:
    return parted(generated(make_xor(10_000, bits=10, seed=seed)), 9_000, seed)


def multiplexer20(seed: int) -> Task:
    return parted(generated(make_multiplexer(2_500, seed=seed)), 500, seed)


# Objectives go by what is known of a set before anything is measured: all but Glass are free of noise.
SETS: dict[str, tuple[str, Callable[[], Sample]]] = {
    "XOR-5": ("size", lambda: generated(make_xor(200, bits=5))),
    "XOR-10": ("size", lambda: generated(make_xor(10_000, bits=10))),
    "Multiplexer-20": ("size", lambda: generated(make_multiplexer(500))),
    "Monk-2": ("size", lambda: real("monks2_test")),
    "Tic-tac-toe": ("size", lambda: real("tictactoe")),
    "Glass": ("error", lambda: real("glass")),
}
REAL = ("Monk-2", "Tic-tac-toe", "Glass")


def folds(rows: Sample, count: int = FOLDS, deal: int = 0) -> Iterator[Task]:
    """The first `count` of ten stratified folds, dealt with this seed."""
    n_classes = int(rows.codes.max()) + 1
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=deal).split(rows.codes, rows.codes)
    for fold, (learn, judge) in zip(range(count), splits, strict=False):
        yield Task(rows.take(learn), rows.take(judge), n_classes, fold)
