"""What families of generated sets share: checked options, typed columns, rows in batches, their checksum.

A family is a frozen dataclass. Its fields are the options, and each says beside its default what is allowed:

    class Led(TableFamily):
        attributes: int = choice(7, (7, 24))
        noise: float = share(0.1)
"""

from __future__ import annotations

import hashlib
import numbers
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from hornbeam import arguments
from hornbeam.errors import UsageError

from .streams import MOST_SEED, Rows, Values

CHUNK_ROWS = 2**17
MOST_ROWS = 2**62
MOST_EXTRA = 1000
EXTRA_VALUES = 100_000
CLASS = "class"


@dataclass(frozen=True)
class GeneratedColumn:
    """A column: its name, its storage type, and its labels where the values are codes of labels."""

    name: str
    type: pa.DataType
    labels: tuple[str, ...] = ()
    nominal: bool = False  # numbers that stand for labels, as bits do
    few: bool = False  # so few different values that a dictionary of them saves space in a file

    def array(self, values: Values) -> pa.Array:
        if not self.labels:
            return pa.array(values, type=self.type)
        codes = pa.array(values, type=pa.int8())
        return pa.DictionaryArray.from_arrays(codes, pa.array(self.labels, type=pa.string()))


def integer(name: str, *, few: bool = False) -> GeneratedColumn:
    return GeneratedColumn(name, pa.int32(), few=few)


def real(name: str) -> GeneratedColumn:
    return GeneratedColumn(name, pa.float64())


def bit(name: str) -> GeneratedColumn:
    return GeneratedColumn(name, pa.int8(), nominal=True, few=True)


def labelled(name: str, labels: Sequence[str]) -> GeneratedColumn:
    return GeneratedColumn(name, pa.dictionary(pa.int8(), pa.string()), tuple(labels), few=True)


def extra_columns(count: int) -> tuple[GeneratedColumn, ...]:
    """Columns that say nothing about the class."""
    return tuple(integer(f"extra{number}") for number in range(1, count + 1))


def draw_extra(rows: Rows, count: int) -> list[Values]:
    return [rows.below(f"extra/{number}", EXTRA_VALUES) for number in range(1, count + 1)]


class GeneratedFamily(ABC):
    """A kind of generated set; its options are the fields of the dataclass that extends this one."""

    name: ClassVar[str]
    asks: ClassVar[str]
    """What is asked of a tree; `{0.bits}` stands for an option."""

    def __post_init__(self) -> None:
        for option in fields(self):  # type: ignore[arg-type]
            value, check = getattr(self, option.name), option.metadata.get("check")
            if check is not None and (value is not None or option.default is not None):
                check(option.name, value)

    @property
    def title(self) -> str:
        """What is asked of a tree."""
        return self.asks.format(self)


class TableFamily(GeneratedFamily):
    """A family whose sets are one table.

    Row i of a set depends on the family, its options, the seed and i alone. So a set may be drawn in pieces
    of any size, begun anywhere, and the first rows of a large set are the small set.
    """

    usual_rows: ClassVar[int] = 10_000

    @abstractmethod
    def columns(self) -> tuple[GeneratedColumn, ...]:
        """The columns; the class comes last."""

    @abstractmethod
    def draw(self, rows: Rows) -> list[Values]:
        """The values (or codes) of each column for these rows."""

    @abstractmethod
    def relevant(self, seed: int) -> tuple[str, ...]:
        """The columns that decide the class, in the order of the rule."""

    @property
    def size(self) -> int | None:
        """How many rows there are; None where there is no end."""
        return None

    @property
    def nominal(self) -> tuple[str, ...]:
        """Attributes that are nominal though they look numeric."""
        return tuple(column.name for column in self.columns() if column.nominal)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(column.name, column.type, nullable=False) for column in self.columns()])


