"""What a picture of a batch is drawn from: the tree before it and after it, and the state of every node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .palette import class_fill
from .records import Picture
from .text import count_text

KEPT, CHANCE, BEYOND, MOVED, REBUILT = "kept", "chance", "beyond", "moved", "rebuilt"
STATES = {
    KEPT: "kept",
    CHANCE: "moved within chance",
    MOVED: "moved, chance not known",
    BEYOND: "moved beyond chance",
    REBUILT: "rebuilt",
}
"""In words, from little to much."""
_FILLS = {
    KEPT: "var(--hb-other)",
    CHANCE: class_fill(0),
    MOVED: class_fill(4),
    BEYOND: class_fill(1),
    REBUILT: class_fill(5),
}


@dataclass(frozen=True)
class Side:
    """One of the two trees, with the state of each node."""

    picture: Picture
    states: tuple[str, ...]
    rows_before: tuple[float | None, ...]
    """How many rows each node had before, where it is compared; all None before the batch."""

    @cached_property
    def states_below(self) -> tuple[str, ...]:
        """The most that happened below each node; kept at a leaf."""
        order = list(STATES)
        most = [0] * len(self.states)
        for index in range(len(self.states) - 1, 0, -1):
            parent = self.picture.nodes[index].parent
            most[parent] = max(most[parent], most[index], order.index(self.states[index]))
        return tuple(order[place] for place in most)


@dataclass(frozen=True)
class Change:
    """A test that is not the same; texts are raw."""

    state: str
    path: str
    before: str
    after: str
    rows_before: int | None
    rows_after: int | None
    standard_errors: float | None


@dataclass(frozen=True)
class ChangesPicture:
    """A batch ready to be drawn. A side without rows has no tree."""

    number: int
    inserted: int
    deleted: int
    rows: int
    before: Side | None
    after: Side | None
    counts: tuple[tuple[str, int], ...]
    """How many tests have each state, in the order of STATES; nothing below a rebuilt one is counted."""
    changes: tuple[Change, ...] = ()
    withheld: tuple[Change, ...] = ()
    """Tests that were kept, `after` being a better one that chance may explain."""

    @property
    def sides(self) -> tuple[Side | None, Side | None]:
        return self.before, self.after

    @property
    def depth(self) -> int:
        """Of the deeper tree."""
        return max((side.picture.depth for side in self.sides if side), default=0)

    @property
    def heading(self) -> str:
        """The batch and its rows."""
        return f"Batch {self.number}: {self.rows_text}"

    @property
    def rows_text(self) -> str:
        """How many rows came, went and are there."""
        inserted, deleted, rows = map(count_text, (self.inserted, self.deleted, self.rows))
        return f"{inserted} rows inserted, {deleted} deleted, {rows} present"

    def boxes(self, depth: int) -> int:
        """How many nodes the larger tree has down to a depth."""
        return max(
            (sum(node.depth <= depth for node in side.picture.nodes) for side in self.sides if side),
            default=0,
        )

    def depths(self, most: int) -> list[int]:
        """From 2 down, while no tree has more boxes than these."""
        found = [d for d in range(2, self.depth + 1) if self.boxes(d) <= most]
        return found or [min(self.depth, 2)]


def state_fill(state: str) -> str:
    """The colour of a state."""
    return _FILLS[state]


def shown_counts(counts: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Without the ways of moving that do not occur."""
    return [(state, count) for state, count in counts if count or state in (KEPT, REBUILT)]
