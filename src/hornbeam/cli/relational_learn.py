"""What `hornbeam relational fit` learns: data opened by its kind, parameters, the tree and its folds."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import click
import numpy as np

from hornbeam.errors import DataError, StorageError, UsageError
from hornbeam.estimators.stored_relational import StoredRelational
from hornbeam.relational.bias import Bias
from hornbeam.relational.data import RelationalData
from hornbeam.relational.database import Examples
from hornbeam.report import Score, score_classes, score_numbers
from hornbeam.report.relational import RelationalStudy
from hornbeam.table.sources.sqlite_queries import is_sqlite

from .options import split_names
from .output import working
from .sources import data_name, naming

_DUCKDB = (".duckdb", ".ddb", ".db")
_PARAMETERS = (
    "criterion",
    "min_samples_leaf",
    "lookahead",
    "max_depth",
    "prune",
    "confidence",
    "ftest",
    "budget",
)


class RelationalLearned(NamedTuple):
    """A fitted tree, where it comes from, and what there is to say of it."""

    model: Any
    data: RelationalData
    study: RelationalStudy


def open_data(given: Mapping[str, Any], target: str | None) -> RelationalData:
    """The tables of a file or a folder, by what it is."""
    path = given["data"]
    options = _options(given, target)
    if not os.path.lexists(path):
        raise StorageError(f"cannot read {path!r}: there is no such file or directory; check the path")
    if given["prolog_seconds"] is not None and not path.endswith(".s"):
        raise UsageError("--prolog-seconds is for a settings file of ACE (.s); leave it out")
    with working(f"reading {data_name(path)}"), naming(path):
        if os.path.isdir(path):
            return RelationalData.from_csv_folder(path, **options)
        if path.endswith(".s"):
            if any(value for name, value in options.items() if name != "target"):
                raise UsageError("a settings file of ACE names its own tables; leave such options out")
            return RelationalData.from_ace(path, prolog_seconds=given["prolog_seconds"] or 60.0)
        if is_sqlite(path):
            return RelationalData.from_sqlite(path, **options)
        if path.lower().endswith(_DUCKDB):
            return RelationalData.from_duckdb(path, **options)
    raise UsageError(
        f"{path!r} is no kind of linked tables; give a DuckDB file ({', '.join(_DUCKDB)}), an SQLite file, "
        "a folder of CSV or Parquet files, or a settings file of ACE (.s)"
    )


def _options(given: Mapping[str, Any], target: str | None) -> dict[str, Any]:
    """The options of the data that were given; those left out stay out."""
    references: dict[str, dict[str, str]] = {}
    for entry in given["references"]:
        column, found, to = entry.partition("=")
        table, name = _column("--reference", column if found else "")
        references.setdefault(table, {})[name] = to
    options = {
        "target": target,
        "tables": split_names(given["tables"]) or None,
        "keys": dict(_column("--key", entry) for entry in given["keys"]) or None,
        "references": references or None,
        "exclude": list(given["exclude"]),
        "time_columns": dict(_column("--time", entry) for entry in given["times"]) or None,
        "example_time": given["example_time"],
    }
    return {name: value for name, value in options.items() if value}


def _column(option: str, text: str) -> tuple[str, str]:
    table, _, column = text.rpartition(".")
    if not table or not column:
        shape = "TABLE.COLUMN=TABLE" if option == "--reference" else "TABLE.COLUMN"
        raise UsageError(f"{option} {text!r}: write {shape}, for instance orders.customer_id")
    return table, column


def bias_of(given: Mapping[str, Any], data: RelationalData) -> Bias:
    """The declarations of a file, those of the data, or those that keys and references suggest."""
    if given["bias"] is not None:
        with naming(given["bias"]):
            return Bias.from_text(_read_text(given["bias"]))
    if data.bias is not None:
        return data.bias
    if data.target is None:
        raise UsageError("--target is missing: name the column to predict, for instance customers.churn")
    hops = {} if given["max_hops"] is None else {"max_hops": given["max_hops"]}
    return data.default_bias(**hops)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        from hornbeam.files import reason

        raise StorageError(f"cannot read {path!r}: {reason(error)}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--bias {path!r} is no text; give a file of mode declarations") from None


@contextmanager
def noting() -> Iterator[None]:
    """What the package warns of, each once, as a line on stderr."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(" ".join(str(warning.message).split()) for warning in heard):
        click.echo(f"note: {text}", err=True)


