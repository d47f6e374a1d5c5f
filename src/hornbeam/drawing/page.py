"""What every page is made of: HTML elements, sections, tables, cards, a picture at several depths, the frame.

Attributes are escaped and every element is closed. What elements hold is HTML already; titles, the cells of
tables and the figures of cards are plain texts, which are escaped here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from importlib import resources

from .svg import attributes_text, page_definitions, style_sheet
from .text import escape

_LEAF = (
    '<svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">'
    '<path d="M12 2C6 6 4 10 4 14a8 8 0 0 0 16 0c0-4-2-8-8-12z" style="fill:var(--hb-accent)"/>'
    '<path d="M12 22V8m0 12l5-5m-5 2l-4-4m4 1l3-3" style="stroke:var(--hb-card)" '
    'stroke-width="1.4" fill="none" stroke-linecap="round"/></svg>'
)


class Html(str):
    """Text that is HTML already."""


def tag(name: str, *content: str, **attributes: object) -> Html:
    """An element; class_ is class, True is an attribute without value, False is none."""
    return Html(f"<{name}{attributes_text(attributes)}>{''.join(content)}</{name}>")


def section(title: str, hint: str, *content: str, **attributes: str | bool) -> str:
    """A part of the page with its heading and, where there is one, a line that explains it."""
    explained = tag("p", escape(hint), class_="hint") if hint else ""
    return tag("section", tag("h2", escape(title)), explained, *content, **attributes)


def table(
    names: Iterable[str], rows: Iterable[Iterable[str]], right: Collection[int] = (), **attributes: str
) -> Html:
    """A table of the names of its columns and its rows, in a frame that scrolls where it is too wide.

    The columns of numbers, which `right` has by their places, are set to the right. A cell or a row that is
    HTML stays as it is.
    """
    lines = [line if isinstance(line, Html) else row(line, right) for line in rows]
    return tag("div", tag("table", row(names, right, "th"), *lines, **attributes), class_="scroll")


def row(cells: Iterable[str], right: Collection[int], name: str = "td", **attributes: str | None) -> Html:
    """A row of a table."""
    made = [
        cell if isinstance(cell, Html) else tag(name, escape(cell), class_="r" if place in right else None)
        for place, cell in enumerate(cells)
    ]
    return tag("tr", *made, **attributes)


def cards(figures: Iterable[tuple[str, ...]], class_: str = "card") -> str:
    """Figures in a row, each with its name, and what else stands on its card, which is HTML already."""
    made = [
        tag("div", tag("b", escape(figure)), _named(name), *more, class_=class_)
        for figure, name, *more in figures
    ]
    return tag("div", *made, class_="cards")


def _named(name: str) -> Html:
    return tag("span", name if isinstance(name, Html) else escape(name))


def depth_section(
    title: str, hint: str, depths: Sequence[int], boxes: Sequence[int], easy: int, draw: Callable[[int], str]
) -> str:
    """A picture at several depths, with a button for each where there are several; it works without script.

    `boxes` tells how many there are down to each depth of the tree; the picture that is shown at first is
    the deepest that has at most `easy` of them.
    """
    start = max((depth for depth in depths if boxes[depth] <= easy), default=depths[0])
    picks = [
        f'<input class="pick" type="radio" name="depth" id="d{depth}"{" checked" if depth == start else ""}>'
        for depth in depths
    ]
    labels = [tag("label", "all" if d >= len(boxes) - 1 else str(d), for_=f"d{d}") for d in depths]
    choice = tag("div", "levels shown", *labels, class_="depths") if len(depths) > 1 else ""
    views = [tag("div", draw(depth), class_=f"view v{depth} scroll") for depth in depths]
    return section(title, hint, tag("style", *map(_depth_rule, depths)), *picks, choice, *views)


def _depth_rule(depth: int) -> str:
    chosen = "background:var(--hb-ink);color:var(--hb-card);border-color:var(--hb-ink)"
    picked = f"#d{depth}:checked"
    return f"{picked}~.v{depth}{{display:block}}{picked}~.depths label[for=d{depth}]{{{chosen}}}"


def page_head(headline: str, lead: str) -> str:
    """The result in one sentence, which is HTML already, and where it comes from."""
    brand = tag("div", _LEAF, tag("span", "Hornbeam"), class_="brand")
    return tag("header", brand, tag("h1", headline), tag("p", escape(lead), class_="lead"))


def write_page(
    title: str,
    *content: str,
    footer: str = "Drawn by Hornbeam",
    more_style: str = "",
    data: str = "",
    script: str = "",
) -> str:
    """One HTML file without outside links, for screen, dark readers, phones and paper; `data` is an element
    for the script."""
    foot = tag("footer", f"{escape(footer)}; this page needs no network.")
    head = tag(
        "head",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        tag("title", escape(title)),
        tag("style", style_sheet(":root"), read_part("page.css"), more_style),
    )
    run = tag("script", read_part("view.js"), script)
    body = tag("body", page_definitions(), tag("main", *content, foot), data, run)
    return "<!doctype html>" + tag("html", head, body, lang="en") + "\n"


def read_part(name: str) -> str:
    """A file of this package."""
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
