"""The one way in which the elements of a page are written: attributes escaped, every element closed."""

from __future__ import annotations

from .text import escape


def tag(name: str, *content: str, **attributes: str | bool) -> str:
    """An element; content is HTML already, attribute values are escaped (class_ is class, True is bare)."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not False
    )
    return f"<{name}{written}>{''.join(content)}</{name}>"


def section(title: str, hint: str, *content: str, **attributes: str | bool) -> str:
    """A part of the page with its heading and, where there is one, a line that explains it."""
    explained = tag("p", escape(hint), class_="hint") if hint else ""
    return tag("section", tag("h2", escape(title)), explained, *content, **attributes)


def table(header: str, *rows: str, **attributes: str | bool) -> str:
    """A table from its rows, in a frame that scrolls where it is too wide."""
    return tag("div", tag("table", header, *rows, **attributes), class_="scroll")


def cell(text: str, right: bool = False, name: str = "td") -> str:
    """One cell of plain text."""
    return tag(name, escape(text), class_="r") if right else tag(name, escape(text))
