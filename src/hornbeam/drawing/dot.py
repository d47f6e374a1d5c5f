"""The tree in Graphviz's language: what the boxes of the SVG say, laid out by whoever reads it."""

from __future__ import annotations

import math

from .node import Legend, small_line
from .records import Picture, PictureNode, Shown, visible_part
from .svg import pale_class, pale_step
from .text import clean, count_text, shorten

_LONGEST_EM = 28.0
_THINNEST = 0.005  # a narrower stripe cannot be seen

_HEAD = """digraph tree {
  graph [ordering=out, nodesep=0.25, ranksep=0.45]
  node [shape=box, fontname="Helvetica,Arial,sans-serif", fontsize=11, color="#5a6675", margin="0.14,0.08"]
  edge [fontname="Helvetica,Arial,sans-serif", fontsize=10, fontcolor="#5a6675", color="#8a95a1"]
"""


def write_dot(picture: Picture, depth: int | None = None) -> str:
    """A directed graph in DOT; below a depth subtrees are counted instead of written."""
    shown = visible_part(picture, depth, None)
    legend = Legend.of(picture)
    lines = [line for place in range(len(shown)) for line in _lines(picture, shown, place, legend)]
    return _HEAD + "".join(f"  {line}\n" for line in lines) + "}\n"


def quoted(text: str) -> str:
    """A text as DOT reads it back: no escape sequence, no character entity, no control character."""
    safe = clean(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{safe}"'


def _lines(picture: Picture, shown: tuple[Shown, ...], place: int, legend: Legend) -> list[str]:
    node = shown[place]
    this = picture.nodes[node.index]
    shown_lines = (this.test or this.prediction, small_line(picture, this))
    text = "\\n".join(quoted(shorten(line, _LONGEST_EM))[1:-1] for line in shown_lines)
    width = ", penwidth=2" if not this.test else ""
    lines = [f'n{node.index} [label="{text}", {_background(this, legend)}{width}]']
    if node.parent >= 0:
        branch = quoted(shorten(this.branch, _LONGEST_EM))
        lines.append(f"n{shown[node.parent].index} -> n{node.index} [label={branch}]")
    if node.hidden_leaves:
        hidden = quoted(f"… {count_text(node.hidden_leaves)} leaves")
        lines.append(f"h{node.index} [label={hidden}, shape=plaintext]")
        lines.append(f"n{node.index} -> h{node.index} [style=dashed, arrowhead=none]")
    return lines


def _background(node: PictureNode, legend: Legend) -> str:
    """The rows of each class as stripes, or the position of the mean as a colour."""
    if not node.shares:
        return f'style=filled, fillcolor="{pale_step(legend.position(node.means[0]))}"'
    stripes = [(pale_class(legend.ranks[index]), share) for index, share in node.shares if share >= _THINNEST]
    if len(stripes) == 1:
        return f'style=filled, fillcolor="{stripes[0][0]}"'
    total = math.fsum(share for _, share in stripes)
    listed = ":".join(f"{colour};{share / total:.4f}" for colour, share in stripes[:-1])
    return f'style=striped, fillcolor="{listed}:{stripes[-1][0]}"'
