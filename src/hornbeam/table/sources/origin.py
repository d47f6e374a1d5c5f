"""An origin: what a kind of source brings to `Source`, found out once when it is opened."""

from dataclasses import dataclass

import pyarrow as pa

from hornbeam.table.sources.part import NOTHING, Part, ScanStats


@dataclass(frozen=True)
class Origin:
    """`name` and `kind` are for people; `ordered` says that every scan brings the rows in the same order."""

    name: str
    kind: str
    schema: pa.Schema
    parts: tuple[Part, ...]
    repeatable: bool = True
    ordered: bool = True
    cannot: tuple[str, ...] = ()  # what this source cannot do, a clause each
    stats: ScanStats = NOTHING  # what finding this out has read already


def show_count(count: int, what: str) -> str:
    """`3 Parquet files`."""
    return f"{count:,} {what}{'s' * (count != 1)}"
