"""All learners on the same folds at equal CPU time: who is ahead, and by how much beyond chance."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks import anytime_peers, anytime_sets, common
from benchmarks.answers import confirm
from benchmarks.anytime_kept import Fold, Kept, Scores
from benchmarks.anytime_peers import by_budget
from benchmarks.anytime_sets import SETS, Task
from benchmarks.common import Verdict
from hornbeam.validation import corrected_mean

OURS = "hornbeam"


@dataclass(frozen=True)
class Compared:
    """Accuracy of folds by learner on one set at one budget; None where a peer had no need to run: ours was
    right everywhere, and nobody is above that."""

    table: str
    budget: float
    scores: dict[str, list[float | None]]

    def difference(self, peer: str) -> tuple[float, float]:
        """Ours less the peer's in points: the mean, and half the 95 % interval. A fold that a peer did not
        run counts as all right for it."""
        pairs = zip(self.scores[OURS], self.scores[peer], strict=True)
        lead = [ours - (1.0 if theirs is None else theirs) for ours, theirs in pairs if ours is not None]
        test = corrected_mean(lead, folds=anytime_sets.FOLDS)
        return 100 * test.mean, 100 * test.half

    def verdict(self) -> Verdict:
        """At least as good as every peer: no interval of a difference lies below 0."""
        ends = {peer: sum(self.difference(peer)) for peer in self.scores if peer != OURS}
        worst = min(ends, key=lambda peer: ends[peer])
        claim = f"{self.table}, {self.budget:g} s: ours less {worst}, upper end of the interval"
        return Verdict(claim, ends[worst], floor=0.0, unit=" points")


def peer_scores(
    learner: anytime_peers.Learner, task: Task, budgets: Sequence[float], ours: Sequence[float]
) -> list[float | None]:
    """The peer's accuracy at each budget; it runs as long as ours leaves something to be better at."""
    open_ = [place for place, score in enumerate(ours) if score < 1.0]
    needed = max(open_, default=0) + 1
    scores: list[float | None] = list(by_budget(learner, task, budgets[:needed]))
    return scores + [None] * (len(budgets) - needed)


def fold_scores(task: Task, objective: str, budgets: Sequence[float]) -> Scores:
    """All learners on the same fold."""
    ours = by_budget(anytime_peers.anytime(objective), task, budgets)
    peers = anytime_peers.at_hand()[0]
    theirs = {name: peer_scores(learner, task, budgets, ours) for name, learner in peers.items()}
    return {OURS: [*ours], **theirs}


def measured(table: str, budgets: Sequence[float], which: Sequence[int], kept: Kept) -> Iterator[Fold]:
    """These of the ten folds; those that are kept are not measured again."""
    objective, make = SETS[table]
    for task in anytime_sets.folds(make()):
        if task.seed not in which:
            continue
        fold = kept.find(table, task.seed)
        if fold is None:
            same = task.learn.table.schema == task.judge.table.schema
            confirm(same, f"{table}: folds of different categories")
            begin = time.process_time()
            scores = fold_scores(task, objective, budgets)
            fold = Fold(table, task.seed, scores, time.process_time() - begin, os.getloadavg()[0])
            kept.keep(fold)
        yield fold


def compare(folds: Sequence[Fold], budgets: Sequence[float]) -> list[Compared]:
    """The folds of one set, by budget."""
    return [
        Compared(
            folds[0].table,
            budget,
            {name: [fold.scores[name][place] for fold in folds] for name in folds[0].scores},
        )
        for place, budget in enumerate(budgets)
    ]


def measure_peers(
    tables: Sequence[str], budgets: Sequence[float], which: Sequence[int], kept: Kept
) -> tuple[list[Verdict], dict[str, Any]]:
    found = []
    for table in tables:
        folds = list(measured(table, budgets, which, kept))
        rows = compare(folds, budgets)
        print_compared(rows, folds)
        found += rows
    return [one.verdict() for one in found], {"peers": [asdict(one) for one in found]}


def print_compared(rows: Sequence[Compared], folds: Sequence[Fold]) -> None:
    seconds, loads = sum(fold.seconds for fold in folds), [fold.load for fold in folds]
    took = f"{seconds:.0f} s of CPU under a load of {min(loads):.1f} to {max(loads):.1f}"
    print(f"\n{rows[0].table}: accuracy of {len(folds)} folds, %; {took}")
    print(
        "(ours less the peer's ± half the 95 % interval; folds that a peer need not run are all right for it)"
    )

    def cell(row: Compared, name: str) -> str:
        ran = [score for score in row.scores[name] if score is not None]
        if not ran:
            return "not needed"
        mean = f"{100 * float(np.mean(ran)):.1f}"
        if name == OURS:
            return mean
        folds = "" if len(ran) == len(row.scores[name]) else f"{len(ran)} folds "
        difference, half = row.difference(name)
        return f"{folds}{mean} ({difference:+.1f} ± {half:.1f}{' WORSE' if difference + half < 0 else ''})"

    body = [(name, *(cell(row, name) for row in rows)) for name in rows[0].scores]
    print(common.format_table(("learner", *(f"{row.budget:g} s" for row in rows)), body), flush=True)
