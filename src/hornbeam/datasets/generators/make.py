"""Every family by its name: its rows as a stream, and one function a family for sets in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

import pyarrow as pa

from hornbeam.datasets.dataset import Dataset
from hornbeam.errors import UnknownName, UsageError

from .agrawal import INVERTED, Agrawal
from .bongard import Bongard
from .enumerated import Balance, TicTacToe
from .family import CHUNK_ROWS, CLASS, GeneratedFamily, RowsHash, TableFamily, batches, count_rows
from .hidden_columns import Multiplexer, MultiplexXor, NumericXor, Xor
from .instability import Instability
from .led import Led
from .linked import LinkedFamily, LinkedSet, collect
from .monks import Monks
from .trains import Trains


def make_agrawal(
    rows: int | None = None,
    *,
    function: int = 1,
    profile: str = "ais93",
    perturbation: float = 0.0,
    noise: float = 0.0,
    extra: int = 0,
    changed: str | None = None,
    changed_to: int | str = INVERTED,
    seed: int = 0,
    start: int = 0,
) -> Dataset:
    """People of Agrawal, Imielinski and Swami (1993) in groups A and B, by function 1 to 10.

    `profile` is "ais93" (the paper), "moa" or "quest-c". `perturbation` moves the numbers after labelling,
    `noise` is the share of wrong labels, `extra` the number of random attributes. In the region `changed`
    ("age>=60 and elevel==level2") the label is that of function `changed_to`, or the other one ("inverted").
    """
    family = Agrawal(function, profile, perturbation, noise, extra, changed, changed_to)
    return _collect(family, rows, seed, start)


def make_led(
    rows: int | None = None, *, attributes: int = 7, noise: float = 0.1, seed: int = 0, start: int = 0
) -> Dataset:
    """Digits on a display whose segments fail with probability `noise`; 24 attributes: 17 random bits."""
    return _collect(Led(attributes, noise), rows, seed, start)


def make_xor(
    rows: int | None = None,
    *,
    bits: int = 5,
    irrelevant: int | None = None,
    noise: float = 0.0,
    seed: int = 0,
    start: int = 0,
) -> Dataset:
    """The parity of `bits` columns, at places that the seed draws; by default as many are irrelevant."""
    return _collect(Xor(bits, irrelevant, noise), rows, seed, start)


def make_numeric_xor(
    rows: int | None = None,
    *,
    dimensions: int = 3,
    irrelevant: int | None = None,
    noise: float = 0.0,
    seed: int = 0,
    start: int = 0,
) -> Dataset:
    """The sign of the product of `dimensions` of the columns, at places that the seed draws."""
    return _collect(NumericXor(dimensions, irrelevant, noise), rows, seed, start)


def make_multiplexer(
    rows: int | None = None,
    *,
    address: int = 4,
    irrelevant: int = 0,
    noise: float = 0.0,
    seed: int = 0,
    start: int = 0,
) -> Dataset:
    """The data bit that `address` bits name, all at places that the seed draws; 4: the multiplexer-20."""
    return _collect(Multiplexer(address, irrelevant, noise), rows, seed, start)


def make_multiplex_xor(
    rows: int | None = None, *, noise: float = 0.0, seed: int = 0, start: int = 0
) -> Dataset:
    """One of two parities of 2 to 5 bits, as an eleventh bit selects; the seed draws which bits these are."""
    return _collect(MultiplexXor(noise), rows, seed, start)


def make_monks(
    rows: int | None = None,
    *,
    problem: int = 1,
    subset: str = "all",
    noise: float | None = None,
    seed: int = 0,
    start: int = 0,
) -> Dataset:
    """Monk's problem 1, 2 or 3: all 432 robots; subset="training": a random set of the published size."""
    return _collect(Monks(problem, subset, noise), rows, seed, start)


def make_tictactoe(rows: int | None = None, *, start: int = 0) -> Dataset:
    """The 958 endings of tic-tac-toe, 626 of them won by x."""
    return _collect(TicTacToe(), rows, 0, start)


def make_balance(rows: int | None = None, *, start: int = 0) -> Dataset:
    """The 625 loads of a balance: 288 tip to the left, 288 to the right, 49 not at all."""
    return _collect(Balance(), rows, 0, start)


def make_instability(
    rows: int | None = None,
    *,
    tilt: float = 0.0,
    balanced: bool = False,
    noise: float = 0.0,
    extra: int = 0,
    seed: int = 0,
    start: int = 0,
) -> Dataset:
    """An attribute with two equally good splits, at 20 and at 60 (figure 12 of the BOAT paper)."""
    return _collect(Instability(tilt, balanced, noise, extra), rows, seed, start)


def make_bongard(
    examples: int | None = None,
    *,
    theory: str = "simple",
    objects: int = 6,
    inside: float = 0.5,
    noise: float = 0.0,
    seed: int = 0,
    start: int = 0,
) -> LinkedSet:
    """Pictures of 2 to `objects` shapes, each in an earlier one with probability `inside`, as linked tables.

    `theory` is "simple" (usually 1,453 pictures) or "complex" (1,521); `noise` is the share of wrong labels.
    """
    return collect(Bongard(theory, objects, inside, noise), examples, seed, start)


def make_trains(
    examples: int | None = None,
    *,
    rule: int = 1,
    cars: int = 5,
    noise: float = 0.0,
    seed: int = 0,
    start: int = 0,
) -> LinkedSet:
    """Trains of 2 to `cars` cars that go east or west by rule 1 to 5, as linked tables."""
    return collect(Trains(rule, cars, noise), examples, seed, start)


def _collect(family: TableFamily, rows: int | None, seed: int, start: int) -> Dataset:
    pieces = list(batches(family, count_rows(family, rows, start), seed=seed, start=start))
    digest = RowsHash(family)
    for batch in pieces:
        digest.add(batch)
    return Dataset(
        name=family.name,
        title=family.title,
        rows=pa.Table.from_batches(pieces, schema=family.schema),
        targets=(CLASS,),
        task="classification",
        nominal=family.nominal,
        hash=digest.hexdigest(),
        relevant=family.relevant(seed),
    )


_FAMILIES = (Agrawal, Led, Xor, NumericXor, Multiplexer, MultiplexXor, Monks, TicTacToe, Balance, Instability)
FAMILIES: dict[str, type[TableFamily]] = {family.name: family for family in _FAMILIES}
"""Families of one table."""
LINKED: dict[str, type[LinkedFamily]] = {family.name: family for family in (Bongard, Trains)}
"""Families of several linked tables."""


Kind = TypeVar("Kind", bound=GeneratedFamily)


def options_of(family: type[GeneratedFamily]) -> dict[str, Any]:
    """The options of a family and their defaults."""
    return {field.name: field.default for field in dataclasses.fields(family)}  # type: ignore[arg-type]


def find_family(name: str, **options: Any) -> TableFamily:
    """The family of that name with these options."""
    return _find(name, FAMILIES, "", options)


def find_linked(name: str, **options: Any) -> LinkedFamily:
    """The family of linked tables of that name with these options."""
    return _find(name, LINKED, " of linked tables", options)


def _find(name: str, families: Mapping[str, type[Kind]], what: str, options: Mapping[str, Any]) -> Kind:
    family = families.get(name) if isinstance(name, str) else None
    if family is None:
        raise UsageError(f"there is no generator {name!r}{what}; there are {', '.join(families)}")
    known = options_of(family)
    for option in options:
        if option not in known:
            allowed = ", ".join(known) or "none"
            raise UnknownName(f"the generator {name!r} has no option {option!r}; its options are: {allowed}")
    return family(**options)


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
