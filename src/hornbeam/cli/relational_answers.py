"""What saved models of linked tables answer, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from hornbeam.errors import DataError, UsageError
from hornbeam.estimators.store import RELATIONAL
from hornbeam.estimators.stored_relational import BAGGING, StoredRelational
from hornbeam.files import write_file
from hornbeam.model import read_document, reading
from hornbeam.relational.tree import RelationalTree

from .output import working
from .predict import csv_bytes, json_bytes
from .relational_learn import noting, open_data, plain_keys
from .sources import naming


def read_relational(path: str) -> StoredRelational:
    """A model file of linked tables."""
    with reading(path):
        payload = read_document(path)
        if payload.get("estimator") not in RELATIONAL:
            raise UsageError(f"{path!r} holds a model of one table; use hornbeam show or hornbeam predict")
        return StoredRelational.read(path, payload)


def give_answers(given: Mapping[str, Any]) -> None:
    """The key and the prediction of each example, or why some are predicted as they are."""
    stored = read_relational(given["model"])
    if given["proba"] and stored.tree.task == "regression":
        raise UsageError(f"--proba: {given['model']!r} predicts numbers and has no classes; leave it out")
    if given["keys_to_explain"] and (stored.estimator == BAGGING or given["proba"]):
        raise UsageError(
            "--explain tells the path of one tree; it goes with neither bagged trees nor --proba"
        )
    model = stored.estimate()
    with noting(), working("predicting"), naming(given["data"]):
        data = open_data(given, None)
        if given["keys_to_explain"]:
            content = _explanations(model, data, given)
        else:
            table = _answers(model, data, given["proba"])
            content = json_bytes(table) if given["as_json"] else csv_bytes(table)
    if given["output"]:
        write_file(given["output"], content)
        click.echo(f"answers written to {given['output']}", err=True)
    else:
        click.echo(content, nl=False)


def _answers(model: Any, data: Any, proba: bool) -> Any:
    import pyarrow as pa

    tree = model.trees_[0] if hasattr(model, "trees_") else model.tree_
    keys = model._coded_of(data, tree).examples.keys
    columns, names = (
        [pa.array(plain_keys(keys)), pa.array(model.predict(data).tolist())],
        ["key", "prediction"],
    )
    if proba:
        shares = model.predict_proba(data)
        columns += [pa.array(shares[:, k]) for k in range(shares.shape[1])]
        names += [f"probability:{label}" for label in model.classes_.tolist()]
    return pa.table(columns, names=names)


def _explanations(model: Any, data: Any, given: Mapping[str, Any]) -> bytes:
    import json

    keys = plain_keys(model._coded_of(data, model.tree_).examples.keys)
    by_text = {str(key): key for key in keys}
    unknown = [key for key in given["keys_to_explain"] if key not in by_text]
    if unknown:
        some = ", ".join(repr(text) for text in list(by_text)[:5])
        raise DataError(f"no example has the key {unknown[0]!r}; keys are {some} ...")
    told = [model.explain(by_text[key], data) for key in given["keys_to_explain"]]
    if given["as_json"]:
        return (json.dumps([one.to_record() for one in told], ensure_ascii=False) + "\n").encode()
    return "\n".join(one.to_text() for one in told).encode()


def give_tree(given: Mapping[str, Any]) -> None:
    """A tree in one of its forms."""
    form = "json" if given["as_json"] else given["form"]
    if given["as_json"] and given["form"] not in ("text", "json"):
        raise click.UsageError("--format and --json exclude each other; give one of them")
    if given["dialect"] is not None and form != "sql":
        raise click.UsageError("--dialect is for SQL only; add --format sql, or leave it out")
    if given["depth"] is not None and form not in ("text", "svg"):
        raise click.UsageError("--depth is for text and svg; leave it out")
    stored = read_relational(given["model"])
    content = _shown(stored, _tree(stored, given["which"]), form, given)
    if given["output"]:
        write_file(given["output"], content.encode("utf-8", "replace"))
    else:
        click.echo(content, nl=False)


def _tree(stored: StoredRelational, which: int | None) -> RelationalTree:
    last = len(stored.trees) - 1
    if stored.estimator != BAGGING:
        if which is not None:
            raise click.UsageError(f"--tree {which}: the model has one tree; leave it out")
        return stored.tree
    if which is None or which > last:
        given = "" if which is None else f"--tree {which}: "
        raise click.UsageError(f"{given}the model has {last + 1} trees; name one with --tree, 0 to {last}")
    return stored.trees[which]


def _shown(stored: StoredRelational, tree: RelationalTree, form: str, given: Mapping[str, Any]) -> str:
    if form == "bias":
        return stored.bias.to_text()
    if form == "sql":
        return tree.to_sql(given["dialect"] or "duckdb") + ";\n"
    if form == "json":
        return tree.to_json() + "\n"
    if form == "svg":
        return tree.to_svg(given["depth"])
    if form == "rules":
        return tree.rules().to_text()
    if form == "prolog":
        return tree.to_prolog()
    return tree.to_text("ace") if form == "ace" else tree.to_text("words", given["depth"])
