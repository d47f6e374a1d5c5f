"""The pictures of table 1: errors of the methods, and error by m."""

from __future__ import annotations

from hornbeam_experiments.charts import Bar, BarGroup, Line, Panel, Point, draw_bars, draw_panels
from hornbeam_experiments.figures import figure_of, titles_of
from hornbeam_experiments.records import Figure, Sheet

KINDS = ("cross-validated error", "error on the test rows")


def error_bars(table: Sheet) -> Figure:
    """A group for each set, a bar for each method: what it gets wrong of the test rows."""
    groups = []
    for owner in titles_of(table):
        bars = []
        for record in table.records():
            if record["set"] == owner:
                wrong, high, low = (100 - float(record[name] or 0) for name in ("accuracy", "low", "high"))
                name = str(record["method"]).removesuffix(" CVC4.5")  # "small" beside the others
                bars.append(Bar(name, (wrong,), low, high))
        groups.append(BarGroup(owner, tuple(bars)))
    y_name = "% of the test rows that are answered wrongly"
    title = "Errors of C4.5, CVC4.5, small CVC4.5 and C4.5*"
    return figure_of("table-1", draw_bars, groups, ("error",), title=title, y_name=y_name)


def curves(sheet: Sheet) -> Figure:
    """A panel for each set: both errors by m."""
    panels = []
    for owner in titles_of(sheet):
        mine = [record for record in sheet.records() if record["set"] == owner]
        lines = tuple(
            Line(kind, tuple(Point(float(record["m"] or 0), float(record[name] or 0)) for record in mine))
            for kind, name in enumerate(KINDS)
        )
        panels.append(Panel(owner, lines))
    return figure_of(
        "by-m",
        draw_panels,
        panels,
        KINDS,
        title="Error by m",
        x_name="m",
        y_name="% of the rows",
        columns=3,
        same_height=False,
    )
