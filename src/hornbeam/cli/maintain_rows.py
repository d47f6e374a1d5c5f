"""The rows that `hornbeam maintain` is given, and what is done with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import pyarrow as pa

from hornbeam.errors import DataError, NoRows, UsageError, first_line
from hornbeam.estimators.maintained import MaintainedTree
from hornbeam.maintained.changes import Changes
from hornbeam.maintained.database import InUse
from hornbeam.table.sources import Source, source
from hornbeam.table.sources.opening import CSV, find_files

from .fit_source import open_source, settle_source
from .learn import estimator_parameters
from .output import check_places, scanning, working
from .request import FitRequest
from .sources import data_name, files_of, naming

_T = TypeVar("_T")


def opened(tree: str) -> MaintainedTree:
    """A tree to look at."""
    return MaintainedTree.open(tree, read_only=True)


def judged(kept: MaintainedTree) -> dict[str, Any]:
    """What the folds of a tree say, if it has some and they have rows."""
    if not kept.folds:
        return {}
    told: dict[str, Any] = {"estimate": None, "stability": None}
    with suppress(DataError):  # a fold has all rows
        told["stability"] = _agreement(kept)
    try:
        with working("judging by folds"):
            told["estimate"] = _estimate(kept)
    except (DataError, InUse) as error:
        told["why"] = str(error)
    return told


def _estimate(kept: MaintainedTree) -> dict[str, Any]:
    found = kept.estimate()
    return {
        "measure": found.measure,
        "mean": found.mean,
        "spread": found.spread,
        "folds": found.folds,
        "judged": found.judged,
        "scores": [None if math.isnan(score) else score for score in found.scores],
    }


def _agreement(kept: MaintainedTree) -> dict[str, Any]:
    """How far the trees of the folds ask what the tree asks; of all levels, not of all nodes."""
    record = kept.forest().stability().to_record()
    return {name: record[name] for name in ("agreement", "root_agreement", "levels")}


def create_tree(
    tree: str,
    data: Sequence[str],
    *,
    sql: str | None,
    key: str | None,
    cv: int | None,
    algorithm: str,
    policy: str,
    **options: Any,
) -> dict[str, Any]:
    """The tree that `hornbeam fit` would grow, in a new file; what there is to say of it."""
    request = FitRequest.asked(options)
    check_places(tree, sources=[name for given in data for name in files_of(given)])
    with scanning() as listener:
        rows = open_source(_place(data), sql, request)
        _, settings = settle_source(rows, request, key)
        made = MaintainedTree.create(
            tree,
            rows,
            target=list(request.targets),
            key=key,
            memory_limit=request.memory_limit,
            algorithm=algorithm,
            cv=cv,
            policy=policy,
            progress=listener,
            **estimator_parameters(settings),
        )
    stats = made.stats
    with suppress(KeyboardInterrupt):  # it comes too late to leave nothing
        made.close()
    return stats


def change_tree(
    tree: str, data: Sequence[str], sql: str | None, method: str, doing: str, **given: Any
) -> Changes:
    """What a method of the tree that takes rows did."""

    def change(kept: MaintainedTree) -> Changes:
        with naming(_shown(data)):
            changes: Changes = getattr(kept, method)(_rows_or_none(kept, data, sql, method), **given)
            return changes

    return _changed(tree, f"{doing} {_shown(data)}", change, lambda late: late)


def forget_keys(tree: str, keys: Sequence[str], id_: str | None) -> dict[str, Any]:
    """The certificate of rows that were deleted by their keys, which it has as they were given."""

    def forget(kept: MaintainedTree) -> dict[str, Any]:
        typed = _typed(kept, keys)
        given = dict(zip(typed, keys, strict=True))
        told, absent = kept.forget(typed, id=id_), None
        if told["absent"] is not None:
            absent = [given[key] for key in told["absent"]]
        return told | {"keys": list(keys), "absent": absent}

    doing = "forgetting, and growing the tree anew"
    return _changed(tree, doing, forget, lambda late: late.certificate(list(keys), None))


def _changed(
    tree: str, doing: str, change: Callable[[MaintainedTree], _T], told: Callable[[Changes], _T]
) -> _T:
    """What a change of the tree gives. Where Ctrl-C comes after the batch, it is told what that did, and not
    that nothing was done."""
    found: _T | None = None
    try:
        with MaintainedTree.open(tree) as kept, working(doing):
            number = kept.stats["batch"]
            try:
                found = change(kept)
            except KeyboardInterrupt:
                if kept.stats["batch"] == number:
                    raise
                found = told(kept.changes(last=1)[0])
    except KeyboardInterrupt:
        if found is None:
            raise
    assert found is not None
    return found


def _rows_or_none(kept: MaintainedTree, data: Sequence[str], sql: str | None, method: str) -> Source | None:
    """The rows of a batch; None: a file that has none. All rows would go by a sync with such a one, which is
    more often an export that failed than a wish."""
    try:
        return _batch_rows(kept, data, sql)
    except NoRows:
        if method == "sync":
            raise
        return None


def _batch_rows(kept: MaintainedTree, data: Sequence[str], sql: str | None) -> Source:
    """Rows of a batch. Cells of CSV files are read as the types that the tree has: a few rows do not show
    that a column of whole numbers has fractions elsewhere, or that digits are text."""
    rows = source(_place(data), sql=sql)
    if sql is not None or find_files(_place(data))[0] != CSV:
        return rows
    known = {field.name: field.type for field in kept.schema}
    return source(_place(data), types={name: known[name] for name in rows.schema.names if name in known})


def _typed(kept: MaintainedTree, keys: Sequence[str]) -> list[Any]:
    """Keys as their column has them."""
    name = kept.key
    if name is None:
        return list(keys)  # which forget refuses
    type_ = kept.schema.field(name).type
    try:
        typed: list[Any] = pa.array(keys, pa.string()).cast(type_).to_pylist()
    except pa.ArrowException as error:
        raise UsageError(f"KEY: {name!r} is {type_}: {first_line(error)}") from None
    return typed


def _place(data: Sequence[str]) -> str | list[str]:
    """What a source is made of: one name may be a glob, a folder or a database."""
    return data[0] if len(data) == 1 else list(data)


def _shown(data: Sequence[str]) -> str:
    return ", ".join(map(data_name, data))
