"""The experiment from beginning to end: folds, bags, memory, accuracy, each beside the papers' words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hornbeam.growth import TrainingSets
from hornbeam_experiments import figures, memory
from hornbeam_experiments.paper import paper, said
from hornbeam_experiments.records import Part, Results, Sheet
from hornbeam_experiments.relational import probe, sheets
from hornbeam_experiments.relational.growths import (
    ALGORITHMS,
    BAGGING,
    CACHED,
    ONE,
    WORKS,
    Rounds,
    bags_of,
    folds_of,
    race,
)
from hornbeam_experiments.relational.plan import Plan
from hornbeam_experiments.relational.sets import Loaded
from hornbeam_experiments.sets import at_hand
from hornbeam_experiments.setting import machine

HEADLINE = "First-order trees, cross-validated in one growth, run again"
TEN, TWENTY_FIVE = 10, 25
Deal = Callable[[Loaded, int, int], TrainingSets]


def run(plan: Plan) -> Results:
    """Everything of the experiment."""
    begin = time.process_time()
    memory.check_machine()
    sets, absent = at_hand(plan.sets, lambda entry: entry.read())
    titles = {loaded.title for loaded in sets}
    folds = {n: rounds_of(sets, plan, n, folds_of, ALGORITHMS, "folds") for n in _with(TEN, plan.folds)}
    bags = {n: rounds_of(sets, plan, n, bags_of, BAGGING, "bags") for n in _with(TWENTY_FIVE, plan.bags)}
    parts = (
        *cross_validation(folds),
        *bagging(bags),
        memory_part(replace(plan, sets=tuple(entry for entry in plan.sets if entry.title in titles))),
        _plain(
            "Accuracy of ten folds", ACCURACY, said("accuracy", __package__), sheets.accuracies(folds[TEN])
        ),
        _plain("The sets", "", "", sheets.the_sets(sets, plan.sets, absent)),
    )
    setting: dict[str, Any] = {**machine(), "runs": plan.runs}
    setting["CPU seconds"] = round(time.process_time() - begin, 1)
    return Results(
        "relational", HEADLINE, parts, setting, notes_of(plan), paper(__package__), text_of(parts[0])
    )


def _with(usual: int, others: Sequence[int]) -> list[int]:
    return sorted({usual, *others})


def rounds_of(
    sets: Sequence[Loaded], plan: Plan, n: int, deal: Deal, algorithms: Mapping[str, str], what: str
) -> list[Rounds]:
    plan.tell(f"{n} {what}, {plan.runs} runs of {', '.join(loaded.title for loaded in sets)}")
    return [
        Rounds(loaded, tuple(race(loaded, deal(loaded, n, seed), algorithms) for seed in range(plan.runs)))
        for loaded in sets
    ]


def cross_validation(folds: Mapping[int, Sequence[Rounds]]) -> list[Part]:
    """The first version's table, figures 9 and 10."""
    ten = folds[TEN]
    table = sheets.first_table(ten)
    works, totals = sheets.breakdown("figure-9", ten)
    bars = figures.bars_of(
        "figure-9", WORKS, works, totals, title="Ten folds and the tree of all", skip=(ONE,)
    )
    numbers = sheets.by_number("figure-9-folds", folds, (*ALGORITHMS, CACHED))
    lines = figures.lines_of(
        "figure-9-folds",
        numbers,
        "sets grown",
        ("OS", "CV", CACHED),
        title="Speedup by folds",
        x_name="folds",
    )
    level = sheets.by_level(ten)
    seconds, tests = figures.time_and_f(level, "different tests per node")
    return [
        Part(
            "First version, table 1: seconds and overheads",
            TABLE,
            _said("table"),
            (),
            (table,),
            (table.name,),
        ),
        Part("Figure 9: ten folds", BARS, _said("figure 9"), (bars,), (totals, works)),
        Part("Figure 9: by number of folds", LINES, _said("figure 9"), (lines,), (numbers,)),
        Part("Figure 10: level by level", LEVELS, _said("figure 10"), (seconds, tests), (level,)),
    ]


