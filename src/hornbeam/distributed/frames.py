"""Frames of Dask: their partitions are parts, made by Dask whenever they are scanned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hornbeam.errors import DataError
from hornbeam.table.sources.arrow_data import ArrowPart, TablePart
from hornbeam.table.sources.part import Batches, Origin, Part, choose, show_count
from hornbeam.table.sources.types import normal_schema

_UNORDERED = "its rows have no numbers, so folds need a key"


def is_dask_frame(data: Any) -> bool:
    """Whether something is a frame of Dask, without importing it."""
    module = type(data).__module__
    return module.startswith(("dask.", "dask_expr.")) and hasattr(data, "to_delayed")


@dataclass(frozen=True)
class DaskPart(ArrowPart):
    """A partition of a frame. Where an engine makes its rows, they come to it on the worker."""

    delayed: Any

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        yield from self.of(self.delayed.compute(scheduler="synchronous")).read(
            columns, chunk_rows, chunk_bytes
        )

    def of(self, frame: Any) -> Part:
        """The same part with its rows."""
        table = _table(frame, self.shown)
        return TablePart(self.index, self.shown, self.schema, self.rows, self.first_row, None, table)


def open_dask(data: Any, columns: Sequence[str] | None) -> Origin:
    """A source over a frame of Dask."""
    partitions = data.to_delayed()
    shown = f"the Dask frame of {show_count(len(partitions), 'partition')}"
    schema = choose(normal_schema(_schema(data, partitions, shown), shown), columns)
    parts = tuple(
        DaskPart(i, f"partition {i} of {shown}", schema, None, None, None, delayed)
        for i, delayed in enumerate(partitions)
    )
    return Origin(shown, "Dask frame", schema, parts, ordered=False, cannot=(_UNORDERED,))


def _schema(data: Any, partitions: Sequence[Any], shown: str) -> pa.Schema:
    """The types that Dask tells; of columns of objects those that the first partition has."""
    schema = _table(data._meta, shown).schema
    unknown = [field.name for field in schema if pa.types.is_null(field.type)]
    if not unknown or not partitions:
        return schema
    first = _table(partitions[0].compute(), shown).schema
    for name in unknown:
        schema = schema.set(schema.get_field_index(name), first.field(name))
    return schema


def _table(frame: Any, shown: str) -> pa.Table:
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"{shown} cannot be read as an Arrow table: {error}; give each column one type"
        ) from None
    return table.replace_schema_metadata(None)
