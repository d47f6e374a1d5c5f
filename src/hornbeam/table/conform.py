"""Data that comes to predict, brought to the schema of the model: by name, in the schema's types, exactly."""

import re
from typing import Any

import numpy as np

from hornbeam.errors import DataError
from hornbeam.table.columns import Cells, Column, Frame, Table, positional_names
from hornbeam.table.convert import to_codes, to_floats
from hornbeam.table.encoding import check_limits, open_frame
from hornbeam.table.labels import as_nominal
from hornbeam.table.schema import Attribute, Schema, list_names, show_name
from hornbeam.table.storage import parse_type

_NUMERAL = re.compile(r"-?(\d|inf)")


def conform(X: Any, schema: Schema, *, estimator: str = "the model", what: str = "X") -> Table:
    """Encode `X` for a model that was fitted with `schema`; errors call them `what` and `estimator`.

    Columns are matched by name (other order and further columns are fine), or by position where either side
    has no names. Labels that the schema does not know get the code -2.
    """
    frame = open_frame(X, what)
    check_limits(frame)
    places = _match(frame, schema, estimator, what)
    if frame.matrix is not None and all(attribute.type == "float64" for attribute in schema.attributes):
        views = list(frame.matrix.T)
        columns = tuple([Column("float", views[j]) for j in places])
    else:
        columns = tuple(_column(frame, j, a) for j, a in zip(places, schema.attributes, strict=True))
    return Table(schema, columns, frame.n_rows)


def _match(frame: Frame, schema: Schema, estimator: str, what: str) -> range | list[int]:
    """Position in the frame of each attribute of the schema."""
    if frame.names is None or not schema.named:
        if frame.n_columns != len(schema):
            raise DataError(
                f"{what} has {frame.n_columns} features, but {estimator} is expecting {len(schema)} features "
                "as input"
            )
        return range(len(schema))
    if frame.names == schema.names:
        return range(len(schema))
    position = {name: j for j, name in enumerate(frame.names)}
    absent = [name for name in schema.names if name not in position]
    if absent:
        others = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise DataError(
            f"{show_name(absent[0])}{others}: missing from {what}, which has {list_names(frame.names)}; "
            f"{estimator} needs every column it was fitted with"
        )
    return [position[name] for name in schema.names]


def _column(frame: Frame, position: int, attribute: Attribute) -> Column:
    name = attribute.name if frame.names is not None else positional_names(frame.n_columns)[position]
    cells = frame.cells(position, name, attribute.kind == "nominal")
    if attribute.kind == "nominal":
        return _nominal(cells, attribute)
    return _numeric(cells, attribute)


def _numeric(cells: Cells, attribute: Attribute) -> Column:
    if cells.type == attribute.type:
        return cells.to_column()
    source, target = parse_type(cells.type), attribute.storage
    if source.group != target.group or bool(source.zone) != bool(target.zone):
        if cells.known().any():
            raise _changed(cells, attribute)
        return _all_missing(len(cells.values), attribute)
    if target.family == "float":
        return Column("float", to_floats(cells, attribute.name))
    values, missing = to_codes(cells, target)
    return Column("integer", values, missing)


def _all_missing(n_rows: int, attribute: Attribute) -> Column:
    """A column without a value says nothing of its type, so it fits every attribute."""
    if attribute.kind == "nominal":
        return Column("nominal", np.full(n_rows, -1, dtype=np.int32))
    if attribute.is_integer:
        return Column("integer", np.zeros(n_rows, dtype=np.int64), np.ones(n_rows, dtype=np.uint8))
    return Column("float", np.full(n_rows, np.nan))


def _nominal(cells: Cells, attribute: Attribute) -> Column:
    if cells.type == "nominal" and cells.labels == attribute.labels:
        return cells.to_column()
    if not cells.known().any():
        return _all_missing(len(cells.values), attribute)
    if not _could_be_labels(cells, attribute):
        raise _changed(cells, attribute)
    found = as_nominal(cells, attribute.name)
    code = {label: i for i, label in enumerate(attribute.labels)}
    place = np.array([code.get(label, -2) for label in found.labels] + [-1], dtype=np.int32)
    return Column("nominal", place[found.values])


def _could_be_labels(cells: Cells, attribute: Attribute) -> bool:
    """Numbers and booleans fit an attribute whose labels read like theirs; text fits every one."""
    if not attribute.labels:
        return True
    if cells.source == "boolean":
        return "false" in attribute.labels or "true" in attribute.labels
    if cells.type == "nominal" and cells.source == "text":
        return True
    return any(_NUMERAL.match(label) for label in attribute.labels)


def _changed(cells: Cells, attribute: Attribute) -> DataError:
    given, fitted = _describe(cells), attribute.storage.description
    source, target = parse_type(cells.type), attribute.storage
    if source.group == target.group and source.group == "date":
        given, fitted = (f"times {'with' if s.zone else 'without'} a timezone" for s in (source, target))
    if attribute.kind == "nominal":
        fitted = "text" if set(attribute.labels) - {"false", "true"} else "true/false"
    advice = f"to {attribute.type}" if attribute.kind == "numeric" else "to the labels it had"
    verb = "was" if fitted == "text" else "were"
    return DataError(
        f"{show_name(attribute.name)}: {given} where {fitted} {verb} at fit; convert the column {advice}"
    )


def _describe(cells: Cells) -> str:
    if cells.source == "boolean":
        return "true/false"
    return parse_type(cells.type).description
