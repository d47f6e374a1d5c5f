"""Sets of openml.org, fetched by scikit-learn and kept in its cache; nothing is fetched unasked."""

from __future__ import annotations

import hashlib
import warnings
from http.client import HTTPException
from typing import Any

from hornbeam.errors import DataError, HornbeamError, StorageError, UsageError

from .dataset import Dataset

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
        raise DataError(f"the OpenML set {name!r} is not to be had: {_first_line(error)}") from None
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
        f"openml.org cannot be reached for {name!r} ({_first_line(reason)}); check the network, "
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
        raise DataError(f"the OpenML set {name!r} is no plain table: {_first_line(error)}") from None
    kinds = {rows.schema.field(target).type for target in targets}
    numeric = all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)
    if not numeric:
        for target in targets:
            place = rows.column_names.index(target)
            rows = rows.set_column(place, target, rows.column(target).cast(pa.string()))
    return Dataset(
        name=name,
        title=f"A tree for {name}",
        rows=rows,
        targets=targets,
        task="regression" if numeric else "classification",
        hash=_text_hash(rows),
    )


def _text_hash(rows: Any) -> str:
    """SHA-256 of the rows as CSV: the same for the same rows, however they are stored."""
    import pyarrow as pa
    import pyarrow.csv

    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(rows, sink)
    return hashlib.sha256(sink.getvalue()).hexdigest()


def _first_line(error: object) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
