"""Tidy places for boxes: siblings as close as their outlines allow, a parent over their middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .records import Picture


@dataclass(frozen=True)
class Shown:
    """A node of the visible part; index -1 stands for branches that were left out."""

    index: int
    parent: int
    depth: int
    children: tuple[int, ...]
    hidden_branches: int = 0
    hidden_leaves: int = 0


def visible_part(picture: Picture, depth: int | None, most_branches: int | None = 12) -> tuple[Shown, ...]:
    """The nodes down to a depth, breadth first; what lies below or beside is counted, never just dropped.

    None is no limit.
    """
    leaves = picture.leaves_below
    shown: list[Shown] = [Shown(0, -1, 0, ())]
    place = 0
    while place < len(shown):
        current = shown[place]
        children = picture.nodes[current.index].children if current.index >= 0 else ()
        if children and depth is not None and current.depth >= depth:
            shown[place] = _replace(current, (), 0, leaves[current.index])
        elif children:
            kept, left_out = _largest(picture, children, most_branches)
            first = len(shown)
            shown += [Shown(child, place, current.depth + 1, ()) for child in kept]
            if left_out:
                hidden = sum(leaves[child] for child in left_out)
                shown.append(Shown(-1, place, current.depth + 1, (), len(left_out), hidden))
            shown[place] = _replace(current, tuple(range(first, len(shown))), 0, 0)
        place += 1
    return tuple(shown)


def _replace(node: Shown, children: tuple[int, ...], branches: int, leaves: int) -> Shown:
    return Shown(node.index, node.parent, node.depth, children, branches, leaves)


def _largest(picture: Picture, children: tuple[int, ...], most: int | None) -> tuple[list[int], list[int]]:
    if most is None or len(children) <= most:
        return list(children), []
    ordered = sorted(children, key=lambda child: -picture.nodes[child].rows)
    kept = sorted(ordered[: most - 1])
    return kept, sorted(ordered[most - 1 :])


def across(shown: Sequence[Shown], extent: float | Sequence[float], gap: float) -> list[float]:
    """The middle of each box on the axis along which siblings lie; the leftmost box starts at 0.

    Follows Reingold and Tilford: a subtree is an outline by level, siblings are pushed until outlines
    stand a gap apart. `extent` is that of every box, or of each.
    """
    half = [(extent if isinstance(extent, float | int) else extent[place]) / 2 for place in range(len(shown))]
    offset = [0.0] * len(shown)  # of a node's box relative to its parent's
    low: list[list[float]] = [[] for _ in shown]
    high: list[list[float]] = [[] for _ in shown]
    for place in range(len(shown) - 1, -1, -1):
        low[place], high[place] = [-half[place]], [half[place]]
        children = shown[place].children
        if children:
            _join(children, offset, low, high, gap)
            low[place] += low[children[0]]
            high[place] += high[children[0]]
    middle = [0.0] * len(shown)
    for place, node in enumerate(shown):
        if node.parent >= 0:
            middle[place] = middle[node.parent] + offset[place]
    least = min(value - own for value, own in zip(middle, half, strict=True))
    return [value - least for value in middle]


def _join(
    children: tuple[int, ...],
    offset: list[float],
    low: list[list[float]],
    high: list[list[float]],
    gap: float,
) -> None:
    """Place children side by side; the first is left with the outline of all, seen from the parent."""
    at = [0.0]
    joined_low, joined_high = list(low[children[0]]), list(high[children[0]])
    for child in children[1:]:
        levels = min(len(joined_high), len(low[child]))
        shift = max(joined_high[level] - low[child][level] for level in range(levels)) + gap
        at.append(shift)
        joined_high[:levels] = [shift + value for value in high[child][:levels]]
        joined_high += [shift + value for value in high[child][levels:]]
        joined_low += [shift + value for value in low[child][len(joined_low) :]]
        high[child], low[child] = [], []
    centre = (at[0] + at[-1]) / 2
    for child, place in zip(children, at, strict=True):
        offset[child] = place - centre
    low[children[0]] = [value - centre for value in joined_low]
    high[children[0]] = [value - centre for value in joined_high]
