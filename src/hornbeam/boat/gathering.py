"""All rows of a scan as one encoded table: columns that grow in place, chunk by chunk, none held twice."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam.errors import DataError
from hornbeam.table import MAX_CATEGORIES, MAX_ROWS, Attribute, Column, Schema, Table
from hornbeam.table.arrow import read_chunked
from hornbeam.table.columns import Array, Cells, Mask
from hornbeam.table.labels import as_nominal, check_labels

_FIRST = 1 << 17  # rows that a column has room for at first


class GatheredTable:
    """The table that `from_data` would make of all rows; `rows` is how many there will be, where known."""

    def __init__(self, schema: pa.Schema, nominal: Collection[str], rows: int | None) -> None:
        self._nominal, self._room, self.n_rows = set(nominal), rows or _FIRST, 0
        self._columns = {name: GatheredColumn(name) for name in schema.names}

    def add(self, chunk: pa.RecordBatch) -> None:
        """Take in the rows of a chunk."""
        begin, end = self.n_rows, self.n_rows + chunk.num_rows
        if end > MAX_ROWS:
            raise DataError(f"more than {MAX_ROWS} rows; so many are allowed in memory: use a sample of them")
        while self._room < end:
            self._room += self._room // 2
        for name, column in self._columns.items():
            cells = read_chunked(pa.chunked_array([chunk.column(name)]), name)
            column.add(as_nominal(cells, name) if name in self._nominal else cells, begin, end, self._room)
        self.n_rows = end

    def table(self) -> Table:
        """The table of the rows until now; nothing can be added afterwards."""
        made = [column.finish(self.n_rows) for column in self._columns.values()]
        attributes = tuple(attribute for attribute, _ in made)
        return Table(Schema(attributes, True), tuple(column for _, column in made), self.n_rows)


class GatheredColumn:
    """One column: values in an array that grows by half where its end is not known."""

    def __init__(self, name: str) -> None:
        self._name, self._type = name, ""
        self._values: Array = np.empty(0)
        self._missing: Mask | None = None
        self._codes: dict[str, int] = {}

    def add(self, cells: Cells, begin: int, end: int, room: int) -> None:
        """Write the cells of rows begin to end."""
        if not self._type:
            self._type = cells.type
            self._values = np.empty(room, dtype=cells.values.dtype)
        self._values = _with_room(self._values, room)
        if cells.type == "nominal":
            self._values[begin:end] = self._coded(cells)
            return
        self._values[begin:end] = cells.values
        if cells.missing is not None and self._missing is None:
            self._missing = np.zeros(room, dtype=np.uint8)
        if self._missing is not None:
            self._missing = _with_room(self._missing, room)
            self._missing[begin:end] = 0 if cells.missing is None else cells.missing

    def _coded(self, cells: Cells) -> npt.NDArray[np.int32]:
        """Codes by the order in which labels came; -1 is missing."""
        known = self._codes
        places = [known.setdefault(label, len(known)) for label in cells.labels]
        if len(known) > MAX_CATEGORIES:
            check_labels(list(known), self._name)
        coded: npt.NDArray[np.int32] = np.array([*places, -1], dtype=np.int32)[cells.values]
        return coded

    def finish(self, rows: int) -> tuple[Attribute, Column]:
        """The attribute and its column, labels sorted by their bytes."""
        values = self._values[:rows]
        if self._type != "nominal":
            missing = None if self._missing is None else self._missing[:rows]
            kind = "float" if self._type == "float64" else "integer"
            return Attribute(self._name, "numeric", self._type), Column(
                kind,  # type: ignore[arg-type]
                values,
                missing,
            )
        labels = check_labels(sorted(self._codes), self._name)
        ranks = np.full(len(labels) + 1, -1, dtype=np.int32)  # -1 finds the last one
        for rank, label in enumerate(labels):
            ranks[self._codes[label]] = rank
        np.take(ranks, values, out=values, mode="wrap")
        return Attribute(self._name, "nominal", "nominal", labels), Column("nominal", values)


def _with_room(values: Array, room: int) -> Array:
    if len(values) >= room:
        return values
    grown = np.empty(room, dtype=values.dtype)
    grown[: len(values)] = values
    return grown