def bagging(bags: Mapping[int, Sequence[Rounds]]) -> list[Part]:
    """Figure 15."""
    works, totals = sheets.breakdown("figure-15", bags[TWENTY_FIVE])
    bars = figures.bars_of("figure-15", WORKS, works, totals, title="25 bags", skip=(ONE,))
    numbers = sheets.by_number("figure-15-bags", bags, tuple(BAGGING))
    lines = figures.lines_of(
        "figure-15-bags", numbers, "sets grown", ("OS",), title="Speedup by bags", x_name="bags"
    )
    return [
        Part("Figure 15: 25 bags", BARS, _said("figure 15"), (bars,), (totals, works)),
        Part("Figure 15: by number of bags", LINES, _said("figure 15"), (lines,), (numbers,)),
    ]


def memory_part(plan: Plan) -> Part:
    points, by_folds = probe.measure(plan)
    bars = figures.memory_bars("figure-18", points, memory.POINTS, title="Memory of ten folds")
    lines = figures.memory_lines("figure-18-folds", by_folds, list(ALGORITHMS), title="Memory by folds")
    hint = (
        "A process of its own for each set: megabytes after loading the system, what the data adds, and what "
        "growth adds at its peak; means of runs that deal the folds anew, with 90 % intervals."
    )
    return Part(
        "Figure 18: memory", hint, _said("figure 18"), (bars, lines), (points, by_folds), (points.name,)
    )


def _plain(title: str, hint: str, theirs: str, sheet: Sheet) -> Part:
    return Part(title, hint, theirs, (), (sheet,), (sheet.name,))


def _said(part: str) -> str:
    return said(part, __package__)


def text_of(part: Part) -> str:
    """The first table for a terminal."""
    lines = ["set    one tree       S          CV        S / CV"]
    for record in part.sheets[0].records():
        if record["speedup"] is None:
            lines.append(str(record["set"]))
            continue
        took = [float(record[f"T {name}, ms"] or 0) for name in ("actual", "serial", "parallel")]
        half = float(record["high"] or 0) - float(record["speedup"] or 0)
        times = "".join(f"{value:8.2f} ms" for value in took)
        lines.append(f"{record['set']!s:5}{times}    {record['speedup']:.2f} ± {half:.2f}")
    return "\n".join(lines)


def notes_of(plan: Plan) -> tuple[str, ...]:
    notes = [
        "Times are CPU seconds of one thread, of growth over a database that is coded: S is 'serial', OS "
        "'overlapping', CV 'folds'. All algorithms gave the same trees, or nothing would stand here. "
        "A growth is repeated until the clock can tell its time. The cache of answers, which the papers had "
        "not, is off, for it lets S share too; 'cache' is CV with it.",
        "SB and CB are STAND-INS of the same sizes: the papers' were never published. Muta has atoms and "
        "bonds of 230 molecules with TILDE's published bias; ASM is private and has no row.",
        "Means of runs that deal or draw the examples anew; intervals hold the mean with 90 % confidence "
        "(Student's t). Mach has 15 examples, so 20 folds are 15.",
    ]
    if plan.quick:
        notes.insert(0, f"QUICK: {plan.runs} runs, fewer folds and bags; it shows the work, not the figures.")
    return tuple(notes)


TABLE = (
    "One tree, ten folds by S and by CV with the tree of all; overhead is the time of folds over that tree."
)
BARS = "Time relative to the tree of all examples alone (dotted), by kind of work; 90 % intervals."
LINES = "S over this algorithm; the dotted line is S itself, bars are 90 % intervals of the mean."
LEVELS = "Above: time that growth spends on a level. Below: different tests per node of the level before."
ACCURACY = "Unpruned trees, examples judged by the tree of their fold; the same for every algorithm."
