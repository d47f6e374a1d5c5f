"""First-order trees, alone and beside their folds, as the plain records that are drawn."""

from __future__ import annotations

import math
from typing import Any, Final

from hornbeam import arguments
from hornbeam.drawing import Picture, PictureNode, draw_tree
from hornbeam.drawing.node import PAD
from hornbeam.drawing.places import WIDEST
from hornbeam.drawing.svg import BOLD
from hornbeam.drawing.text import number_text, width_em
from hornbeam.growth.stability_view import FoldsView
from hornbeam.model.picture import READABLE_DEPTH, SMALL
from hornbeam.relational.tree import RelationalTree
from hornbeam.relational.words import test_words

_ROOM: Final = (WIDEST - 4 * PAD) / 12 / BOLD


def picture_of(tree: RelationalTree) -> Picture:
    """The whole tree as records. What is not found, a missing value too, takes the no branch."""
    parents, depths, queries = tree.parents, tree.depths, tree.queries
    nodes = []
    for i, node in enumerate(tree.nodes):
        above = tree.nodes[parents[i]] if i else None
        nodes.append(
            PictureNode(
                parent=parents[i],
                depth=depths[i],
                children=() if node.is_leaf else (node.yes, node.no),
                branch="" if above is None else "yes" if above.yes == i else "no",
                takes_missing=above is not None and above.no == i,
                **_question("" if node.is_leaf else test_words(tree.signature, queries[i], node.test)),
                rows=tree.size(i),
                **_content(tree, i),
            )
        )
    classes = tuple(str(label) for label in tree.classes)
    return Picture(tuple(nodes), classes, () if classes else (tree.target_name,))


def _question(words: str) -> dict[str, Any]:
    """A test, broken between words into lines that a box holds."""
    lines: list[str] = []
    shown = whole = words.replace(" <= ", " ≤ ")
    for sign in "=≤>":  # a column stays beside what it is compared with
        whole = whole.replace(f" {sign} ", f"\xa0{sign}\xa0")
    for word in whole.split(" "):
        if lines and width_em(f"{lines[-1]} {word}") <= _ROOM:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return {"test": shown, "lines": tuple(lines) if len(lines) > 1 else ()}


def _content(tree: RelationalTree, node: int) -> dict[str, Any]:
    if tree.task == "classification":
        shares = tuple((k, share) for k, share in enumerate(tree.shares(node)) if share)
        return {"prediction": str(tree.answer(node)), "shares": shares}
    size, mean, deviations = tree.nodes[node].counts
    spread = math.sqrt(max(0.0, deviations) / size) if size else 0.0
    return {"prediction": number_text(mean), "means": (mean,), "spread": spread}


def to_svg(tree: RelationalTree, max_depth: int | None, title: str | None) -> str:
    """See RelationalTree.to_svg; of a large tree as much as can be read."""
    arguments.whole_or_none("max_depth", max_depth)
    arguments.text_or_none("title", title)
    depth = max_depth if max_depth is not None or tree.n_nodes <= SMALL else READABLE_DEPTH
    return draw_tree(picture_of(tree), depth, title=title or f"Tree for {tree.target_name}") + "\n"


class RelationalStabilityView(FoldsView):
    """The view of a tree over linked tables."""

    def _tree(self) -> Picture:
        return picture_of(self.stability.tree)
