"""`hornbeam predict`: the answers of a saved model for the rows of a file or a source."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from .options import common_options, engine_options, source_options

if TYPE_CHECKING:
    import pyarrow as pa

    from hornbeam.ensemble import Answering
    from hornbeam.estimators.store import StoredModel
    from hornbeam.estimators.stored_bags import StoredBag


@click.command("predict", short_help="Answer for the rows of a file or a source.")
@click.argument("model")
@click.argument("data")
@source_options
@click.option("--proba", is_flag=True, help="Add the share of each class in the leaf.")
@click.option(
    "-o",
    "--output",
    metavar="PLACE",
    help="Write the answers here instead of stdout: a file (CSV, or .parquet), or a new folder (out/) for a "
    "file from each part of DATA.",
)
@click.option(
    "--keep",
    metavar="NAMES",
    multiple=True,
    help="Columns of DATA that stand before the answers: id,day (may be repeated).",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["parquet", "csv"]),
    help="Of the files in a folder.  [default: parquet]",
)
@engine_options
@common_options
def command(**given: Any) -> None:
    """Answer for every row of DATA with MODEL, a file of hornbeam fit or bag; columns go by name.

    A glob, a folder or a database is scanned in bounded memory, and so is anything with --keep, an engine,
    or a folder or Parquet file to write to.
    """
    from .sources import is_scanned

    data, output = given["data"], given["output"]
    asked = {name: given[name] or None for name in ("engine", "scheduler", "keep", "kind")}
    asked["output"] = output if output is not None and _is_scanned_to(output) else None
    if data != "-" and (is_scanned(data, asked) or os.path.isdir(data)):
        from .predict_source import answer_source

        answer_source(given)
    else:
        _answer_table(given)


def _is_scanned_to(output: str) -> bool:
    return output.lower().endswith((".parquet", ".pq", "/", os.sep)) or os.path.isdir(output)


def _answer_table(given: Mapping[str, Any]) -> None:
    """All rows at once."""
    from hornbeam.files import write_file
    from hornbeam.table import conform, read_path

    from .output import check_places, working
    from .sources import check_source, naming

    model, data, output = given["model"], given["data"], given["output"]
    check_places(output, sources=[model, data])
    check_source(data)
    answering = answering_of(model, given["proba"])
    with working("predicting"), naming(data):
        rows = read_path(data, sql=given["sql"])
        table = conform(rows, answering.schema, estimator=f"the model {model!r}", what="the data")
        answers = answering.answers(table, given["threads"])
    content = json_bytes(answers) if given["as_json"] else csv_bytes(answers)
    if output:
        write_file(output, content)
        click.echo(f"{count_of(answers.num_rows)} written to {output}", err=True)
    else:
        click.echo(content, nl=False)


def answering_of(model: str, proba: bool) -> Answering:
    """Whom a model file asks."""
    from hornbeam.ensemble import Answering
    from hornbeam.errors import UsageError
    from hornbeam.estimators.store import read_model
    from hornbeam.estimators.stored_bags import StoredBag

    stored: StoredModel | StoredBag = read_model(model)
    if proba and not stored.is_classifier:
        raise UsageError(f"--proba: {model!r} predicts numbers and has no classes; leave it out")
    if isinstance(stored, StoredBag):
        return Answering(stored.trees, stored.committee.voting, proba)
    return Answering((stored.tree,), None, proba)


def count_of(rows: int) -> str:
    return "1 answer" if rows == 1 else f"{rows} answers"


def csv_bytes(answers: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.csv

    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(answers, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def json_bytes(answers: pa.Table) -> bytes:
    import json

    content = {name: answers.column(name).to_pylist() for name in answers.column_names}
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()
