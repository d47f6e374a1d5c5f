"""Pictures of trees and measurements as plain SVG over plain records; imports nothing of the package."""

from .charts import Bar, BarGroup, Line, Panel, Point, draw_bars, draw_panels
from .dot import write_dot
from .icicle import draw_icicle
from .records import Picture, PictureNode
from .svg import page_definitions, style_sheet
from .tree import draw_tree

__all__ = [
    "Bar",
    "BarGroup",
    "Line",
    "Panel",
    "Picture",
    "PictureNode",
    "Point",
    "draw_bars",
    "draw_icicle",
    "draw_panels",
    "draw_tree",
    "page_definitions",
    "style_sheet",
    "write_dot",
]
