"""Frames of Spark: their partitions are parts. Spark makes them in each scan, and hands them over as Arrow.

One RDD of Arrow batches serves all scans: it is planned once, so that every scan finds the same partitions
under the same numbers, and so does whoever makes a lost one again.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hornbeam.distributed.spark_jobs import one_line
from hornbeam.distributed.spark_work import Mapping, Piece
from hornbeam.errors import UsageError
from hornbeam.table.sources.arrow_data import ArrowPart
from hornbeam.table.sources.part import Batches, Origin, choose, show_count
from hornbeam.table.sources.types import normal_schema

_UNORDERED = "its rows have no numbers, so folds need a key"
_EACH_TIME = "Spark makes the rows in each scan: they must be the same, in the same partitions"


def is_spark_frame(data: Any) -> bool:
    """Whether something is a frame of Spark, without importing it."""
    return type(data).__module__.startswith("pyspark.") and hasattr(data, "mapInArrow")


@dataclass(frozen=True)
class SparkPart(ArrowPart):
    """A partition of a frame. Here it is read by a job of its own; engines bring kernels to the rows."""

    rdd: Any
    """Of all partitions, as Arrow batches."""

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        with one_line():
            found = self.rdd.context.runJob(self.rdd, _each, [self.index])
        yield from _batches(found, self.schema.names, columns)


@dataclass(frozen=True)
class ArrivedPart(ArrowPart):
    """A partition that comes to a worker, batch by batch, once."""

    arriving: Iterable[bytes]

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        yield from _batches(self.arriving, self.schema.names, columns)


@dataclass(frozen=True, eq=False)
class FrameParts:
    """The parts of a frame, as an engine maps over them."""

    of: SparkPart
    """Any of them."""
    frame: str
    partitions: int

    def mapped(self, task: Mapping) -> Any:
        return self.of.rdd.mapPartitionsWithIndex(_Arriving(task, self.frame, self.of.schema))


@dataclass(frozen=True, eq=False)
class _Arriving:
    """Lets a kernel see the rows of a partition as a part."""

    task: Mapping
    frame: str
    schema: pa.Schema

    def __call__(self, partition: int, rows: Iterable[Any]) -> Iterator[Piece]:
        shown, arriving = _shown(partition, self.frame), _each(rows)
        part = ArrivedPart(partition, shown, self.schema, None, None, None, arriving)
        return self.task(partition, [part])


def open_spark(data: Any, columns: Sequence[str] | None) -> Origin:
    """A source over a frame of Spark."""
    if ".connect." in type(data).__module__:
        raise UsageError(
            "a frame of Spark Connect has no partitions that kernels can be sent to; use a session that is "
            "not remote, or write the frame to Parquet files"
        )
    with one_line(), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pandas, which nothing here uses
        given = normal_schema(data.limit(0).toArrow().schema, "the Spark frame")
        schema = choose(given, columns)
        # Spark takes points and quotes in a name for its own, so columns go by their numbers.
        numbered = data.toDF(*(f"c{i}" for i in range(len(given))))
        chosen = numbered.select(*(f"c{given.get_field_index(name)}" for name in schema.names))
        rdd = chosen.mapInArrow(_streams, "batch binary").rdd
        partitions: int = rdd.getNumPartitions()
    frame = f"the Spark frame of {show_count(partitions, 'partition')}"
    parts = tuple(SparkPart(i, _shown(i, frame), schema, None, None, None, rdd) for i in range(partitions))
    return Origin(frame, "Spark frame", schema, parts, ordered=False, cannot=(_UNORDERED, _EACH_TIME))


def _shown(partition: int, frame: str) -> str:
    return f"partition {partition} of {frame}"


# ---- on the workers ----


def _streams(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch as a stream of bytes, which can go on to a worker."""
    for batch in batches:
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.record_batch({"batch": pa.array([sink.getvalue()], pa.binary())})


def _each(rows: Iterable[Any]) -> Iterator[bytes]:
    return (row[0] for row in rows)


def _batches(streams: Iterable[bytes], names: list[str], columns: list[str]) -> Batches:
    for stream in streams:
        for batch in pa.ipc.open_stream(stream):
            chosen = batch.rename_columns(names).select(columns)
            yield chosen, chosen.nbytes
