"""The sampling phase (paper 002, section 3.2): guesses of a tree, and what a scan does at their nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from hornbeam.boat.coarse import CoarseNode, CoarseTree, Rows, grow_bootstraps
from hornbeam.boat.layout import bucket_number, counts_bytes, grid_of, layout_of, sample_keys
from hornbeam.boat.nodes import COUNTS_PART, Nodes
from hornbeam.boat.plan import PlaceRecord, Plan, Route, coarse_route
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.growth import ClassTarget, Parameters

_PLACE_PART = 1 / 16  # of the memory, what the counts of one place may take


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

    def rest(self) -> None:
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
        plan: Plan,
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
