"""Single searches, step by step: the known answer of figure 3, and one run of figure 11."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hornbeam.anytime import Budget, Lookahead, SearchState, Sketch, TreeSize
from hornbeam.anytime.states import PROVED
from hornbeam.growth import ClassTarget
from hornbeam.model import Tree
from hornbeam.table import from_data
from hornbeam_experiments.anytime.learners import MULTIWAY, SEARCHES, SEQUENCING, TS, Search, searched
from hornbeam_experiments.anytime.plan import times_until
from hornbeam_experiments.anytime.sets import Fold
from hornbeam_experiments.anytime.trails import confirm, judged
from hornbeam_experiments.records import Cell, Sheet

FIRST_LEAVES, LAST_LEAVES = 16, 4


@dataclass(frozen=True)
class KnownAnswer:
    """Figure 3: the steps, and the first and the last tree."""

    steps: Sheet
    first: Tree
    last: Tree


def parity_of_two() -> Lookahead:
    """All 16 rows of a1 xor a2; the irrelevant a3 and a4 stand first, where ID3 takes them for want of any
    gain."""
    rows = np.indices((2, 2, 2, 2)).reshape(4, -1).T
    names = ["a3", "a4", "a1", "a2"]
    table = from_data(rows, nominal_features=[0, 1, 2, 3], feature_names=names)
    codes = (rows[:, 2] ^ rows[:, 3]).astype(np.int32)
    return Lookahead(table, ClassTarget(codes, np.array([0, 1])), nominal=MULTIWAY)


def figure_3() -> KnownAnswer:
    """ID3 has 16 leaves, the concept four; a proof ends the search."""
    search = Search(TreeSize()).begin(parity_of_two(), seed=0)
    first, nodes = search.handed_out(), search.now.sketch
    confirm(first.n_leaves == FIRST_LEAVES, f"figure 3: ID3 has {first.n_leaves} leaves instead of 16")
    records: list[dict[str, Cell]] = []
    for state in search.run(Budget()):
        step: dict[str, Cell] = {"rebuilt node": "ID3", "its rows": 16, "r": 0, "taken": "yes"}
        if search.last is not None:
            chosen = search.last.chosen
            depth = int(nodes.depths[chosen.node])
            step = {
                "rebuilt node": "the root" if chosen.node == 0 else f"at depth {depth}",
                "its rows": len(nodes.rows_of(chosen.node)),
                "r": chosen.r,
                "taken": "yes" if search.last.accepted else "no",
            }
        nodes = search.now.sketch
        records.append({"iteration": state.iteration, **step, "leaves": state.leaves})
    last = search.handed_out()
    ended = (last.n_leaves, search.status)
    confirm(ended == (LAST_LEAVES, PROVED), f"figure 3 ends with {ended} instead of {(LAST_LEAVES, PROVED)}")
    return KnownAnswer(Sheet.of("figure-3", records), first, last)


def figure_11_left(fold: Fold, seconds: float) -> Sheet:
    """One run of each granularity: all its improvements, and the accuracy of each."""
    records: list[dict[str, Cell]] = []
    for name in (TS, SEQUENCING):
        found: list[tuple[SearchState, Sketch]] = []

        def note(state: SearchState, sketch: Sketch, found: list[tuple[SearchState, Sketch]] = found) -> None:
            found.append((state, sketch))

        run = searched(SEARCHES[name], fold, times_until(seconds), note)
        for state, sketch in found:
            if state.cpu > seconds and records:
                continue
            moment = judged(fold, state.cpu, run.search.lookahead.tree(sketch))
            records.append(
                {
                    "learner": name,
                    "CPU seconds": state.cpu,
                    "iteration": state.iteration,
                    "leaves": state.leaves,
                    "accuracy": moment.accuracy,
                }
            )
    return Sheet.of("figure-11-steps", records)
