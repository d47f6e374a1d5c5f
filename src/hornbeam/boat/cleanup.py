"""BOAT (paper 002): a sample guesses the tree, one scan of all rows settles it, families finish in memory."""

from __future__ import annotations

from functools import partial

from hornbeam.boat.coarse import CoarseNode
from hornbeam.boat.guessing import Guessing
from hornbeam.boat.literal import Literal
from hornbeam.boat.meter import Meter
from hornbeam.boat.plan import PlaceRecord, Plan
from hornbeam.boat.spill import Spill
from hornbeam.boat.survey import Survey
from hornbeam.boat.sweep import Family, Sweep, roots
from hornbeam.boat.task import SourceTask
from hornbeam.boat.watching import watch_doubtful
from hornbeam.errors import UsageError
from hornbeam.model import Tree


def grow_boat(task: SourceTask, survey: Survey, meter: Meter) -> list[Tree]:
    """The tree of all rows."""
    if task.several is not None:
        asked = "bags" if task.folds is None else f"cv={task.folds}"
        raise UsageError(
            f"{asked} with algorithm='boat': it guesses one tree, and {task.several} have one each; use "
            "algorithm='rf_hybrid', which grows all of them in the same scans",
            named=("cv", "algorithm"),
        )
    guessing = Guessing(task, survey)
    with Spill() as spill:
        growth = (Literal if task.variant == "paper" else Cleanup)(guessing, meter, spill)
        growth.run()
        return [guessing.nodes.tree()]


class Cleanup:
    """One growth: the guess, the cleanup scan, and further scans for what it could not settle."""

    def __init__(self, guessing: Guessing, meter: Meter, spill: Spill) -> None:
        self.guessing, self.meter, self.spill = guessing, meter, spill
        self.nodes = guessing.nodes

    def run(self) -> None:
        """Settle the whole tree."""
        begin = roots(self.nodes) if self.nodes.opened else None
        if begin == []:
            return
        with self.meter.phase("bootstraps"):
            plan = self._plan()
            watch_doubtful(self.nodes, self.guessing.grid, plan)
            self.guessing.rest()
        sweep = self._sweep("cleanup scan", plan, begin)
        while sweep.reopened:
            sweep = self._scan_again(sweep)

    def _sweep(self, phase: str, plan: Plan, begin: list[Family] | None) -> Sweep:
        """A scan, and all that it settles."""
        sweep = Sweep(self.nodes, self.guessing.grid, self.meter, self.spill, plan)
        sweep.settle_all(phase, begin)
        return sweep

    def _plan(self) -> Plan:
        """Places for the guessed tree; where it ends, families or what seem to be leaves."""
        plan, guess = Plan(), self.guessing.guess(self.nodes.task.parameters, self.guessing.sampled)
        followed = self.guessing.followed(guess, self.guessing.room)
        room = self.guessing.room - len(followed)

        def end(node: CoarseNode) -> PlaceRecord:
            nonlocal room
            large = self.nodes.too_large(self.guessing.rows_of(node.rows))
            counts = large and room > 0
            room -= large
            return self.nodes.counting(keeps=True) if counts else PlaceRecord(keeps=True)

        self.guessing.add(plan, guess, 0, followed, end)
        return plan

    def _scan_again(self, last: Sweep) -> Sweep:
        """One more scan that gathers the rows of all nodes that could not be settled."""
        plan, families = Plan(), list[Family]()

        def gather(node: int) -> int:
            families.append(Family(node, plan.add(PlaceRecord(keeps=True))))
            return families[-1].place

        plan.lead(last.routes, {family.place: partial(gather, family.node) for family in last.reopened})
        return self._sweep("further scan", plan, families)
