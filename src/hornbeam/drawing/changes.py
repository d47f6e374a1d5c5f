"""What a batch did: the trees before and after it side by side, and the page with every test that changed.

What the same branches lead to stands at the same height in both trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import zip_longest

from .node import LINE, PAD, STRIPE, describe, draw_words, is_broken, striped_card
from .page import Html, cards, depth_section, page_head, section, table, tag, write_page
from .places import LEGEND, MARGIN, NARROWEST, WIDEST, Box, Layout, across, place_columns, test_width
from .records import Picture, PictureNode, Shown, fitting_depths, visible_part
from .svg import BOLD, circle, class_fill, element, frame, label, path, swatch, tooltip
from .text import clean, count_text, escape, width_em
from .tree import caption_of, draw_parts

MOST_BOXES = 64  # boxes of a tree that is read beside another one
_BOX = 44.0
_GAP = 8.0
_BETWEEN = 28.0
_SPARE = 20.0
_LEGEND = 30.0
_HEADING = 28.0
_LETTERS = 16.0  # height of the letters of the heading
_EASY_BOXES = 15
_MOST_ROWS = 500  # changes in the list of all of them
_STYLE = (
    "main{max-width:1900px}.state{white-space:nowrap}"
    ".state i{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:8px}"
)

KEPT, CHANCE, BEYOND, MOVED, REBUILT = "kept", "chance", "beyond", "moved", "rebuilt"
STATES = {
    KEPT: "kept",
    CHANCE: "moved within chance",
    MOVED: "moved, chance not known",
    BEYOND: "moved beyond chance",
    REBUILT: "rebuilt",
}
"""The states of nodes in words, from little change to much."""
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
        """The depth of the deeper tree."""
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

    @property
    def boxes(self) -> tuple[int, ...]:
        """How many nodes the larger tree has down to each depth."""
        both = [side.picture.boxes for side in self.sides if side]
        return tuple(
            max((boxes[min(depth, len(boxes) - 1)] for boxes in both), default=0)
            for depth in range(self.depth + 1)
        )

    def depths(self, most: int) -> list[int]:
        """The depths from 2 on at which no tree has more boxes than these."""
        return fitting_depths(self.boxes, most)


def state_fill(state: str) -> str:
    """The colour of a state."""
    return _FILLS[state]


def shown_counts(counts: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """The counts of states without the ways of moving that do not occur."""
    return [(state, count) for state, count in counts if count or state in (KEPT, REBUILT)]


def draw_changes(
    changes: ChangesPicture, depth: int | None, *, inline: bool = False, title: str = "What a batch did"
) -> str:
    """An SVG of both trees down to a depth; what is hidden is counted. With None nothing is hidden. A page
    has the heading by itself."""
    parts = [() if side is None else visible_part(side.picture, depth) for side in changes.sides]
    places = _place(changes.sides, parts)
    names = [_name(*given) for given in zip(("Before", "After"), changes.sides, parts, strict=True)]
    left, right = (
        max(place.width if place else 0.0, _bold(name, 12) + 2 * MARGIN)
        for name, place in zip(names, places, strict=True)
    )
    start = left + _BETWEEN
    legend, wide = _legend(changes)
    whole = max(start + right, wide, _bold(changes.heading, _LETTERS) + 2 * MARGIN)
    above = 0.0 if inline else _HEADING
    top = above + _LEGEND
    height = top + max((place.height for place in places if place), default=LEGEND + MARGIN)
    parting = f"M{start - _BETWEEN / 2:.1f} {top + 12:.1f}V{height - MARGIN:.1f}"
    body = ("" if inline else _heading(changes)) + _moved(legend, 0.0, above)
    body += path(parting, class_="m")
    for x, name, side, part, place in zip((0.0, start), names, changes.sides, parts, places, strict=True):
        drawn = label(MARGIN, 26, name, whole)
        if side is not None and place is not None:
            drawn += draw_parts(side.picture, part, place, partial(_box, side))
        body += _moved(drawn, x, top)
    counts = ", ".join(f"{count} {STATES[state]}" for state, count in shown_counts(changes.counts))
    return frame(whole, height, body, title, f"{changes.heading}; tests: {counts}", inline)


def _moved(drawn: str, x: float, y: float) -> str:
    return element("g", drawn, transform=f"translate({x:.1f} {y:.1f})")


# places


def _place(sides: Sequence[Side | None], parts: Sequence[tuple[Shown, ...]]) -> list[Layout | None]:
    """Both trees in columns, nodes that are reached by the same branches at the same height."""
    nodes = [
        [side.picture.nodes[node.index] if node.index >= 0 else None for node in part] if side else []
        for side, part in zip(sides, parts, strict=True)
    ]
    heights = [[_BOX + (LINE if node and _broken(node) else 0.0) for node in some] for some in nodes]
    shape, slots = _superposed(parts)
    tall = [0.0] * len(shape)
    for at, sizes in zip(slots, heights, strict=True):
        for spot, size in zip(at, sizes, strict=True):
            tall[spot] = max(tall[spot], size)
    middle = across(shape, tall, _GAP)
    placed: list[Layout | None] = []
    for side, part, some, sizes, at in zip(sides, parts, nodes, heights, slots, strict=True):
        if side is None:
            placed.append(None)
            continue
        widths = [_width(side, shown.index) if shown.index >= 0 else NARROWEST for shown in part]
        placed.append(place_columns(part, some, widths, sizes, [middle[spot] for spot in at], _SPARE))
    return placed


def _superposed(parts: Sequence[tuple[Shown, ...]]) -> tuple[list[Shown], list[list[int]]]:
    """The shape that has all branches of either tree, and where in it the nodes of each tree are."""
    slots = [[0] * len(part) for part in parts]
    roots: tuple[int | None, ...] = tuple(0 if part else None for part in parts)
    pending = [(roots, -1, 0)]
    shape: list[Shown] = []
    while len(shape) < len(pending):
        at = len(shape)
        here, parent, depth = pending[at]
        below = []
        for part, spot, place in zip(parts, slots, here, strict=True):
            below.append(() if place is None else part[place].children)
            if place is not None:
                spot[place] = at
        first = len(pending)
        pending += [(pair, at, depth + 1) for pair in zip_longest(*below)]
        shape.append(Shown(at, parent, depth, tuple(range(first, len(pending)))))
    return shape, slots


def _width(side: Side, index: int) -> float:
    """What a box needs for its two lines."""
    node = side.picture.nodes[index]
    first = test_width(node, _broken(node)) if node.test else _bold(clean(node.prediction), 12) + 2 * PAD
    return STRIPE + 1 + max(first, width_em(_rows(side, index)) * 11 + 2 * PAD)


def _broken(node: PictureNode) -> bool:
    """Whether the question takes two lines in the widest box."""
    return is_broken(node, WIDEST - STRIPE - 2 * PAD - 1)


def _bold(text: str, size: float) -> float:
    return width_em(text) * size * BOLD


# heading


def _heading(changes: ChangesPicture) -> str:
    return element(
        "text", escape(changes.heading), x=MARGIN, y=26, class_="t", style=f"font-size:{_LETTERS:.0f}px"
    )


def _legend(changes: ChangesPicture) -> tuple[str, float]:
    """The colour of each state and how many tests have it, and how wide that is."""
    drawn, x = [label(MARGIN, 23, "tests:", 60, 12, "s")], MARGIN + 44
    for state, count in shown_counts(changes.counts):
        entry, x = swatch(x, 23, f"{count_text(count)} {STATES[state]}", state_fill(state))
        drawn.append(entry)
    return "".join(drawn), x + MARGIN


def _name(name: str, side: Side | None, part: tuple[Shown, ...]) -> str:
    """Which tree, how large, and how much of it is drawn."""
    if side is None:
        return f"{name}: no rows, so no tree"
    leaves = side.picture.leaves_below[0]
    size = f"{count_text(leaves)} {'leaf' if leaves == 1 else 'leaves'}, depth {side.picture.depth}"
    return "; ".join(filter(None, (f"{name}: {size}", caption_of(side.picture, part))))


# boxes


def _box(side: Side, shown: Shown, place: Box) -> str:
    """A node; a dot beside it says the most that happened in what is not drawn below it."""
    node, state = side.picture.nodes[shown.index], side.states[shown.index]
    x, room = place.x + STRIPE + PAD, place.width - STRIPE - 2 * PAD
    size = place.x, place.y, place.width, place.height
    dot = ""
    if shown.hidden_leaves:
        fill = f"fill:{state_fill(side.states_below[shown.index])}"
        dot = circle(place.x + place.width + 8, place.y + place.height / 2, 4.5, fill)
    return dot + element(
        "g",
        tooltip(f"{describe(side.picture, node)}; {STATES[state]}"),
        striped_card(node, state_fill(state), *size, tinted=state != KEPT),
        draw_words(node, x, place.y + 19, room, _broken(node)),
        label(x, place.y + place.height - 9, _rows(side, shown.index), room, 11, "s"),
        data_node=shown.index,
        data_state=state,
    )


def _rows(side: Side, index: int) -> str:
    """How many rows, and by how many that is more or less than before."""
    rows, before = side.picture.nodes[index].rows, side.rows_before[index]
    if before is None or rows == before:
        return f"n = {count_text(rows)}"
    return f"n = {count_text(rows)} ({'+' if rows > before else '−'}{count_text(abs(rows - before))})"


# page


def render_changes(changes: ChangesPicture, title: str) -> str:
    """The page as text; it needs neither network nor script."""
    return write_page(
        title,
        _page_heading(changes),
        _cards(changes),
        _tree_section(changes),
        _list_section(changes),
        _withheld_section(changes),
        more_style=_STYLE,
    )


def _page_heading(changes: ChangesPicture) -> str:
    tests = sum(count for _, count in changes.counts)
    kept = tag("em", f"{count_text(dict(changes.counts)[KEPT])} of {count_text(tests)}")
    uncounted = "; tests below a rebuilt one are not counted" if dict(changes.counts)[REBUILT] else ""
    return page_head(f"Batch {changes.number} kept {kept} tests", changes.rows_text + uncounted)


def _cards(changes: ChangesPicture) -> str:
    counts = shown_counts(changes.counts)
    return cards(((count_text(count), _named(state)) for state, count in counts), "card state")


def _named(state: str) -> Html:
    """The colour of a state and what it is called."""
    return Html(tag("i", style=f"background:{state_fill(state)}") + escape(STATES[state]))


def _tree_section(changes: ChangesPicture) -> str:
    """Both trees, with a choice of depths where they are deep."""
    hint = (
        "Left the tree before the batch, right the tree after it; what the same branches lead to stands at "
        "the same height. All that lies below a rebuilt node is rebuilt. A dot is the most that happened in "
        "a part that is not drawn."
    )
    depths, draw = changes.depths(MOST_BOXES)[-6:], partial(draw_changes, changes, inline=True)
    return depth_section("Both trees", hint, depths, changes.boxes, _EASY_BOXES, draw)


def _list_section(changes: ChangesPicture) -> str:
    if not changes.changes:
        return section("What changed", "Every test was kept.")
    names = ("", "where", "before", "after", "rows before", "rows after", "standard errors")
    hint = (
        "By how many standard errors the new test is better than the old one, on the present rows: up to two "
        "are chance."
    )
    rows = table(names, map(_row, changes.changes[:_MOST_ROWS]), (4, 5, 6))
    return section("What changed", hint, rows, _more(changes.changes))


def _withheld_section(changes: ChangesPicture) -> str:
    """Better tests that were not taken, where the policy keeps tests while chance may be the reason."""
    if not changes.withheld:
        return ""
    names = ("where", "kept", "the best", "rows", "standard errors")
    hint = (
        "Tests that stay although another one is better on the present rows, by so many standard errors: up "
        "to two are chance."
    )
    rows = [
        (change.path or "root", change.before, change.after, *_figures(change)[1:])
        for change in changes.withheld[:_MOST_ROWS]
    ]
    listed = table(names, rows, (3, 4))
    return section("What exactness would have changed", hint, listed, _more(changes.withheld))


def _more(changes: tuple[Change, ...]) -> str:
    left = len(changes) - _MOST_ROWS
    return tag("p", f"… {count_text(left)} more", class_="hint") if left > 0 else ""


def _row(change: Change) -> tuple[str, ...]:
    tests = _test_or_end(change.before, change.rows_before), _test_or_end(change.after, change.rows_after)
    state = tag("td", _named(change.state), class_="state")
    return state, change.path or "root", *tests, *_figures(change)


def _figures(change: Change) -> tuple[str, ...]:
    """Rows before and after, and standard errors."""
    rows = ("" if rows is None else count_text(rows) for rows in (change.rows_before, change.rows_after))
    errors = "" if change.standard_errors is None else f"{change.standard_errors:.1f}"
    return *rows, errors


def _test_or_end(test: str, rows: int | None) -> str:
    return test or ("no tree" if rows is None else "a leaf")
