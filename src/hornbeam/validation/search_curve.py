"""From a search to the plain records that are drawn: error by size, by a parameter, or by several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hornbeam.drawing.curve import NamedPoint, SearchCurve, SearchPoint
from hornbeam.validation.search_rows import Row, SearchRows, rank_of, rows_of, value_text
from hornbeam.validation.search_text import level_text, size_text

if TYPE_CHECKING:
    from hornbeam.validation.search_record import SearchRecord, SettingResult


_MOST_LINES = 6
_FEWEST_ON_A_LINE = 3
_COUNTS = ("min_samples_split", "min_samples_leaf")


def curve_of(record: SearchRecord) -> SearchCurve:
    """The curve: by leaves where ccp_alpha alone differs, else by the parameter of the most numbers.

    An alpha means little to a reader and the size that it gives means much; the second axis has the other.
    Where lines would be too many, all settings are dots by their leaves.
    """
    table = rows_of(record)
    if table.names == ("ccp_alpha",):
        return _by_leaves(record, table, joined=True)
    axis = _axis(record.results, table.names)
    if axis is None:
        if len(table.names) == 1:
            return _by_name(record, table, table.names[0])
        return _by_leaves(record, table, joined=False)
    lines: dict[str, list[tuple[float, int]]] = {}
    for place, result in enumerate(record.results):
        others = {
            name: value for name, value in result.params.items() if name in table.names and name != axis
        }
        rank = rank_of(result.params.get(axis))
        assert rank is not None
        lines.setdefault(_params_text(others), []).append((rank, place))
    rows = {place: row for row in table.rows for place in row.results}
    points = {place: _point(table, rows[place], x) for line in lines.values() for x, place in line}
    drawn = tuple((name, tuple(points[place] for _, place in sorted(line))) for name, line in lines.items())
    tops = tuple((point.x, str(point.leaves)) for point in points.values()) if len(lines) == 1 else ()
    return _curve(record, table, drawn, points, x_name=axis, tops=tops)


def _by_leaves(record: SearchRecord, table: SearchRows, joined: bool) -> SearchCurve:
    points = {row.results[0]: _point(table, row, float(row.leaves)) for row in table.rows}
    for row in table.rows:
        points |= {place: points[row.results[0]] for place in row.results}
    line = tuple(points[row.results[0]] for row in table.rows)
    tops: tuple[tuple[float, str], ...] = ()
    if joined:
        tops = tuple((float(row.leaves), dict(row.setting).get("ccp_alpha", "")) for row in table.rows)
    return _curve(
        record,
        table,
        (("", line),),
        points,
        x_name="leaves of the tree",
        by_leaves=True,
        loose=not joined,
        tops=tops,
        top_name="ccp_alpha",
    )


def _by_name(record: SearchRecord, table: SearchRows, name: str) -> SearchCurve:
    rows = {place: row for row in table.rows for place in row.results}
    points = {place: _point(table, rows[place], float(place)) for place in range(len(record.results))}
    names = tuple(value_text(result.params.get(name)) for result in record.results)
    tops = tuple((point.x, str(point.leaves)) for point in points.values())
    return _curve(record, table, (("", tuple(points.values())),), points, x_name=name, names=names, tops=tops)


def _curve(
    record: SearchRecord,
    table: SearchRows,
    lines: tuple[tuple[str, tuple[SearchPoint, ...]], ...],
    points: Mapping[int, SearchPoint],
    **more: Any,
) -> SearchCurve:
    chosen, best = table.chosen, table.best
    word = "chosen and best" if chosen.best else "chosen"
    marks = [NamedPoint(points[record.chosen], f"{word}: {_mark_text(table, chosen)}", True)]
    if not chosen.best:
        marks.append(NamedPoint(points[record.best], f"best: {_mark_text(table, best)}", False))
    return SearchCurve(
        lines=lines,
        y_name=f"{table.words.name}: {table.words.about}",
        marks=tuple(marks),
        percent=table.words.percent,
        more_is_better=table.words.more_is_better,
        level=table.level if best.spread > 0 else None,
        level_text=level_text(table) if table.level is not None else "",
        **more,
    )


def _mark_text(table: SearchRows, row: Row) -> str:
    leaves = "1 leaf" if row.leaves == 1 else f"{row.leaves} leaves"
    return f"{leaves}, {table.both_text(row)}"


def _point(table: SearchRows, row: Row, x: float) -> SearchPoint:
    spread = row.spread if math.isfinite(row.spread) else 0.0
    return SearchPoint(
        x, row.value, spread, row.leaves, f"{row.text} ({size_text(row)}): {table.both_text(row)}"
    )


def _axis(results: Sequence[SettingResult], names: Sequence[str]) -> str | None:
    """The numeric parameter of the most values, if the others make few enough lines."""
    best: tuple[int, str] | None = None
    for name in names:
        values = [result.params[name] for result in results if name in result.params]
        if len(values) < len(results) or not _is_scale(name, values):
            continue
        many = len({rank_of(value) for value in values})
        others = {_params_text({n: v for n, v in r.params.items() if n != name}) for r in results}
        if many >= _FEWEST_ON_A_LINE and len(others) <= _MOST_LINES and (best is None or many > best[0]):
            best = (many, name)
    if best is None and len(names) == 1 and _is_scale(names[0], [r.params.get(names[0]) for r in results]):
        return names[0]
    return best[1] if best is not None else None


def _is_scale(name: str, values: Sequence[Any]) -> bool:
    """Numbers of one kind: shares and counts of rows have no order in common."""
    ranks = [rank_of(value) for value in values]
    if any(rank is None or math.isnan(rank) or rank == -math.inf for rank in ranks):
        return False
    known = [value for value in values if value is not None]
    if not known or (len(known) < len(values) and name != "max_depth"):
        return False
    return name not in _COUNTS or len({isinstance(value, float) for value in known}) == 1


def _params_text(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value_text(value)}" for name, value in params.items())
