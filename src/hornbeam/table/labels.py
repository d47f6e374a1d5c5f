"""Labels of nominal columns: text, sorted by UTF-8 bytes, only those that occur."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hornbeam._core import encode_labels
from hornbeam.errors import DataError
from hornbeam.table.columns import Array, Cells
from hornbeam.table.schema import MAX_CATEGORIES, is_unicode, show_name
from hornbeam.table.storage import format_code, format_float, parse_type


def nominal_from_text(values: Array, name: str) -> Cells:
    """A text column from a NumPy array of strings (`U`, or objects that are str, None or NaN).

    TypeError where an object is anything else.
    """
    try:
        codes, labels = encode_labels(values)
    except ValueError:  # all that text can be refused for
        raise _not_unicode(name) from None
    return Cells("nominal", codes, labels=check_labels(labels, name), source="text")


def nominal_from_codes(raw: Array, texts: Sequence[str | None], name: str, source: Any = "text") -> Cells:
    """A nominal column from codes into `texts` (-1 missing); unused texts are dropped, equal ones merged."""
    used = np.zeros(len(texts) + 1, dtype=np.bool_)
    used[raw] = True  # -1 marks the spare last place
    kept = [(i, text) for i in np.flatnonzero(used[:-1]).tolist() if (text := texts[i]) is not None]
    labels = check_labels(sorted({text for _, text in kept}), name)
    rank = {label: code for code, label in enumerate(labels)}
    place = np.full(len(texts) + 1, -1, dtype=np.int32)
    for i, text in kept:
        place[i] = rank[text]
    return Cells("nominal", place[raw], labels=labels, source=source)


def nominal_from_booleans(values: Array, missing: Array | None, name: str) -> Cells:
    """A nominal column with the labels false and true."""
    raw = values.astype(np.int8)
    if missing is not None:
        raw[missing != 0] = -1
    return nominal_from_codes(raw, ("false", "true"), name, source="boolean")


def all_missing(n_rows: int) -> Cells:
    """A column without any value: nominal, no labels."""
    return Cells("nominal", np.full(n_rows, -1, dtype=np.int32), source="null")


def as_nominal(cells: Cells, name: str) -> Cells:
    """Any column with its values as labels: integers by their digits, times by ISO text, floats by repr."""
    if cells.type == "nominal":
        return cells
    known = cells.known()
    distinct, inverse = np.unique(cells.values[known], return_inverse=True)
    if len(distinct) > MAX_CATEGORIES:
        raise _too_many(len(distinct), name)
    raw = np.full(len(cells.values), -1, dtype=np.int64)
    raw[known] = inverse
    return nominal_from_codes(raw, _texts(cells.type, distinct), name, source=cells.source)


def cell_texts(cells: Cells) -> list[str | None]:
    """The label each cell has or would have as a nominal value; None where it is missing."""
    if cells.type == "nominal":
        return [cells.labels[code] if code >= 0 else None for code in cells.values.tolist()]
    texts = _texts(cells.type, cells.values)
    return [text if known else None for text, known in zip(texts, cells.known().tolist(), strict=True)]


def _texts(type_: str, values: Array) -> list[str]:
    if type_ == "float64":
        return [format_float(value) for value in values.tolist()]
    storage = parse_type(type_)
    return [format_code(storage, code) for code in values.tolist()]


def check_labels(labels: Sequence[str], name: str) -> tuple[str, ...]:
    """The labels, once their number and their text are found allowed."""
    if len(labels) > MAX_CATEGORIES:
        raise _too_many(len(labels), name)
    if not is_unicode("".join(labels)):
        raise _not_unicode(name)
    return tuple(labels)


def _too_many(count: int, name: str) -> DataError:
    return DataError(
        f"{show_name(name)}: {count} categories; at most {MAX_CATEGORIES} are allowed; "
        "drop the column, make it coarser or keep it numeric"
    )


def _not_unicode(name: str) -> DataError:
    return DataError(
        f"{show_name(name)}: a label is not valid Unicode (a lone surrogate); decode the text as UTF-8"
    )