def count_rows(family: TableFamily, rows: int | None, start: int) -> int:
    """How many rows to make: those asked for, else all there are, else the family's usual number."""
    most = MOST_ROWS if family.size is None else family.size
    check_count("start", start, 0, most)
    if rows is None:
        return family.usual_rows if family.size is None else family.size - start
    check_count("rows", rows, 0, MOST_ROWS)
    if start + rows > most:
        raise UsageError(
            f"rows {rows} from row {start}: this {family.name} set has {most} rows; ask for fewer"
        )
    return rows


def batches(
    family: TableFamily, rows: int, *, seed: int, start: int = 0, chunk_rows: int = CHUNK_ROWS
) -> Iterator[pa.RecordBatch]:
    """The rows in pieces of `chunk_rows`, each made when it is asked for."""
    check_count("seed", seed, 0, MOST_SEED)
    check_count("chunk_rows", chunk_rows, 1, MOST_ROWS)
    columns, schema = family.columns(), family.schema

    def batch(piece: Rows) -> pa.RecordBatch:
        pairs = zip(columns, family.draw(piece), strict=True)
        return pa.RecordBatch.from_arrays([column.array(values) for column, values in pairs], schema=schema)

    return map(batch, Rows.pieces(seed, start, rows, chunk_rows))


class PiecesHash:
    """SHA-256 of what comes in pieces, whatever the pieces: of all that has one name, then of all names."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._digests = {name: hashlib.sha256() for name in names}

    def update(self, pieces: Mapping[str, bytes | memoryview]) -> None:
        for name, piece in pieces.items():
            self._digests.setdefault(name, hashlib.sha256()).update(piece)

    def hexdigest(self) -> str:
        lines = [f"{name}\t{digest.hexdigest()}\n" for name, digest in self._digests.items()]
        return hashlib.sha256("".join(lines).encode()).hexdigest()


class RowsHash(PiecesHash):
    """The hash of rows that come in batches: of each column with its type or labels."""

    def __init__(self, family: TableFamily) -> None:
        self._columns = {f"{of.name}\t{','.join(of.labels) or of.type}": of for of in family.columns()}
        super().__init__(self._columns)

    def add(self, batch: pa.RecordBatch) -> None:
        for (name, column), cells in zip(self._columns.items(), batch.columns, strict=True):
            values = cells.indices if column.labels else cells
            stored = values.to_numpy(zero_copy_only=False)
            self.update({name: np.ascontiguousarray(stored, dtype=stored.dtype.newbyteorder("<")).data})


def check_count(name: str, given: int, low: int, high: int) -> None:
    """Refuse what is no whole number of low .. high."""
    try:
        value = operator.index(given)
    except TypeError:
        value = low - 1
    if isinstance(given, bool) or not low <= value <= high:
        raise UsageError(f"{name} {given!r}: a whole number from {low} to {high} is allowed")


def check_share(name: str, given: float, low: float = 0.0, high: float = 1.0) -> None:
    """Refuse what is no number of low .. high."""
    if isinstance(given, bool) or not isinstance(given, numbers.Real) or not low <= float(given) <= high:
        raise UsageError(f"{name} {given!r}: a share from {low:g} to {high:g} is allowed, for instance 0.05")


def check_choice(name: str, given: object, allowed: Collection[object]) -> None:
    """Refuse what is not in the list."""
    if not isinstance(given, (str, numbers.Integral)) or given not in allowed:
        raise UsageError(f"{name} {given!r}: allowed are {', '.join(map(str, allowed))}")


def whole(default: int | None, low: int, high: int) -> Any:
    """An option that is a whole number of low .. high."""
    return _option(default, partial(check_count, low=low, high=high))


def share(default: float | None = 0.0, low: float = 0.0, high: float = 1.0) -> Any:
    """An option that is a number of low .. high."""
    return _option(default, partial(check_share, low=low, high=high))


def choice(default: object, allowed: Collection[object]) -> Any:
    """An option that is one of a few values."""
    return _option(default, partial(check_choice, allowed=allowed))


def switch() -> Any:
    """An option that is on or off."""
    return _option(False, arguments.flag)


def _option(default: object, check: Callable[[str, Any], object]) -> Any:
    return field(default=default, metadata={"check": check})
