"""A picture at several depths, of which the reader chooses one; the choice works without script."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .html import tag


def depth_views(depths: Sequence[int], start: int, whole: int, draw: Callable[[int], str]) -> tuple[str, ...]:
    """The parts of a section: a button for each depth where there are several, and what `draw` gives; `whole`
    is all of the tree."""
    picks = [
        f'<input class="pick" type="radio" name="depth" id="d{depth}"{" checked" if depth == start else ""}>'
        for depth in depths
    ]
    labels = [tag("label", "all" if depth >= whole else str(depth), for_=f"d{depth}") for depth in depths]
    choice = tag("div", "levels shown", *labels, class_="depths") if len(depths) > 1 else ""
    views = [tag("div", draw(depth), class_=f"view v{depth} scroll") for depth in depths]
    return (tag("style", *map(_rule, depths)), *picks, choice, *views)


def _rule(depth: int) -> str:
    chosen = "background:var(--hb-ink);color:var(--hb-card);border-color:var(--hb-ink)"
    picked = f"#d{depth}:checked"
    return f"{picked}~.v{depth}{{display:block}}{picked}~.depths label[for=d{depth}]{{{chosen}}}"
