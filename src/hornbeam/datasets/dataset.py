"""The one shape of every set, loaded or generated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Dataset:
    """Rows with the names of the targets and of the columns that are nominal though they look numeric.

    `relevant` are the columns that decide the class of a generated set, in the order of its rule; `hash` is
    the SHA-256 of the rows or of their file.
    """

    name: str
    title: str
    rows: pa.Table
    targets: tuple[str, ...]
    task: str
    nominal: tuple[str, ...] = ()
    hash: str = ""
    relevant: tuple[str, ...] = ()

    @property
    def X(self) -> pa.Table:  # noqa: N802 (scikit-learn's name)
        """The attributes: what `fit` takes first."""
        return self.rows.drop_columns(list(self.targets))

    @property
    def y(self) -> pa.ChunkedArray | pa.Table:
        """The target: what `fit` takes second; a table where there are several."""
        if len(self.targets) == 1:
            return self.rows.column(self.targets[0])
        return self.rows.select(list(self.targets))
