"""The curves of the paper: a panel for each set, a line for each learner, times by powers of ten."""

from __future__ import annotations

from collections.abc import Sequence

from hornbeam.drawing.progress import Course, Moment, draw_progress
from hornbeam.drawing.text import number_text
from hornbeam.model import Tree
from hornbeam_experiments.charts import Line, Panel, Point, draw_panels
from hornbeam_experiments.figures import figure_of
from hornbeam_experiments.records import Cell, Figure, Sheet

PERCENT = 95
ACCURACY, LEAVES = "accuracy", "leaves"
UNITS = {ACCURACY: "accuracy: % of the rows left out", LEAVES: "leaves"}
LIMITS = {ACCURACY: (0.0, 100.0), LEAVES: (1.0, float("inf"))}
FLAT = ("ID3", "C4.5")
"""What does not change over time is drawn without its interval, which would cover the others."""


def curves(
    name: str,
    sheet: Sheet,
    measures: Sequence[str],
    learners: Sequence[str],
    title: str,
    columns: int,
) -> Figure:
    """Means over folds with their intervals; the panels of one measure after those of the other."""
    records = [record for record in sheet.records() if record["learner"] in learners]
    titles = list(dict.fromkeys(str(record["set"]) for record in records))
    panels = []
    for measure in measures:
        for owner in titles:
            mine = [record for record in records if record["set"] == owner]
            named = owner if len(measures) == 1 else f"{owner}: {measure}"
            panels.append(Panel(named, _lines(mine, measure, learners)))
    return figure_of(
        name,
        draw_panels,
        panels,
        learners,
        title=title,
        x_name="CPU seconds",
        y_name=" and ".join(UNITS[measure] for measure in measures),
        columns=columns,
        same_height=False,
        from_zero=False,
        percent=PERCENT,
        bands=True,
    )


def _lines(records: Sequence[dict[str, Cell]], measure: str, learners: Sequence[str]) -> tuple[Line, ...]:
    lines = []
    for kind, learner in enumerate(learners):
        mine = [record for record in records if record["learner"] == learner]
        if mine:
            bounded = learner not in FLAT
            lines.append(Line(kind, tuple(_point(record, measure, bounded) for record in mine)))
    return tuple(lines)


def _point(record: dict[str, Cell], measure: str, bounded: bool) -> Point:
    least, most = LIMITS[measure]
    x, y = float(record["CPU seconds"] or 0), float(record[measure] or 0)
    if not bounded:
        return Point(x, y)
    low, high = float(record[f"{measure}, low"] or 0), float(record[f"{measure}, high"] or 0)
    return Point(x, y, max(low, least), min(high, most))


def steps(name: str, sheet: Sheet, seconds: float) -> Figure:
    """One run of each granularity as a staircase."""
    courses = []
    for learner in dict.fromkeys(str(record["learner"]) for record in sheet.records()):
        mine = [record for record in sheet.records() if record["learner"] == learner]
        moments = tuple(
            Moment(
                float(record["CPU seconds"] or 0),
                float(record["accuracy"] or 0),
                f"{number_text(float(record['CPU seconds'] or 0), 3)} s: {record['leaves']} leaves, "
                f"{number_text(float(record['accuracy'] or 0), 4)} % right",
            )
            for record in mine
        )
        courses.append(Course(f"{learner}: accuracy, %", moments, seconds))
    return figure_of(
        name, draw_progress, courses, title="One run, step by step", x_name="CPU seconds of searching"
    )


def tree(name: str, grown: Tree, title: str) -> Figure:
    """A whole tree, on the page no higher than a reader sees at once."""
    svg = grown.to_svg(None, title=title)
    return Figure(name, svg, svg.replace("<svg ", '<svg style="max-height:480px" ', 1))
