"""The five sets of John's table 1, and how each is divided into training and test rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hornbeam.datasets import Dataset, load
from hornbeam.datasets.generators.family import batches
from hornbeam.errors import DataError, UsageError
from hornbeam_experiments.cvc45.financial import Financial
from hornbeam_experiments.sets import at_hand

if TYPE_CHECKING:
    import pyarrow as pa

Rows = npt.NDArray[np.int64]
FINANCIAL_SEED = 0


@dataclass(frozen=True)
class PaperSet:
    """A set of the table: sizes of its parts, the file or files it is read from, what differs from theirs.
    Two files are a division that is given; one is divided at random."""

    title: str
    train: int
    test: int
    files: tuple[str, ...]
    remark: str = ""

    @property
    def shown(self) -> str:
        """The title, wherever figures of ours stand beside it."""
        return self.title if self.files else f"{self.title} (stand-in)"


TABLE_1 = (
    PaperSet("Breast", 466, 233, ("breast_cancer_wisconsin",)),
    PaperSet("Pima", 512, 256, ("pima_diabetes",)),
    PaperSet("Credit", 490, 200, ("credit_approval",)),
    PaperSet("Monk-2", 169, 432, ("monks2_train", "monks2_test"), "the division that everybody uses"),
    PaperSet(
        "Financial",
        250,
        150,
        (),
        "STAND-IN: the paper's set was never published; a generated set of the same size, not its rows",
    ),
)


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows: attributes, and the class of each row."""

    train: tuple[pa.Table, pa.ChunkedArray]
    test: tuple[pa.Table, pa.ChunkedArray]


@dataclass(frozen=True, eq=False)
class Loaded:
    """A set that is read: all its rows, and those that a given division trains on."""

    source: PaperSet
    rows: pa.Table
    target: str
    nominal: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.source.title

    @property
    def is_divided(self) -> bool:
        """Whether its one division is given."""
        return len(self.source.files) > 1

    def divide(self, number: int) -> tuple[Rows, Rows]:
        """Training and test rows of random division `number`; of a given one whatever the number."""
        n = self.rows.num_rows
        order = np.arange(n) if self.is_divided else np.random.default_rng(number).permutation(n)
        return order[: self.source.train], order[self.source.train :]

    def split(self, number: int) -> Split:
        train, test = ((self._take(rows)) for rows in self.divide(number))
        return Split(train, test)

    def _take(self, rows: Rows) -> tuple[pa.Table, pa.ChunkedArray]:
        some = self.rows.take(rows)
        return some.drop_columns([self.target]), some.column(self.target)


def read(source: PaperSet) -> Loaded:
    """The set as it is at hand; its sizes must be the paper's."""
    import pyarrow as pa

    if not source.files:
        family = Financial()
        count = source.train + source.test
        rows = pa.Table.from_batches(list(batches(family, count, seed=FINANCIAL_SEED)))
        return _sized(Loaded(source, rows, "class", family.nominal))
    parts: list[Dataset] = [load(name) for name in source.files]
    first = parts[0]
    rows = pa.concat_tables([part.rows.cast(first.rows.schema) for part in parts])
    return _sized(Loaded(source, rows, first.targets[0], first.nominal))


def _sized(loaded: Loaded) -> Loaded:
    source, found = loaded.source, loaded.rows.num_rows
    if found != source.train + source.test:
        raise DataError(
            f"{source.title} has {found} rows; the paper's {source.train} + {source.test} are needed: "
            "take the whole file of UCI"
        )
    return loaded


def choose(names: Sequence[str] | None) -> tuple[PaperSet, ...]:
    """The sets of those titles, in any case; all without names."""
    if not names:
        return TABLE_1
    known = {entry.title.casefold(): entry for entry in TABLE_1}
    wanted = [name.strip() for name in names]
    for name in wanted:
        if name.casefold() not in known:
            listed = ", ".join(entry.title for entry in TABLE_1)
            raise UsageError(f"there is no set {name!r} in table 1; its sets are {listed}")
    return tuple(entry for entry in TABLE_1 if entry.title.casefold() in {name.casefold() for name in wanted})


def read_all(
    entries: Sequence[PaperSet], tell: Callable[[str], None]
) -> tuple[list[Loaded], list[tuple[PaperSet, str]]]:
    """Those that are at hand, and those that are not with the reason."""
    tell(f"reading {len(entries)} of the sets of table 1")
    return at_hand(entries, read)
