"""The curves of the paper as panels: a panel for each function, a line for each contestant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hornbeam_experiments.charts import Line, Panel, Point, draw_panels
from hornbeam_experiments.figures import figure_of, titles_of
from hornbeam_experiments.records import Figure, Sheet

MEASURES = {"CPU seconds": "seconds", "scans": "scans", "MB read and spilled": "bytes"}


def curves(sheet: Sheet, x: str, x_name: str, title: str, scale: float = 1.0) -> tuple[Figure, ...]:
    """Seconds, scans and bytes, a figure each."""
    return tuple(
        panels_of(f"{sheet.name}-{ending}", sheet, x, measure, f"{title}: {measure}", x_name, scale)
        for measure, ending in MEASURES.items()
    )


def panels_of(
    name: str,
    sheet: Sheet,
    x: str,
    measure: str,
    title: str,
    x_name: str,
    scale: float = 1.0,
    **style: Any,
) -> Figure:
    """One measure by x; `style` as `draw_panels` has it."""
    records = sheet.records()
    kinds = list(dict.fromkeys(str(record["algorithm"]) for record in records))
    bounded = measure.endswith("CPU seconds")
    panels = []
    for owner in titles_of(sheet):
        lines = []
        for kind, algorithm in enumerate(kinds):
            mine = [r for r in records if r["set"] == owner and r["algorithm"] == algorithm]
            points = [
                Point(
                    float(record[x] or 0) * scale,
                    float(record[measure] or 0),
                    float(record["low"] or 0) if bounded else None,
                    float(record["high"] or 0) if bounded else None,
                )
                for record in mine
            ]
            lines.append(Line(kind, tuple(points)))
        panels.append(Panel(owner, tuple(lines)))
    names = {"title": title, "x_name": x_name, "y_name": measure}
    return figure_of(name, draw_panels, panels, kinds, **({"columns": 3} | names | style))


def impurity(sheet: Sheet) -> Figure:
    """The sketch of figure 12, drawn from rows."""
    panels = []
    for owner in titles_of(sheet):
        mine = [record for record in sheet.records() if record["set"] == owner]
        points = tuple(Point(float(record["cut"] or 0), float(record["impurity"] or 0)) for record in mine)
        panels.append(Panel(owner, (Line(0, points),)))
    kinds: Sequence[str] = ("impurity after x <= value",)
    return figure_of(
        sheet.name,
        draw_panels,
        panels,
        kinds,
        title="Two minima",
        x_name="value",
        y_name="gini",
        columns=2,
        even_steps=False,
    )
