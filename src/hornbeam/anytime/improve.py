"""IIDT: a tree that is improved for as long as it may take, one rebuilt subtree after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from hornbeam.anytime import expected, states
from hornbeam.anytime.budget import Budget, Clock, Deadline, Stop, TimeIsUp
from hornbeam.anytime.choosing import Chooser
from hornbeam.anytime.incremental import Codes, taken_in
from hornbeam.anytime.incumbent import Chosen, Incumbent
from hornbeam.anytime.lookahead import Lookahead, iteration_key
from hornbeam.anytime.objectives import Objective, TreeSize
from hornbeam.anytime.prover import Prover
from hornbeam.anytime.referee import Referee
from hornbeam.anytime.sketch import Rows, Sketch
from hornbeam.anytime.states import Claim, SearchState
from hornbeam.model import Tree

FIRST: Final = 2**63  # the folds of the first tree are dealt under this number


@dataclass(frozen=True)
class Iteration:
    """What an iteration rebuilt, and whether the tree has it."""

    chosen: Chosen
    accepted: bool


class Improvement:
    """A search over one table. It owns where it stands, `now`: a whole tree at every moment.

    The paper's parts can be replaced: CHOOSE-NODE, NEXT-R and EXPECTED-COST are those of `choosing`, the
    first tree, REBUILD-TREE, EXPECTED-BENEFIT and BETTER those of the `objective`.
    """

    def __init__(
        self,
        lookahead: Lookahead,
        objective: Objective,
        now: Incumbent,
        *,
        granularity: float = 0.1,
        seed: int = 0,
        referee: bool = False,
        stop: Stop | None = None,
        clock: Clock | None = None,
        choosing: type[Chooser] = Chooser,
    ) -> None:
        self.lookahead, self.objective, self.now = lookahead, objective, now
        self.granularity, self.seed, self.has_referee = granularity, seed, referee
        self.clock, self.stop = clock or Clock(), stop or Stop()
        self.choosing = choosing
        self.profile: list[SearchState] = []
        self.last: Iteration | None = None
        self.status = states.RUNNING
        self.claim: Claim | None = None
        self._trees: dict[bool, tuple[Sketch, Tree]] = {}

    @classmethod
    def begin(cls, lookahead: Lookahead, objective: Objective, **settings: Any) -> Improvement:
        """A search that stands at its first tree."""
        clock = Clock()
        with clock.running():
            sketch = objective.first(lookahead, lookahead.all_rows)
            now = Incumbent.of(sketch, objective.values(sketch))
        search = cls(lookahead, objective, now, clock=clock, **settings)
        if search.has_referee:
            with clock.running():
                missed = search.referee.missed(lookahead.all_rows, FIRST, 0)
                assert missed is not None
                work = search._asking(0, 0)
            search.now = replace(now, folds_wrong=int(missed.sum()), work=work)
        return search

    @cached_property
    def referee(self) -> Referee:
        return Referee(self.lookahead, self.objective, self.seed)

    @cached_property
    def prover(self) -> Prover | None:
        """There for sizes, if it was asked for; a referee has not seen its trees."""
        if not isinstance(self.objective, TreeSize) or self.objective.bound != "searched":
            return None
        return Prover(self.lookahead, self.objective, takes_trees=not self.has_referee)

    def take_in(self, lookahead: Lookahead, moved: dict[int, Codes]) -> None:
        """Go on with the table of a lookahead, which has further rows behind those of this one; `moved` are
        the codes of categories that changed."""
        with self.clock.running():
            now = taken_in(self.now, lookahead, self.objective, moved)
        self.lookahead, self.now = lookahead, now
        self.claim = None  # the claim was about other rows
        for made in ("chooser", "referee", "prover"):
            self.__dict__.pop(made, None)

    @property
    def floor(self) -> int:
        """No tree of all rows has fewer leaves; of expected errors nothing is proved."""
        if not isinstance(self.objective, TreeSize):
            return 0
        if self.now.floor is None:
            self.now = replace(self.now, floor=self._root_bound(self.objective))
        assert self.now.floor is not None
        return self.now.floor

    def _root_bound(self, objective: TreeSize) -> int:
        """What choosing goes by: nothing left to choose is then a proof. The paper's b^2 proves nothing."""
        if objective.bound == "paper":
            return self.lookahead.bound(self.lookahead.all_rows)
        return int(self.chooser.least(self.now, 0))

    @cached_property
    def chooser(self) -> Chooser:
        # The decimal that was written, not the double that it became.
        return self.choosing(self.lookahead, self.objective, Fraction(repr(self.granularity)))

    def handed_out(self, pruned: bool = False) -> Tree:
        """The best tree so far, or what pruning leaves of it."""
        sketch = self.now.sketch
        known = self._trees.get(pruned)
        if known is None or known[0] is not sketch:
            tree = self.lookahead.tree(self.lookahead.pruned(sketch) if pruned else sketch)
            known = self._trees[pruned] = sketch, tree
        return known[1]

    @property
    def is_proved(self) -> bool:
        return self.now.sketch.n_leaves == self.floor

    def run(self, budget: Budget) -> Iterator[SearchState]:
        """The state that it is in, and another after each iteration; the last one says why it ends. What is
        under way when time is up, or when it is stopped, is let go."""
        deadline = Deadline(budget.seconds, self.stop)
        with deadline.guarding():
            yield from self._run(budget, deadline)

    def _run(self, budget: Budget, deadline: Deadline) -> Iterator[SearchState]:
        known: Sketch | None = self.now.sketch if self.profile else None
        while True:
            with self.clock.running():
                status, chosen = self._outlook(budget, deadline)
                state = self._state(status, self.now.sketch is not known)
            self.status, known = status, self.now.sketch
            if state.improved:
                self.profile.append(state)
            seen = self.now
            yield state
            came = self.now is not seen  # rows, meanwhile: nodes have moved, and what was done is not
            if chosen is None and not (came and status in (states.PROVED, states.EXHAUSTED)):
                return
            with self.clock.running():
                if came:
                    known = self.now.sketch
                    _, chosen = self._outlook(budget, deadline)
                if chosen is not None:
                    self._iterate(chosen, deadline)

    def _outlook(self, budget: Budget, deadline: Deadline) -> tuple[str, Chosen | None]:
        """Whether the search goes on, and with which node."""
        try:
            with self.stop.listening(deadline):
                self._show_again(deadline)
                # With no time left and no bound known, a proof is not worth asking for.
                if not (deadline.is_over and self.now.floor is None):
                    self._prove(deadline)
                    if self.is_proved:
                        return states.PROVED, None
                if deadline.is_over:
                    return states.TIME, None
                if budget.iterations is not None and self.now.iterations >= budget.iterations:
                    return states.ITERATIONS, None
                chosen = self.chooser.choose(self.now, deadline.look)
        except TimeIsUp:
            return states.TIME, None
        except KeyboardInterrupt:
            return self._interrupted(deadline), None
        if chosen is None:
            return states.EXHAUSTED, None
        if budget.work is not None and self.now.work + self._most_work(chosen) > budget.work:
            return states.WORK, None
        return states.RUNNING, chosen

    def _most_work(self, chosen: Chosen) -> int:
        """What an iteration counts as at most: a referee is asked once, and again if it agrees."""
        return chosen.cost + (2 * self._asking_about(chosen) if self.has_referee else 0)

    def _asking_about(self, chosen: Chosen) -> int:
        return self._asking(chosen.node, int(self.now.made_r[chosen.node]), chosen.r)

    def _asking(self, node: int, *sides: int) -> int:
        """The work that asking the referee counts as."""
        counts = self.now.sketch.counts_of(node)[1]
        return self.referee.cost(self.chooser.effort(self.now, node), counts, *sides)

    def _interrupted(self, deadline: Deadline) -> str:
        """The status after an interrupt: the time was up, or somebody stopped the search."""
        return states.TIME if deadline.is_over and not self.stop.requested else states.STOPPED

    def _show_again(self, deadline: Deadline) -> None:
        """Show what a file claims before anything is built on it; it is not believed."""
        if self.claim is None or deadline.is_over:
            return
        if self.now.proofs:
            assert self.prover is not None
            shown = self.prover.shown_again(self.now, deadline)
            if shown is None:
                return
            self.now = shown
        self.profile[: len(self.claim.profile)] = self.claim.believed(self.floor)
        self.claim = None

    def _prove(self, deadline: Deadline) -> None:
        """Attempt a proof as long as attempts are due."""
        if self.prover is None or self.is_proved:
            return
        effort = self.chooser.effort(self.now, 0)
        while self.prover.is_due(self.now, effort):
            after = self.prover.attempt(self.now, effort, deadline)
            if after is None:
                return
            self.now = after

    def _iterate(self, chosen: Chosen, deadline: Deadline) -> None:
        """Rebuild one subtree and keep it if it is better. An interrupt leaves the search as it was."""
        try:
            with self.stop.listening(deadline):
                after = self._after(chosen, deadline)
        except KeyboardInterrupt:
            if self._interrupted(deadline) is states.STOPPED:
                self.stop.request()
            return
        if after is not None:
            accepted = after.sketch is not self.now.sketch
            self.now, self.last = after, Iteration(chosen, accepted)

    def _after(self, chosen: Chosen, deadline: Deadline) -> Incumbent | None:
        """The incumbent after a rebuild; None where time did not suffice."""
        now, objective = self.now, self.objective
        rows = now.sketch.rows_of(chosen.node)
        key = iteration_key(self.seed, now.iterations)
        sketch = objective.rebuilt(self.lookahead, rows, key, chosen.r, deadline.left)
        if sketch is None:
            return None
        part = Incumbent.of(sketch, objective.values(sketch), chosen.r)
        if not objective.better(part.values[0], now.values[chosen.node]):
            return now.tried(chosen)
        after = now.improved(chosen, part, objective)
        return self._judged(chosen, rows, after, deadline) if self.has_referee else after

    def _judged(self, chosen: Chosen, rows: Rows, after: Incumbent, deadline: Deadline) -> Incumbent | None:
        """After a better part, if inner folds agree; what they got wrong counts for the whole tree."""
        now = self.now
        made_r = int(now.made_r[chosen.node])
        opinion = self.referee.opinion(rows, now.iterations, made_r, chosen.r, deadline)
        if opinion is None:
            return None
        work = now.work + chosen.cost + opinion.asked * self._asking_about(chosen)
        if not opinion.agrees:
            return replace(now.tried(chosen), work=work)
        assert now.folds_wrong is not None
        before = 0 if chosen.node == 0 else now.folds_wrong - opinion.old
        return replace(after, folds_wrong=max(0, before + opinion.new), work=work)

    @property
    def state(self) -> SearchState:
        """The state that the search is in."""
        return self._state(self.status, False)

    def _state(self, status: str, improved: bool) -> SearchState:
        elapsed, cpu = self.clock.now
        now = self.now
        return SearchState(
            now.iterations,
            elapsed,
            cpu,
            now.work,
            now.sketch.n_leaves,
            self._expected_error(now),
            None if now.folds_wrong is None else now.folds_wrong / self.lookahead.table.n_rows,
            self._bound(now),
            improved,
            status,
        )

    def _expected_error(self, now: Incumbent) -> float:
        if isinstance(self.objective, TreeSize):
            return expected.of_tree(now.sketch)
        return float(now.values[0])

    def _bound(self, now: Incumbent) -> float | None:
        """What no tree of these rows is below, if it is known: leaves, or expected errors."""
        return now.floor if isinstance(self.objective, TreeSize) else expected.least(now.sketch, 0)
