"""The look of the page: the pictures' style and page.css, for screen, dark readers, phones and paper."""

from __future__ import annotations

from importlib import resources

from hornbeam.drawing import style_sheet


def page_style() -> str:
    """Everything between the page's style tags."""
    return style_sheet(":root") + read_part("page.css")


def read_part(name: str) -> str:
    """A file of this package."""
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
