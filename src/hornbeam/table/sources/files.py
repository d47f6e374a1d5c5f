"""Which files a path, a glob, a folder or a list of paths names, and of what kind they are."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from hornbeam.errors import StorageError, UsageError
from hornbeam.table.refusals import check_readable

PARQUET, CSV = "Parquet", "CSV"
_ENDINGS = {".parquet": PARQUET, ".pq": PARQUET, ".csv": CSV, ".csv.gz": CSV}
_ALLOWED = "Parquet and CSV files (.parquet, .csv, .csv.gz), globs and folders of them"


def find_files(given: str | Sequence[str]) -> tuple[str, list[str]]:
    """The kind of the files, and their paths: of a glob or a folder sorted, of a list as given."""
    if isinstance(given, str):
        paths = _paths(given)
    else:
        paths = [os.fspath(path) for path in given]
        if not paths:
            raise UsageError("the list of files is empty; name at least one")
    kinds = {path: _kind(path) for path in paths}
    for path in paths:
        check_readable(Path(path))
    if len(set(kinds.values())) > 1:
        examples = " and ".join(repr(next(p for p in paths if kinds[p] == k)) for k in (PARQUET, CSV))
        raise UsageError(f"files of two kinds, {examples}; name one kind, for instance by '*.parquet'")
    return kinds[paths[0]], paths


def _paths(given: str) -> list[str]:
    if os.path.isdir(given):
        return _in_folder(given)
    if os.path.lexists(given) or not glob.has_magic(given):
        return [given]
    found = sorted(path for path in glob.glob(given, recursive=True) if not os.path.isdir(path))
    if not found:
        raise StorageError(f"no file matches {given!r}; check the folder and the ending")
    return found


def _in_folder(folder: str) -> list[str]:
    """Files of the folder and those below it, without hidden ones and marks such as _SUCCESS."""
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        if any("=" in name for name in folders):
            raise UsageError(
                f"{folder!r} keeps values in the names of its folders ({folders[0]!r}); "
                "open it by pyarrow.dataset.dataset(path, partitioning='hive') and give that"
            )
        found += [os.path.join(place, name) for name in names if name[0] not in "._" and _known(name)]
    if not found:
        raise StorageError(f"{folder!r} has no Parquet or CSV file; check the folder and the endings")
    return sorted(found)


def _known(name: str) -> str | None:
    return next((kind for ending, kind in _ENDINGS.items() if name.lower().endswith(ending)), None)


def _kind(path: str) -> str:
    kind = _known(path)
    if kind is None:
        raise UsageError(f"{path!r}: files with this ending are no source; allowed are {_ALLOWED}")
    return kind
