"""From sheets of numbers to the pictures of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hornbeam_experiments.charts import Bar, BarGroup, Line, Panel, Point, draw_bars, draw_panels
from hornbeam_experiments.records import Figure, Sheet


def figure_of(name: str, draw: Callable[..., str], *content: Any, **style: Any) -> Figure:
    alone, inline = (draw(*content, inline=inline, **style) for inline in (False, True))
    return Figure(name, alone + "\n", inline)


def titles_of(sheet: Sheet) -> list[str]:
    return list(dict.fromkeys(str(record["set"]) for record in sheet.records()))


def bars_of(
    name: str, parts: Sequence[str], works: Sheet, totals: Sheet, *, title: str, skip: Sequence[str] = ()
) -> Figure:
    """Stacked bars of relative time, a group for each set and a bar for each algorithm."""
    records = works.records()
    groups = []
    for owner in titles_of(totals):
        bars = []
        for total in totals.records():
            if total["set"] != owner or total["algorithm"] in skip:
                continue
            mine = {
                str(record["work"]): float(record["relative"] or 0)
                for record in records
                if record["set"] == owner and record["algorithm"] == total["algorithm"]
            }
            heights = tuple(max(mine[part], 0.0) for part in parts)
            low, high = float(total["low"] or 0), float(total["high"] or 0)
            bars.append(Bar(str(total["algorithm"]), heights, low, high))
        groups.append(BarGroup(owner, tuple(bars)))
    y_name = "CPU time / CPU time of the tree of all rows alone"
    return figure_of(name, draw_bars, groups, parts, title=title, y_name=y_name, mark=1.0)


def lines_of(
    name: str,
    sheet: Sheet,
    x: str,
    kinds: Sequence[str],
    *,
    title: str,
    x_name: str,
    y_name: str = "speedup: S / this",
    scale: float = 1.0,
) -> Figure:
    """A panel for each set, a line for each algorithm, with intervals."""
    records = sheet.records()
    panels = []
    for owner in titles_of(sheet):
        lines = []
        for kind, algorithm in enumerate(kinds):
            points = [
                Point(
                    float(record[x] or 0) * scale,
                    float(record["speedup"] or 0),
                    float(record["low"] or 0),
                    float(record["high"] or 0),
                )
                for record in records
                if record["set"] == owner and record["algorithm"] == algorithm
            ]
            lines.append(Line(kind, tuple(points)))
        panels.append(Panel(owner, tuple(lines)))
    return figure_of(name, draw_panels, panels, kinds, title=title, x_name=x_name, y_name=y_name, mark=1.0)


def levels_of(
    name: str, sheet: Sheet, columns: Sequence[str], *, title: str, y_name: str, scale: float, same: bool
) -> Figure:
    """A panel for each set: columns of the sheet by level."""
    panels = []
    for owner in titles_of(sheet):
        mine = [record for record in sheet.records() if record["set"] == owner]
        lines = [
            Line(
                kind,
                tuple(
                    Point(float(record["level"] or 0), scale * float(record[column] or 0)) for record in mine
                ),
            )
            for kind, column in enumerate(columns)
        ]
        panels.append(Panel(owner, tuple(lines)))
    return figure_of(
        name,
        draw_panels,
        panels,
        columns,
        title=title,
        x_name="level of the forest",
        y_name=y_name,
        same_height=same,
        even_steps=False,
    )


def time_and_f(sheet: Sheet, meaning: str) -> tuple[Figure, Figure]:
    """Figure 10: what each level takes by each algorithm, and f of the level before it."""
    seconds = levels_of(
        "figure-10-seconds",
        sheet,
        ("S", "OS", "CV"),
        title="Time of each level",
        y_name="CPU milliseconds",
        scale=1000,
        same=False,
    )
    tests = levels_of(
        "figure-10-f",
        sheet,
        ("f(i-1)",),
        title="Different tests",
        y_name=f"f(i - 1): {meaning}",
        scale=1,
        same=True,
    )
    return seconds, tests


def memory_bars(name: str, sheet: Sheet, parts: Sequence[str], *, title: str) -> Figure:
    """Stacked bars of megabytes: a group for each set and a bar for each algorithm."""
    groups = []
    for owner in titles_of(sheet):
        mine = [record for record in sheet.records() if record["set"] == owner]
        bars = []
        for record in mine:
            heights = tuple(float(record[part] or 0) for part in parts)
            below = sum(heights) - float(record["growth"] or 0)
            low, high = (below + float(record[bound] or 0) for bound in ("low", "high"))
            bars.append(Bar(str(record["algorithm"]), heights, low, high))
        groups.append(BarGroup(owner, tuple(bars)))
    return figure_of(name, draw_bars, groups, parts, title=title, y_name="megabytes")


def memory_lines(name: str, sheet: Sheet, kinds: Sequence[str], *, title: str) -> Figure:
    """A panel for each set: peak by number of folds, a line for each algorithm."""
    panels = []
    for owner in titles_of(sheet):
        lines = []
        for kind, algorithm in enumerate(kinds):
            points = [
                Point(*(float(record[name] or 0) for name in ("folds", "growth", "low", "high")))
                for record in sheet.records()
                if record["set"] == owner and record["algorithm"] == algorithm
            ]
            lines.append(Line(kind, tuple(points)))
        panels.append(Panel(owner, tuple(lines)))
    return figure_of(
        name,
        draw_panels,
        panels,
        kinds,
        title=title,
        x_name="folds",
        y_name="megabytes above the loaded data",
        same_height=False,
    )
