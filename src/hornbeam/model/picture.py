"""The plain records that a tree is drawn from, and what every view of such a picture can do.

Thresholds are rounded in pictures, and exact in texts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hornbeam.drawing import Picture, PictureNode
from hornbeam.drawing.text import number_text
from hornbeam.errors import UsageError
from hornbeam.files import write_file
from hornbeam.model.text import shortened
from hornbeam.model.walk import Test
from hornbeam.table import Attribute

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree

Levels = int | Literal["auto"] | None

SMALL = 40  # nodes that one picture holds
READABLE_DEPTH = 4
MOST_LABELS = 60  # labels that a branch spells out; further ones are counted


def picture_of(tree: Tree, *, missing: bool = False) -> Picture:
    """The whole tree as records; with `missing` a branch says that missing values take it."""
    classes = tuple(str(label) for label in tree.classes or ())
    arrivals: list[dict[str, Any]] = [{"parent": -1, "branch": "", "takes_missing": False}] * tree.n_nodes
    depths = tree.node_depths.tolist()
    nodes = []
    for node in range(tree.n_nodes):  # a parent comes before its children
        asked: dict[str, Any] = {"test": ""}
        if not tree.is_leaf(node):
            test = tree.tests[node]
            attribute = tree.schema.attributes[test.attribute]
            asked = question(attribute, test)
            for k, child in enumerate(tree.children(node)):
                arrivals[child] = {"parent": node, **arrival(attribute, test, k, missing)}
        nodes.append(
            PictureNode(
                depth=depths[node],
                children=tuple(tree.children(node)),
                rows=float(tree.arrays["weight"][node]),
                **arrivals[node],
                **asked,
                **content(tree, classes, node),
            )
        )
    return Picture(tuple(nodes), classes, tree.targets or ())


def depth_to_draw(tree: Tree) -> int | None:
    """The depth to draw a tree to: none for a small tree, else as deep as a picture can be read."""
    return None if tree.n_nodes <= SMALL else READABLE_DEPTH


def question(attribute: Attribute, test: Test) -> dict[str, Any]:
    """What a node asks, short: `age ≤ 37.5`, `colour = red`, or `colour` where branches name the labels."""
    name = attribute.name
    if test.is_numeric and attribute.is_integer:
        condition = f"≤ {attribute.format(test.bound)}"
    elif test.is_numeric:
        condition = f"≤ {number_text(float(test.bound), 5 if abs(test.bound) >= 1 else 4)}"
    elif names_labels(test):
        return {"test": name}
    else:
        condition = f"= {label_text(attribute, test.branches[0][0])}"
    return {"test": f"{name} {condition}", "name_length": len(name)}


def names_labels(test: Test) -> bool:
    """Whether the branches carry labels: several go along one branch, or every label has its own."""
    return test.kind == "multiway" or (test.kind == "subset" and len(test.branches[0]) > 1)


def label_text(attribute: Attribute, code: int) -> str:
    return attribute.labels[code] or "(empty)"


def arrival(attribute: Attribute, test: Test, child: int, missing: bool) -> dict[str, Any]:
    """What leads along a branch."""
    takes_missing = child == test.default
    also = " or missing" if missing and takes_missing else ""
    if not names_labels(test):
        return {"branch": ("yes", "no")[child] + also, "takes_missing": takes_missing}
    codes = test.branches[child]
    larger = len(test.branches) == 2 and len(codes) > len(test.branches[1 - child])
    texts = [label_text(attribute, code) for code in codes]
    return {
        "branch": shortened(texts, MOST_LABELS) + also,
        "takes_missing": takes_missing,
        "labels": tuple(texts[:MOST_LABELS]),
        "n_labels": len(codes),
        "others": larger,
    }


def content(tree: Tree, classes: tuple[str, ...], node: int) -> dict[str, Any]:
    """What a node predicts, and how its rows divide or spread."""
    if classes:
        present = tree.present(node)
        total = math.fsum(weight for _, weight in present)
        shares = tuple((code, weight / total) for code, weight in present)
        return {"prediction": classes[int(tree.leaf_class[node])], "shares": shares}
    means = tuple(tree.means[node].tolist())
    if tree.targets is None or len(means) == 1:
        spread = math.sqrt(max(0.0, float(tree.arrays["impurity"][node])))
        return {"prediction": number_text(means[0]), "means": means, "spread": spread}
    pairs = zip(tree.targets, means, strict=True)
    return {"prediction": ", ".join(f"{name} {number_text(mean)}" for name, mean in pairs), "means": means}


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
        writers = {".svg": self.svg, ".html": self.html, ".htm": self.html}
        write = writers.get(place.suffix.lower())
        if write is None:
            raise UsageError(f"path {str(place)!r}: a name that ends in .svg or .html is allowed")
        text = write() if title is None else write(title=title)
        write_file(place, text.encode("utf-8"))
        return place

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg()}</div>'
