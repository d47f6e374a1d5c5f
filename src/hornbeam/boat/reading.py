"""What of a source is read, and as what: targets, attributes, weight and fold key, in bounded chunks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam.arguments import refuse
from hornbeam.errors import DataError, SourceChanged, UsageError
from hornbeam.table import encode_classes, encode_targets
from hornbeam.table.arrow import read_chunked
from hornbeam.table.convert import nearest_floats
from hornbeam.table.schema import list_names
from hornbeam.table.sources import CHUNK_BYTES, Source
from hornbeam.table.targets import check_weights

Report: TypeAlias = Callable[[int], None]  # hears how many rows of a scan were read so far

CHUNK_ROWS = 1 << 17
_LEAST_BYTES = 1 << 16  # of a chunk; smaller ones cost more than they save
_CHUNKS = 16  # so many would fill the memory


@dataclass(frozen=True)
class Reading:
    """The columns of a source and what each is; refuses what `fit` would refuse of their names and types.

    `targets` is one class column, or numeric columns. `nominal` names further columns whose values are
    labels. `key` is what folds go by; neither it nor the source's weight is an attribute. `memory_limit`, in
    bytes, bounds the labels of nominal columns, and chunks are a small part of it.
    """

    source: Source
    targets: tuple[str, ...]
    classification: bool
    nominal: Collection[str] = ()
    key: str | None = None
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        self._check_columns()
        with self.naming():
            for name in self.targets:
                self._check_target(self.source.schema.field(name).type)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes, in the order of the source."""
        others = {*self.targets, self.source.weight, self.key}
        return tuple(name for name in self.source.schema.names if name not in others)

    @property
    def columns(self) -> list[str]:
        """All columns that a scan reads, in the order of the source; every scan reads the same."""
        wanted = {*self.attributes, *self.targets, self.source.weight, self.key}
        return [name for name in self.source.schema.names if name in wanted]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow types of the attributes."""
        return pa.schema([self.source.schema.field(name) for name in self.attributes])

    @property
    def chunk_bytes(self) -> int:
        """The most bytes of a chunk."""
        if self.memory_limit is None:
            return CHUNK_BYTES
        return min(CHUNK_BYTES, max(_LEAST_BYTES, self.memory_limit // _CHUNKS))

    def scan(self, report: Report | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """All rows once: chunks, and the number of the first row of each."""
        first = 0
        for chunk in self.source.scan(self.columns, chunk_rows=CHUNK_ROWS, chunk_bytes=self.chunk_bytes):
            yield first, chunk
            first += chunk.num_rows
            if report is not None:
                report(first)

    def weights(self, chunk: pa.RecordBatch) -> npt.NDArray[np.float64] | None:
        """What the rows of a chunk weigh; None where the source has no weight."""
        if self.source.weight is None:
            return None
        cells = read_chunked(pa.chunked_array([chunk.column(self.source.weight)]), self.source.weight)
        if cells.type.startswith("decimal"):
            values = nearest_floats(cells)
        elif cells.type == "uint64":
            values = (cells.values.view(np.uint64) ^ np.uint64(2**63)).astype(np.float64)
        else:
            values = cells.values.astype(np.float64, copy=False)
        if cells.missing is not None:
            values[cells.missing != 0] = np.nan
        check_weights(values)
        return values

    @contextmanager
    def naming(self, first: int | None = None) -> Iterator[None]:
        """Say of what is refused which source it is in, and after how many rows."""
        where = self.source.name if first is None else f"{self.source.name}, rows from {first:,}"
        try:
            yield
        except SourceChanged:
            raise
        except DataError as error:
            raise type(error)(f"{where}: {error}") from None
        except UnicodeDecodeError:
            raise DataError(f"{where}: a label is not valid UTF-8; decode the text before") from None

    def _check_target(self, type_: pa.DataType) -> None:
        if pa.types.is_null(type_):  # its first row is refused
            return
        if self.classification:
            encode_classes(pa.array([], type_))
        else:
            encode_targets(pa.array([], type_))

    def _check_columns(self) -> None:
        source, names = self.source, self.source.schema.names
        if not self.targets or len(set(self.targets)) < len(self.targets):
            raise UsageError(
                f"target={list(self.targets)!r}; give different columns, at least one", parameter="target"
            )
        if self.classification and len(self.targets) > 1:
            raise UsageError(
                f"target={list(self.targets)!r}; one class is predicted, so give one column",
                parameter="target",
            )
        asked = [
            *(("target", name) for name in self.targets),
            *(("nominal_features", n) for n in self.nominal),
        ]
        for what, name in [*asked, *([("key", self.key)] if self.key is not None else [])]:
            if name not in names:
                raise UsageError(
                    f"{what}={name!r} is not a column of {source.name}; it has {list_names(names)}",
                    parameter=what,
                )
            if name == source.weight if what == "target" else name in self.targets:
                refuse(what, name, f"that column of {source.name} has another use; name another")
        if not self.attributes:
            raise DataError(
                f"{source.name} has no column beside {list_names(list(names))}; nothing to ask for"
            )
