"""Loaders: every set becomes an Arrow table with its target and the kinds of its columns.

Those of openml.org are fetched by scikit-learn and kept in its cache; nothing is fetched unasked.
"""

from __future__ import annotations

import csv
import hashlib
import os
import warnings
from http.client import HTTPException
from pathlib import Path
from typing import Any

from hornbeam import arguments
from hornbeam.errors import DataError, HornbeamError, StorageError, UsageError, first_line

from .dataset import Dataset

DIRECTORY_VARIABLE = "HORNBEAM_DATA"

# name: (title, name of the target, task); linnerud has three targets, which carry their own names.
_BUNDLED = {
    "breast_cancer": ("Is a breast tumour benign?", "diagnosis", "classification"),
    "diabetes": ("How does diabetes progress in a year?", "progression", "regression"),
    "digits": ("Which digit was written?", "digit", "classification"),
    "iris": ("Which iris is it?", "species", "classification"),
    "linnerud": ("What do exercises say about the body?", "", "regression"),
    "wine": ("From which cultivar is a wine?", "cultivar", "classification"),
}


def names() -> tuple[str, ...]:
    """Every name that `load` knows here and now."""
    directory = os.environ.get(DIRECTORY_VARIABLE)
    own = sorted(_schema_entries(Path(directory))) if directory else []
    return (*sorted(_BUNDLED), *(name for name in own if name not in _BUNDLED))


def load(name: str) -> Dataset:
    """The set of that name: built in first, then from the directory that HORNBEAM_DATA names.

    `openml:NAME` and `openml:NUMBER` are sets of openml.org.
    """
    arguments.text("name", name, f", such as 'iris'; known are {', '.join(names())}")
    if name in _BUNDLED:
        return _load_bundled(name)
    if name.startswith(PREFIX):
        wanted = name.removeprefix(PREFIX)
        return load_openml(int(wanted) if wanted.isdecimal() else wanted)
    directory = os.environ.get(DIRECTORY_VARIABLE)
    if directory:
        return _load_own(name, Path(directory))
    raise UsageError(
        f"there is no built-in data set {name!r}; known are {', '.join(names())}; "
        f"further sets come from the directory that {DIRECTORY_VARIABLE} names, or as {PREFIX}NAME"
    )


def _load_bundled(name: str) -> Dataset:
    import numpy as np
    import pyarrow as pa
    from sklearn import datasets

    title, target, task = _BUNDLED[name]
    bunch = getattr(datasets, f"load_{name}")()
    matrix = np.asarray(bunch.data, dtype=np.float64)
    columns = {str(column): matrix[:, j] for j, column in enumerate(bunch.feature_names)}
    digest = hashlib.sha256(
        np.ascontiguousarray(matrix).tobytes() + np.asarray(bunch.target).tobytes()
    ).hexdigest()
    targets = tuple(map(str, bunch.target_names)) if name == "linnerud" else (target,)
    if task == "classification":
        labels = [str(bunch.target_names[code]) for code in bunch.target]
        columns[target] = np.array(labels, dtype=object)
    else:
        values = np.asarray(bunch.target, dtype=np.float64).reshape(len(matrix), -1)
        columns |= {own: values[:, j] for j, own in enumerate(targets)}
    return Dataset(name, title, pa.table(columns), targets, task, hash=digest)


def _load_own(name: str, directory: Path) -> Dataset:
    """A file of the directory, its columns typed by schema.csv (file, position, column, kind, role)."""
    from hornbeam.table import read_path

    entries = _schema_entries(directory)
    if name not in entries:
        shown = ", ".join((*sorted(_BUNDLED), *sorted(entries)))
        raise UsageError(f"there is no data set {name!r}; known are {shown}")
    path, columns = entries[name]
    rows = read_path(path)
    targets = tuple(column for column, _, role in columns if role == "target")
    kinds = {column: kind for column, kind, _ in columns}
    if set(kinds) != set(rows.column_names) or not targets:
        raise DataError(
            f"{str(path)!r} and its lines in schema.csv do not agree; "
            f"the file's columns are {', '.join(rows.column_names[:8])}"
        )
    task = "classification" if kinds[targets[0]] == "nominal" else "regression"
    if task == "classification":
        rows = _with_text(rows, targets[:1])
    nominal = tuple(column for column, kind, role in columns if kind == "nominal" and role != "target")
    return Dataset(name, f"A tree for {name}", rows, targets, task, nominal, _file_hash(path))


