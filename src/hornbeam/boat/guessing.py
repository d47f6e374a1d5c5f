"""The sampling phase (paper 002, section 3.2): what bootstrap trees agree on, as places of a scan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.boat.layout import Keys, bucket_number, counts_bytes, grid_of, layout_of, sample_keys
from hornbeam.boat.nodes import COUNTS_PART, Nodes
from hornbeam.boat.plan import HELD, CoarseNode, PlaceRecord, Route, Rows, ScanPlan, coarse_route
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import Sampling, SourceTask
from hornbeam.growth import ClassTarget, Parameters, TableGrower, Target
from hornbeam.growth.memory import least_rows
from hornbeam.model import Tree
from hornbeam.table import Table

_PLACE_PART = 1 / 16  # of the memory, what the counts of one place may take
_MOST_HELD = 0.2  # of the rows of a node: with more in doubt, its guess is not worth following
_NUMERIC, _SUBSET, _VALUE = 1, 2, 3  # kinds of tests, as trees number them


class Drawn(NamedTuple):
    """Trees of bootstrap samples, and how often each sampled row was drawn for each of them."""

    trees: Sequence[Tree]
    times: npt.NDArray[np.uint8]


def grow_bootstraps(
    table: Table,
    target: Target,
    parameters: Parameters,
    rows: int,
    how: Sampling,
    seed: int,
    threads: int,
    among: Rows | None = None,
    turn: int = 0,
) -> Drawn:
    """Trees of draws with replacement from a sample of so many rows, or from those `among` it, grown
    together; each turn draws anew.

    Sizes shrink as the rows do: a leaf of as many rows would be a much larger share of the draw.
    """
    random, there = np.random.default_rng([seed, 0xB007, turn]), table.n_rows if among is None else len(among)
    drawn = min(how.rows, there)
    times = np.zeros((table.n_rows, how.bootstraps), dtype=np.uint8)
    for i in range(how.bootstraps):
        picked = np.bincount(random.integers(there, size=drawn), minlength=there)
        times[slice(None) if among is None else among, i] = np.minimum(picked, 255)
    share = drawn / rows
    scaled = replace(
        parameters,
        max_depth=how.depth if parameters.max_depth is None else min(how.depth, parameters.max_depth),
        min_samples_split=max(2, round(least_rows(parameters.min_samples_split, rows) * share)),
        min_samples_leaf=max(1, round(least_rows(parameters.min_samples_leaf, rows) * share)),
        min_objs=None if parameters.min_objs is None else max(1.0, parameters.min_objs * share),
    )
    grower = TableGrower(table, target, scaled, threads=threads)
    forest = grower.grow(times)
    return Drawn([grower.tree(forest, i, collapse=False) for i in range(how.bootstraps)], times)


class CoarseTree:
    """What bootstrap trees agree on, from their root, where `rows` of the sample are, down to nodes of
    `least` sampled rows."""

    def __init__(
        self,
        drawn: Drawn,
        keys: list[Keys],
        layout: _core.RowLayout,
        grid: _core.Grid,
        least: int,
        rows: Rows,
    ) -> None:
        self._trees, self._times = drawn
        self._keys, self._layout, self._grid, self._least = keys, layout, grid, least
        self.root = self._agree([0] * len(self._trees), rows)

    def _agree(self, at: list[int], rows: Rows) -> CoarseNode:
        node = CoarseNode(rows)
        trees = self._trees
        attributes = {int(tree.arrays["attribute"][i]) for tree, i in zip(trees, at, strict=True)}
        kinds = {int(tree.arrays["kind"][i]) for tree, i in zip(trees, at, strict=True)}
        if len(rows) < self._least or len(attributes) > 1 or len(kinds) > 1 or 0 in kinds:
            return node
        attribute, kind = attributes.pop(), kinds.pop()
        found = (
            self._agree_on_cut(node, attribute, at)
            if kind == _NUMERIC
            else kind in (_SUBSET, _VALUE) and self._agree_on_side(node, attribute, at)
        )
        if not found:
            return node
        node.attribute = attribute
        node.gains = tuple(float(tree.arrays["gain"][i]) for tree, i in zip(trees, at, strict=True))
        side = self._sides(node)
        for child in (0, 1):
            below = [int(tree.arrays["first_child"][i]) + child for tree, i in zip(trees, at, strict=True)]
            node.children.append(self._agree(below, rows[side == child]))
        return node

    def _agree_on_cut(self, node: CoarseNode, attribute: int, at: list[int]) -> bool:
        """The interval reaches from the value left of the lowest cut to that right of the highest, of those
        that each bootstrap sample itself has."""
        keys = self._keys[attribute][node.rows]
        missing = self._layout.missing_key(attribute)
        order = np.argsort(keys, kind="stable")
        order = order[: np.searchsorted(keys[order], missing)]
        if not len(order):
            return False
        ends = [
            self._ends(keys[order], self._times[node.rows[order], j], cut)
            for j, cut in enumerate(self._cut_keys(attribute, at))
        ]
        left, right = min(low for low, _ in ends), max(high for _, high in ends)
        if left == right:  # all rows on one side of the cuts were held above
            return False
        first, last = self._grid.of(attribute, np.array([left, right], dtype=np.uint64)).tolist()
        # The cut is neither before the value on its left nor after that on its right.
        node.first = first + 1 if self._grid.single(attribute, first) else first
        node.last = last - 1 if self._grid.single(attribute, last) else last
        buckets = self._grid.of(attribute, keys)
        held = np.count_nonzero((buckets >= node.first) & (buckets <= node.last))
        return bool(held <= _MOST_HELD * len(keys))

    def _cut_keys(self, attribute: int, at: list[int]) -> Keys:
        """Where the trees cut, as keys that need not occur."""
        exact = self._trees[0].schema.attributes[attribute].storage.family != "float"
        name = "threshold_integer" if exact else "threshold"
        cuts = np.array([tree.arrays[name][i] for tree, i in zip(self._trees, at, strict=True)])
        return self._layout.keys(attribute, cuts)

    @staticmethod
    def _ends(keys: Keys, times: npt.NDArray[np.uint8], cut: np.uint64) -> tuple[int, int]:
        """The values next to a cut, of those that were drawn; the sampled ones where rows of this node were
        held above and so are not here."""
        place = int(np.searchsorted(keys, cut, side="right"))
        left = right = place
        while left > 0 and not times[left - 1]:
            left -= 1
        while right < len(keys) and not times[right]:
            right += 1
        low, high = max(left - 1, 0), min(right, len(keys) - 1)
        return int(keys[low]), int(keys[high])

    def _agree_on_side(self, node: CoarseNode, attribute: int, at: list[int]) -> bool:
        """Categories that all trees which have them send to the same side; others are held."""
        keys = self._keys[attribute][node.rows]
        n = len(self._trees[0].schema.attributes[attribute].labels)
        votes = np.zeros((2, n), dtype=np.int64)
        for tree, i in zip(self._trees, at, strict=True):
            for side in (0, 1):
                votes[side, tree.branch_codes(i, side)] += 1
        if not (votes.min(axis=0) == 0).any():
            return False
        child_of = np.where(votes[0] > 0, 0, 1).astype(np.int32)
        child_of[votes.min(axis=0) > 0] = HELD
        child_of[votes.max(axis=0) == 0] = HELD
        node.child_of = child_of
        known = keys[keys < n].astype(np.int64)
        held = np.count_nonzero(child_of[known] == HELD)
        return bool(held <= _MOST_HELD * len(keys)) and {0, 1} <= set(child_of[known].tolist())

    def _sides(self, node: CoarseNode) -> npt.NDArray[np.int32]:
        """The child that each sampled row of the node goes to; HELD where it is in doubt."""
        keys = self._keys[node.attribute][node.rows]
        missing = keys == self._layout.missing_key(node.attribute)
        if node.child_of is not None:
            side = node.child_of[np.where(missing, 0, keys).astype(np.int64)]
        else:
            buckets = self._grid.of(node.attribute, keys).astype(np.int64)
            side = np.where(buckets < node.first, 0, np.where(buckets > node.last, 1, HELD)).astype(np.int32)
        side[missing] = HELD
        return side


class Guessing:
    """The sample of a source, and the grid that all guesses are made on."""

    def __init__(self, task: SourceTask, survey: Survey) -> None:
        self.task, self.survey = task, survey
        self.layout = layout_of(survey, task.n_targets)
        self.nodes = Nodes(task, survey, self.layout)
        if not self.layout.sum_words:  # else the first scan brings what the root is judged by
            self.nodes.open([survey.row_counts])
        nominal = [attribute.kind == "nominal" for attribute in survey.schema.attributes]
        self._keys = sample_keys(self.layout, survey.sample)
        buckets = bucket_number(
            task.sampling.buckets,
            len(survey.row_counts),
            self.layout.sum_words,
            len(nominal),
            task.budget * _PLACE_PART,
        )
        self.grid = grid_of(self.layout, self._keys, nominal, buckets)

    @property
    def sampled(self) -> Rows:
        """All rows of the sample."""
        return np.arange(self.survey.sample.n_rows)

    def forget_keys(self) -> None:
        """Let go what only guesses need: the keys of the sample."""
        self._keys = []

    @property
    def room(self) -> int:
        """How many places of a plan may count."""
        survey = self.survey
        counts = counts_bytes(self.grid, len(survey.schema), len(survey.row_counts), self.layout.sum_words)
        return int(self.task.budget * COUNTS_PART) // max(1, counts)

    def guess(self, parameters: Parameters, rows: Rows, turn: int = 0) -> CoarseNode:
        """What bootstrap trees of the sampled rows that come to a node say of it and of those below, which
        grow by such parameters."""
        survey, task = self.survey, self.task
        drawn = grow_bootstraps(
            survey.sample,
            self.nodes.weighed(survey.sample_target),
            parameters,
            self.rows_of(rows),
            task.sampling,
            task.seed,
            task.threads,
            rows if len(rows) < survey.sample.n_rows else None,
            turn,
        )
        return CoarseTree(drawn, self._keys, self.layout, self.grid, self.least, rows).root

    @property
    def least(self) -> int:
        """Sampled rows of a node that its bootstraps may still speak for."""
        return max(self.task.sampling.least, self.survey.sample.n_rows // 100)

    def add(
        self,
        plan: ScanPlan,
        node: CoarseNode,
        depth: int,
        followed: Collection[CoarseNode],
        end: Callable[[CoarseNode], PlaceRecord],
    ) -> int:
        """Places for a guessed node so deep and for those below that are followed; where they end, such as
        `end` makes. The number of the first."""
        deepest = self.task.parameters.max_depth
        if node not in followed or depth == deepest:
            leaf = depth == deepest or self._seems_leaf(node)
            return plan.add(PlaceRecord() if leaf else end(node))
        at = plan.add(self.nodes.counting())
        plan.guesses[at] = node
        children = [self.add(plan, child, depth + 1, followed, end) for child in node.children]
        plan.places[at].tests = [coarse_route(node, children)]
        return at

    @staticmethod
    def followed(guess: CoarseNode, most: int) -> set[CoarseNode]:
        """The guessed nodes that a scan follows: level by level, as many as there is room for the counts of,
        but the root at least."""
        level, found = [guess] if guess.agreed else [], set[CoarseNode]()
        while level and len(found) < max(1, most):
            found.update(level[: max(1, most) - len(found)])
            level = [child for node in level if node in found for child in node.children if child.agreed]
        return found

    def _seems_leaf(self, node: CoarseNode) -> bool:
        target = self.survey.sample_target
        said = (target.codes if isinstance(target, ClassTarget) else target.values)[node.rows]
        return len(said) >= self.task.sampling.sure and bool((said == said[0]).all())

    def rows_of(self, sampled: Rows) -> int:
        """How many rows a part of the sample likely stands for."""
        return round(len(sampled) * self.survey.rows / max(1, self.survey.sample.n_rows))

    def part(self, rows: Rows, route: Route) -> list[Rows]:
        """The sampled rows of a node by the children that a known test sends them to."""
        attribute = route["attribute"]
        keys = self._keys[attribute][rows]
        missing = keys == self.layout.missing_key(attribute)
        if route["kind"] == "nominal":
            side = np.array(route["child_of"])[np.where(missing, 0, keys).astype(np.int64)]
        else:
            side = (keys > np.uint64(route["lo"])).astype(np.int64)
        side[missing] = route["missing"]
        return [rows[side == child] for child in range(len(route["children"]))]
