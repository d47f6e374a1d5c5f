"""What an experiment gives back: sheets of numbers, figures, and the parts of the page they stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hornbeam_experiments.paper import paper

Cell = str | int | float | None


@dataclass(frozen=True)
class Sheet:
    """A table of numbers: written as CSV, kept in the JSON, shown on the page."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, name: str, records: Sequence[Mapping[str, Cell]]) -> Sheet:
        """From records that all have the same keys."""
        columns = tuple(records[0]) if records else ()
        return cls(name, columns, tuple(tuple(record[column] for column in columns) for record in records))

    def records(self) -> list[dict[str, Cell]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Figure:
    """A picture as a whole SVG document, and the same for a page that carries the style."""

    name: str
    alone: str
    inline: str


@dataclass(frozen=True)
class Part:
    """One experiment of the paper, ours beside it."""

    title: str
    hint: str
    paper: str
    figures: tuple[Figure, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    shown: tuple[str, ...] = ()
    """Sheets that the page shows open; the others are folded."""
    text: tuple[tuple[str, str], ...] = ()
    """Titles and texts that stand side by side, such as the paper's tree and ours."""


@dataclass(frozen=True)
class Results:
    """All parts of an experiment, and what they were measured with."""

    experiment: str
    headline: str
    parts: tuple[Part, ...]
    setting: Mapping[str, Any]
    notes: tuple[str, ...] = field(default=())
    source: Mapping[str, Any] = field(default_factory=paper)
    """What the paper says, as it is printed there."""
    summary: str = ""
    """What the command prints."""

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        return tuple(sheet for part in self.parts for sheet in part.sheets)