def _schema_entries(directory: Path) -> dict[str, tuple[Path, list[tuple[str, str, str]]]]:
    """Name to file and (column, kind, role) of its columns, in order."""
    schema = directory / "schema.csv"
    try:
        with schema.open(newline="", encoding="utf-8") as stream:
            lines = list(csv.DictReader(stream))
    except OSError as error:
        raise StorageError(
            f"{str(schema)!r} cannot be read: {error.strerror or error}; "
            f"{DIRECTORY_VARIABLE} must name a directory with it"
        ) from None
    if lines and not {"file", "column", "kind", "role"} <= set(lines[0]):
        raise DataError(f"{str(schema)!r} needs the columns file, position, column, kind, role")
    entries: dict[str, tuple[Path, list[tuple[str, str, str]]]] = {}
    for line in lines:
        name = line["file"].removesuffix(".gz").removesuffix(".csv")
        entry = entries.setdefault(name, (directory / line["file"], []))
        entry[1].append((line["column"], line["kind"], line["role"]))
    return entries


def _file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


PREFIX = "openml:"


def load_openml(name: str | int, *, version: int | str = "active", target: str | None = None) -> Dataset:
    """The set of that name or number (`data_id`); without `target`, the target that OpenML names."""
    try:
        bunch = _fetch(name, version, target)
    except (OSError, HTTPException) as error:
        raise _out_of_reach(name, error) from None
    except ImportError:
        raise UsageError("sets of OpenML need pandas; install it (pip install pandas)") from None
    except KeyError:
        raise UsageError(f"the OpenML set {name!r} has no column {target!r}; leave target out") from None
    except HornbeamError:
        raise
    except ValueError as error:
        raise DataError(f"the OpenML set {name!r} is not to be had: {first_line(error)}") from None
    return _dataset_of(bunch, str(name))


def _fetch(name: str | int, version: int | str, target: str | None) -> Any:
    from sklearn.datasets import fetch_openml

    chosen = {"data_id": name} if isinstance(name, int) else {"name": name, "version": version}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A network error occurred")  # the last one is raised
        return fetch_openml(
            **chosen, target_column=target or "default-target", as_frame=True, n_retries=1, delay=0.5
        )


def _out_of_reach(name: str | int, error: Exception) -> StorageError:
    if getattr(error, "code", None) in (404, 410, 412):
        return StorageError(f"openml.org has no set {name!r}; look for its name or number there")
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
    return StorageError(
        f"openml.org cannot be reached for {name!r} ({first_line(reason)}); check the network, "
        "or put the set into the directory that HORNBEAM_DATA names"
    )


def _dataset_of(bunch: Any, name: str) -> Dataset:
    import pyarrow as pa

    targets = tuple(map(str, bunch.target_names or ()))
    if not targets:
        shown = ", ".join(map(str, bunch.frame.columns[:8]))
        raise DataError(f"OpenML names no target for {name!r}; give target=, one of its columns: {shown}")
    try:
        rows = pa.Table.from_pandas(bunch.frame, preserve_index=False).replace_schema_metadata(None)
    except (pa.ArrowException, ValueError) as error:
        raise DataError(f"the OpenML set {name!r} is no plain table: {first_line(error)}") from None
    kinds = {rows.schema.field(target).type for target in targets}
    numeric = all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)
    if not numeric:
        rows = _with_text(rows, targets)
    return Dataset(
        name=name,
        title=f"A tree for {name}",
        rows=rows,
        targets=targets,
        task="regression" if numeric else "classification",
        hash=_text_hash(rows),
    )


def _with_text(rows: Any, columns: tuple[str, ...]) -> Any:
    """The table with some columns as text: classes are labels."""
    import pyarrow as pa

    for name in columns:
        place = rows.column_names.index(name)
        rows = rows.set_column(place, name, rows.column(name).cast(pa.string()))
    return rows


def _text_hash(rows: Any) -> str:
    """SHA-256 of the rows as CSV: the same for the same rows, however they are stored."""
    import pyarrow as pa
    import pyarrow.csv

    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(rows, sink)
    return hashlib.sha256(sink.getvalue()).hexdigest()
