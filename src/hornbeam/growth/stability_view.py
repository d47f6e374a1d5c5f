"""A stability as people see it: indented lines, a node each, and the picture with its page."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hornbeam.drawing import Picture
from hornbeam.drawing.stability import (
    Agreement,
    Alternative,
    LevelRow,
    Parting,
    StabilityPicture,
    ThresholdRange,
    draw_stability,
)
from hornbeam.drawing.stability_page import render_stability
from hornbeam.drawing.text import number_text
from hornbeam.growth.stability_records import Arm, Bifurcation, NodeStability, ThresholdBand, TreeBesideFolds
from hornbeam.model.arrays import NUMERIC
from hornbeam.model.picture import Levels, View, depth_to_draw, picture_of
from hornbeam.model.text import DEEPEST_INDENT, INDENT, share_text
from hornbeam.model.walk import leaves_below

if TYPE_CHECKING:
    from hornbeam.growth.stability import Stability
    from hornbeam.model import Tree


class FoldsView(View):
    """A tree beside its folds: a picture in a notebook, a text by `svg` or `html`, a file by `save`."""

    def __init__(self, stability: TreeBesideFolds) -> None:
        self.stability: Any = stability

    @cached_property
    def picture(self) -> StabilityPicture:
        """The whole tree with what the folds do at each node, as the records that are drawn."""
        stability = self.stability
        partings = sorted(stability.bifurcations, key=lambda place: (-place.rows, place.depth))
        return StabilityPicture(
            picture=self._tree(),
            agreements=tuple(map(self._agreement, stability)),
            agreement=stability.agreement,
            levels=tuple(
                LevelRow(level.level, level.tests, level.agreement, level.forest_tests, level.f)
                for level in stability.by_level
            ),
            partings=tuple(map(self._parting, partings[:MOST_PARTINGS])),
            n_partings=len(partings),
        )

    @abstractmethod
    def _tree(self) -> Picture:
        """The tree of all rows."""

    def _thresholds(self, record: NodeStability) -> ThresholdRange | None:
        """Where the thresholds at a node lie on a scale, where there is one."""
        return None

    def _path(self, path: str) -> str:
        return path

    def _way(self, arm: Arm) -> Alternative:
        return Alternative(len(arm.folds), arm.test)

    def _parting(self, place: Bifurcation) -> Parting:
        arms = tuple(map(self._way, place.arms))
        return Parting(self._path(place.path), place.rows, arms, place.node is not None)

    def _agreement(self, record: NodeStability) -> Agreement:
        return Agreement(
            same=record.same,
            others=record.others,
            leaves=record.leaves,
            gone=record.gone,
            astray=0 if record.agreeing is None else record.same - record.agreeing,
            thresholds=self._thresholds(record),
            alternatives=tuple(map(self._way, record.alternatives)),
        )

    def svg(self, max_depth: Levels = "auto", *, title: str = "Stability of the tree") -> str:
        """The picture; below `max_depth` subtrees are counted instead of drawn ("auto": as `Tree.to_svg`)."""
        depth = depth_to_draw(self.stability.tree) if max_depth == "auto" else max_depth
        return draw_stability(self.picture, depth, title=title) + "\n"

    def html(self, *, title: str = "Stability of the tree") -> str:
        """A page of its own that needs no network: the picture, every node, the levels, where folds part."""
        return render_stability(self.picture, title)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.stability!r}; save it as .svg or .html>"


class StabilityView(FoldsView):
    """The view of a tree over one table."""

    def _tree(self) -> Picture:
        return picture_of(self.stability.tree)

    @cached_property
    def _scales(self) -> Scales:
        return Scales(self.stability)

    def _thresholds(self, record: NodeStability) -> ThresholdRange | None:
        return self._scales.range_of(record) if record.band is not None and record.same else None

    def _path(self, path: str) -> str:
        return path.replace(" <= ", " ≤ ")

    def _way(self, arm: Arm) -> Alternative:
        if arm.is_leaf:
            return super()._way(arm)
        band = arm.band
        condition = arm.test[len(arm.attribute) :].strip() if band is None else f"≤ {_band_text(band)}"
        return Alternative(len(arm.folds), arm.attribute, condition)


def to_text(stability: Stability, max_depth: int | None = None) -> str:
    folds = f"{stability.n_folds} fold{'' if stability.n_folds == 1 else 's'}"
    head = (
        f"Stability over {folds}: {share_text(stability.root_agreement)} agree at the root, "
        f"{share_text(stability.agreement)} of the tests that a row meets are the same."
    )
    shape = "Each line: condition  examples  what it asks or answers  folds that do the same; * is a leaf."
    return "\n".join([head, shape, *_lines(stability, max_depth)]) + "\n"


def _lines(stability: Stability, max_depth: int | None) -> Iterator[str]:
    tree, below = stability.tree, leaves_below(stability.tree)
    waiting: list[tuple[int, str]] = [(0, "root")]
    while waiting:
        node, condition = waiting.pop()
        record = stability[node]
        indent = INDENT * min(record.depth, DEEPEST_INDENT)
        deep = f"[depth {record.depth}] " if record.depth > DEEPEST_INDENT else ""
        yield f"{indent}{deep}{condition}  n={record.rows}  {says(record)}"
        yield from (f"{indent}    ({arm_text(arm)})" for arm in record.alternatives)
        if record.is_leaf:
            continue
        if max_depth is not None and record.depth >= max_depth:
            yield f"{indent}{INDENT}... {below[node]} leaves below"
            continue
        for k, child in reversed(list(enumerate(tree.children(node)))):
            waiting.append((child, tree.branch_text(node, k)))


def says(record: NodeStability) -> str:
    """`asks age <= 41.5  9 of 10 folds, 40 to 41.5`."""
    count = f"{record.same} of {record.folds} folds"
    if record.is_leaf:
        more = "" if record.agreeing in (None, record.same) else f", {record.agreeing} with this answer"
        spread = "" if record.means is None or record.same == 0 else f", {record.means.text}"
        return f"{record.prediction} *  {count}{more}{spread}"
    spread = "" if record.band is None or record.same == 0 else f", {record.band.text}"
    return f"asks {record.test}  {count}{spread}"


def arm_text(arm: Arm) -> str:
    """`3 folds: age <= 41.5`."""
    return f"{len(arm.folds)} fold{'' if len(arm.folds) == 1 else 's'}: {arm.test}"


MOST_PARTINGS = 12


def _band_text(band: ThresholdBand) -> str:
    """As short as the picture writes its numbers; what differs may read the same."""
    if not isinstance(band.low, float):
        return band.text
    low, high = number_text(band.low), number_text(band.high)
    return low if low == high else f"{low} to {high}"


class Scales:
    """The range of the thresholds of each numeric attribute, over the tree and all folds."""

    def __init__(self, stability: Stability) -> None:
        self._stability = stability
        self._ranges: dict[int, tuple[float, float]] = {}
        for tree in stability.trees:
            for attribute, low, high in _ranges(tree):
                least, most = self._ranges.get(attribute, (low, high))
                self._ranges[attribute] = min(least, low), max(most, high)

    def range_of(self, record: NodeStability) -> ThresholdRange:
        assert record.band is not None
        tree = self._stability.tree
        low, high = self._ranges[int(tree.arrays["attribute"][record.node])]
        own, *folds = self._stability.thresholds(record.node)

        def place(value: float | int) -> float:
            share = (float(value) - low) / (high - low) if high > low else 0.5
            return share if 0.0 <= share <= 1.0 else 0.5  # an infinite range has no places

        ticks = tuple(sorted({round(place(value), 4) for value in folds}))
        ends = min(own, *folds), max(own, *folds)
        return ThresholdRange(place(own), place(ends[0]), place(ends[1]), ticks, _band_text(record.band))


def _ranges(tree: Tree) -> list[tuple[int, float, float]]:
    """(attribute, smallest, largest threshold) of the numeric tests of a tree."""
    numeric = np.flatnonzero(tree.arrays["kind"] == NUMERIC)
    attribute = tree.arrays["attribute"][numeric]
    integer = np.array([a.is_integer for a in tree.schema.attributes], dtype=bool)[attribute]
    names = ("threshold_integer", "threshold")
    whole, real = (tree.arrays[name][numeric].astype(np.float64) for name in names)
    value = np.where(integer, whole, real)
    order = np.lexsort((value, attribute))
    asked, first = np.unique(attribute[order], return_index=True)
    last = np.concatenate([first[1:], [len(order)]])[: len(asked)] - 1
    low, high = value[order][first], value[order][last]
    return list(zip(asked.tolist(), low.tolist(), high.tolist(), strict=True))
