"""Figures 19 and 20: memory after loading the system, after loading the data, and at the peak of growth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hornbeam.errors import UsageError
from hornbeam_experiments.asking import answer_of
from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.plan import Plan
from hornbeam_experiments.records import Cell, Sheet
from hornbeam_experiments.sets import PaperSet

MEGABYTE = 1e6
POINTS = ("system", "data", "growth")
TEN = 10


def check_machine() -> None:
    """Peaks are read where Linux tells them."""
    if not Path("/proc/self/clear_refs").exists():
        raise UsageError("the memory of a process is read from /proc, which this system has not; use Linux")


def at_peak(answer: Mapping[str, Any]) -> dict[str, Cell]:
    """The means of an answer's runs."""
    growth, one = Mean.of(answer["growth"]), Mean.of(answer["one tree"])
    same = {name: answer[name] for name in ("set", "folds", "algorithm", "system", "data")}
    return same | {"growth": growth.value, "low": growth.low, "high": growth.high, "one tree": one.value}


def beside_one(answer: Mapping[str, Any]) -> dict[str, Cell]:
    """The same beside the memory of one tree."""
    record = at_peak(answer)
    del record["folds"]
    both = list(zip(answer["growth"], answer["one tree"], strict=True))
    ratio = Mean.of([growth / one for growth, one in both]) if all(one > 0 for _, one in both) else None
    name = "growth / one tree"
    record |= {name: None, f"{name}, low": None, f"{name}, high": None}
    if ratio is not None:
        record |= {name: ratio.value, f"{name}, low": ratio.low, f"{name}, high": ratio.high}
    return record


def sheets_of(name: str, later: str, answers: Sequence[Mapping[str, Any]]) -> tuple[Sheet, Sheet]:
    """(ten folds at three points, the peak by number of folds)."""
    ten = [beside_one(answer) for answer in answers if answer["folds"] == TEN]
    return Sheet.of(name, ten), Sheet.of(later, [at_peak(answer) for answer in answers])


def side_by_side(at_points: Sheet) -> Sheet:
    """A line for each set: what growth adds by each algorithm."""
    lines: dict[Cell, dict[str, Cell]] = {}
    for record in at_points.records():
        same = {name: record[name] for name in ("set", "system", "data", "one tree")}
        line = lines.setdefault(record["set"], same)
        line[str(record["algorithm"])] = record["growth"]
        line[f"{record['algorithm']} / one tree"] = record["growth / one tree"]
    return Sheet.of("memory", list(lines.values()))


def measure(entries: Sequence[PaperSet], plan: Plan) -> tuple[Sheet, Sheet]:
    """Each set in a process of its own."""
    check_machine()
    answers: list[dict[str, Any]] = []
    for place, entry in enumerate(entries, 1):
        plan.tell(f"memory: {entry.title} ({place} of {len(entries)})")
        folds = sorted({TEN, *plan.folds})
        asked = {"name": entry.name, "folds": folds, "runs": plan.runs, "most_rows": plan.most_rows}
        answers += answer_of(
            ["-m", "hornbeam_experiments.probe", json.dumps(asked)], f"the memory of {entry.title}"
        )
    return sheets_of("figure-19", "figure-20", answers)
