"""The experiment from beginning to end: the paper's curves, their page, and a summary for the terminal."""

from __future__ import annotations

import time
from typing import Any

from hornbeam_experiments.boat.paper import paper
from hornbeam_experiments.boat.parts import parts_of
from hornbeam_experiments.boat.plan import PARTS, Plan
from hornbeam_experiments.memory import check_machine
from hornbeam_experiments.records import Part, Results
from hornbeam_experiments.setting import machine

HEADLINE = "BOAT and RainForest, run again"


def run(plan: Plan) -> Results:
    """Everything of the experiment."""
    check_machine()
    begin = time.perf_counter()
    parts = parts_of(plan)
    setting = setting_of(plan) | {"wall seconds": round(time.perf_counter() - begin)}
    return Results("boat", HEADLINE, parts, setting, notes_of(plan), paper(), summary_of(plan, parts))


def setting_of(plan: Plan) -> dict[str, Any]:
    return machine() | {
        "functions": ", ".join(plan.functions),
        "parts": "all" if plan.parts == PARTS else ", ".join(plan.parts),
        "scale": f"{plan.scale:g} of the paper's rows",
        "runs": plan.runs,
    }


def notes_of(plan: Plan) -> tuple[str, ...]:
    notes = [
        "Each growth had a process of its own and one thread; CPU seconds leave out its start, and its peak "
        "counts Python and all libraries (some 130 MB before a row is read). All contestants grew the same "
        "tree, digest for digest, or this page would not be.",
        "In figures 13 to 15 and for deletions, a process keeps one tree open and warm; its file was made "
        "before, and what is counted is its batches, with what it takes to store rows or to find those that "
        "go. All rebuilds by a contestant share a process as well.",
        "The files lie in the page cache: a scan costs decoding, not waiting for a disk. The paper's disk "
        "made scans dear, and its factors are mostly their number; look at scans and bytes beside seconds.",
        "BOAT is Hornbeam's: where bootstrap trees disagree it keeps the rows of the family, packed, on disk "
        "beyond the memory limit, and settles them without another scan. The literal BOAT, as the paper's, "
        "leaves such nodes to the next scan and discards all below an alarm; where its sample would fail "
        "again it counts AVC-sets, or it need not end.",
        "All attributes are whole numbers, as in the paper's rows of 40 bytes. Its text gives F1 two "
        "attributes that matter and F7 four; the published functions have one and three.",
        "The in-memory contestant has no limit. It is what a machine that holds the rows would do.",
    ]
    if plan.scale < 1:
        notes.insert(
            0,
            f"SCALE {plan.scale:g}: rows and samples are so much of the paper's, buffers and memory as much "
            "less as there are different values; this shows the work, not the figures.",
        )
    return tuple(notes)


def summary_of(plan: Plan, parts: tuple[Part, ...]) -> str:
    """The first finding, for the terminal."""
    told = parts[0].hint
    return f"{notes_of(plan)[0]}\n\n{told}" if plan.scale < 1 else told
