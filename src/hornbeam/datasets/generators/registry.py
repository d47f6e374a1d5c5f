"""Every family by its name, and its rows as a stream."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from hornbeam.errors import UsageError

from .agrawal import Agrawal
from .balance import Balance
from .bongard import Bongard
from .family import CHUNK_ROWS, Family, batches, count_rows
from .instability import Instability
from .led import Led
from .linked import LinkedFamily
from .monks import Monks
from .multiplex_xor import MultiplexXor
from .multiplexer import Multiplexer
from .parity import NumericXor, Xor
from .tictactoe import TicTacToe
from .trains import Trains

FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (
        Agrawal,
        Led,
        Xor,
        NumericXor,
        Multiplexer,
        MultiplexXor,
        Monks,
        TicTacToe,
        Balance,
        Instability,
    )
}

LINKED: dict[str, type[LinkedFamily]] = {family.name: family for family in (Bongard, Trains)}
"""Families of several linked tables."""


def options_of(family: type[Family | LinkedFamily]) -> dict[str, Any]:
    """The options of a family and their defaults."""
    return {field.name: field.default for field in dataclasses.fields(family)}  # type: ignore[arg-type]


def find_family(name: str, **options: Any) -> Family:
    """The family of that name with these options."""
    family = FAMILIES.get(name)
    if family is None:
        raise UsageError(f"there is no generator {name!r}; there are {', '.join(FAMILIES)}")
    check_options(family, options)
    return family(**options)


def find_linked(name: str, **options: Any) -> LinkedFamily:
    """The family of linked tables of that name with these options."""
    family = LINKED.get(name)
    if family is None:
        raise UsageError(f"there is no generator {name!r} of linked tables; there are {', '.join(LINKED)}")
    check_options(family, options)
    return family(**options)


def check_options(family: type[Family | LinkedFamily], options: Mapping[str, Any]) -> None:
    """Refuse an option that the family does not have."""
    known = options_of(family)
    for option in options:
        if option not in known:
            allowed = ", ".join(known) or "none"
            raise UsageError(
                f"the generator {family.name!r} has no option {option!r}; its options are: {allowed}"
            )


def generate(
    name: str,
    rows: int | None = None,
    *,
    seed: int = 0,
    start: int = 0,
    chunk_rows: int = CHUNK_ROWS,
    **options: Any,
) -> pa.RecordBatchReader:
    """A stream of record batches with `chunk_rows` rows each; no more than one of them is ever held.

    The rows depend on the name, the options and the seed alone. `start` skips that many: further rows of the
    same set, as if more had been asked for at once.
    """
    family = find_family(name, **options)
    count = count_rows(family, rows, start)
    stream = batches(family, count, seed=seed, start=start, chunk_rows=chunk_rows)
    return pa.RecordBatchReader.from_batches(family.schema, stream)
