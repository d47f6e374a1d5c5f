"""What the native engine reads: domains of values, relations of codes, and the examples with their target.

`coding` makes these records, `engine` hands them to the engine. Orders of
customers, who are the examples, are for instance

    Relation("orders", ("id", "customer"), ("orders", "customers"), (ids, customers), owner=customers, key=1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Codes: TypeAlias = npt.NDArray[np.int32]
Rows: TypeAlias = npt.NDArray[np.int64]
Column = TypeVar("Column")

MISSING = -1
"""The code of NULL. It satisfies a literal only where nothing is asked of it: it equals no constant and no
variable, another NULL included, and lies on no side of a threshold."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of one type. A code is a place among them: numbers ascend, labels by their UTF-8 bytes.

    Columns of one type are coded alike, so joins compare codes, and so do thresholds of a numeric type.
    `storage` is empty where the values are themselves: text, int64, float64. "boolean" says that the labels
    false and true were truth values; "date", "timestamp:us" and so on (`hornbeam.table.storage`) that the
    values are the int64 codes of dates or times.
    """

    name: str
    kind: Literal["nominal", "numeric"]
    values: npt.NDArray[Any]
    storage: str = ""


@dataclass(frozen=True, eq=False)
class Relation(Generic[Column]):
    """A table: its columns as they were read, `Relation[Cells]`, or coded, `Relation[Codes]`.

    `owner` is the example of each row, or None where all examples share the rows. `key` is the column that
    holds the example's key itself, if there is one: there `owner` is what it says. A table that is reached
    through others (the items of an order of a customer) has owners and no key. `row_key` is the column that
    tells the table's rows apart, if there is one. `counts` names the table and
    the reference whose rows a derived relation counts. `rows` are those of the columns that examples see, and
    None where they see all.
    """

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    data: tuple[Column, ...]
    owner: Codes | None = None
    key: int | None = None
    row_key: int | None = None
    counts: tuple[str, str] | None = None
    rows: Rows | None = None

    @property
    def n_rows(self: Relation[Codes]) -> int:
        return len(self.data[0]) if self.data else 0


@dataclass(frozen=True, eq=False)
class Examples:
    """The examples in the order of the target table: their keys, and what is predicted of them, if known.

    For classes `target` holds a code of `classes` for each example (MISSING: unlabelled), for numbers the
    numbers themselves (nan: unlabelled). `ties_to_last` is the rule of data read from ACE files.
    """

    keys: npt.NDArray[Any]
    target_name: str | None = None
    task: Literal["classification", "regression"] = "classification"
    classes: tuple[Any, ...] = ()
    target: npt.NDArray[Any] | None = None
    ties_to_last: bool = False

    @property
    def n(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, eq=False)
class Coded:
    """The examples, domains and relations of one database."""

    examples: Examples
    domains: Mapping[str, Domain]
    relations: Mapping[str, Relation[Codes]]
