"""`hornbeam generate` of one table: rows given out as they come, as CSV or Parquet, batch by batch."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

import click
import pyarrow as pa

import hornbeam
from hornbeam.datasets.generators import find_family
from hornbeam.datasets.generators.family import RowsHash, TableFamily, batches, count_rows
from hornbeam.datasets.generators.linked import csv_bytes
from hornbeam.errors import UsageError
from hornbeam.files import new_file

from .output import check_places, print_json, print_pairs, style, working

Report = Callable[[float], None] | None
Write = Callable[[pa.RecordBatch], object]
_SHOWN = 12


def run(
    name: str, *, rows: int | None, start: int, output: str, as_json: bool, seed: int = 0, **options: Any
) -> None:
    """Everything is checked before anything is written."""
    if output == "-" and as_json:
        raise UsageError("--json: stdout holds the rows already; name a file for them with -o")
    check_places(None if output == "-" else output)
    form = format_of(output)
    if str(options.get("changed_to", "")).isdecimal():
        options["changed_to"] = int(options["changed_to"])
    family = find_family(name, **options)
    count = count_rows(family, rows, start)
    stream = batches(family, count, seed=seed, start=start)
    tally = RowTally(RowsHash(family), count)
    facts = {"generator": name, **asdict(family), "seed": seed, "start": start, "rows": count}  # type: ignore[call-overload]
    begin = time.perf_counter()
    with working(f"generating {name}") as report:
        try:
            write_rows(output, family, tally.watch(stream, report), facts)
        except KeyboardInterrupt:
            if output != "-":
                raise
            click.echo(f"hornbeam: interrupted after {tally.rows} of {count} rows", err=True)
            raise click.exceptions.Exit(130) from None
    if output == "-":
        return
    made = _summary(family, tally, facts) | {"output": output, "format": form}
    made["seconds"] = time.perf_counter() - begin
    print_json(made) if as_json else _print(made)


@dataclass
class RowTally:
    """What passed by: rows, classes, checksum."""

    hash: RowsHash
    expected: int
    rows: int = 0
    classes: Counter[str] = field(default_factory=Counter)

    def watch(self, stream: Iterator[pa.RecordBatch], report: Report) -> Iterator[pa.RecordBatch]:
        for batch in stream:
            yield batch
            self.hash.add(batch)
            for entry in batch.column(batch.num_columns - 1).value_counts().to_pylist():
                self.classes[str(entry["values"])] += entry["counts"]
            self.rows += batch.num_rows
            if report is not None:
                report(self.rows / self.expected)


def _summary(family: TableFamily, tally: RowTally, facts: dict[str, Any]) -> dict[str, Any]:
    names = family.schema.names
    return {
        **facts,
        "target": names[-1],
        "attributes": names[:-1],
        "nominal": list(family.nominal),
        "relevant": list(family.relevant(facts["seed"])),
        "classes": dict(sorted(tally.classes.items())),
        "hash": tally.hash.hexdigest(),
        "version": hornbeam.__version__,
    }


def _print(made: dict[str, Any]) -> None:
    def listed(names: list[str]) -> str:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return ", ".join(names[:_SHOWN]) + more

    size = os.path.getsize(made["output"])
    written = style(f"{made['rows']:,} rows to {made['output']}", bold=True) + f" ({size:,} bytes)"
    attributes, decided = ("attributes", listed(made["attributes"])), ("decided by", listed(made["relevant"]))
    print_made(made, [("written", written), attributes, target_pair(made), decided])
    click.echo(f"Next: hornbeam fit {shlex.quote(made['output'])} --target {made['target']}")


def target_pair(made: dict[str, Any]) -> tuple[str, str]:
    """The target, and the share of each of its classes."""
    shares = [f"{label} {count / made['rows']:.2%}" for label, count in made["classes"].items()]
    return "target", f"{made['target']} ({', '.join(shares)})"


def print_made(made: dict[str, Any], pairs: list[tuple[str, str]]) -> None:
    """What was made, how long that took, and by what it is known."""
    print_pairs([*pairs, ("time", f"{made['seconds']:.2f} s"), ("hash", made["hash"][:16])])


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
    stream.write((",".join(schema.names) + "\n").encode())
    return lambda batch: stream.write(csv_bytes(batch))


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
