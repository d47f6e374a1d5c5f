"""The experiment from beginning to end: sets, divisions, table 1 and its pictures."""

from __future__ import annotations

import time
from typing import Any

from hornbeam_experiments.cvc45 import pictures, summary
from hornbeam_experiments.cvc45.paper import paper
from hornbeam_experiments.cvc45.plan import Plan
from hornbeam_experiments.cvc45.protocol import Division, divide
from hornbeam_experiments.cvc45.sets import Loaded, read_all
from hornbeam_experiments.records import Part, Results
from hornbeam_experiments.setting import machine

HEADLINE = "Cross-validated C4.5, run again"


def run(plan: Plan) -> Results:
    """Everything of the experiment."""
    begin = time.process_time()
    sets, absent = read_all(plan.sets, plan.tell)
    found = [(loaded, divisions_of(loaded, plan)) for loaded in sets]
    table, m = summary.table_1(found), summary.by_m(found, plan)
    parts = (
        Part(
            "Table 1: C4.5 and its cross-validated m",
            "Accuracy in % on the test rows, with 90 % intervals of the mean over divisions (Monk-2: over "
            "runs); size in nodes, leaves among them, as C4.5 counts it. Small CVC4.5 is the smallest tree "
            "of the runs; C4.5* chose m by the test rows themselves: a bound, not a method.",
            paper()["said"]["table 1"],
            (pictures.error_bars(table),),
            (table, summary.differences(found), summary.choices(found)),
            ("table-1", "differences"),
        ),
        Part(
            "Error by m",
            "What cross-validation within the training rows said of each m, and what the test rows say.",
            paper()["said"]["m"],
            (pictures.curves(m),),
            (m,),
        ),
        Part("The sets", "", "", sheets=(summary.the_sets(sets, absent),), shown=("sets",)),
    )
    setting = setting_of(plan) | {"CPU seconds": round(time.process_time() - begin, 1)}
    notes, text = notes_of(plan), summary.text_of(table)
    told = f"{notes[0]}\n\n{text}" if plan.quick else text
    return Results("cvc45", HEADLINE, parts, setting, notes, paper(), told)


def divisions_of(loaded: Loaded, plan: Plan) -> list[Division]:
    """Random ones, or the one that is given."""
    many = 1 if loaded.is_divided else plan.splits
    divisions = []
    for number in range(many):
        plan.tell(f"{loaded.title}: division {number + 1} of {many}")
        divisions.append(divide(loaded, number, plan))
    return divisions


def setting_of(plan: Plan) -> dict[str, Any]:
    return machine() | {
        "random divisions": plan.splits,
        "runs of each": plan.runs,
        "folds": plan.folds,
        "repetitions": plan.repetitions,
        "values of m": ", ".join(map(str, plan.values)),
        "rule of m": "min_objs",
    }


def notes_of(plan: Plan) -> tuple[str, ...]:
    notes = [
        f"{len(plan.values)} values of m, the paper's list (its text says twenty); {plan.repetitions} times "
        f"{plan.folds} folds, the trimmed mean of the repetitions, accuracy of pruned trees, and the tree of "
        "all training rows with the chosen m. Ties: fewer leaves, then the smaller m; the paper is silent.",
        "m is `min_objs`, C4.5's -m: a test needs two branches with so many rows. The paper's text has "
        'another rule, "fewer than m instances: a leaf" (`min_samples_split`), but C4.5 itself made its '
        "table, so it is the former that is compared.",
        f"The paper had one division of each set. Here are {plan.splits} random ones of the same sizes, and "
        "the given one of Monk-2. Intervals hold the mean with 90 % confidence (Student's t) over divisions, "
        "which share rows: new rows would differ by more. 'over runs' is the standard deviation of the runs "
        "within a division.",
        "C4.5 of 1994 came before Release 8, which made cuts of numbers harder to choose: its trees of "
        "numeric sets were larger. We follow Release 8. Rows with missing values go down one branch, not in "
        "fractions down all; nodes are all nodes, but for the empty leaves that C4.5 counts and we have not.",
        "Financial is a STAND-IN, made up: the paper's set was never published. Its figures say nothing "
        "about the paper's.",
    ]
    if plan.quick:
        notes.insert(
            0,
            f"QUICK: {plan.splits} divisions, {plan.runs} runs of each; it shows the work, not the figures.",
        )
    return tuple(notes)
