"""The paper's curves: each contestant on growing, noisier and wider sets, one growth after the other."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hornbeam.errors import UsageError
from hornbeam_experiments.boat.growths import ALL, BOAT, Growth, confirm_same, grow
from hornbeam_experiments.boat.people import people, write, write_parts
from hornbeam_experiments.boat.plan import FUNCTIONS, Plan
from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.records import Cell, Sheet

Growths = dict[str, list[Growth]]


def by_rows(plan: Plan) -> Sheet:
    """Figures 4 to 6: the first rows of one set, more and more of them."""
    records: list[dict[str, Cell]] = []
    for name in plan.functions:
        with TemporaryDirectory() as folder:
            plan.tell(f"figures 4 to 6: writing {plan.sizes[-1]:,} rows of {name}")
            parts = write_parts(Path(folder), plan.sizes, function=FUNCTIONS[name])
            for i, rows in enumerate(plan.sizes):
                plan.tell(f"figures 4 to 6: {name}, {rows:,} rows")
                found = compare(plan, f"{name}, {rows:,} rows", parts[: i + 1])
                records += records_of(name, "rows", rows, found)
    return Sheet.of("figures-4-6", records)


def by_noise(plan: Plan) -> Sheet:
    """Figures 7 to 9."""
    records: list[dict[str, Cell]] = []
    for name in plan.functions:
        for noise in plan.noises:
            what = f"{name}, {100 * noise:g} % noise"
            plan.tell(f"figures 7 to 9: {what}")
            found = on_set(plan, what, function=FUNCTIONS[name], noise=noise)
            records += records_of(name, "noise", 100 * noise, found)
    return Sheet.of("figures-7-9", records)


def by_attributes(plan: Plan) -> Sheet:
    """Figures 10 and 11, of functions 1 and 6."""
    records: list[dict[str, Cell]] = []
    for name in [name for name in plan.functions if name != "F7"]:
        for extra in plan.extras:
            what = f"{name}, {extra} further attributes"
            plan.tell(f"figures 10 and 11: {what}")
            found = on_set(plan, what, function=FUNCTIONS[name], extra=extra)
            records += records_of(name, "further attributes", extra, found)
    return Sheet.of("figures-10-11", records)


def by_quest(plan: Plan) -> Sheet:
    """QUEST on each function, gini beside it; who cannot is said."""
    records: list[dict[str, Cell]] = []
    for name in plan.functions:
        plan.tell(f"QUEST: {name}")
        with TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write(people(plan.middle, function=FUNCTIONS[name]), path)
            for criterion in ("gini", "quest"):
                refused: dict[str, str] = {}
                more = {"parameters": {"criterion": criterion}}
                found = compare(plan, f"{name} by {criterion}", [path], refused, **more)
                records += [
                    {"criterion": criterion, **record, "remark": ""}
                    for record in records_of(name, "rows", plan.middle, found)
                ]
                blank = dict.fromkeys(records[-1], None)
                for one, why in refused.items():
                    line = {"criterion": criterion, "set": name, "rows": plan.middle, "algorithm": one}
                    records.append({**blank, **line, "remark": f"refused: {why}"})
    return Sheet.of("quest", records)


def on_set(plan: Plan, what: str, **options: Any) -> Growths:
    """All contestants on one set, which is removed afterwards."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(people(plan.middle, **options), path)
        return compare(plan, what, [path])


def compare(
    plan: Plan, what: str, paths: Sequence[Path], refused: dict[str, str] | None = None, **more: Any
) -> Growths:
    """Every contestant in turn, run after run, so that a slow moment of the machine meets them all. Each run
    draws another sample; the tree is the same. Where `refused` is given it gets who refuses, and why."""
    found: Growths = {}
    for seed in range(plan.runs):
        for one in ALL:
            question = plan.question(one, source=[str(path) for path in paths], seed=seed, **more)
            try:
                found.setdefault(one.name, []).append(grow(one, question))
            except UsageError as error:
                if refused is None:
                    raise
                refused[one.name] = str(error)
    found = {name: growths for name, growths in found.items() if growths}
    confirm_same(what, found)
    return found


def records_of(
    title: str, x_name: str, x: float, found: Mapping[str, Sequence[Growth]]
) -> list[dict[str, Cell]]:
    """A line for each contestant; medians where a mean would say little."""
    base = Mean.of([growth.cpu for growth in found[BOAT.name]]).value if BOAT.name in found else None
    records: list[dict[str, Cell]] = []
    for name, growths in found.items():
        cpu = Mean.of([growth.cpu for growth in growths])
        middle = {key: _median(growths, key) for key in ("wall", "scans", "megabytes", "spilled", "peak")}
        records.append(
            {
                "set": title,
                x_name: x,
                "algorithm": name,
                "CPU seconds": cpu.value,
                "low": cpu.low,
                "high": cpu.high,
                "/ BOAT": None if base is None else cpu.value / base,
                "wall seconds": middle["wall"],
                "scans": middle["scans"],
                "MB read": middle["megabytes"],
                "MB spilled": middle["spilled"],
                "MB read and spilled": middle["megabytes"] + middle["spilled"],
                "peak MB": middle["peak"],
                "alarms": _median(growths, "alarms"),
                "rows held": _median(growths, "held"),
                "nodes": growths[0].nodes,
            }
        )
    return records


def _median(growths: Sequence[Growth], name: str) -> int | float:
    value = statistics.median(getattr(growth, name) for growth in growths)
    return int(value) if value == int(value) else value


BRIEF = (
    "set",
    "algorithm",
    "CPU seconds",
    "/ BOAT",
    "scans",
    "MB read",
    "MB spilled",
    "rows held",
    "peak MB",
)


def brief(name: str, sheet: Sheet, *more: str) -> Sheet:
    """The columns that a page has room for; the whole sheet stands folded below."""
    columns = (*BRIEF, *more)
    return Sheet.of(name, [{column: record[column] for column in columns} for record in sheet.records()])
