"""What is to be grown from a source, checked: columns, parameters, memory, algorithm, folds."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hornbeam import arguments
from hornbeam.arguments import is_number, shown
from hornbeam.boat.meter import Listener, available_memory
from hornbeam.boat.reading import Reading
from hornbeam.errors import DataError, DataTypeError, UsageError
from hornbeam.growth import ClassCosts, Parameters, Pruning, bytes_of
from hornbeam.growth.memory import text_of
from hornbeam.table.schema import list_names
from hornbeam.table.sources import Source
from hornbeam.table.sources.draws import RowDraws
from hornbeam.table.sources.hashing import MOST_FOLDS
from hornbeam.validation import small_fold

if TYPE_CHECKING:
    from hornbeam.boat.judging import RowSums
    from hornbeam.boat.scans import Scanner
    from hornbeam.model import Tree

LEAST_MEMORY = 32 * 10**6
VARIANTS = ("paper",)
_LEAST_SAMPLE = 1000
_SAMPLE_PART = 8  # of the memory is what a sample may take
_UNBOUNDED = "c45"  # has no bounds; quest needs none, its choice is computed again from sums
_OF_Y = re.compile(r"(?:Input )?\by (has|holds|contains|mixes)\b")

Costs = Callable[[npt.NDArray[Any]], ClassCosts]


class AllInOneFold(DataError):  # noqa: N818 - said of the rows, not of the error
    """Every row is in one fold, so that there are none to grow the tree without it from."""

    def __init__(self, message: str, fold: int) -> None:
        super().__init__(message)
        self.fold = fold


def no_costs(labels: npt.NDArray[Any]) -> ClassCosts:
    """All classes weigh alike."""
    return ClassCosts()


@dataclass(frozen=True)
class Sampling:
    """How a guess is made. The tree does not depend on it; scans and memory do."""

    sample: int = 200_000
    """Rows that are drawn in the first scan, where they take but a part of the memory."""
    bootstraps: int = 20
    rows: int = 50_000
    """Of each bootstrap sample."""
    depth: int = 6
    """Of the bootstrap trees: below, they rarely agree."""
    buckets: int = 4096
    """Of a numeric attribute, where there are two classes; with more classes there are fewer."""
    least: int = 2000
    """Sampled rows of a node that its bootstraps may still speak for."""
    sure: int = 10_000
    """Sampled rows of a node, all of one class, that make it seem a leaf."""


@dataclass(frozen=True)
class SourceTask:
    """One growth from a source. `costs` gives what classes weigh and mistakes cost once labels are known."""

    reading: Reading
    parameters: Parameters
    pruning: Pruning = field(default_factory=Pruning)
    costs: Costs = no_costs
    memory_limit: int | None = None
    algorithm: str = "auto"
    variant: str | None = None
    folds: int | None = None
    """How many to cross-validate by: dealt by the key, or by the numbers of the rows."""
    judging: bool = True
    """Whether the rows of each fold judge the tree without them; where they do not, a fold may be empty."""
    bags: RowDraws | None = None
    """How often rows are in bags, each of which has a tree; there is none of all rows then."""
    outside: Callable[[Sequence[Tree]], RowSums] | None = None
    """What the rows outside of bags are asked of their trees, in one more scan."""
    threads: int = 1
    seed: int = 0
    """Of samples, folds, and the rows that reduced_error keeps out."""
    progress: Listener | None = None
    sampling: Sampling = field(default_factory=Sampling)
    avc_entries: int | None = None
    """How many values of all attributes a scan of RainForest counts at once; None: as memory has room."""
    family_rows: int | None = None
    """The most rows of a family that is finished in memory; None: as many as memory has room for."""
    scanner: Scanner | None = None
    """Who scans the source; None: this process."""

    def __post_init__(self) -> None:
        if self.variant is not None:
            _check_variant(self.variant, self.algorithm)
        if self.folds is not None:
            _check_folds(self.folds, self.reading)
        if self.bags is not None:
            _check_bags(self.reading)
        if self.progress is not None and not callable(self.progress):
            raise UsageError(
                f"{shown('progress', self.progress)}: give a function that takes a Progress, or None",
                parameter="progress",
            )

    @property
    def budget(self) -> int:
        """Bytes that may be taken: the limit, or half of what the machine has to spare."""
        return available_memory() // 2 if self.memory_limit is None else self.memory_limit

    @property
    def sample_rows(self) -> int:
        """How many rows to sample: as many as the paper, where they take but a part of the memory."""
        width = 8 * (len(self.reading.attributes) + len(self.reading.targets) + 1)
        return max(_LEAST_SAMPLE, min(self.sampling.sample, self.budget // _SAMPLE_PART // width))

    @property
    def n_targets(self) -> int:
        """How many numbers are predicted; 0: a class."""
        return 0 if self.reading.classification else len(self.reading.targets)

    @property
    def needs_rows(self) -> str | None:
        """The option that only all rows in memory can serve."""
        if self.pruning.prune in ("error_based", "reduced_error"):
            return f"prune={self.pruning.prune!r}"
        return f"competitors={self.parameters.competitors}" if self.parameters.competitors else None

    @property
    def verifiable(self) -> bool:
        """Whether bounds or sums can tell that a test is the one without counting every value."""
        multiway = self.parameters.nominal == "multiway" and self._has_nominal
        return self.parameters.criterion != _UNBOUNDED and not multiway

    @property
    def several(self) -> str | None:
        """Whose trees are grown beside or instead of that of all rows."""
        if self.bags is not None:
            return "bags"
        return None if self.folds is None else "folds"

    @property
    def _has_nominal(self) -> bool:
        from hornbeam.table.sources import ColumnLabels

        kinds = ColumnLabels(self.reading.schema, self.reading.nominal).schema().attributes
        return any(attribute.kind == "nominal" for attribute in kinds)


@contextmanager
def naming_columns(targets: Sequence[str], weight: str | None) -> Iterator[None]:
    """Errors of what happens inside name the target and the weight."""
    try:
        yield
    except DataError as error:
        target = ", ".join(map(repr, targets))
        text = _OF_Y.sub(lambda found: f"target {target} {found[1]}", str(error))
        text = text if weight is None else text.replace("sample_weight", f"weight {weight!r}")
        if text == str(error):
            raise
        raise type(error)(text) from None


def check_folds(task: SourceTask, sizes: Sequence[int]) -> None:
    """Refuse a fold of all rows, in one line; and where folds judge trees, one without rows, or with too few
    for a score."""
    name, key = task.reading.source.name, task.reading.key
    dealt = f"key {key!r}" if key is not None else "the numbers of the rows"
    if task.judging and 0 in sizes:
        fold = list(sizes).index(0)
        raise DataError(
            f"{name}: fold {fold + 1} of {len(sizes)} has no row, dealt by {dealt}; use fewer folds"
        )
    if max(sizes) == sum(sizes):
        fold = list(sizes).index(max(sizes))
        raise AllInOneFold(f"{name}: fold {fold + 1} of {len(sizes)} has all rows, dealt by {dealt}", fold)
    if not task.judging:
        return
    if not task.reading.classification and min(sizes) < 2:
        raise small_fold(len(sizes), sum(sizes))


def read_as(
    source: Source,
    targets: tuple[str, ...],
    classification: bool,
    nominal: tuple[str, ...],
    key: str | None,
    memory_limit: int | None,
) -> Reading:
    """What of the source is read, and as what."""
    with naming_columns(targets, source.weight):
        return Reading(source, targets, classification, nominal, key, memory_limit)


def check_source(source: Any, taker: str = "fit_source") -> Source:
    """The source, or one line that says how to make one."""
    if isinstance(source, Source):
        return source
    name = type(source).__name__
    made = f"hornbeam.source({source!r})" if isinstance(source, str) and len(source) < 60 else None
    otherwise = ", or use fit(X, y) where the rows are in memory" if taker == "fit_source" else ""
    raise DataTypeError(
        f"{taker} takes a source and was given a {name}; make one by {made or 'hornbeam.source(...)'}"
        f"{otherwise}"
    )


def check_targets(target: Any) -> tuple[str, ...]:
    """One name or several, as names."""
    names = (target,) if isinstance(target, str) else target
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"{shown('target', target)}: give the name of a column, or a list of names", parameter="target"
        )
    return tuple(names)


def check_key(key: Any) -> str | None:
    """The name of the key."""
    if key is not None and not isinstance(key, str):
        raise UsageError(f"{shown('key', key)}: give the name of a column, or None", parameter="key")
    return key


def check_nominal(nominal: Any, source: Source) -> tuple[str, ...]:
    """Further nominal columns, by name: positions say little where targets, key and weight stand between."""
    if isinstance(nominal, str) and nominal == "from_dtype":
        return ()
    entries = list(nominal) if isinstance(nominal, (list, tuple, set, frozenset, np.ndarray)) else [nominal]
    if isinstance(nominal, str) or not all(isinstance(name, str) for name in entries):
        raise UsageError(
            f"{shown('nominal_features', nominal)}: for a source give 'from_dtype' or a list of names; "
            f"it has {list_names(source.schema.names)}",
            parameter="nominal_features",
        )
    return tuple(str(name) for name in entries)


def check_memory(limit: Any) -> int | None:
    """A memory limit in bytes, not below the least that is taken."""
    size = bytes_of(limit)
    if size is not None and size < LEAST_MEMORY:
        raise UsageError(
            f"memory_limit={text_of(size)}: give at least {text_of(LEAST_MEMORY)}", parameter="memory_limit"
        )
    return size


def check_cv(cv: Any) -> int | None:
    """How many folds; splitters want to see all rows, so they are for `fit`."""
    if cv is None:
        return None
    if not is_number(cv, numbers.Integral):
        raise UsageError(
            f"{shown('cv', cv)}: over a source folds are dealt by key= or by row numbers; give how many, "
            "such as cv=10",
            named=("cv", "key"),
        )
    return int(cv)


def _check_variant(variant: Any, algorithm: str) -> None:
    arguments.one_of("variant", variant, VARIANTS, also=", or None")
    if algorithm != "boat":
        raise UsageError(
            f"variant={variant!r} with algorithm={algorithm!r}: it is a way of algorithm='boat'; "
            "ask for that",
            named=("variant", "algorithm"),
        )


def _check_folds(folds: int, reading: Reading) -> None:
    if not 2 <= folds <= MOST_FOLDS:
        raise UsageError(f"cv={folds}: from 2 to {MOST_FOLDS:,} folds are allowed", parameter="cv")
    if reading.key is None and not reading.source.ordered:
        raise UsageError(
            f"cv={folds}: {reading.source.name} may give its rows in another order each time, so their "
            "numbers are no folds; name a column by key=",
            named=("cv", "key"),
        )


def _check_bags(reading: Reading) -> None:
    if reading.source.weight is not None:
        raise UsageError(
            f"weight={reading.source.weight!r}: bags over a source draw all rows alike; leave the weight out",
            parameter="weight",
        )
    if reading.key is None and not reading.source.ordered:
        raise UsageError(
            f"{reading.source.name} may give its rows in another order each time, so bags cannot go by their "
            "numbers; name a column by key=",
            parameter="key",
        )
