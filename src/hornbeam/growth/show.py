"""The picture of a stability, for notebooks and for files."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from hornbeam.drawing.folds import StabilityPicture
from hornbeam.drawing.stability import draw_stability
from hornbeam.drawing.stability_page import render_stability
from hornbeam.growth.stability_picture import stability_picture
from hornbeam.model.picture import Levels, View, depth_to_draw

if TYPE_CHECKING:
    from hornbeam.growth.stability import Stability


class StabilityView(View):
    """A tree beside its folds: a picture in a notebook, a text by `svg` or `html`, a file by `save`."""

    def __init__(self, stability: Stability) -> None:
        self.stability = stability

    @cached_property
    def picture(self) -> StabilityPicture:
        """The records that are drawn."""
        return stability_picture(self.stability)

    def svg(self, max_depth: Levels = "auto", *, title: str = "Stability of the tree") -> str:
        """The picture; below `max_depth` subtrees are counted instead of drawn ("auto": as `Tree.to_svg`)."""
        depth = depth_to_draw(self.stability.tree) if max_depth == "auto" else max_depth
        return draw_stability(self.picture, depth, title=title) + "\n"

    def html(self, *, title: str = "Stability of the tree") -> str:
        """A page of its own that needs no network: the picture, every node, the levels, where folds part."""
        return render_stability(self.picture, title)

    def __repr__(self) -> str:
        return f"<StabilityView of {self.stability!r}; save it as .svg or .html>"
