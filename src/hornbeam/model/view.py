"""What every view can do: show itself in a notebook, and write itself to a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import PathLike
from pathlib import Path
from typing import Literal

from hornbeam.errors import UsageError
from hornbeam.files import write_file

Levels = int | Literal["auto"] | None


class View(ABC):
    """A picture in a notebook, a text by `svg` or `html`, a file by `save`."""

    @abstractmethod
    def svg(self, max_depth: Levels = "auto", *, title: str = "") -> str:
        """The picture; below `max_depth` subtrees are counted instead of drawn."""

    @abstractmethod
    def html(self, *, title: str = "") -> str:
        """A page of its own that needs no network."""

    def save(self, path: str | PathLike[str], *, title: str | None = None) -> Path:
        """Write the picture to `*.svg` or the page to `*.html`."""
        place = Path(path)
        makers = {".svg": self.svg, ".html": self.html, ".htm": self.html}
        maker = makers.get(place.suffix.lower())
        if maker is None:
            raise UsageError(f"path {str(place)!r}: a name that ends in .svg or .html is allowed")
        text = maker() if title is None else maker(title=title)
        write_file(place, text.encode("utf-8"))
        return place

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg()}</div>'
