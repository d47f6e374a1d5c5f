"""From a stability to the plain records that are drawn, with thresholds placed on scales."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hornbeam.drawing.folds import Agreement, Alternative, LevelRow, Parting, StabilityPicture, ThresholdRange
from hornbeam.drawing.text import number_text
from hornbeam.growth.arms import Arm, Bifurcation, NodeStability, ThresholdBand
from hornbeam.model.arrays import NUMERIC
from hornbeam.model.picture import picture_of

if TYPE_CHECKING:
    from hornbeam.growth.stability import Stability
    from hornbeam.model import Tree

MOST_PARTINGS = 12


def stability_picture(stability: Stability) -> StabilityPicture:
    """The whole tree with what the folds do at each node."""
    scales = Scales(stability)
    partings = sorted(stability.bifurcations, key=lambda place: (-place.rows, place.depth))
    return StabilityPicture(
        picture=picture_of(stability.tree),
        agreements=tuple(_agreement(record, scales) for record in stability),
        agreement=stability.agreement,
        levels=tuple(
            LevelRow(level.level, level.tests, level.agreement, level.forest_tests, level.f)
            for level in stability.by_level
        ),
        partings=tuple(_parting(place) for place in partings[:MOST_PARTINGS]),
        n_partings=len(partings),
    )


def _parting(place: Bifurcation) -> Parting:
    return Parting(_pretty(place.path), place.rows, tuple(map(_way, place.arms)), place.node is not None)


def _agreement(record: NodeStability, scales: Scales) -> Agreement:
    return Agreement(
        same=record.same,
        others=record.others,
        leaves=record.leaves,
        gone=record.gone,
        astray=0 if record.agreeing is None else record.same - record.agreeing,
        thresholds=scales.range_of(record) if record.band is not None and record.same else None,
        alternatives=tuple(map(_way, record.alternatives)),
    )


def _way(arm: Arm) -> Alternative:
    if arm.is_leaf:
        return Alternative(len(arm.folds), arm.test)
    if arm.band is not None:
        return Alternative(len(arm.folds), arm.attribute, f"≤ {_band_text(arm.band)}")
    return Alternative(len(arm.folds), arm.attribute, arm.test[len(arm.attribute) :].strip())


def _band_text(band: ThresholdBand) -> str:
    """As short as the picture writes its numbers; what differs may read the same."""
    if not isinstance(band.low, float):
        return band.text
    low, high = number_text(band.low), number_text(band.high)
    return low if low == high else f"{low} to {high}"


def _pretty(text: str) -> str:
    return text.replace(" <= ", " ≤ ")


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
