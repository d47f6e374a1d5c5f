"""Loaders: every set becomes an Arrow table with its target and the kinds of its columns."""

from __future__ import annotations

import csv
import hashlib
import os
from pathlib import Path

from hornbeam.errors import DataError, StorageError, UsageError

from .dataset import Dataset
from .openml import PREFIX, load_openml

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
    import pyarrow as pa

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
        place = rows.column_names.index(targets[0])
        rows = rows.set_column(place, targets[0], rows.column(targets[0]).cast(pa.string()))
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
