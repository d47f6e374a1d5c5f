"""The look of every page: the pictures' style and page.css, for screen, dark readers, phones and paper."""

from __future__ import annotations

from importlib import resources

from .html import tag
from .svg import page_definitions, style_sheet
from .text import escape

_LEAF = (
    '<svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">'
    '<path d="M12 2C6 6 4 10 4 14a8 8 0 0 0 16 0c0-4-2-8-8-12z" style="fill:var(--hb-accent)"/>'
    '<path d="M12 22V8m0 12l5-5m-5 2l-4-4m4 1l3-3" style="stroke:var(--hb-card)" '
    'stroke-width="1.4" fill="none" stroke-linecap="round"/></svg>'
)


def page_head(headline: str, lead: str) -> str:
    """The result in one sentence, which is HTML already, and where it comes from."""
    brand = tag("div", _LEAF, tag("span", "Hornbeam"), class_="brand")
    return tag("header", brand, tag("h1", headline), tag("p", escape(lead), class_="lead"))


def write_page(title: str, *content: str, more_style: str = "", data: str = "", script: str = "") -> str:
    """One HTML file without outside links; content is HTML already, and data an element for the script."""
    head = tag(
        "head",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        tag("title", escape(title)),
        tag("style", style_sheet(":root"), read_part("page.css"), more_style),
    )
    run = tag("script", read_part("view.js"), script)
    body = tag("body", page_definitions(), tag("main", *content), data, run)
    return "<!doctype html>" + tag("html", head, body, lang="en") + "\n"


def read_part(name: str) -> str:
    """A file of this package."""
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
