"""Training sets over the rows of one table: each kept as the rows it leaves out, or those it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from hornbeam import arguments
from hornbeam.errors import DataError, UsageError

Rows = npt.NDArray[np.int64]

ALGORITHMS = ("auto", "serial", "overlapping", "folds")
MOST_TOGETHER = 64  # sets that the core grows as one
MOST_REPEATS = 255  # how often a row may count in one set: a byte
KEPT = 2**22  # rows of sets that are not drawn again: 32 MB


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """One set of `n_rows` rows: all but those `left_out` (ascending), or those `taken`, in their order and as
    often as they are there. Leave-one-out of many rows stays small."""

    n_rows: int
    left_out: Rows | None = None
    taken: Rows | None = None

    @classmethod
    def of_rows(cls, n_rows: int, rows: npt.ArrayLike) -> TrainingSet:
        """The set of some rows: indices from 0, or a truth value for each row of the table."""
        given = _indices(rows, n_rows)
        if len(given) and 2 * len(given) >= n_rows and ascending(given):
            absent = np.ones(n_rows, dtype=np.bool_)
            absent[given] = False
            return cls(n_rows, left_out=np.flatnonzero(absent))
        return cls(n_rows, taken=given)

    @property
    def has_all(self) -> bool:
        """Whether it was made as the set of all rows, each of them once."""
        return self.taken is None and self.left_out is None

    def __len__(self) -> int:
        """How many rows it has, repeats counted."""
        if self.taken is not None:
            return len(self.taken)
        return self.n_rows - (0 if self.left_out is None else len(self.left_out))

    @property
    def rows(self) -> Rows:
        """The rows, in the order in which they were given."""
        if self.taken is not None:
            return self.taken
        if self.left_out is None:
            return np.arange(self.n_rows)
        return np.flatnonzero(self.times())

    def count(self, codes: npt.NDArray[np.int32], n_codes: int, in_all: Rows) -> Rows:
        """How many of its rows have each code; `in_all` are those of the whole table."""
        if self.taken is not None:
            return np.bincount(codes[self.taken], minlength=n_codes)
        if self.left_out is None:
            return in_all
        return in_all - np.bincount(codes[self.left_out], minlength=n_codes)

    @property
    def absent(self) -> Rows | None:
        """The rows that it leaves out, ascending; None where some row counts more than once."""
        if self.taken is None:
            return np.arange(0) if self.left_out is None else self.left_out
        times = self.times()
        return None if (times > 1).any() else np.flatnonzero(times == 0)

    def times(self) -> npt.NDArray[np.uint8]:
        """How often each row of the table counts."""
        times = np.empty(self.n_rows, dtype=np.uint8)
        self.write_times(times)
        return times

    def write_times(self, to: npt.NDArray[np.uint8]) -> None:
        """The same, written into an array."""
        if self.taken is not None:
            counts = np.bincount(self.taken, minlength=self.n_rows)
            most = int(counts.max(initial=0))
            if most > MOST_REPEATS:
                raise DataError(
                    f"row {int(counts.argmax())} is {most} times in one training set; up to {MOST_REPEATS} "
                    "times are allowed: give it a weight instead"
                )
            to[:] = counts
            return
        to.fill(1)
        if self.left_out is not None:
            to[self.left_out] = 0


def ascending(rows: Rows) -> bool:
    """Whether each row comes after the one before it."""
    return bool((rows[1:] > rows[:-1]).all())


def _indices(rows: npt.ArrayLike, n_rows: int) -> Rows:
    given = np.asarray(rows)
    if given.dtype == np.bool_ and given.shape == (n_rows,):
        return np.flatnonzero(given)
    if given.size == 0:
        return np.arange(0)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise UsageError(
            f"a training set is given by an array of shape {given.shape} and type {given.dtype}; "
            "give a list of row numbers"
        )
    given = given.astype(np.int64, copy=False)
    if given[0] >= 0 and given[-1] < n_rows and ascending(given):
        return given
    if int(given.min()) < -n_rows or int(given.max()) >= n_rows:
        worst = int(given.max()) if int(given.max()) >= n_rows else int(given.min())
        raise UsageError(f"a training set names row {worst}; the table has rows 0 to {n_rows - 1}")
    return np.where(given < 0, given + n_rows, given) if int(given.min()) < 0 else given


@dataclass(frozen=True, eq=False)
class TrainingSets:
    """Several training sets over one table. In cross-validation set 0 is all rows."""

    n_rows: int
    sets: Sequence[TrainingSet]

    @classmethod
    def of_rows(
        cls, n_rows: int, rows: Iterable[npt.ArrayLike], *, all_rows_first: bool = False
    ) -> TrainingSets:
        """A set for each list of row numbers, after that of all rows where it is asked for."""
        first = (TrainingSet(n_rows),) if all_rows_first else ()
        return cls(n_rows, first + tuple(TrainingSet.of_rows(n_rows, some) for some in rows))

    @classmethod
    def of_folds(cls, n_rows: int, folds: Iterable[Rows]) -> TrainingSets:
        """The set of all rows, and for each fold that of all rows but those of the fold."""
        return cls(n_rows, (TrainingSet(n_rows), *(TrainingSet(n_rows, left_out=rows) for rows in folds)))

    @classmethod
    def of_all(cls, n_rows: int) -> TrainingSets:
        """One set of all rows: that of a fit."""
        return cls(n_rows, (TrainingSet(n_rows),))

    @property
    def n_sets(self) -> int:
        return len(self.sets)

    @property
    def alone(self) -> bool:
        """Whether there is only the set of all rows, as in a fit."""
        return len(self.sets) == 1 and self.sets[0].has_all

    def __len__(self) -> int:
        return len(self.sets)

    def __getitem__(self, i: int) -> TrainingSet:
        return self.sets[i]

    def __iter__(self) -> Iterator[TrainingSet]:
        return iter(self.sets)

    def multiplicity(self, begin: int = 0, end: int | None = None) -> npt.NDArray[np.uint8]:
        """[row, set]: how often each row counts in each of the sets `begin` to `end`."""
        return stack(self.n_rows, self.sets[begin:end])

    @cached_property
    def kind(self) -> str:
        """ "folds" where all sets, but for those of all rows at the beginning, leave out the parts of a
        partition of the rows (or of several, one after the other); else "overlapping"."""
        covered, many = np.zeros(self.n_rows, dtype=np.bool_), 0
        folds = [some for i, some in enumerate(self.sets) if i > 0 or len(some) != self.n_rows]
        for some in folds:
            out = some.absent
            if out is None or len(out) == 0 or covered[out].any():
                return "overlapping"
            covered[out] = True
            many += len(out)
            if many == self.n_rows:
                covered[:], many = False, 0
        return "folds" if folds and many == 0 else "overlapping"

    def checked(self, algorithm: str) -> str:
        """The algorithm, if these sets can be grown by it."""
        arguments.one_of("algorithm", algorithm, ALGORITHMS)
        if algorithm == "folds" and self.kind != "folds":
            raise UsageError(
                "algorithm='folds' for training sets that are not the complements of the parts of a "
                "partition; use 'overlapping', 'serial' or 'auto', or another splitter",
                parameter="algorithm",
            )
        return algorithm


class DrawnSets(Sequence[TrainingSet]):
    """Training sets that are drawn when they are asked for; small ones are kept, up to KEPT rows of all."""

    def __init__(self, n_sets: int, draw: Callable[[int], TrainingSet]) -> None:
        self._n_sets, self._draw = n_sets, draw
        self._kept: dict[int, TrainingSet] = {}

    def __len__(self) -> int:
        return self._n_sets

    @overload
    def __getitem__(self, i: int) -> TrainingSet: ...
    @overload
    def __getitem__(self, i: slice) -> list[TrainingSet]: ...
    def __getitem__(self, i: int | slice) -> TrainingSet | list[TrainingSet]:
        if isinstance(i, slice):
            return [self[place] for place in range(*i.indices(len(self)))]
        known = self._kept.get(i)
        if known is None:
            known = self._draw(i)
            if (len(self._kept) + 1) * len(known) <= KEPT:
                self._kept[i] = known
        return known


def stack(n_rows: int, sets: Sequence[TrainingSet]) -> npt.NDArray[np.uint8]:
    """Counts set after set as [row, set], each set in one piece, which it writes itself."""
    table = np.empty((n_rows, len(sets)), dtype=np.uint8, order="F")
    for column, one in zip(table.T, sets, strict=True):
        one.write_times(column)
    return table
