"""Rows written to a Parquet file as they go by: the whole file appears under its name, or nothing does."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from hornbeam.errors import StorageError
from hornbeam.table.sources.part import CHUNK_ROWS

_GROUP = 2 * CHUNK_ROWS


def spool(chunks: Iterator[pa.RecordBatch], schema: pa.Schema, path: str) -> None:
    """Write all chunks; what exists under the name already is not touched."""
    place = Path(path)
    if place.suffix != ".parquet" or place.exists():
        why = "exists already" if place.exists() else "does not end with .parquet"
        raise StorageError(f"{path!r} {why}; give the name of a new Parquet file")
    try:
        number, unfinished = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        os.close(number)
    except OSError as error:
        raise StorageError(f"{path!r} cannot be written: {error.strerror}; check the folder") from None
    try:
        with parquet.ParquetWriter(unfinished, schema, write_page_checksum=True) as writer:
            for chunk in chunks:
                writer.write_batch(chunk, row_group_size=_GROUP)
        with open(unfinished, "rb") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, place)
    except OSError as error:
        raise StorageError(
            f"{path!r} cannot be written: {error.strerror or error}; free some space"
        ) from None
    finally:
        Path(unfinished).unlink(missing_ok=True)
