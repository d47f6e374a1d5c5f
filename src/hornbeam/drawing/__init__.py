"""Pictures of trees and measurements as plain SVG over plain records; imports nothing of the package."""

from .dot import write_dot
from .icicle import draw_icicle
from .records import Picture, PictureNode
from .svg import page_definitions, style_sheet
from .tree import draw_tree

__all__ = [
    "Picture",
    "PictureNode",
    "draw_icicle",
    "draw_tree",
    "page_definitions",
    "style_sheet",
    "write_dot",
]
