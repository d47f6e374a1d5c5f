"""Data that speak Arrow: tables and frames in memory, datasets, streams, and functions that make streams."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hornbeam.errors import DataError, DataTypeError, HornbeamError, first_line
from hornbeam.table.columns import check_names, positional_names
from hornbeam.table.sources.part import PART_ROWS, Batches, Origin, Part, Stamp, choose, show_count
from hornbeam.table.sources.types import normal_schema

_HERE = "its parts cannot be sent to another process"
_GROUPS = (
    "Arrow reads whole row groups of a dataset, so memory grows with them; the files themselves do better"
)


@dataclass(frozen=True)
class ArrowPart(Part):
    """A part whose batches Arrow hands over; its bytes are those of the batches."""

    def failures(self) -> tuple[type[Exception], ...]:
        return pa.ArrowException, OSError

    def refuse(self, error: Exception, rows: int) -> HornbeamError:
        return DataError(f"{self.shown}: reading failed after {rows:,} rows: {first_line(error)}")


@dataclass(frozen=True)
class TablePart(ArrowPart):
    """Neighbouring rows of a table in memory."""

    table: pa.Table

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        for batch in self.table.select(columns).to_batches(max_chunksize=chunk_rows):
            yield batch, batch.nbytes


@dataclass(frozen=True)
class DatasetPart(ArrowPart):
    """A fragment of an Arrow dataset, or a dataset that has a filter, whole."""

    data: Any
    unified: pa.Schema  # the dataset's own, in which each fragment is read

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        from pyarrow import dataset

        how: dict[str, Any] = {"columns": columns, "batch_size": chunk_rows, "use_threads": False}
        if isinstance(self.data, dataset.Fragment):
            how["schema"] = self.unified
        if isinstance(getattr(self.data, "format", None), dataset.ParquetFileFormat):
            how["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(pre_buffer=False)
        for batch in self.data.to_batches(batch_readahead=1, fragment_readahead=1, **how):
            yield batch, batch.nbytes


@dataclass(frozen=True)
class StreamPart(ArrowPart):
    """A stream: an object with the Arrow C stream, or a function that makes one or gives batches."""

    make: Callable[[], Any]

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        for batch in _batches(self.make()):
            absent = [name for name in columns if name not in batch.schema.names]
            if absent:
                raise DataError(f"{self.shown}: column {absent[0]!r} is missing from a batch")
            chosen = batch.select(columns)
            yield chosen, chosen.nbytes


def open_table(data: Any, columns: Sequence[str] | None) -> Origin:
    """A source over an Arrow table or batch, or a pandas or polars frame; most types are not copied."""
    table = _table(data)
    schema = choose(normal_schema(table.schema, "the table"), columns)
    shown = f"the {type(data).__name__} of {table.num_rows:,} rows"
    starts = range(0, max(1, table.num_rows), PART_ROWS)
    parts = tuple(
        TablePart(i, shown, schema, len(cut), start, None, cut)
        for i, start in enumerate(starts)
        for cut in (table.slice(start, PART_ROWS),)
    )
    return Origin(shown, "table in memory", schema, parts)


def _table(data: Any) -> pa.Table:
    pandas = sys.modules.get("pandas")
    try:
        if pandas is not None and isinstance(data, pandas.DataFrame):
            names = check_names(data.columns.tolist()) or positional_names(data.shape[1])
            return pa.Table.from_pandas(data.set_axis(names, axis=1), preserve_index=False)
        return data if isinstance(data, pa.Table) else pa.table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        if isinstance(error, HornbeamError):
            raise
        raise DataError(
            f"the {type(data).__name__} cannot be read as an Arrow table: {first_line(error)}; "
            "give each column one type"
        ) from None


def open_dataset(data: Any, columns: Sequence[str] | None) -> Origin:
    """A source over an Arrow dataset; each of its fragments is a part."""
    from pyarrow import dataset

    shown = f"the {type(data).__name__}"
    unified = data.schema
    schema = normal_schema(choose(unified, columns), shown)
    try:
        fragments = list(data.get_fragments())
    except ValueError:  # a filtered dataset has no fragments
        part = DatasetPart(0, shown, schema, None, 0, None, data, unified)
        return Origin(shown, "Arrow dataset", schema, (part,), cannot=(_GROUPS,))
    parts: list[Part] = []
    start: int | None = 0
    for fragment in fragments:
        path = getattr(fragment, "path", "")
        name = repr(path) if path else shown
        stamp = Stamp.of(path) if os.path.isfile(path) else None  # else it is on another file system
        rows = None
        if isinstance(fragment, dataset.ParquetFileFragment):
            try:
                rows = fragment.metadata.num_rows
            except (pa.ArrowException, OSError) as error:
                raise DataError(f"{name}: reading failed: {first_line(error)}") from None
        parts.append(DatasetPart(len(parts), name, schema, rows, start, stamp, fragment, unified))
        start = None if start is None or rows is None else start + rows
    kind = show_count(len(parts), "fragment")
    return Origin(shown, f"Arrow dataset of {kind}", schema, tuple(parts), cannot=(_GROUPS,))


def open_stream(data: Any, columns: Sequence[str] | None) -> Origin:
    """A source over an object with the Arrow C stream; a reader can be read once, anything else again."""
    once = isinstance(data, pa.RecordBatchReader) or hasattr(data, "__next__")
    reader = data if isinstance(data, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(data)
    shown = f"the {type(data).__name__}"
    schema = choose(normal_schema(reader.schema, shown), columns)
    if not once:
        reader.close()
    part = StreamPart(0, shown, schema, None, 0, None, lambda: reader if once else data)
    cannot = ("it can be read once only: keep it by .spool('rows.parquet')",) if once else ()
    ordered = not type(data).__module__.startswith(("duckdb", "_duckdb"))
    return Origin(shown, "Arrow stream", schema, (part,), not once, ordered, (*cannot, _HERE))


def open_function(make: Callable[[], Any], columns: Sequence[str] | None) -> Origin:
    """A source over a function without arguments that gives the rows anew each time it is called."""
    shown = f"the function {getattr(make, '__qualname__', type(make).__name__)!r}"
    made = make()
    given = getattr(made, "schema", None)
    if not isinstance(given, pa.Schema):
        first = next(iter(_batches(made)), None)
        if first is None:
            raise DataError(f"{shown} gives no rows; at least one is needed")
        given = first.schema
    schema = choose(normal_schema(given, shown), columns)
    part = StreamPart(0, shown, schema, None, 0, None, make)
    return Origin(shown, "function that gives batches", schema, (part,), cannot=(_HERE,))


def _batches(data: Any) -> Iterator[pa.RecordBatch]:
    if is_table(data):
        yield from _table(data).to_batches()
    elif not isinstance(data, pa.RecordBatchReader) and hasattr(data, "__arrow_c_stream__"):
        with pa.RecordBatchReader.from_stream(data) as reader:
            yield from reader
    elif isinstance(data, Iterable):
        for batch in data:
            if not isinstance(batch, pa.RecordBatch):
                raise DataTypeError(f"a {type(batch).__name__} among the batches; give Arrow record batches")
            yield batch
    else:
        raise DataTypeError(f"a {type(data).__name__} instead of batches; give Arrow batches or a stream")


def is_table(data: Any) -> bool:
    """Whether all rows are in memory: an Arrow table or batch, a pandas or polars frame."""
    return isinstance(data, (pa.Table, pa.RecordBatch)) or type(data).__name__ == "DataFrame"
