"""The figures of the page."""

from __future__ import annotations

from collections.abc import Sequence

from hornbeam_experiments.charts import Bar, BarGroup, Line, Panel, Point, draw_bars, draw_panels
from hornbeam_experiments.figures import figure_of, titles_of
from hornbeam_experiments.records import Cell, Figure, Sheet

SPENT = {
    "rows": "seconds of rows",
    "scheduler": "of the scheduler",
    "merging": "of merging",
    "client": "of the client",
}


def of_bytes(sheet: Sheet) -> Figure:
    """Parcels of workers, measured and by the model, by what was varied."""
    kinds = ("measured", "by the model")
    groups: dict[str, list[Bar]] = {}
    for record in sheet.records():
        varied = str(record["varied"])
        if record["parcel of"] != "worker":
            continue
        kilobytes = [_number(record[f"bytes {kind}"]) / 1e3 for kind in kinds]
        value = record[varied]
        name = f"{value:,}" if isinstance(value, int) else str(value)
        groups.setdefault(varied, []).extend([Bar(name, (kilobytes[0], 0.0)), Bar("", (0.0, kilobytes[1]))])
    found = [BarGroup(name, tuple(bars)) for name, bars in groups.items()]
    return figure_of("bytes", draw_bars, found, kinds, title="A worker's parcel", y_name="kilobytes")


def of_wall(sheet: Sheet) -> Figure:
    """Wall time by workers, a panel for each way to grow and number of rows."""
    records, titles = sheet.records(), titles_of(sheet)
    panels = []
    for kind, title in enumerate(titles):
        for rows in _sizes(records):
            mine = [r for r in records if r["set"] == title and r["rows"] == rows]
            points = tuple(Point(_number(r["workers"]), _number(r["wall seconds"]) / 60) for r in mine)
            panels.append(Panel(f"{rows:,} rows", (Line(kind, points),)))
    names = {"title": "Wall time", "x_name": "workers", "y_name": "minutes"}
    columns = len(_sizes(records))
    return figure_of("wall", draw_panels, panels, titles, same_height=False, columns=columns, **names)


def of_efficiency(sheet: Sheet) -> Figure:
    """The share of their time that workers work, a panel for each way to grow."""
    records = sheet.records()
    sizes = _sizes(records)
    panels = []
    for title in titles_of(sheet):
        lines = [
            Line(
                kind,
                tuple(
                    Point(_number(r["workers"]), 100 * _number(r["efficiency"]))
                    for r in records
                    if r["set"] == title and r["rows"] == rows
                ),
            )
            for kind, rows in enumerate(sizes)
        ]
        panels.append(Panel(title, tuple(lines)))
    names = {"title": "Efficiency", "x_name": "workers", "y_name": "% of the time of workers"}
    return figure_of("efficiency", draw_panels, panels, [f"{n:,} rows" for n in sizes], columns=2, **names)


def of_shares(name: str, sheet: Sheet, title: str) -> Figure:
    """What the wall time of one way to grow is spent on."""
    records = [record for record in sheet.records() if record["set"] == title]
    groups = []
    for rows in _sizes(records):
        bars = []
        for record in records:
            if record["rows"] == rows:
                whole = _number(record["wall seconds"])
                parts = tuple(100 * _number(record[column]) / whole for column in SPENT.values())
                bars.append(Bar(str(record["workers"]), parts))
        groups.append(BarGroup(f"{rows:,} rows", tuple(bars)))
    return figure_of(
        name, draw_bars, groups, tuple(SPENT), title=title, y_name="% of the wall time, by workers"
    )


def _sizes(records: Sequence[dict[str, Cell]]) -> list[int]:
    return list(dict.fromkeys(int(_number(record["rows"])) for record in records))


def _number(cell: Cell) -> float:
    return float(cell or 0)
