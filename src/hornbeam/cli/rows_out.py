"""Rows given out as they come, CSV or Parquet, never more than one batch of them in memory."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO

import pyarrow as pa

from hornbeam.datasets.generators.family import TableFamily
from hornbeam.errors import UsageError
from hornbeam.files import new_file

Write = Callable[[pa.RecordBatch], None]


def format_of(place: str) -> str:
    """csv or parquet, by the ending; - is CSV."""
    ending = os.path.splitext(place)[1].lower()
    if place == "-" or ending == ".csv":
        return "csv"
    if ending in (".parquet", ".pq"):
        return "parquet"
    raise UsageError(
        f"-o {place!r}: rows are written to .csv, .parquet or - (CSV on stdout); name such a file"
    )


def write_rows(
    place: str, family: TableFamily, batches: Iterable[pa.RecordBatch], facts: Mapping[str, object]
) -> None:
    """Write all batches to a file, whole or not at all, or to stdout; a Parquet file keeps the `facts`."""
    if place == "-":
        _write_all(_csv_writer(sys.stdout.buffer, family.schema), batches)
        return
    with new_file(place) as file:
        if format_of(place) == "csv":
            _write_all(_csv_writer(file, family.schema), batches)
            return
        with _parquet_writer(file, family, facts) as write:
            _write_all(write, batches)


def _write_all(write: Write, batches: Iterable[pa.RecordBatch]) -> None:
    for batch in batches:
        write(batch)


def _csv_writer(stream: BinaryIO, schema: pa.Schema) -> Write:
    """Plain cells: no name and no label of a generator holds a comma, a quote or a line break."""
    from pyarrow import csv

    options = csv.WriteOptions(include_header=False, quoting_style="none")
    stream.write((",".join(schema.names) + "\n").encode())

    def write(batch: pa.RecordBatch) -> None:
        text = pa.BufferOutputStream()
        csv.write_csv(batch, text, options)
        stream.write(text.getvalue())

    return write


@contextmanager
def _parquet_writer(stream: BinaryIO, family: TableFamily, facts: Mapping[str, object]) -> Iterator[Write]:
    """One row group a batch; a dictionary of many values would only make file and work larger."""
    from pyarrow import parquet

    described = family.schema.with_metadata({"hornbeam.generate": json.dumps(facts)})
    writer = parquet.ParquetWriter(
        stream,
        described,
        compression="snappy",
        use_dictionary=[column.name for column in family.columns() if column.few],
        write_page_checksum=True,
    )
    try:
        yield lambda batch: writer.write_batch(batch.cast(described))
        writer.close()
    except BaseException:
        with suppress(Exception):
            writer.close()
        raise
