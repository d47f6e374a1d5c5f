"""A process of its own that loads one relational set, grows it by each algorithm, and tells its memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from hornbeam.reproduce.asking import answer_of
from hornbeam.reproduce.memory import POINTS
from hornbeam.reproduce.probe import settled, status
from hornbeam.reproduce.records import Cell, Sheet
from hornbeam.reproduce.relational.plan import Plan

TEN = 10


def answer(title: str, folds: Sequence[int]) -> list[dict[str, Cell]]:
    """Megabytes of the system, what the data adds to it, and what growth adds at its peak."""
    from hornbeam.growth import TrainingSets
    from hornbeam.reproduce.relational.growths import ALGORITHMS, folds_of, grow
    from hornbeam.reproduce.relational.sets import choose

    system = settled()
    loaded = choose([title])[0].read()
    everyone = TrainingSets.of_rows(loaded.n_examples, (), all_rows_first=True)
    grow(loaded, everyone, "auto")  # pays for what is loaded once
    data = settled() - system

    def peak(sets: TrainingSets, algorithm: str) -> float:
        before = settled()
        forest = grow(loaded, sets, algorithm)
        assert len(forest) == sets.n_sets
        return max(status("VmHWM") - before, 0.0)

    one = peak(everyone, "auto")
    return [
        {
            "set": title,
            "folds": n,
            "algorithm": name,
            "system": system,
            "data": data,
            "growth": peak(folds_of(loaded, n, 0), algorithm),
            "one tree": one,
        }
        for n in folds
        for name, algorithm in ALGORITHMS.items()
    ]


def measure(plan: Plan) -> tuple[Sheet, Sheet]:
    """(ten folds at three points, the peak by number of folds)."""
    records: list[dict[str, Cell]] = []
    for entry in plan.sets:
        plan.tell(f"figure 18: {entry.title}")
        records += _ask(entry.title, sorted({TEN, *plan.folds}))
    ten = [record for record in records if record["folds"] == TEN]
    kept = ("set", "algorithm", *POINTS, "one tree")
    points = [{name: record[name] for name in kept} for record in ten]
    return Sheet.of("figure-18", points), Sheet.of("figure-18-folds", records)


def _ask(title: str, folds: Sequence[int]) -> list[dict[str, Cell]]:
    question = json.dumps({"title": title, "folds": list(folds)})
    what = ["-m", "hornbeam.reproduce.relational.probe", question]
    found: list[dict[str, Cell]] = answer_of(what, f"the memory of {title}")
    return found


if __name__ == "__main__":
    print(json.dumps(answer(**json.loads(sys.argv[1]))))
