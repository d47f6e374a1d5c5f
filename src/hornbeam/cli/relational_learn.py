"""What `hornbeam relational fit` learns: data opened by its kind, parameters, the tree and its folds."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np

from hornbeam.errors import StorageError, UsageError
from hornbeam.relational.bias import Bias
from hornbeam.relational.data import RelationalData
from hornbeam.table.sources.sqlite_queries import is_sqlite

from .output import working
from .plan import naming_options
from .sources import data_name, naming

_DUCKDB = (".duckdb", ".ddb", ".db")
_PARAMETERS = ("criterion", "min_samples_leaf", "lookahead", "max_depth", "prune", "confidence", "budget")


@dataclass(frozen=True)
class RelationalLearned:
    """A fitted tree and where it comes from."""

    model: Any
    data: RelationalData
    bias_given: bool
    seconds: float


def open_data(given: Mapping[str, Any], target: str | None) -> RelationalData:
    """The tables of a file or a folder, by what it is."""
    path = given["data"]
    options = _options(given, target)
    if not os.path.lexists(path):
        raise StorageError(f"cannot read {path!r}: there is no such file or directory; check the path")
    with working(f"reading {data_name(path)}"), naming(path):
        if os.path.isdir(path):
            return RelationalData.from_csv_folder(path, **options)
        if path.endswith(".s"):
            if any(value for name, value in options.items() if name != "target"):
                raise UsageError("a settings file of ACE names its own tables; leave such options out")
            return RelationalData.from_ace(path)
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
        "tables": [name for entry in given["tables"] for name in entry.split(",") if name] or None,
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
        from hornbeam.model.store import reason

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
    with naming(given["data"]):
        bias = bias_of(given, data)
        task = given["task"] or data.coded(bias, None, given["target"]).examples.task
    kind = _class(task)
    parameters = {name: value for name, value in data.parameters.items() if name in kind().get_params()}
    parameters |= {name: given[name] for name in _PARAMETERS if given[name] is not None}
    if parameters.get("prune") == "none":
        parameters["prune"] = None
    if task == "regression" and given["prune"] is None:
        parameters["prune"] = None
    model = kind(bias, **parameters, cv=_folds(given, task), n_jobs=given["threads"])
    begin = perf_counter()
    with working("growing the tree") as report, naming(given["data"]), naming_options():
        model._fit(data, given["target"], None, report)
    return RelationalLearned(model, data, given["bias"] is not None, perf_counter() - begin)


def _class(task: str) -> Any:
    from hornbeam.estimators.relational_tree import RelationalTreeClassifier, RelationalTreeRegressor

    return RelationalTreeClassifier if task == "classification" else RelationalTreeRegressor


def _folds(given: Mapping[str, Any], task: str) -> Any:
    if given["cv"] is None:
        return None
    from sklearn.model_selection import KFold, StratifiedKFold

    splitter = StratifiedKFold if task == "classification" else KFold
    return splitter(given["cv"], shuffle=True, random_state=given["seed"])


def plain_keys(keys: Any) -> Sequence[Any]:
    """The keys of examples as Python's values."""
    return np.asarray(keys).tolist()  # type: ignore[no-any-return]
