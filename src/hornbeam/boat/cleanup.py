"""BOAT (paper 002): a sample guesses the tree, one scan of all rows settles it, families finish in memory."""

from __future__ import annotations

from collections.abc import Sequence

from hornbeam.boat.coarse import CoarseNode, CoarseTree, grow_bootstraps
from hornbeam.boat.layout import bucket_number, counts_bytes, grid_of, layout_of, sample_keys
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import Nodes
from hornbeam.boat.plan import PlaceRecord, Route, coarse_route
from hornbeam.boat.spill import Spill
from hornbeam.boat.survey import Survey
from hornbeam.boat.sweep import KEPT_PART, Family, Sweep
from hornbeam.boat.task import SourceTask
from hornbeam.boat.watching import watch_doubtful
from hornbeam.errors import UsageError
from hornbeam.growth import ClassTarget
from hornbeam.model import Tree

# Of the memory, what the counts of one place may take, and those of all places of the plan.
_PLACE_PART, _COUNTS_PART = 1 / 16, 0.25


def grow_boat(task: SourceTask, survey: Survey, meter: Meter) -> list[Tree]:
    """The tree of all rows."""
    if task.folds is not None:
        raise UsageError(
            f"cv={task.folds} with algorithm='boat': it guesses one tree, and folds have one each; use "
            "algorithm='rf_hybrid', which grows all of them in the same scans"
        )
    if task.variant is not None:
        raise UsageError(f"variant={task.variant!r}: the paper's own way is not there yet; leave variant out")
    with Spill() as spill:
        cleanup = Cleanup(task, survey, meter, spill)
        cleanup.run()
        return [cleanup.nodes.tree()]


class Cleanup:
    """One growth: the guess, the cleanup scan, and further scans for what it could not settle."""

    def __init__(self, task: SourceTask, survey: Survey, meter: Meter, spill: Spill) -> None:
        self.task, self.survey, self.meter, self.spill = task, survey, meter, spill
        self.layout = layout_of(survey, task.n_targets)
        self.nodes = Nodes(task, survey, self.layout)
        self._counts = survey.row_counts
        if not self.layout.sum_words:  # else the cleanup scan brings what the root is judged by
            self.nodes.open([self._counts])
        nominal = [attribute.kind == "nominal" for attribute in survey.schema.attributes]
        self._keys = sample_keys(self.layout, survey.sample)
        buckets = bucket_number(
            task.sampling.buckets,
            len(self._counts),
            self.layout.sum_words,
            len(nominal),
            task.budget * _PLACE_PART,
        )
        self.grid = grid_of(self.layout, self._keys, nominal, buckets)

    def run(self) -> None:
        """Settle the whole tree."""
        begin = self._roots() if self.nodes.opened else None
        if begin == []:
            return
        with self.meter.phase("bootstraps"):
            plan, guesses = self._plan(self._guess())
            watch_doubtful(self.nodes, self.grid, plan, guesses)
        sweep = self._sweep("cleanup scan", plan, guesses, {}, begin)
        while sweep.reopened:
            sweep = self._scan_again(sweep)

    def _sweep(
        self,
        phase: str,
        plan: Sequence[PlaceRecord],
        guesses: dict[int, CoarseNode],
        routes: dict[int, Route],
        begin: Sequence[Family] | None,
    ) -> Sweep:
        """A scan, and all that it settles; from the root on where nothing was known before."""
        sweep = Sweep(self.nodes, self.grid, self.meter, self.spill, plan, guesses, routes)
        with self.meter.scan(phase) as report:
            sweep.run(report)
        if begin is None:
            self.nodes.open([self._counts], [sweep.scan.total_sums(0)])
            begin = self._roots()
        with self.meter.phase("settling"):
            families = sweep.settle(begin)
        sweep.finish(families)
        return sweep

    def _roots(self) -> list[Family]:
        root = self.nodes.settling.open_root(0)
        return [] if root < 0 else [Family(root, 0)]

    # ---- the guess ----

    def _guess(self) -> CoarseNode:
        survey, task = self.survey, self.task
        drawn = grow_bootstraps(
            survey.sample,
            self.nodes.weighed(survey.sample_target),
            task.parameters,
            survey.rows,
            task.sampling,
            task.seed,
            task.threads,
        )
        least = max(task.sampling.least, survey.sample.n_rows // 100)
        return CoarseTree(drawn, self._keys, self.layout, self.grid, least).root

    def _plan(self, guess: CoarseNode) -> tuple[list[PlaceRecord], dict[int, CoarseNode]]:
        """Places for the nodes of the guess; where it ends, families or what seem to be leaves."""
        plan: list[PlaceRecord] = []
        guesses: dict[int, CoarseNode] = {}
        attributes, most = len(self.survey.schema), self.task.parameters.max_depth
        counts = counts_bytes(self.grid, attributes, len(self._counts), self.layout.sum_words)
        room = int(self.task.budget * _COUNTS_PART) // max(1, counts)
        counted = self._counted(guess, room)
        room -= len(counted)

        def add(node: CoarseNode, depth: int) -> int:
            nonlocal room
            at = len(plan)
            if node in counted and depth != most:
                guesses[at] = node
                plan.append(self.nodes.counting())
                children = [add(child, depth + 1) for child in node.children]
                plan[at].tests = [coarse_route(node, children)]
            elif depth == most or self._seems_leaf(node):
                plan.append(PlaceRecord())
            else:
                large = self.nodes.too_large(self._likely_rows(node), self.task.budget * KEPT_PART)
                plan.append(
                    self.nodes.counting(keeps=True) if large and room > 0 else PlaceRecord(keeps=True)
                )
                room -= large
            return at

        add(guess, 0)
        return plan, guesses

    @staticmethod
    def _counted(guess: CoarseNode, most: int) -> set[CoarseNode]:
        """The guessed nodes that are followed: level by level, as many as there is room for the counts of,
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

    def _likely_rows(self, node: CoarseNode) -> float:
        return len(node.rows) * self.survey.rows / max(1, self.survey.sample.n_rows)

    # ---- further scans ----

    def _scan_again(self, last: Sweep) -> Sweep:
        """One more scan that gathers the rows of all nodes that could not be settled."""
        wanted = {family.place: family.node for family in last.reopened}
        plan: list[PlaceRecord] = []
        routes: dict[int, Route] = {}
        families: list[Family] = []

        def add(place: int) -> int:
            at = len(plan)
            if place in wanted:
                plan.append(PlaceRecord(keeps=True))
                families.append(Family(wanted[place], at))
                return at
            route = last.routes.get(place)
            if route is None:
                return -1
            plan.append(PlaceRecord())
            children = [add(child) for child in route["children"]]
            if all(child < 0 for child in children):
                del plan[at:]
                return -1
            routes[at] = route | {"children": children}
            plan[at].tests = [routes[at]]
            return at

        add(0)
        return self._sweep("further scan", plan, {}, routes, families)
