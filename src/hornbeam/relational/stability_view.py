"""The picture of a first-order tree beside its folds, for notebooks and for files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from hornbeam.drawing.agreement import Agreement, LevelRow, Parting, StabilityPicture, Way
from hornbeam.drawing.stability import draw_stability
from hornbeam.drawing.stability_page import render_stability
from hornbeam.growth.arms import Bifurcation, NodeStability
from hornbeam.growth.stability_picture import MOST_PARTINGS
from hornbeam.model.picture import READABLE_DEPTH, SMALL
from hornbeam.model.view import Levels, View
from hornbeam.relational.picture import picture_of
from hornbeam.relational.stability import RelationalStability


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
            asking = [record for record in stability if record.test and record.depth == level]
            rows = sum(record.rows for record in asking)
            same = sum(record.same * record.rows for record in asking)
            agreement = same / (rows * stability.n_folds) if rows else 0.0
            yield LevelRow(level, len(asking), agreement, stability.tests_by_level[level], stability.f[level])

    def svg(self, max_depth: Levels = "auto", *, title: str = "Stability of the tree") -> str:
        small = self.stability.tree.n_nodes <= SMALL
        depth = (None if small else READABLE_DEPTH) if max_depth == "auto" else max_depth
        return draw_stability(self.picture, depth, title=title) + "\n"

    def html(self, *, title: str = "Stability of the tree") -> str:
        return render_stability(self.picture, title)

    def __repr__(self) -> str:
        return f"<RelationalStabilityView of {self.stability!r}; save it as .svg or .html>"


def _parting(place: Bifurcation) -> Parting:
    arms = tuple(Way(len(arm.folds), arm.test) for arm in place.arms)
    return Parting(place.path, place.rows, arms, place.node is not None)


def _agreement(record: NodeStability) -> Agreement:
    return Agreement(
        same=record.same,
        others=record.others if record.test else record.here - record.same,
        leaves=record.leaves,
        gone=record.gone,
        astray=0 if record.agreeing is None else record.same - record.agreeing,
        alternatives=tuple(Way(len(arm.folds), arm.test) for arm in record.alternatives),
    )
