"""The look of every page: the pictures' style and page.css, for screen, dark readers, phones and paper."""

from __future__ import annotations

from importlib import resources

from .html import tag
from .svg import page_definitions, style_sheet
from .text import escape


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
