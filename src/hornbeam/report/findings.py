"""The second half of the page: what decides, where it errs, the tree as text, the data, how to repeat it.

And what stands there of some trees alone: how one was improved, and how the rows of a source were read.
"""

from __future__ import annotations

import hornbeam
from hornbeam.anytime.course import SearchCourse
from hornbeam.anytime.states import SearchState
from hornbeam.boat.stats import SourceStats, seconds_text
from hornbeam.drawing.page import section, table, tag
from hornbeam.drawing.text import clean, count_text, escape, number_text, percent_text, shorten

from .describe import ColumnSummary
from .overview import rows_scored
from .records import Errors, Points, Study

_MOST_MATRIX = 12
_MOST_WIDE = 6
_MOST_BARS = 12
_MOST_COLUMNS = 200
_MOST_TEXT_LINES = 2000


def importance_section(study: Study) -> str:
    """How much of the impurity decrease each attribute brings."""
    used = sorted((c for c in study.columns if c.importance > 0), key=lambda column: -column.importance)
    if not used:
        return section("What decides", "No attribute: the tree is a single leaf.")
    bars = "".join(_bar(column, used[0].importance) for column in used[:_MOST_BARS])
    more = f"and {len(used) - _MOST_BARS} more" if len(used) > _MOST_BARS else ""
    hint = "Share of the decrease of impurity that the tests on an attribute bring on the training rows."
    return section(
        "What decides", hint, tag("div", bars, class_="bars"), tag("p", more, class_="hint") if more else ""
    )


def _bar(column: ColumnSummary, most: float) -> str:
    return (
        tag("div", escape(column.name), class_="n", title=column.name)
        + tag("div", class_="b", style=f"width:{column.importance / most * 100:.1f}%")
        + tag("div", escape(percent_text(column.importance)), class_="v")
    )


def error_section(study: Study) -> str:
    """Where the tree errs: a table of classes, or actual against predicted values."""
    where = f"{rows_scored(study.score)} rows"
    if study.errors is not None and len(study.errors.classes) <= _MOST_MATRIX:
        hint = f"Lines are the true classes, columns the answers of the tree ({where})."
        return section("Where it errs", hint, _matrix(study.errors))
    if study.errors is not None:
        return section("Where it errs", f"The most frequent mistakes on {where}.", _confusions(study.errors))
    if study.points is not None and study.points.pairs:
        hint = f"Each dot is a row ({where}); on the dotted line the answer is exact."
        return section("Where it errs", hint, tag("div", _scatter(study.points), class_="fit"))
    return ""


def _matrix(errors: Errors) -> str:
    names = [tag("th", escape(shorten(name, 12)), scope="col", title=name) for name in errors.classes]
    lines = []
    for index, (name, row) in enumerate(zip(errors.classes, errors.counts, strict=True)):
        total = max(1, sum(row))
        cells = [_count(count, count / total, index == column) for column, count in enumerate(row)]
        side = tag("th", escape(shorten(name, 14)), scope="row", class_="side", title=name)
        lines.append(tag("tr", side, *cells))
    dense = len(errors.classes) > _MOST_WIDE
    return table((tag("th"), *names), lines, class_="matrix dense" if dense else "matrix")


def _count(count: int, share: float, right: bool) -> str:
    colour = "var(--hb-accent)" if right else "var(--hb-c5)"
    if not count:
        return tag("td", "0", class_="none")
    shade = tag("i", style=f"background:{colour};opacity:{0.12 + 0.5 * share:.2f}")
    return tag("td", shade, tag("span", escape(count_text(count))))


def _confusions(errors: Errors) -> str:
    """The most frequent mistakes, which say more than a large table where there are many classes."""
    wrong = [
        (count, i, j)
        for i, row in enumerate(errors.counts)
        for j, count in enumerate(row)
        if i != j and count
    ]
    wrong.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
    lines = [(errors.classes[i], errors.classes[j], count_text(count)) for count, i, j in wrong[:10]]
    return table(("true class", "answer", "rows"), lines, (2,))


