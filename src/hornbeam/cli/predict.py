"""`hornbeam predict`: the answers of a saved model for the rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import common_options, source_options

if TYPE_CHECKING:
    import pyarrow as pa

    from hornbeam.estimators.store import StoredModel
    from hornbeam.estimators.stored_bags import StoredBag
    from hornbeam.model import Tree


@click.command("predict", short_help="Answer for the rows of a file.")
@click.argument("model")
@click.argument("data")
@source_options
@click.option("--proba", is_flag=True, help="Add the share of each class in the leaf.")
@click.option("-o", "--output", metavar="FILE", help="Write the answers here instead of stdout (CSV).")
@common_options
def command(
    model: str, data: str, sql: str | None, proba: bool, threads: int, output: str | None, as_json: bool
) -> None:
    """Answer for every row of DATA with MODEL, a file of hornbeam fit or bag; columns go by name."""
    from .output import check_places, working, write_file
    from .sources import check_source, naming

    check_places(output, sources=[model, data])
    check_source(data)
    from hornbeam.errors import UsageError
    from hornbeam.estimators.store import read_model
    from hornbeam.estimators.stored_bags import StoredBag
    from hornbeam.table import conform, read_path

    stored = read_model(model)
    if proba and not stored.is_classifier:
        raise UsageError(f"--proba: {model!r} predicts numbers and has no classes; leave it out")
    with working("predicting"), naming(data):
        schema = stored.committee.schema if isinstance(stored, StoredBag) else stored.tree.schema
        table = conform(read_path(data, sql=sql), schema, estimator=f"the model {model!r}", what="the data")
        answers = answers_of(stored, table, proba, threads)
    content = json_bytes(answers) if as_json else csv_bytes(answers)
    if output:
        write_file(output, content)
        count = "1 answer" if answers.num_rows == 1 else f"{answers.num_rows} answers"
        click.echo(f"{count} written to {output}", err=True)
    else:
        click.echo(content, nl=False)


def answers_of(stored: StoredModel | StoredBag, table: Any, proba: bool, threads: int) -> pa.Table:
    """A column of predictions (one for each target), and with `proba` one of shares for each class."""
    import numpy as np
    import pyarrow as pa

    from hornbeam.estimators.stored_bags import StoredBag

    if isinstance(stored, StoredBag):
        committee = stored.committee
        tree, said = committee.trees[0], committee.answers(table, threads)
        codes = committee.codes(said) if tree.classes is not None else None
    else:
        tree = stored.tree
        codes, said = _of_tree(tree, table, proba, threads)
    if tree.classes is None:
        names = (
            ["prediction"] if tree.n_targets == 1 else [f"prediction:{name}" for name in tree.targets or ()]
        )
        return pa.table([pa.array(said[:, index]) for index in range(tree.n_targets)], names=names)
    columns, names = [pa.array(list(tree.classes)).take(pa.array(codes))], ["prediction"]
    if proba:
        shares = np.ascontiguousarray(said.T)
        columns += [pa.array(share) for share in shares]
        names += [f"probability:{label}" for label in tree.classes]
    return pa.table(columns, names=names)


def _of_tree(tree: Tree, table: Any, proba: bool, threads: int) -> tuple[Any, Any]:
    """The class codes and, where asked for, shares of each row; of numbers none and the means."""
    if tree.classes is None:
        return None, tree.predict_means(table, threads)
    leaves = tree.apply(table, threads)
    return tree.leaf_class[leaves], tree.probabilities(leaves) if proba else None


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
