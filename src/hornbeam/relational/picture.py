"""First-order trees, alone and beside their folds, as the plain records that are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from hornbeam import arguments
from hornbeam.drawing import Picture, PictureNode, draw_tree
from hornbeam.drawing.node import PAD
from hornbeam.drawing.places import WIDEST
from hornbeam.drawing.stability import (
    Agreement,
    Alternative,
    LevelRow,
    Parting,
    StabilityPicture,
    draw_stability,
)
from hornbeam.drawing.stability_page import render_stability
from hornbeam.drawing.svg import BOLD
from hornbeam.drawing.text import number_text, width_em
from hornbeam.growth.stability_records import Bifurcation, NodeStability
from hornbeam.growth.stability_view import MOST_PARTINGS
from hornbeam.model.picture import READABLE_DEPTH, SMALL, Levels, View
from hornbeam.relational.stability import RelationalStability
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


class RelationalStabilityView(View):
    """A picture in a notebook, a text by `svg` or `html`, a file by `save`."""

    def __init__(self, stability: RelationalStability) -> None:
        self.stability = stability

    @cached_property
    def picture(self) -> StabilityPicture:
        """The records that are drawn."""
        stability = self.stability
        partings = sorted(stability.bifurcations, key=lambda place: (-place.rows, place.depth))
        return StabilityPicture(
            picture=picture_of(stability.tree),
            agreements=tuple(map(_agreement, stability)),
            agreement=stability.agreement,
            levels=tuple(self._levels()),
            partings=tuple(_parting(place) for place in partings[:MOST_PARTINGS]),
            n_partings=len(partings),
        )

    def _levels(self) -> Iterator[LevelRow]:
        """A row for each level on which the tree asks."""
        stability = self.stability
        for level in range(stability.tree.depth):
            tests = [record for record in stability if record.test and record.depth == level]
            rows = sum(record.rows for record in tests)
            same = sum(record.same * record.rows for record in tests)
            agreement = same / (rows * stability.n_folds) if rows else 0.0
            yield LevelRow(level, len(tests), agreement, stability.tests_by_level[level], stability.f[level])

    def svg(self, max_depth: Levels = "auto", *, title: str = "Stability of the tree") -> str:
        small = self.stability.tree.n_nodes <= SMALL
        depth = (None if small else READABLE_DEPTH) if max_depth == "auto" else max_depth
        return draw_stability(self.picture, depth, title=title) + "\n"

    def html(self, *, title: str = "Stability of the tree") -> str:
        return render_stability(self.picture, title)

    def __repr__(self) -> str:
        return f"<RelationalStabilityView of {self.stability!r}; save it as .svg or .html>"


def _parting(place: Bifurcation) -> Parting:
    arms = tuple(Alternative(len(arm.folds), arm.test) for arm in place.arms)
    return Parting(place.path, place.rows, arms, place.node is not None)


def _agreement(record: NodeStability) -> Agreement:
    return Agreement(
        same=record.same,
        others=record.others if record.test else record.here - record.same,
        leaves=record.leaves,
        gone=record.gone,
        astray=0 if record.agreeing is None else record.same - record.agreeing,
        alternatives=tuple(Alternative(len(arm.folds), arm.test) for arm in record.alternatives),
    )
