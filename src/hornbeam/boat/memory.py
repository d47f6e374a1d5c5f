"""The algorithm "memory": one scan gathers all rows in a table, from which the trees grow."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam import _core
from hornbeam.boat.chunks import folds_of, words_of
from hornbeam.boat.grown import SourceGrowth
from hornbeam.boat.meter import Meter
from hornbeam.boat.reading import Report
from hornbeam.boat.survey import Range
from hornbeam.boat.task import SourceTask, check_folds
from hornbeam.errors import DataError
from hornbeam.growth import (
    ClassTarget,
    DrawnSets,
    NumericTarget,
    Pair,
    TableGrower,
    Target,
    TrainingSet,
    TrainingSets,
    draw_seed,
    grow_and_prune,
    grow_sets,
    prune_tree,
)
from hornbeam.growth.memory import memory_needed, text_of
from hornbeam.table import (
    MAX_CATEGORIES,
    MAX_ROWS,
    Attribute,
    Column,
    Schema,
    Table,
    encode_classes,
    encode_targets,
)
from hornbeam.table.arrow import read_chunked
from hornbeam.table.columns import Array, Cells, Mask
from hornbeam.table.labels import as_nominal, check_labels
from hornbeam.table.sources.hashing import Words
from hornbeam.table.targets import no_weight
from hornbeam.validation import estimate_by_folds, grow_folds

_FIRST = 1 << 17  # rows that a column has room for at first
_SHOWN_ROWS = 10_000  # that columns are described by
_CELL = 8  # bytes of a cell of the table itself


class GatheredTable:
    """The table that `from_data` would make of all rows; `rows` is how many there will be, where known."""

    def __init__(self, schema: pa.Schema, nominal: Collection[str], rows: int | None) -> None:
        self._nominal, self._room, self.n_rows = set(nominal), rows or _FIRST, 0
        self._columns = {name: GatheredColumn(name) for name in schema.names}

    def add(self, chunk: pa.RecordBatch) -> None:
        """Take in the rows of a chunk."""
        begin, end = self.n_rows, self.n_rows + chunk.num_rows
        if end > MAX_ROWS:
            raise DataError(f"more than {MAX_ROWS} rows; so many are allowed in memory: use a sample of them")
        while self._room < end:
            self._room += self._room // 2
        for name, column in self._columns.items():
            cells = read_chunked(pa.chunked_array([chunk.column(name)]), name)
            column.add(as_nominal(cells, name) if name in self._nominal else cells, begin, end, self._room)
        self.n_rows = end

    def table(self) -> Table:
        """The table of the rows until now; nothing can be added afterwards."""
        made = [column.finish(self.n_rows) for column in self._columns.values()]
        attributes = tuple(attribute for attribute, _ in made)
        return Table(Schema(attributes, True), tuple(column for _, column in made), self.n_rows)


class GatheredColumn:
    """One column: values in an array that grows by half where its end is not known."""

    def __init__(self, name: str) -> None:
        self._name, self._type = name, ""
        self._values: Array = np.empty(0)
        self._missing: Mask | None = None
        self._codes: dict[str, int] = {}

    def add(self, cells: Cells, begin: int, end: int, room: int) -> None:
        """Write the cells of rows begin to end."""
        if not self._type:
            self._type = cells.type
            self._values = np.empty(room, dtype=cells.values.dtype)
        self._values = _with_room(self._values, room)
        if cells.type == "nominal":
            self._values[begin:end] = self._coded(cells)
            return
        self._values[begin:end] = cells.values
        if cells.missing is not None and self._missing is None:
            self._missing = np.zeros(room, dtype=np.uint8)
        if self._missing is not None:
            self._missing = _with_room(self._missing, room)
            self._missing[begin:end] = 0 if cells.missing is None else cells.missing

    def _coded(self, cells: Cells) -> npt.NDArray[np.int32]:
        """Codes by the order in which labels came; -1 is missing."""
        known = self._codes
        places = [known.setdefault(label, len(known)) for label in cells.labels]
        if len(known) > MAX_CATEGORIES:
            check_labels(list(known), self._name)
        coded: npt.NDArray[np.int32] = np.array([*places, -1], dtype=np.int32)[cells.values]
        return coded

    def finish(self, rows: int) -> tuple[Attribute, Column]:
        """The attribute and its column, labels sorted by their bytes."""
        values = self._values[:rows]
        if self._type != "nominal":
            missing = None if self._missing is None else self._missing[:rows]
            kind = "float" if self._type == "float64" else "integer"
            return Attribute(self._name, "numeric", self._type), Column(
                kind,  # type: ignore[arg-type]
                values,
                missing,
            )
        labels = check_labels(sorted(self._codes), self._name)
        ranks = np.full(len(labels) + 1, -1, dtype=np.int32)  # -1 finds the last one
        for rank, label in enumerate(labels):
            ranks[self._codes[label]] = rank
        np.take(ranks, values, out=values, mode="wrap")
        return Attribute(self._name, "nominal", "nominal", labels), Column("nominal", values)


def _with_room(values: Array, room: int) -> Array:
    if len(values) >= room:
        return values
    grown = np.empty(room, dtype=values.dtype)
    grown[: len(values)] = values
    return grown


class Outgrown(DataError):  # noqa: N818 - said of the rows, not of the error
    """The rows, so many were known or counted, need more memory than the room that they may take."""

    def __init__(self, message: str, rows: int = 0, room: str = "") -> None:
        super().__init__(message, named=("memory_limit", "min_samples_leaf", "max_depth"))
        self.rows, self.room = rows, room


def memory_for(task: SourceTask, rows: int) -> int:
    """Bytes that so many rows need for sure at most: the table, and growing from it."""
    reading = task.reading
    width = len(reading.attributes)
    numbers = 8 if reading.classification else len(reading.targets)
    return _CELL * rows * (width + len(reading.targets) + 1) + memory_needed(
        rows, width, numbers, task.parameters
    )


def grow_in_memory(task: SourceTask, meter: Meter, limit: int | None) -> SourceGrowth:
    """All rows read once, then grown from; Outgrown where they are not sure to fit the limit."""
    known = task.reading.source.rows
    if known is not None:
        _check_fits(task, known, limit)
    with meter.scan("reading") as report:
        table, target, dealt = _gather(task, limit, report)
    meter.held_rows, meter.families = table.n_rows, 1
    labels = target.labels if isinstance(target, ClassTarget) else None
    seen = SourceGrowth((), labels, table.n_rows, sample_of(table), ranges_of(table))
    with meter.phase("growing") as share:
        if task.bags is not None:
            assert dealt is not None
            return _grow_bags(task, table, target, dealt.view(np.uint64), limit, seen, share)
        if dealt is not None:
            return _grow_folds(task, table, target, dealt, limit, seen, share)
        if task.pruning.prune in ("error_based", "reduced_error"):
            random = np.random.RandomState(task.seed)
            how = task.parameters, task.pruning
            pair = grow_and_prune(table, target, *how, random=random, threads=task.threads, report=share)
            return replace(seen, pairs=(pair,))
        encoded = _core.encode(table.native(), table.n_rows, task.threads)
        table = _without_cells(table)  # growing reads the encoded table alone
        grower = TableGrower(table, target, task.parameters, threads=task.threads, encoded=encoded)
        del encoded
        grown = grower.tree(grower.grow(report=share), 0)
        tree = prune_tree(grown, task.pruning, criterion=task.parameters.criterion)
        return replace(seen, pairs=(Pair(tree, grown),))


def _grow_folds(
    task: SourceTask,
    table: Table,
    target: Target,
    folds: npt.NDArray[np.int64],
    limit: int | None,
    seen: SourceGrowth,
    share: Callable[[float], None],
) -> SourceGrowth:
    assert task.folds is not None
    check_folds(task, np.bincount(folds, minlength=task.folds).tolist())
    what = table, target, task.parameters, folds
    how: dict[str, Any] = {
        "pruning": task.pruning,
        "seed": task.seed,
        "threads": task.threads,
        "memory_limit": limit,
        "report": share,
    }
    estimate = None
    if task.judging:
        forest, estimate = estimate_by_folds(*what, **how)
    else:
        forest = grow_folds(*what, task.folds, **how)
    return replace(seen, pairs=tuple(map(forest.pair, range(forest.n_sets))), estimate=estimate)


def _grow_bags(
    task: SourceTask,
    table: Table,
    target: Target,
    words: Words,
    limit: int | None,
    seen: SourceGrowth,
    share: Callable[[float], None],
) -> SourceGrowth:
    """The trees of all bags, from training sets that have each row as often as its word says."""
    bags = task.bags
    assert bags is not None

    def drawn(i: int) -> TrainingSet:
        rows = bags.rows(words, i)
        if not len(rows):
            raise DataError("a bag has no row; give more rows, or a larger max_samples")
        return TrainingSet(table.n_rows, taken=rows)

    pairs: list[Pair] = []
    holds_out = task.pruning.holds_out
    grow_sets(
        table,
        target,
        task.parameters,
        TrainingSets(table.n_rows, DrawnSets(len(bags), drawn)),
        pruning=task.pruning,
        random=[draw_seed(np.random.RandomState(seed)) for seed in bags.seeds] if holds_out else None,
        threads=task.threads,
        memory_limit=limit,
        report=share,
        visit=lambda _, pair: pairs.append(pair),
    )
    return replace(seen, pairs=tuple(pairs))


def _without_cells(table: Table) -> Table:
    """The same table to ask about its columns, without what is in them."""
    columns = tuple(Column(column.kind, column.values[:0].copy()) for column in table.columns)
    return Table(table.schema, columns, table.n_rows)


def _check_fits(task: SourceTask, rows: int, limit: int | None) -> None:
    if limit is not None and memory_for(task, rows) > limit:
        raise outgrown(task, rows, limit)


def outgrown(task: SourceTask, rows: int, limit: int) -> Outgrown:
    """The one line for rows that need more than they may take."""
    so_many = "the" if task.reading.source.rows == rows else "the first"
    return Outgrown(
        f"memory_limit={text_of(limit)}: {so_many} {rows:,} rows of {task.reading.source.name} may need "
        f"{text_of(memory_for(task, rows))} in memory; allow as much, or limit the tree by min_samples_leaf "
        "or max_depth",
        rows,
        text_of(limit),
    )


def _gather(
    task: SourceTask, limit: int | None, report: Report
) -> tuple[Table, Target, npt.NDArray[np.int64] | None]:
    """The encoded table, the target and of each row the fold, or the word that bags go by, in one scan."""
    reading = task.reading
    gathered = GatheredTable(reading.schema, reading.nominal, reading.source.rows)
    targets: list[list[pa.Array]] = [[] for _ in reading.targets]
    weights: list[npt.NDArray[np.float64]] = []
    dealt: list[npt.NDArray[np.int64]] = []
    for first, chunk in reading.scan(report):
        _check_fits(task, first + chunk.num_rows, limit)
        with reading.naming(first):
            gathered.add(chunk)
            for column, name in zip(targets, reading.targets, strict=True):
                column.append(chunk.column(name))
            weight = reading.weights(chunk)
            if weight is not None:
                weights.append(weight)
        if task.folds is not None:
            dealt.append(folds_of(reading, chunk, first, task.folds, task.seed).astype(np.int64))
        elif task.bags is not None:
            with reading.naming(first):
                dealt.append(words_of(reading, chunk, first).view(np.int64))
    with reading.naming():
        table = gathered.table()
        target = _target(task, targets, np.concatenate(weights) if weights else None)
    all_dealt = np.concatenate(dealt) if dealt else None
    if target.weights is None or target.weights.all():
        return table, target, all_dealt
    heavy = np.flatnonzero(target.weights)  # rows of weight 0 leave their labels and nothing else
    return table.take(heavy), target.take(heavy), None if all_dealt is None else all_dealt[heavy]


def _target(
    task: SourceTask, chunks: list[list[pa.Array]], weights: npt.NDArray[np.float64] | None
) -> Target:
    if weights is not None and not weights.any():
        raise no_weight()
    columns = [pa.chunked_array(column) for column in chunks]
    if task.reading.classification:
        codes, labels = encode_classes(columns[0])
        return ClassTarget(codes, labels, weights, task.costs(labels))
    values = np.column_stack([encode_targets(column) for column in columns])
    return NumericTarget(np.ascontiguousarray(values), task.reading.targets, weights)


def sample_of(table: Table) -> Table:
    """Some rows of a table, evenly spaced."""
    step = max(1, -(-table.n_rows // _SHOWN_ROWS))
    return table.take(np.arange(0, table.n_rows, step))


def ranges_of(table: Table) -> tuple[Range, ...]:
    """The range of each attribute of a table."""
    return tuple(map(_range, table.columns))


def _range(column: Column) -> Range:
    values = column.values
    if column.kind == "nominal":
        return Range(None, None, int(np.count_nonzero(values < 0)))
    if column.kind == "float":
        missing = int(np.count_nonzero(np.isnan(values)))
        if missing == len(values):
            return Range(None, None, missing)
        return Range(float(np.nanmin(values)), float(np.nanmax(values)), missing)
    missing = 0 if column.missing is None else int(np.count_nonzero(column.missing))
    if missing == len(values):
        return Range(None, None, missing)
    known = values if not missing or column.missing is None else values[column.missing == 0]
    return Range(int(known.min()), int(known.max()), missing)
