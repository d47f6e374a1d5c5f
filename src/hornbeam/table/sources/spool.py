"""Rows written to a Parquet file as they go by: the whole file appears under its name, or nothing does."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from hornbeam import arguments
from hornbeam.errors import StorageError
from hornbeam.files import new_file
from hornbeam.table.sources.part import CHUNK_ROWS
from hornbeam.table.sources.types import plain_schema

_GROUP = 2 * CHUNK_ROWS


def spool(scan: Callable[[], Iterator[pa.RecordBatch]], schema: pa.Schema, path: str) -> None:
    """Write all rows of a scan; what exists under the name already is not touched."""
    place = Path(arguments.file_path("path", path))
    if place.suffix != ".parquet" or place.exists():
        why = "exists already" if place.exists() else "does not end with .parquet"
        raise StorageError(f"{path!r} {why}; give the name of a new Parquet file")
    with (
        new_file(path) as file,
        parquet.ParquetWriter(file, plain_schema(schema), write_page_checksum=True) as writer,
    ):
        for group in _groups(scan()):
            writer.write_table(group.cast(writer.schema), row_group_size=_GROUP)


def _groups(chunks: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Chunks put together to row groups, however small they come."""
    held: list[pa.RecordBatch] = []
    for chunk in chunks:
        held.append(chunk)
        if sum(batch.num_rows for batch in held) >= _GROUP:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
