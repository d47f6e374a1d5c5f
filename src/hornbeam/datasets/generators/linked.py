"""What families of several linked tables share: examples in pieces, a checksum, facts in ACE's notation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hornbeam.errors import UsageError

from .family import MOST_ROWS, GeneratedFamily, PiecesHash, check_count
from .streams import MOST_SEED, Integers, Rows, Truths

CHUNK_EXAMPLES = 2**15
Tables = dict[str, pa.Table]


@dataclass(frozen=True, eq=False)
class LinkedSet:
    """Tables by name, their keys (table -> column) and references (table -> column -> table), and what is
    predicted, as `table.column`; `hash` is that of the rows."""

    name: str
    title: str
    tables: Mapping[str, pa.Table]
    keys: Mapping[str, str]
    references: Mapping[str, Mapping[str, str]]
    target: str
    hash: str


class LinkedFamily(GeneratedFamily):
    """A family whose sets are databases.

    The facts of example i depend on the family, its options, the seed and i alone.
    """

    keys: ClassVar[Mapping[str, str]]
    references: ClassVar[Mapping[str, Mapping[str, str]]]
    target: ClassVar[str]
    settings: ClassVar[str]
    """The language bias and settings of ACE with which a tree is grown from the facts."""

    @property
    @abstractmethod
    def usual_examples(self) -> int:
        """How many examples there are if not said otherwise."""

    @abstractmethod
    def draw(self, rows: Rows) -> Tables:
        """The tables of these examples, the target's first; rows follow the examples."""

    @abstractmethod
    def facts(self, tables: Tables) -> Iterator[str]:
        """The tables as ground facts, one a line, whose first argument is the key of the example."""


def count_examples(family: LinkedFamily, examples: int | None, start: int) -> int:
    check_count("start", start, 0, MOST_ROWS)
    if examples is None:
        return family.usual_examples
    check_count("rows", examples, 0, MOST_ROWS)
    if start + examples > MOST_ROWS:
        raise UsageError(f"rows {examples} from row {start}: there are {MOST_ROWS} at most; ask for fewer")
    return examples


def pieces(
    family: LinkedFamily, examples: int, *, seed: int, start: int = 0, chunk: int = CHUNK_EXAMPLES
) -> Iterator[Tables]:
    """The tables of a set in pieces of `chunk` examples, each made when it is asked for."""
    check_count("seed", seed, 0, MOST_SEED)
    check_count("chunk", chunk, 1, MOST_ROWS)
    return map(family.draw, Rows.pieces(seed, start, examples, chunk))


def csv_bytes(table: pa.Table, *, header: bool = False) -> bytes:
    """Plain cells: no name and no label of a generator holds a comma, a quote or a line break."""
    from pyarrow import csv

    text = pa.BufferOutputStream()
    options = csv.WriteOptions(include_header=False, quoting_style="none")
    csv.write_csv(table, text, options)
    names = (",".join(table.column_names) + "\n").encode() if header else b""
    return names + bytes(text.getvalue())


def collect(family: LinkedFamily, examples: int | None, seed: int, start: int) -> LinkedSet:
    """All of a set in memory."""
    digest, found = PiecesHash(), []
    for tables in pieces(family, count_examples(family, examples, start), seed=seed, start=start):
        digest.update({name: csv_bytes(table) for name, table in tables.items()})
        found.append(tables)
    found = found or [family.draw(Rows(seed, start, 0))]
    return LinkedSet(
        name=family.name,
        title=family.title,
        tables={name: pa.concat_tables([tables[name] for tables in found]) for name in found[0]},
        keys=family.keys,
        references=family.references,
        target=family.target,
        hash=digest.hexdigest(),
    )


def draw_orders(rows: Rows, stream: str, width: int, present: Truths) -> Integers:
    """For each row a random order: the places 0, 1, ... of its present columns, which come first."""
    draws = np.stack([rows.unit(f"{stream}/{j}") for j in range(width)], axis=1)
    draws[~present] = 2.0
    return np.argsort(np.argsort(draws, axis=1, kind="stable"), axis=1, kind="stable")


def names(prefix: str, numbers: Integers) -> pa.Array:
    """`prefix` with each number behind it."""
    return pa.array([f"{prefix}{number}" for number in numbers.tolist()], type=pa.string())


def part_names(whole: str, part: str, wholes: Integers, parts: Integers) -> pa.Array:
    """`p1_o2` for the part 1 of whole 0, whose prefixes are p and o."""
    pairs = zip((wholes + 1).tolist(), (parts + 1).tolist(), strict=True)
    return pa.array([f"{whole}{i}_{part}{j}" for i, j in pairs], type=pa.string())


def columns_of(places: range, draw: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
    """What is drawn for each place, a column each."""
    return np.stack([draw(place) for place in places], axis=1)


def labels(codes: Integers, words: tuple[str, ...]) -> pa.Array:
    """The word of each code, null where it is negative."""
    return pa.array([words[code] if code >= 0 else None for code in codes.tolist()], type=pa.string())


def some(truths: Truths) -> Truths:
    """For each row whether any of its columns is true."""
    return np.asarray(truths.any(axis=1), dtype=np.bool_)


def rows_of(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)
