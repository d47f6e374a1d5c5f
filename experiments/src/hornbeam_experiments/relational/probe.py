"""A process of its own that loads one relational set, grows it by each algorithm, and tells its memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from hornbeam_experiments.asking import answer_of
from hornbeam_experiments.memory import TEN, sheets_of
from hornbeam_experiments.probe import by_folds, settled, status
from hornbeam_experiments.records import Sheet
from hornbeam_experiments.relational.plan import Plan


def answer(title: str, folds: Sequence[int], runs: int) -> list[dict[str, object]]:
    """Megabytes of the system, what the data adds to it, and what growth adds at its peak."""
    from hornbeam.growth import TrainingSets
    from hornbeam_experiments.relational.growths import ALGORITHMS, folds_of, grow
    from hornbeam_experiments.relational.sets import choose

    system = settled()
    loaded = choose([title])[0].read()
    everyone = TrainingSets.of_rows(loaded.n_examples, (), all_rows_first=True)
    grow(loaded, everyone, "auto")  # pays for what is loaded once
    same = {"set": title, "system": system, "data": settled() - system}

    def peak(sets: TrainingSets, algorithm: str) -> float:
        before = settled()
        forest = grow(loaded, sets, algorithm)
        assert len(forest) == sets.n_sets
        return max(status("VmHWM") - before, 0.0)

    return by_folds(
        same,
        folds,
        ALGORITHMS,
        runs,
        lambda: peak(everyone, "auto"),
        lambda n, run, algorithm: peak(folds_of(loaded, n, run), algorithm),
    )


def measure(plan: Plan) -> tuple[Sheet, Sheet]:
    """(ten folds at three points, the peak by number of folds)."""
    answers: list[dict[str, Any]] = []
    for entry in plan.sets:
        plan.tell(f"figure 18: {entry.title}")
        asked = {"title": entry.title, "folds": sorted({TEN, *plan.folds}), "runs": plan.runs}
        what = ["-m", "hornbeam_experiments.relational.probe", json.dumps(asked)]
        answers += answer_of(what, f"the memory of {entry.title}")
    return sheets_of("figure-18", "figure-18-folds", answers)


if __name__ == "__main__":
    print(json.dumps(answer(**json.loads(sys.argv[1]))))
