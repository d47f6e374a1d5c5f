"""The twelve sets of the paper's table 1, and what of them is at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hornbeam.datasets import load
from hornbeam.errors import HornbeamError, UsageError
from hornbeam.growth import ClassTarget, NumericTarget, Parameters, Target
from hornbeam.table import Table, encode_classes, encode_targets, from_data

Rows = npt.NDArray[np.int64]
Entry = TypeVar("Entry")
Read = TypeVar("Read")
MIN_LEAF = 10  # section 4.1.3


@dataclass(frozen=True)
class PaperSet:
    """A set of table 1: its name there, that of the file, and how the file differs from what they had."""

    title: str
    name: str
    complete_rows: bool = False
    remark: str = ""


TABLE_1 = (
    PaperSet("Connect-4", "connect4", remark="67,557 rows, all that UCI has; the paper says 66,617"),
    PaperSet("Adult", "adult_train", complete_rows=True),
    PaperSet("Letter", "letter"),
    PaperSet("Nursery", "nursery"),
    PaperSet("LED", "led7", remark="another draw of the same generator"),
    PaperSet("Pen Digits", "pendigits_train"),
    PaperSet("Mushroom", "mushroom", complete_rows=True),
    PaperSet("Spam", "spambase"),
    PaperSet("Abalone", "abalone"),
    PaperSet(
        "Internet Ads",
        "internet_ads_first998",
        complete_rows=True,
        remark="PARTIAL: 748 complete rows of the first 998, with another balance of classes; not reproduced",
    ),
    PaperSet("Car", "car"),
    PaperSet("Yeast", "yeast"),
)


@dataclass(frozen=True, eq=False)
class Loaded:
    """A set that is read: what is grown from."""

    source: PaperSet
    table: Table
    target: Target
    nominal: int
    numeric: int

    @property
    def title(self) -> str:
        return self.source.title

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def classes(self) -> int | None:
        """How many there are; None where the target is a number."""
        return len(self.target.labels) if isinstance(self.target, ClassTarget) else None

    @cached_property
    def parameters(self) -> Parameters:
        task = "regression" if self.classes is None else "classification"
        criterion = "variance" if self.classes is None else "gini"
        return Parameters(criterion=criterion, min_samples_leaf=MIN_LEAF).checked(task)

    def sample(self, share: float, seed: int) -> Loaded:
        """A share of the rows, drawn at random and kept in their order."""
        if share >= 1:
            return self
        rows = np.random.default_rng(seed).permutation(self.n_rows)[: max(2, round(share * self.n_rows))]
        return self.take(np.sort(rows))

    def take(self, rows: Rows) -> Loaded:
        return replace(self, table=self.table.take(rows), target=self.target.take(rows))


def read(source: PaperSet, most_rows: int | None = None) -> Loaded:
    """The set as the paper had it: only complete rows where it dropped the others."""
    dataset = load(source.name)
    rows = dataset.rows.drop_null() if source.complete_rows else dataset.rows
    attributes, column = rows.drop_columns(list(dataset.targets)), rows.column(dataset.targets[0])
    table = from_data(attributes, nominal_features=list(dataset.nominal) or "from_dtype")
    target: Target
    if dataset.task == "classification":
        target = ClassTarget(*encode_classes(column))
    else:
        target = NumericTarget(encode_targets(column), dataset.targets[:1])
    kinds = [attribute.kind for attribute in table.schema.attributes]
    found = Loaded(source, table, target, kinds.count("nominal"), kinds.count("numeric"))
    return found if most_rows is None else found.sample(most_rows / found.n_rows, seed=0)


def choose(names: Sequence[str] | None) -> tuple[PaperSet, ...]:
    """The sets of those names (titles or files, in any case); all without names."""
    if not names:
        return TABLE_1
    known = {name.casefold(): entry for entry in TABLE_1 for name in (entry.title, entry.name)}
    unknown = [name for name in names if name.strip().casefold() not in known]
    if unknown:
        listed = ", ".join(entry.title for entry in TABLE_1)
        raise UsageError(f"there is no set {unknown[0].strip()!r} in table 1; its sets are {listed}")
    wanted = {known[name.strip().casefold()] for name in names}
    return tuple(entry for entry in TABLE_1 if entry in wanted)


def read_all(
    entries: Sequence[PaperSet], most_rows: int | None
) -> tuple[list[Loaded], list[tuple[PaperSet, str]]]:
    """Those that are at hand, and those that are not with the reason."""
    return at_hand(entries, lambda entry: read(entry, most_rows))


def at_hand(
    entries: Sequence[Entry], read: Callable[[Entry], Read]
) -> tuple[list[Read], list[tuple[Entry, str]]]:
    """What could be read, and what could not with the reason."""
    found, absent = [], []
    for entry in entries:
        try:
            found.append(read(entry))
        except HornbeamError as error:
            absent.append((entry, str(error)))
    if not found:
        raise UsageError(
            f"none of the sets asked for is at hand ({absent[0][1]}); set HORNBEAM_DATA to the directory "
            "that holds their files and schema.csv"
        )
    return found, absent
