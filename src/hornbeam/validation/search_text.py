"""A search as text: sizes and errors in a table that fits a terminal, and why the chosen one was chosen."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hornbeam.validation.search_rows import Row, SearchRows, rows_of, value_text

if TYPE_CHECKING:
    from hornbeam.validation.search_record import NestedRecord, SearchRecord


WIDTH = 80
_GAP = "  "
_LEAST_PLOT, _MOST_PLOT = 14, 30


def to_text(record: SearchRecord, most: int | None = 20) -> str:
    """The table, the choice and its reason; at most `most` rows of it, all of them for None."""
    whole = rows_of(record)
    shown = whole if most is None else whole.thinned(most)
    lines = [*_wrapped(heading_text(record)), *_wrapped(numbers_text(whole)), "", *_table(shown), ""]
    lines += _notes(whole, len(shown.rows))
    lines += _wrapped(f"chosen: {choice_text(record, whole)}")
    lines += _wrapped(f"why: {why_text(record, whole)}")
    if record.nested is not None:
        lines += _wrapped(f"new rows: {nested_text(record.nested, whole)}")
    # What held a number and its percent sign together is a plain space on a terminal.
    return "\n".join(line.rstrip().replace("\u00a0", " ") for line in lines) + "\n"


def heading_text(record: SearchRecord) -> str:
    """How the scores came about: "10-fold cross-validation of 52 settings, 5 times, trimmed mean"."""
    many = len(record.results)
    text = f"{record.folds}-fold cross-validation of {'1 setting' if many == 1 else f'{many} settings'}"
    if record.repeats > 1:
        text += f", {record.repeats} times"
    return text + (", trimmed mean" if record.mean == "trimmed" else "")


def numbers_text(whole: SearchRows) -> str:
    """What the numbers are: "error: the share of rows answered wrongly, ± one standard error"."""
    return f"{whole.words.name}: {whole.words.about}, ± one standard error"


def choice_text(record: SearchRecord, whole: SearchRows) -> str:
    """The chosen setting and its size; settings that did the same are not named."""
    row, params = whole.chosen, record.results[record.chosen].params
    setting = ", ".join(f"{name} {value_text(params[name])}" for name in whole.names if name in params)
    return f"{setting} ({size_text(row)})" if setting else size_text(row)


def why_text(record: SearchRecord, whole: SearchRows) -> str:
    """`reason` in the words and numbers of the table."""
    best = whole.best
    if record.select == "smallest" and record.repeats > 1:
        return (
            f"it is the smallest of the trees that {record.repeats} repetitions chose, each by its own folds."
        )
    if record.select == "1se":
        near = sum(len(row.results) for row in whole.rows if row.close)
        if near == 1:
            return "it is the best, and no other is within one standard error of it."
        if whole.chosen.best:
            return (
                f"it is the best, and the smallest tree of {near} settings within one standard error of it."
            )
        than = f"the best ({size_text(best)}, {whole.both_text(best)})"
        return f"it is the smallest tree of {near} settings within one standard error of {than}."
    top = record.results[record.best].score
    equal = sum(result.score == top for result in record.results)
    extreme = f"the {'highest' if whole.words.more_is_better else 'lowest'} {whole.words.name}"
    if equal > 1:
        return f"it is the smallest tree of {equal} settings that share {extreme}."
    return f"it has {extreme} of all."


def size_text(row: Row) -> str:
    """How large the tree of all rows is."""
    return f"{'1 leaf' if row.leaves == 1 else f'{row.leaves} leaves'}, depth {row.depth}"


def _table(shown: SearchRows) -> Iterator[str]:
    """The table; where even broken names are too wide, settings stand below their rows."""
    for lines in (1, 2, 3, 0):
        header = [_broken(name, lines) for name in shown.names] if lines else []
        columns = _columns(shown, header)
        widths = [max(map(len, column)) for column in columns]
        room = WIDTH - sum(widths) - len(_GAP) * (len(widths) - 1)
        if room >= 0:
            break
    room -= len(_GAP)
    plot = _plot(shown, min(room, _MOST_PLOT)) if room >= _LEAST_PLOT and len(shown.rows) > 1 else None
    height = _height(header)
    for i in range(height + len(shown.rows)):
        cells = [_placed(c, column[i], widths[c]) for c, column in enumerate(columns)]
        if plot is not None:
            cells.insert(-1, " " * len(plot[0]) if i < height else plot[i - height])
        yield _GAP.join(cells)
        if not header and shown.names and i >= height:
            yield from textwrap.wrap(
                shown.rows[i - height].text, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8
            )


def _height(header: Sequence[Sequence[str]]) -> int:
    return max((len(part) for part in header), default=1)


def _columns(shown: SearchRows, header: Sequence[Sequence[str]]) -> list[list[str]]:
    """The cells of each column under its name, which stands in as many lines as the longest takes."""

    def headed(name: Sequence[str], cells: Sequence[str]) -> list[str]:
        return [""] * (_height(header) - len(name)) + [*name, *cells]

    columns = [
        headed(["leaves"], [str(row.leaves) for row in shown.rows]),
        headed(["depth"], [str(row.depth) for row in shown.rows]),
        headed([shown.words.name], [shown.both_text(row) for row in shown.rows]),
    ]
    for name, parts in zip(shown.names, header, strict=False):
        columns.append(headed(parts, [dict(row.setting).get(name, "") for row in shown.rows]))
    return [*columns, headed([""], [row.remark for row in shown.rows])]


def _placed(column: int, text: str, width: int) -> str:
    return text.rjust(width) if column < 3 else text.ljust(width)


def _broken(name: str, lines: int) -> list[str]:
    """A name in at most so many lines, broken at its underscores."""
    parts = name.split("_")
    if lines == 1 or len(parts) == 1:
        return [name]
    if lines >= len(parts):
        return [part + ("_" if i < len(parts) - 1 else "") for i, part in enumerate(parts)]
    cut = min(range(1, len(parts)), key=lambda k: max(len("_".join(parts[:k])) + 1, len("_".join(parts[k:]))))
    return ["_".join(parts[:cut]) + "_", "_".join(parts[cut:])]


def _plot(shown: SearchRows, room: int) -> list[str]:
    """A line for each row: its value, one standard error to each side, and how far the best reaches."""
    ends = [row.value + side * row.spread for row in shown.rows for side in (-1, 1)]
    known = [end for end in ends if math.isfinite(end)] or [0.0]
    low, high = min(known), max(known)

    def cell(value: float) -> int:
        share = (value - low) / (high - low) if high > low else 0.5
        return min(room - 1, max(0, round(share * (room - 1))))

    lines = []
    for row in shown.rows:
        cells = [" "] * room
        if shown.level is not None:
            cells[cell(shown.level)] = "┊"
        if math.isfinite(row.value):
            spread = row.spread if math.isfinite(row.spread) else 0.0
            for i in range(cell(row.value - spread), cell(row.value + spread) + 1):
                cells[i] = "─"
            cells[cell(row.value)] = "●" if row.chosen else "◇" if row.best else "•"
        lines.append("".join(cells))
    return lines


def _notes(whole: SearchRows, shown: int) -> Iterator[str]:
    """What the words of the table mean, where they occur."""
    if whole.fixed:
        yield from _wrapped("in all of them: " + ", ".join(f"{name} {value}" for name, value in whole.fixed))
    if shown < len(whole.rows):
        yield f"{shown} of {len(whole.rows)} rows are shown"
    if any(row.remark == "about as good" for row in whole.rows) and whole.level is not None:
        yield from _wrapped(f"about as good: {level_text(whole)}")


def level_text(whole: SearchRows) -> str:
    """The 1-SE line in words."""
    assert whole.level is not None
    reach = whole.words.text(whole.level, whole.digits)
    least = "at least" if whole.words.more_is_better else "at most"
    return f"within one standard error of the best, {least} {reach}"


def nested_text(nested: NestedRecord, whole: SearchRows) -> str:
    """What the choice itself is worth on rows that had no part in it."""
    words = whole.words
    digits = words.digits([nested.error])
    value = words.text(words.value(nested.score), digits)
    spread = words.spread_text(nested.error, digits)
    return (
        f"{words.subject} should be near {value} ± {spread}: the whole choice was made anew in each "
        f"of {len(nested.scores)} outer folds and judged by rows that had no part in it"
        f"{_agreement(nested)}"
    )


def _agreement(nested: NestedRecord) -> str:
    """How often the outer folds chose alike."""
    chosen = [", ".join(f"{n} {value_text(v)}" for n, v in params.items()) for params in nested.params]
    if not chosen:
        return "."
    if len(set(chosen)) == 1:
        return f"; all of them chose {chosen[0]}."
    return f"; they made {len(set(chosen))} different choices."


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