def _scatter(points: Points) -> str:
    size, pad = 360, 34
    values = [value for pair in points.pairs for value in pair]
    low, high = min(values), max(values)
    span, end = (high - low) or 1.0, size - pad

    def at(value: float) -> float:
        return (value - low) / span * (size - 2 * pad)

    dots = "".join(f'<circle cx="{pad + at(x):.1f}" cy="{end - at(y):.1f}" r="3"/>' for x, y in points.pairs)
    cloud = tag("g", dots, style="fill:var(--hb-c0)", fill_opacity=".35")
    axes = f'<path d="M{pad} {pad}V{end}H{end}" class="e"/><path d="M{pad} {end}L{end} {pad}" class="m"/>'
    texts = (
        tag("text", escape(number_text(low)), class_="s", x=str(pad), y=str(end + 18))
        + tag("text", escape(number_text(high)), class_="s", x=str(end), y=str(end + 18), text_anchor="end")
        + tag("text", "actual", class_="s", x=str(size // 2), y=str(end + 18), text_anchor="middle")
        + tag("text", "predicted", class_="s", x=str(pad), y=str(pad - 10))
    )
    title = tag("title", f"Actual against predicted {escape(points.target)}")
    frame = {"class_": "hb", "role": "img", "viewBox": f"0 0 {size} {size}", "style": "max-width:460px"}
    return tag("svg", title, axes, texts, cloud, **frame)


def text_section(study: Study) -> str:
    """The tree as text: the alternative to the picture."""
    return folded_section("The tree as text", "", study.tree.to_text(), 60, _MOST_TEXT_LINES)


def folded_section(title: str, hint: str, text: str, most_open: int, most: int | None = None) -> str:
    """The first lines of a text, folded away where there are more than `most_open`."""
    lines = text.rstrip("\n").split("\n")
    shown = [escape(clean(line)) for line in lines[:most]]
    if len(shown) < len(lines):
        shown.append(f"… {len(lines) - len(shown)} more lines")
    summary, body = tag("summary", f"{len(lines)} lines"), tag("pre", "\n".join(shown))
    return section(title, hint, tag("details", summary, body, open=len(lines) <= most_open), class_="long")


def data_section(study: Study) -> str:
    """What the attributes hold."""
    names = ("attribute", "kind", "missing", "values", "importance")
    lines = [_column(column, study.rows) for column in study.columns[:_MOST_COLUMNS]]
    left = len(study.columns) - _MOST_COLUMNS
    more = tag("p", f"and {left} more attributes", class_="hint") if left > 0 else ""
    size = f"{count_text(study.rows)} training rows, {len(study.columns)} attributes"
    hint = f"{size}; the target is {study.target}."
    listed = table(names, lines, (2, 4))
    body = tag("details", tag("summary", "attributes"), listed, more, open=len(study.columns) <= 16)
    return section("The data", hint, body, class_="long")


def _column(column: ColumnSummary, rows: int) -> tuple[str, ...]:
    missing = (
        f"{count_text(column.missing)} ({percent_text(column.missing / rows)})" if column.missing else ""
    )
    importance = percent_text(column.importance) if column.importance else ""
    return column.name, column.kind, missing, shorten(column.values, 70), importance


def repeat_section(study: Study) -> str:
    """Everything needed to grow the same tree again."""
    entries = (
        ("version", f"hornbeam {hornbeam.__version__}"),
        ("seed", "none: no random choice was made" if study.seed is None else str(study.seed)),
        ("parameters", ", ".join(f"{name}={value!r}" for name, value in study.parameters.items())),
        ("data", f"{study.data_name} sha256:{study.data_hash}" if study.data_hash else study.data_name),
        ("tree digest", study.tree.digest),
    )
    listed = [tag("dt", name) + tag("dd", tag("code", escape(value))) for name, value in entries if value]
    line = tag("pre", escape(study.command), class_="run") if study.command else ""
    return section("Reproduce", "", line, tag("dl", *listed, class_="meta"))


def course_section(course: SearchCourse) -> str:
    """What was found by when."""
    first, last = course.states[0], course.last
    what = "the fewest leaves" if course.objective == "size" else "the fewest expected errors"
    rebuilt = f"{count_text(last.iteration)} subtrees were rebuilt in {last.elapsed:.1f} seconds"
    hint = f"A search for {what}: {rebuilt}."
    said = [
        ("Found:", f"{_size(last.leaves)} instead of {_size(first.leaves)}, {_errors(first, last)}."),
        ("Ended because", f"{course.why}."),
    ]
    sentences = [tag("p", tag("b", escape(name)), " ", escape(text), class_="said") for name, text in said]
    curve = tag("div", course.to_svg(inline=True), class_="scroll")
    return section("How this tree was improved", hint, *sentences, curve, class_="long")


def _size(leaves: int) -> str:
    return "1 leaf" if leaves == 1 else f"{count_text(leaves)} leaves"


def _errors(first: SearchState, last: SearchState) -> str:
    return f"{last.expected_error:.1f} expected errors instead of {first.expected_error:.1f}"


_TOLD = ("algorithm", "seconds")  # elsewhere in the section


def scans_section(stats: SourceStats) -> str:
    """What growing from the source took."""
    hint = f"Grown by the algorithm {stats.algorithm}: {stats.reason}."
    entries = [
        tag("dt", escape(name)) + tag("dd", escape(value))
        for name, value in stats.to_pairs(count_text)
        if name not in _TOLD
    ]
    longest = max(stats.seconds.values(), default=0.0) or 1.0
    bars = [
        tag("div", escape(phase), class_="n")
        + tag("div", class_="b", style=f"width:{seconds / longest * 100:.1f}%")
        + tag("div", escape(seconds_text(seconds)), class_="v")
        for phase, seconds in stats.seconds.items()
    ]
    return section(
        "How the rows were read",
        hint,
        tag("dl", *entries, class_="meta"),
        tag("div", *bars, class_="bars"),
    )
