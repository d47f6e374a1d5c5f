"""What comes and goes while a tree is kept: files of rows, and streams of batches made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pyarrow import parquet

from hornbeam_experiments.boat.paper import paper
from hornbeam_experiments.boat.people import changed, write_parts
from hornbeam_experiments.boat.plan import Plan

Paths = tuple[Path, ...]
WINDOW = 3  # chunks of a window that moves
LARGE = 5  # times the first rows: another beginning of the same stream


def rows_in(paths: Sequence[Path]) -> int:
    return sum(parquet.read_metadata(path).num_rows for path in paths)


@dataclass(frozen=True)
class Batch:
    """Files whose rows come, and files whose rows go."""

    inserted: Paths = ()
    deleted: Paths = ()

    @property
    def rows(self) -> int:
        return max(rows_in(self.inserted), rows_in(self.deleted))


@dataclass(frozen=True)
class Stream:
    """The files that a tree is made of, and what follows."""

    first: Paths
    batches: tuple[Batch, ...] = ()

    def present(self) -> Iterator[Paths]:
        """The files that are there after each batch."""
        there = self.first
        for batch in self.batches:
            there = (*(path for path in there if path not in batch.deleted), *batch.inserted)
            yield there


@dataclass(frozen=True)
class Files:
    """Function 1: the first rows without noise, then halves of chunks with noise, and the same people by a
    function that is another one in a part of the space."""

    first: Path
    more_first: Path
    """The rest of a beginning that is `LARGE` times as large."""
    halves: Paths
    changed_halves: Paths

    @classmethod
    def write(cls, folder: Path, plan: Plan) -> Self:
        first, more = write_parts(folder / "first", (plan.chunk, LARGE * plan.chunk), function=1)
        half, noise = plan.chunk // 2, paper()["chunk noise"]
        ends = [half * (i + 1) for i in range(2 * (plan.chunks + WINDOW))]
        same = write_parts(folder / "same", ends, function=1, noise=noise, seed=2)
        ends = ends[: 2 * plan.chunks]
        other = write_parts(folder / "changed", ends, changed, function=1, noise=noise, seed=2)
        return cls(first, more, tuple(same), tuple(other))


def pairs(halves: Paths) -> list[Paths]:
    """Whole chunks."""
    return [halves[i : i + 2] for i in range(0, len(halves), 2)]


def arriving(first: Paths, chunks: Sequence[Paths]) -> Stream:
    return Stream(first, tuple(Batch(inserted=chunk) for chunk in chunks))


def leaving(rest: Paths, chunks: Sequence[Paths]) -> Stream:
    """All rows at first; the oldest chunk goes first, and `rest` stays."""
    return Stream(sum(chunks, rest), tuple(Batch(deleted=chunk) for chunk in chunks))


def moving(chunks: Sequence[Paths]) -> Stream:
    """A window: a chunk comes and the oldest one goes, in one batch."""
    exchanged = zip(chunks[WINDOW:], chunks, strict=False)
    return Stream(sum(chunks[:WINDOW], ()), tuple(Batch(new, old) for new, old in exchanged))
