"""How the rows of a source are laid out where they are kept, and the buckets that they are counted by."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.survey import Survey
from hornbeam.errors import DataError
from hornbeam.table import Table

Keys = npt.NDArray[np.uint64]

_LEAST_BUCKETS = 64


def layout_of(survey: Survey, targets: int, folds: int = 1) -> _core.RowLayout:
    """The layout of all rows, of which so many numbers are predicted, or a class; keys count from the lowest
    value of each attribute."""
    shapes: list[tuple[Any, ...]] = []
    for attribute, span in zip(survey.schema.attributes, survey.ranges, strict=True):
        if attribute.kind == "nominal":
            shapes.append((2, len(attribute.labels), None))
        elif attribute.storage.family == "float":
            shapes.append((0, span.lowest, span.highest))
        elif span.unused is not None:
            shapes.append((1, span.lowest, span.highest, span.unused))
        else:
            shapes.append((1, span.lowest, span.highest))
    try:
        return _core.RowLayout(
            shapes,
            len(survey.row_counts),
            folds,
            weights=survey.weight_exponents if survey.weighted else None,
            targets=survey.target_exponents,
            n_targets=targets,
            rows=survey.rows,
        )
    except ValueError:
        raise DataError(
            "an attribute has the lowest and the highest number of 64 bits and too many between them; "
            "leave it out, or give it as floats"
        ) from None


def sample_keys(layout: _core.RowLayout, sample: Table) -> list[Keys]:
    """The keys of the sampled rows, attribute by attribute."""
    return [layout.keys(i, column.values, column.missing) for i, column in enumerate(sample.columns)]


def bucket_number(most: int, n_classes: int, words: int, n_attributes: int, room: float) -> int:
    """How many buckets an attribute has: the fewer, the more classes are counted in each, with sums of so
    many words, and no more than there is room for the counts of all attributes."""
    width = n_classes * (1 + words / 4)
    fewer = most if width <= 2 else int(2 * most / width)
    fits = int(room // (_cell_bytes(n_classes, words) * max(1, n_attributes)))
    return min(most, max(_LEAST_BUCKETS, min(fewer, fits)))


def counts_bytes(grid: _core.Grid, n_attributes: int, n_classes: int, words: int) -> int:
    """What the counts of one place take, and their sums of so many words."""
    return _cell_bytes(n_classes, words) * sum(grid.size(i) + 1 for i in range(n_attributes))


def _cell_bytes(n_classes: int, words: int) -> int:
    return n_classes * (4 + 8 * words)


def grid_of(layout: _core.RowLayout, keys: list[Keys], nominal: list[bool], buckets: int) -> _core.Grid:
    """The buckets of all attributes."""
    return _core.Grid(layout, edges_of(layout, keys, nominal, buckets))


def edges_of(
    layout: _core.RowLayout, keys: list[Keys], nominal: list[bool], buckets: int
) -> list[Keys | None]:
    """The last keys of buckets of about equally many sampled rows; each value its own where it has as many
    alone, or, without edges, where the attribute has no more values than buckets."""
    edges: list[Keys | None] = []
    for i, column in enumerate(keys):
        missing = layout.missing_key(i)
        whole = nominal[i] or missing <= buckets
        edges.append(None if whole else _edges(column[column != missing], missing - 1, buckets))
    return edges


def _edges(keys: Keys, highest: int, buckets: int) -> Keys:
    """The last key of each bucket."""
    values, counts = np.unique(keys, return_counts=True)
    if not len(values):
        return np.array([highest], dtype=np.uint64)
    share = max(1.0, len(keys) / buckets)
    # A bucket ends where the running share of rows passes a whole number of shares.
    upto = np.cumsum(counts)
    ends = np.flatnonzero(np.diff(upto // share, append=np.inf) > 0)
    heavy = np.flatnonzero(counts >= share)
    before = values[heavy]
    found = np.concatenate(
        [values[ends], before, before[before > 0] - np.uint64(1), np.array([highest], dtype=np.uint64)]
    )
    return np.unique(found[found <= np.uint64(highest)])
