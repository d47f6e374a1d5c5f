"""`hornbeam predict` over a source: rows in bounded memory, by this process or the workers of a cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import click
from pyarrow import csv

from hornbeam.ensemble.answers import AnswerRequest, kind_of
from hornbeam.errors import UsageError
from hornbeam.estimators.to_source import answer
from hornbeam.table.sources import source

from .fit_source import cluster
from .options import split_names
from .output import check_places, print_json, working
from .predict import answering_of, count_of
from .sources import files_of, naming


def answer_source(given: Mapping[str, Any]) -> None:
    """Answer for all rows of a source, and say how many there were."""
    model, data, output, threads = given["model"], given["data"], given["output"], given["threads"]
    _check(model, data, output, given["kind"], given["as_json"])
    answering = answering_of(model, given["proba"])
    workers = cluster(given["engine"], given["scheduler"], threads)
    with working("predicting"), naming(data), workers as engine:
        rows = source(data, sql=given["sql"])
        rows.engine = engine
        asking = AnswerRequest(answering, rows, split_names(given["keep"]), f"the model {model!r}")
        if output is None:
            _print(asking, threads)
            return
        found = answer(asking, output, given["kind"] or "parquet", threads)
    if given["as_json"]:
        print_json({"rows": found.rows, "files": list(found.files)})
    else:
        click.echo(f"{count_of(found.rows)} written to {output}", err=True)


def _check(model: str, data: str, output: str | None, kind: str | None, as_json: bool) -> None:
    """Refuse what cannot be written before a row is read."""
    if output is None:
        if as_json:
            raise UsageError("--json: answers of a source are many; name a place for them by -o")
        if kind is not None:
            raise UsageError(f"--format {kind} is for a folder of answers; name one by -o out/")
        return
    is_folder = output.endswith(("/", os.sep)) or kind_of(output) is None
    if not is_folder:
        if kind is not None:
            raise UsageError(f"--format {kind} is for a folder of answers; a file has that of its name")
        check_places(output, sources=[model, *files_of(data)])


def _print(asking: AnswerRequest, threads: int) -> None:
    """CSV to stdout, chunk by chunk."""
    if asking.source.engine is not None:
        raise UsageError("the workers of a cluster write their answers themselves; name a folder by -o out/")
    scan = asking.source.scan(asking.columns, checksum=False)
    with csv.CSVWriter(sys.stdout.buffer, asking.schema) as writer:
        for table in asking.batches(scan, asking.source.name, threads):
            writer.write_table(table)
