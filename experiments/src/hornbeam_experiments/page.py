"""The page of an experiment: each part with its pictures and numbers, and what the paper found beside it."""

from __future__ import annotations

from hornbeam.drawing.page import page_head, section, table, tag, write_page
from hornbeam.drawing.text import escape, number_text
from hornbeam_experiments.records import Cell, Part, Results, Sheet

STYLE = (
    "td:first-child { white-space: nowrap; } td, th { overflow-wrap: normal; }"
    ".found { border-left: 3px solid var(--hb-accent); padding: 2px 0 2px 14px; margin: 0 0 14px; }"
    ".found b { color: var(--hb-soft); font-weight: 600; font-size: 13px; display: block; }"
    ".scroll+.scroll { margin-top: 18px; }"
    ".beside { display: flex; flex-wrap: wrap; gap: 18px; } .beside>div { flex: 1 1 320px; min-width: 0; }"
    ".beside pre { background: var(--hb-ground); border-radius: 8px; padding: 12px 14px; }"
)


def page_of(results: Results) -> str:
    """One HTML file without outside links."""
    source = f"Beside {results.source['paper']}. {results.source['read']}"
    facts = [
        tag("dt", escape(name)) + tag("dd", escape(str(value))) for name, value in results.setting.items()
    ]
    notes = tag("ul", *(tag("li", escape(note)) for note in results.notes)) if results.notes else ""
    return write_page(
        results.headline,
        page_head(escape(results.headline), source),
        *(_part(part) for part in results.parts),
        section("What was measured, and with what", "", notes, tag("dl", *facts, class_="meta")),
        footer="Made by hornbeam reproduce",
        more_style=STYLE,
    )


def _part(part: Part) -> str:
    found = tag("div", tag("b", "The paper"), escape(part.paper), class_="found") if part.paper else ""
    figures = [tag("div", figure.inline, class_="scroll") for figure in part.figures]
    texts = [
        tag("div", tag("h3", escape(title)), tag("pre", escape_lines(text))) for title, text in part.text
    ]
    beside = tag("div", *texts, class_="beside") if texts else ""
    open_sheets = [_table(sheet) for sheet in part.sheets if sheet.name in part.shown]
    folded = [
        tag("details", tag("summary", escape(f"All numbers: {sheet.name}.csv")), _table(sheet))
        for sheet in part.sheets
        if sheet.name not in part.shown
    ]
    return section(part.title, part.hint, found, *figures, beside, *open_sheets, *folded, class_="long")


def escape_lines(text: str) -> str:
    """Escaped text that keeps its lines."""
    return "\n".join(escape(line) for line in text.splitlines())


def _table(sheet: Sheet) -> str:
    numeric = [j for j in range(len(sheet.columns)) if all(not isinstance(row[j], str) for row in sheet.rows)]
    return table(sheet.columns, (map(shown, row) for row in sheet.rows), numeric)


def shown(value: Cell) -> str:
    """A cell for people."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return number_text(value, 3)
    return f"{value:,}" if isinstance(value, int) else value
