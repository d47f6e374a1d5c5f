"""The present rows of a maintained tree as a source reads them: all, or those outside a fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hornbeam.errors import HornbeamError, StorageError, first_line
from hornbeam.table.sources.hashing import fold_of
from hornbeam.table.sources.part import Batches, Part

if TYPE_CHECKING:
    from hornbeam.maintained.store import Store


@dataclass(frozen=True)
class LeftOut:
    """One of so many folds, dealt by a key."""

    key: str
    folds: int
    fold: int

    def rest(self, rows: Any) -> Any:
        """A table or batch without the rows of the fold."""
        return rows.filter(pa.array(fold_of(rows.column(self.key), self.folds) != self.fold))


@dataclass(frozen=True)
class RowsPart(Part):
    """The rows of an open file."""

    store: Store
    where: tuple[str, ...]
    left_out: LeftOut | None

    def read(self, columns: list[str], chunk_rows: int, chunk_bytes: int) -> Batches:
        for condition in self.where:
            for batch in self.store.read(columns, condition, chunk_rows):
                yield (batch if self.left_out is None else self.left_out.rest(batch)), batch.nbytes

    def failures(self) -> tuple[type[Exception], ...]:
        import duckdb

        return (duckdb.Error, pa.ArrowException, OSError)

    def refuse(self, error: Exception, rows: int) -> HornbeamError:
        return StorageError(f"{self.shown} cannot be read after {rows:,} rows: {first_line(error)}")
