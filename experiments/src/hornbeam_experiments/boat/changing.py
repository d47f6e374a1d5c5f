"""The parts of the page on tables that change: figures 13 to 15, and rows that go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hornbeam_experiments.boat import pictures
from hornbeam_experiments.boat.paper import paper, said
from hornbeam_experiments.boat.plan import Plan
from hornbeam_experiments.boat.streams import LARGE, WINDOW, Files, pairs
from hornbeam_experiments.boat.upkeep import (
    CUMULATIVE,
    STATES,
    STOPS,
    Works,
    X,
    by_arrivals,
    by_chunks,
    by_departures,
)
from hornbeam_experiments.records import Cell, Part, Sheet


def changing_parts(plan: Plan) -> list[Part]:
    works = Works(plan)
    with TemporaryDirectory() as folder:
        plan.tell(f"figures 13 to 15: writing chunks of {plan.chunk:,} rows")
        files = Files.write(Path(folder), plan)
        return [make(works, files) for name, make in _MAKING.items() if name in plan.parts]


def same_part(works: Works, files: Files) -> Part:
    plan = works.plan
    plan.tell("figure 13")
    sheet = by_arrivals("figure-13", works, (files.first,), pairs(files.halves)[: plan.chunks])
    return _part(
        plan,
        "Figure 13: chunks of the same distribution",
        f"Function 1: {plan.chunk:,} rows without noise at first, then {plan.chunks} chunks of as many with "
        f"{100 * paper()['chunk noise']:g} % wrong labels. The kept tree is open and warm, and its time "
        "holds what it takes to store the rows; rebuilds grow from files that are there, and only a new file "
        f"stores them too. {_stops(plan)}",
        "figure 13",
        sheet,
        "arrived",
    )


def changed_part(works: Works, files: Files) -> Part:
    sheet = by_arrivals("figure-14", works, (files.first,), pairs(files.changed_halves))
    return _part(
        works.plan,
        "Figure 14: chunks of a changed distribution",
        "As before, but in the chunks who is 60 or older and earns less than 75,000 is of class B.",
        "figure 14",
        sheet,
        "arrived",
    )


def chunks_part(works: Works, files: Files) -> Part:
    plan = works.plan
    return _part(
        plan,
        "Figure 15: smaller chunks, and more rows at first",
        f"The same rows as in figure 13 in chunks of {plan.chunk:,} and of {plan.chunk // 2:,}; and, for the "
        f"claim on the first dataset, after {LARGE * plan.chunk:,} rows instead of {plan.chunk:,}.",
        "figure 15",
        by_chunks(works, files),
        "arrived",
    )


def deletions_part(works: Works, files: Files) -> Part:
    plan = works.plan
    return _part(
        plan,
        "Deletions, which the paper does not show",
        f"Chunks go: all {(plan.chunks + 1) * plan.chunk:,} rows of figure 13 at first, of which the oldest "
        f"chunk goes, then the next, until the rows without noise are left. A window moves: {WINDOW} chunks "
        "at first; a new one comes and the oldest one goes, in one batch.",
        "deletions",
        by_departures(works, files),
        "gone",
    )


def _stops(plan: Plan) -> str:
    gain = STOPS[1].gain
    return (
        f"Growth stops below {plan.stop:,} rows as in the paper: larger families of mere noise are cut "
        f'somewhere, and elsewhere after the next chunk ("{STOPS[0].title}"). Beside it, it also stops where '
        f'no test gains {gain:.4f} ("{STOPS[1].title}").'
    )


def _part(plan: Plan, title: str, hint: str, claim: str, sheet: Sheet, what: str) -> Part:
    unit, scale = plan.unit
    x_name, style = f"{unit} rows {what}", {"columns": 2, "same_height": False}
    drawn = pictures.panels_of(sheet.name, sheet, X, CUMULATIVE, title, x_name, scale, **style)
    ends = totals(sheet)
    return Part(title, hint, said(claim), (drawn,), (ends, sheet), (ends.name,))


def totals(sheet: Sheet) -> Sheet:
    """After the last batch: the seconds of all, and what became of the tests over all batches."""
    lines: dict[tuple[str, str], list[dict[str, Cell]]] = {}
    for record in sheet.records():
        lines.setdefault((str(record["set"]), str(record["algorithm"])), []).append(record)
    first = next(iter(lines))[1]
    ends: list[dict[str, Cell]] = []
    for (title, name), mine in lines.items():
        last, base = mine[-1], lines[title, first][-1]
        ends.append(
            {
                "set": title,
                "algorithm": name,
                "CPU seconds": last[CUMULATIVE],
                f"/ {first}": float(last[CUMULATIVE] or 0) / float(base[CUMULATIVE] or 1),
                "last batch": last["CPU seconds"],
                "peak MB": last["peak MB"],
                "nodes": last["nodes"],
                **{state: _sum(mine, state) for state in STATES},
            }
        )
    return Sheet.of(f"{sheet.name}-totals", ends)


def _sum(lines: Sequence[Mapping[str, Cell]], column: str) -> int | None:
    """Of a kept tree; who makes it anew has no tests before."""
    if any(line[column] is None for line in lines):
        return None
    return sum(int(line[column] or 0) for line in lines)


_MAKING = {"13": same_part, "14": changed_part, "15": chunks_part, "deletions": deletions_part}
