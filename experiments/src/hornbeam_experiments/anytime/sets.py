"""The sets of the experiments: concepts that a seed draws, all boards of a game, all loads, and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hornbeam.datasets import (
    Dataset,
    load,
    make_balance,
    make_multiplex_xor,
    make_multiplexer,
    make_numeric_xor,
    make_tictactoe,
    make_xor,
)
from hornbeam.errors import UsageError
from hornbeam.growth import ClassTarget
from hornbeam.table import Table, encode_classes, from_data
from hornbeam.validation import deal_classes
from hornbeam_experiments.sets import at_hand

FOLDS = 10
NOISE = 0.1
Make = Callable[[int], Dataset]


@dataclass(frozen=True)
class PaperSet:
    """A set: what makes it from a seed, or the files it is read from; two of them are a given division into
    training and test rows. `remark` says what of it is ours."""

    title: str
    make: Make | None = None
    files: tuple[str, ...] = ()
    remark: str = ""

    @property
    def is_divided(self) -> bool:
        return len(self.files) == 2


def _boards(seed: int) -> Dataset:
    return make_tictactoe()


def _loads(seed: int) -> Dataset:
    made = make_balance()
    return replace(made, nominal=tuple(made.X.column_names))


SETS = (
    PaperSet("Glass", files=("glass",)),
    PaperSet("XOR-10", lambda seed: make_xor(10_000, bits=10, seed=seed)),
    PaperSet("Multiplexer-20", lambda seed: make_multiplexer(500, seed=seed), remark="500 rows, as its text"),
    PaperSet("Tic-tac-toe", _boards, remark="all 958 endings"),
    PaperSet(
        "XOR-2",
        lambda seed: make_xor(200, bits=2, irrelevant=8, seed=seed),
        remark="200 rows of 10 bits; the paper gives neither number",
    ),
    PaperSet(
        "XOR-3",
        lambda seed: make_xor(200, bits=3, irrelevant=7, seed=seed),
        remark="200 rows of 10 bits; the paper gives neither number",
    ),
    PaperSet("XOR-5", lambda seed: make_xor(200, bits=5, seed=seed)),
    PaperSet(
        "XOR-5 large",
        lambda seed: make_xor(500, bits=5, seed=seed),
        remark="500 rows; the paper does not say how many",
    ),
    PaperSet(
        "XOR-5 noisy",
        lambda seed: make_xor(200, bits=5, noise=NOISE, seed=seed),
        remark="10 % wrong labels, also among the test rows",
    ),
    PaperSet(
        "XOR-10 noisy",
        lambda seed: make_xor(10_000, bits=10, noise=NOISE, seed=seed),
        remark="10 % wrong labels, also among the test rows; the paper does not say how many",
    ),
    PaperSet(
        "Multiplex-XOR",
        lambda seed: make_multiplex_xor(200, seed=seed),
        remark="each seed has other parities, of 2 to 5 bits; the paper had one set",
    ),
    PaperSet("Numeric-XOR-3D", lambda seed: make_numeric_xor(200, dimensions=3, seed=seed)),
    PaperSet("Numeric-XOR-4D", lambda seed: make_numeric_xor(500, dimensions=4, seed=seed)),
    *(
        PaperSet(f"Monk-{i}", files=(f"monks{i}_train", f"monks{i}_test"), remark="the given division")
        for i in (1, 2, 3)
    ),
    PaperSet("Balance", _loads, remark="all 625 loads; nominal, as the paper's leaves say"),
)


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from and rows to be judged by; `seed` is that of the learner."""

    title: str
    table: Table
    target: ClassTarget
    judge: Table
    judge_codes: npt.NDArray[np.int32]
    seed: int

    def accuracy(self, codes: npt.NDArray[np.generic]) -> float:
        """In % of the rows that were left out."""
        return 100 * float(np.mean(codes == self.judge_codes))


@dataclass(frozen=True, eq=False)
class Loaded:
    """A set of one repetition, encoded as a whole so that all folds have the same categories."""

    source: PaperSet
    table: Table
    target: ClassTarget
    n_train: int | None = None

    @property
    def title(self) -> str:
        return self.source.title

    def folds(self, repetition: int) -> list[Fold]:
        """Ten, dealt by class; of a given division as many times the same, with other seeds."""
        n, first = self.table.n_rows, FOLDS * repetition
        if self.n_train is not None:
            parts = (np.arange(self.n_train), np.arange(self.n_train, n))
            return [self._fold(*parts, first + i) for i in range(FOLDS)]
        dealt = deal_classes(self.target.codes, FOLDS, repetition)
        return [
            self._fold(np.flatnonzero(dealt != i), np.flatnonzero(dealt == i), first + i)
            for i in range(FOLDS)
        ]

    def _fold(self, learn: npt.NDArray[np.int64], judge: npt.NDArray[np.int64], seed: int) -> Fold:
        table, codes = self.table.take(judge), self.target.codes[judge]
        return Fold(self.title, self.table.take(learn), self.target.take(learn), table, codes, seed)


def read(source: PaperSet, repetition: int = 0) -> Loaded:
    """The set of a repetition: generated ones are drawn anew, with their columns in another order."""
    if source.make is not None:
        return _encoded(source, source.make(repetition))
    parts = [load(name) for name in source.files]
    if len(parts) == 1:
        return _encoded(source, parts[0])
    import pyarrow as pa

    first = parts[0]
    rows = pa.concat_tables([part.rows.cast(first.rows.schema) for part in parts])
    whole = Dataset(first.name, first.title, rows, first.targets, first.task, first.nominal)
    return _encoded(source, whole, first.rows.num_rows)


def _encoded(source: PaperSet, made: Dataset, n_train: int | None = None) -> Loaded:
    table = from_data(made.X, nominal_features=list(made.nominal) or "from_dtype")
    return Loaded(source, table, ClassTarget(*encode_classes(made.y)), n_train)


def choose(names: Sequence[str] | None) -> tuple[PaperSet, ...]:
    """The sets of those titles, in any case; all without names."""
    if not names:
        return SETS
    known = {entry.title.casefold() for entry in SETS}
    wanted = [name.strip() for name in names]
    for name in wanted:
        if name.casefold() not in known:
            listed = ", ".join(entry.title for entry in SETS)
            raise UsageError(f"there is no set {name!r} in these experiments; their sets are {listed}")
    folded = {name.casefold() for name in wanted}
    return tuple(entry for entry in SETS if entry.title.casefold() in folded)


def find(
    entries: Sequence[PaperSet], tell: Callable[[str], None]
) -> tuple[list[Loaded], list[tuple[PaperSet, str]]]:
    """Those that are at hand, and those that are not with the reason."""
    tell(f"reading or making {len(entries)} sets")
    return at_hand(entries, read)
