"""Figures 19 and 20: memory after loading the system, after loading the data, and at the peak of growth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hornbeam.errors import UsageError
from hornbeam.reproduce.asking import answer_of
from hornbeam.reproduce.plan import Plan
from hornbeam.reproduce.records import Cell, Sheet
from hornbeam.reproduce.sets import PaperSet

MEGABYTE = 1e6
POINTS = ("system", "data", "growth")
TEN = 10


def check_machine() -> None:
    """Peaks are read where Linux tells them."""
    if not Path("/proc/self/clear_refs").exists():
        raise UsageError("the memory of a process is read from /proc, which this system has not; use Linux")


def probe(entry: PaperSet, folds: Sequence[int], most_rows: int | None) -> list[dict[str, Cell]]:
    """What a process of its own held at each point, by number of folds and algorithm, in megabytes."""
    question = json.dumps({"set": entry.name, "folds": list(folds), "most_rows": most_rows})
    what = ["-m", "hornbeam.reproduce.probe", question]
    answers: list[dict[str, Cell]] = answer_of(what, f"the memory of {entry.title}")
    return answers


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
    """(ten folds at three points, the peak by number of folds)."""
    check_machine()
    at_points: list[dict[str, Cell]] = []
    by_folds: list[dict[str, Cell]] = []
    for place, entry in enumerate(entries, 1):
        plan.tell(f"memory: {entry.title} ({place} of {len(entries)})")
        folds = sorted({TEN, *plan.folds})
        for answer in probe(entry, folds, plan.most_rows):
            record = {"set": entry.title, **answer}
            by_folds.append(record)
            if record["folds"] == TEN:
                one = float(answer["one tree"] or 0)
                growth = float(answer["growth"] or 0)
                at_points.append(
                    {
                        "set": entry.title,
                        "algorithm": answer["algorithm"],
                        **{point: answer[point] for point in POINTS},
                        "one tree": one,
                        "growth / one tree": growth / one if one > 0 else None,
                    }
                )
    return Sheet.of("figure-19", at_points), Sheet.of("figure-20", by_folds)
