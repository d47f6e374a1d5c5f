"""I-IIDT: rows that come later. They go to their leaves, and the search goes on from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.anytime.incumbent import Incumbent
from hornbeam.anytime.lookahead import Lookahead
from hornbeam.anytime.objectives import Objective, TreeSize
from hornbeam.anytime.sketch import Rows, Sketch, starting, starts_of
from hornbeam.table import Column, Schema, Table, conform, from_data

Codes = npt.NDArray[np.int32]


def extended_by(table: Table, X: Any, estimator: str) -> tuple[Table, dict[int, Codes]]:
    """A table with the rows of X behind its own, and for each attribute that has labels it did not know the
    new codes of the old ones."""
    more = conform(X, table.schema, estimator=estimator)
    strange = [
        place
        for place, column in enumerate(more.columns)
        if column.kind == "nominal" and (column.values == -2).any()
    ]
    if not strange:
        return _joined(table, more), {}
    schema = _wider(table.schema, X, strange)
    moved = {
        place: _places(table.schema.attributes[place].labels, schema.attributes[place].labels)
        for place in strange
    }
    return _joined(_recoded(table, schema, moved), conform(X, schema, estimator=estimator)), moved


def _wider(schema: Schema, X: Any, strange: Sequence[int]) -> Schema:
    """The schema with the labels of X besides its own."""
    nominal = [place for place, attribute in enumerate(schema.attributes) if attribute.kind == "nominal"]
    names = [schema.attributes[place].name for place in nominal] if schema.named else nominal
    found = from_data(X, nominal_features=names if _has_names(X, schema) else nominal).schema
    by_name = {attribute.name: attribute for attribute in found.attributes}
    attributes = list(schema.attributes)
    for place in strange:
        own = attributes[place]
        other = by_name[own.name] if found.named and schema.named else found.attributes[place]
        labels = sorted(set(own.labels) | set(other.labels), key=lambda label: label.encode("utf-8"))
        attributes[place] = replace(own, labels=tuple(labels))
    return Schema(tuple(attributes), schema.named)


def _has_names(X: Any, schema: Schema) -> bool:
    return schema.named and not isinstance(X, (np.ndarray, list, tuple))


def _places(labels: Sequence[str], among: Sequence[str]) -> Codes:
    place = {label: code for code, label in enumerate(among)}
    return np.array([place[label] for label in labels], dtype=np.int32)


def _recoded(table: Table, schema: Schema, moved: dict[int, Codes]) -> Table:
    columns = list(table.columns)
    for place, codes in moved.items():
        values = columns[place].values
        columns[place] = Column("nominal", np.where(values < 0, values, codes[values]).astype(np.int32))
    return Table(schema, tuple(columns), table.n_rows)


def _joined(table: Table, more: Table) -> Table:
    columns = tuple(_behind(*pair) for pair in zip(table.columns, more.columns, strict=True))
    return Table(table.schema, columns, table.n_rows + more.n_rows)


def _behind(first: Column, second: Column) -> Column:
    values = np.concatenate((first.values, second.values))
    if first.missing is None and second.missing is None:
        return Column(first.kind, values)
    masks = [
        np.zeros(len(column.values), dtype=np.uint8) if column.missing is None else column.missing
        for column in (first, second)
    ]
    return Column(first.kind, values, np.concatenate(masks))


def taken_in(
    now: Incumbent, lookahead: Lookahead, objective: Objective, moved: dict[int, Codes]
) -> Incumbent:
    """The incumbent of a search whose table has become that of the lookahead, which is longer.

    Each new row goes to its leaf. A search for size parts a leaf that becomes impure by ID3, where its rows
    can be parted.
    """
    rows = np.arange(len(now.sketch.order), lookahead.table.n_rows)
    sketch = _renamed(now.sketch, moved)
    ends = lookahead.leaves(sketch, rows)
    filled = _filled(sketch, lookahead, rows, ends)
    changed = filled["rows"] != sketch["rows"]
    after = replace(
        now,
        sketch=filled,
        values=objective.values(filled),
        least=np.where(changed, np.nan, now.least),
        efforts=[None if new else known for new, known in zip(changed.tolist(), now.efforts, strict=True)],
        floor=None,
        proofs=0,
        proof_work=now.work,
    )
    if not isinstance(objective, TreeSize):
        return after
    for leaf in np.unique(ends)[::-1].tolist():  # from the last on: nodes before a graft keep their places
        part = _patched(lookahead, sketch.rows_of(leaf), rows[ends == leaf])
        if part is not None:
            after = after.grafted(leaf, Incumbent.of(part, objective.values(part)), objective)
    return after


def _patched(lookahead: Lookahead, known: Rows, new: Rows) -> Sketch | None:
    """What a leaf becomes as rows come to it one by one; None: it stays a leaf."""
    for count in range(1, len(new) + 1):
        rows = np.sort(np.concatenate((known, new[:count])))
        codes = lookahead.target.codes[rows]
        if (codes == codes[0]).all() or not lookahead.can_part(rows):
            continue
        return _with_rows(lookahead, lookahead.id3(rows), new[count:])
    return None


def _with_rows(lookahead: Lookahead, sketch: Sketch, new: Rows) -> Sketch:
    """A consistent tree with further rows in it."""
    if len(new) == 0:
        return sketch
    ends = lookahead.leaves(sketch, new)
    whole = _filled(sketch, lookahead, new, ends)
    for leaf in np.unique(ends)[::-1].tolist():
        part = _patched(lookahead, sketch.rows_of(leaf), new[ends == leaf])
        if part is not None:
            whole = whole.graft(leaf, part)
    return whole


def _renamed(sketch: Sketch, moved: dict[int, Codes]) -> Sketch:
    """A sketch whose categories have other codes."""
    if not moved:
        return sketch
    codes = sketch["branch_code"].copy()
    owner = np.repeat(sketch["attribute"], np.diff(sketch["branch_start"]))
    for attribute, places in moved.items():
        mine = owner == attribute
        codes[mine] = places[codes[mine]]
    return Sketch({**sketch.nodes, "branch_code": codes}, sketch.order)


def _filled(sketch: Sketch, lookahead: Lookahead, rows: Rows, ends: Rows) -> Sketch:
    """A sketch with the tests of another one, and further rows at the leaves where they end."""
    leaves = np.flatnonzero(sketch.is_leaf)
    at = np.concatenate((np.repeat(leaves, sketch["rows"][leaves]), ends))
    order = np.concatenate((sketch.order, rows))
    place = np.argsort(at, kind="stable")
    n_classes = len(lookahead.target.labels)
    flat = at * n_classes + lookahead.target.codes[order]
    at_leaves = np.bincount(flat, minlength=sketch.n_nodes * n_classes).reshape(sketch.n_nodes, n_classes)
    before = np.concatenate((np.zeros((1, n_classes), dtype=np.int64), np.cumsum(at_leaves, axis=0)))
    nodes = np.arange(sketch.n_nodes)
    counts = before[nodes + sketch["span"]] - before[nodes]
    changed = {**sketch.nodes, **_counted(counts), "rows": counts.sum(axis=1).astype(sketch["rows"].dtype)}
    changed |= _measured(sketch, counts)
    return Sketch({**changed, "start": starts_of(changed)}, order[place])


def _counted(counts: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
    """The counts of the classes that each node has, as lists."""
    owner, classes = np.nonzero(counts)
    return {
        "count_start": starting(np.bincount(owner, minlength=len(counts))),
        "count_class": classes.astype(np.int32),
        "count": counts[owner, classes].astype(np.float64),
    }


_xlog = lru_cache(maxsize=2**16)(_core.xlog)


def _measured(sketch: Sketch, counts: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.float64]]:
    """Impurity and gain, as the law has them for entropy."""
    entropies = []
    for node in counts.tolist():
        total = 0.0
        for count in node:
            total += _xlog(float(count)) if count else 0.0
        entropies.append(_xlog(float(sum(node))) - total)
    rows = counts.sum(axis=1).tolist()
    gains = np.zeros(len(rows))
    for node in np.flatnonzero(~sketch.is_leaf).tolist():
        first, *others = (entropies[child] for child in sketch.children(node))
        gain = (entropies[node] - sum(others, first)) / rows[node]
        gains[node] = gain if gain >= 1e-12 else 0.0
    return {"impurity": np.array(entropies) / rows, "gain": gains}