def print_bias(given: Mapping[str, Any]) -> None:
    with noting():
        bias = bias_of(given, open_data(given, given["target"]))
    click.echo(bias.to_text(), nl=False)


def fitted(given: Mapping[str, Any]) -> RelationalLearned:
    """The tree of DATA, and with --cv those of the folds, which come from the same growth."""
    with noting():
        return _fitted(given)


def _fitted(given: Mapping[str, Any]) -> RelationalLearned:
    data = open_data(given, given["target"])
    bias = bias_of(given, data)
    with naming(given["data"]):
        examples = data.coded(bias, given["task"], given["target"]).examples
        groups = _groups(given, data)
    task = examples.task
    kind = _class(task)
    parameters = {name: value for name, value in data.parameters.items() if name in kind().get_params()}
    parameters |= {name: given[name] for name in _PARAMETERS if given[name] is not None}
    if task == "classification" and given["ftest"] is not None:
        raise UsageError("--ftest judges tests of numbers, and classes are predicted here; leave it out")
    if parameters.get("prune") == "none":
        parameters["prune"] = None
    if task == "regression" and given["prune"] is None:
        parameters["prune"] = None
    model = kind(bias, **parameters, cv=_folds(given, examples), n_jobs=given["threads"])
    begin = perf_counter()
    with working("growing the tree") as report, naming(given["data"]):
        model._fit(data, given["target"], groups, report)
    return RelationalLearned(model, data, _study(model, given, perf_counter() - begin))


def _study(model: Any, given: Mapping[str, Any], seconds: float) -> RelationalStudy:
    folds = given["cv"] is not None
    return RelationalStudy(
        model.tree_,
        model.target_,
        _training_score(model),
        estimate=model.estimate_ if folds else None,
        stability=model.forest_.stability() if folds else None,
        parameters=StoredRelational.of(model).parameters,
        seed=given["seed"] if folds else None,
        seconds=seconds,
        title=f"A tree for {model.target_}",
        bias=model.bias_.to_text(),
    )


def _training_score(model: Any) -> Score:
    """How well the tree answers for the examples that it was grown from."""
    from hornbeam.estimators.relational import labelled_rows, node_answers, node_codes

    examples, tree = model._coded.examples, model.tree_
    rows, leaves = labelled_rows(examples), model.apply(model._data)
    actual, reached = examples.target[rows], leaves[rows]
    if tree.task == "regression":
        answers = node_answers(tree)
        return score_numbers(actual[:, None], answers[reached], answers[0], False)
    codes = node_codes(tree).astype(np.int32)
    return score_classes(actual.astype(np.int32), codes[reached], tree.code(0), False)


def _class(task: str) -> Any:
    from hornbeam.estimators.relational_tree import RelationalTreeClassifier, RelationalTreeRegressor

    return RelationalTreeClassifier if task == "classification" else RelationalTreeRegressor


def _groups(given: Mapping[str, Any], data: RelationalData) -> Any:
    if given["groups"] is None:
        return None
    if given["cv"] is None:
        raise UsageError("--groups keeps examples in one fold; add --cv K, or leave it out")
    return data.groups(given["groups"], given["target"])


def _folds(given: Mapping[str, Any], examples: Examples) -> Any:
    """How examples are dealt: by class where there are classes, by group where groups are given."""
    n_folds, seed = given["cv"], given["seed"]
    if n_folds is None:
        return None
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    classes = examples.task == "classification"
    _check_folds(n_folds, examples)
    if given["groups"] is not None:
        return (
            StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed) if classes else GroupKFold(n_folds)
        )
    return (StratifiedKFold if classes else KFold)(n_folds, shuffle=True, random_state=seed)


def _check_folds(n_folds: int, examples: Examples) -> None:
    target = examples.target
    if target is None:
        return
    if examples.task == "regression":
        known = int((~np.isnan(target)).sum())
        if n_folds > known:
            raise DataError(f"{n_folds} folds, but there are {known} examples; use fewer folds")
        return
    largest = int(np.bincount(np.asarray(target)[np.asarray(target) >= 0], minlength=1).max())
    if n_folds > largest:
        raise DataError(
            f"{n_folds} folds, but no class has as many examples (the largest has {largest}); use fewer folds"
        )


def plain_keys(keys: Any) -> Sequence[Any]:
    """The keys of examples as Python's values."""
    return np.asarray(keys).tolist()  # type: ignore[no-any-return]
