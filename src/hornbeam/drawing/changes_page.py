"""The one-file page of a batch: the result in a sentence, both trees, every test that is not the same."""

from __future__ import annotations

from functools import partial

from .changes import (
    KEPT,
    MOST_BOXES,
    REBUILT,
    STATES,
    Change,
    ChangesPicture,
    draw_changes,
    shown_counts,
    state_fill,
)
from .page import Html, cards, depth_section, page_head, section, table, tag, write_page
from .text import count_text, escape

_EASY_BOXES = 15
_MOST_ROWS = 500  # changes in the list of all of them
_STYLE = (
    "main{max-width:1900px}.state{white-space:nowrap}"
    ".state i{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:8px}"
)


def render_changes(changes: ChangesPicture, title: str) -> str:
    """The page as text; it needs neither network nor script."""
    return write_page(
        title,
        _heading(changes),
        _cards(changes),
        _tree_section(changes),
        _list_section(changes),
        _withheld_section(changes),
        more_style=_STYLE,
    )


def _heading(changes: ChangesPicture) -> str:
    tests = sum(count for _, count in changes.counts)
    kept = tag("em", f"{count_text(dict(changes.counts)[KEPT])} of {count_text(tests)}")
    uncounted = "; tests below a rebuilt one are not counted" if dict(changes.counts)[REBUILT] else ""
    return page_head(f"Batch {changes.number} kept {kept} tests", changes.rows_text + uncounted)


def _cards(changes: ChangesPicture) -> str:
    counts = shown_counts(changes.counts)
    return cards(((count_text(count), _named(state)) for state, count in counts), "card state")


def _named(state: str) -> Html:
    """The colour of a state and what it is called."""
    return Html(tag("i", style=f"background:{state_fill(state)}") + escape(STATES[state]))


def _tree_section(changes: ChangesPicture) -> str:
    """Both trees, with a choice of depths where they are deep."""
    hint = (
        "Left the tree before the batch, right the tree after it; what the same branches lead to stands at "
        "the same height. All that lies below a rebuilt node is rebuilt. A dot is the most that happened in "
        "a part that is not drawn."
    )
    depths, draw = changes.depths(MOST_BOXES)[-6:], partial(draw_changes, changes, inline=True)
    return depth_section("Both trees", hint, depths, changes.boxes, _EASY_BOXES, draw)


def _list_section(changes: ChangesPicture) -> str:
    if not changes.changes:
        return section("What changed", "Every test was kept.")
    names = ("", "where", "before", "after", "rows before", "rows after", "standard errors")
    hint = (
        "By how many standard errors the new test is better than the old one, on the present rows: up to two "
        "are chance."
    )
    rows = table(names, map(_row, changes.changes[:_MOST_ROWS]), (4, 5, 6))
    return section("What changed", hint, rows, _more(changes.changes))


def _withheld_section(changes: ChangesPicture) -> str:
    """Better tests that were not taken, where the policy keeps tests while chance may be the reason."""
    if not changes.withheld:
        return ""
    names = ("where", "kept", "the best", "rows", "standard errors")
    hint = (
        "Tests that stay although another one is better on the present rows, by so many standard errors: up "
        "to two are chance."
    )
    rows = [
        (change.path or "root", change.before, change.after, *_figures(change)[1:])
        for change in changes.withheld[:_MOST_ROWS]
    ]
    listed = table(names, rows, (3, 4))
    return section("What exactness would have changed", hint, listed, _more(changes.withheld))


def _more(changes: tuple[Change, ...]) -> str:
    left = len(changes) - _MOST_ROWS
    return tag("p", f"… {count_text(left)} more", class_="hint") if left > 0 else ""


def _row(change: Change) -> tuple[str, ...]:
    tests = _test_or_end(change.before, change.rows_before), _test_or_end(change.after, change.rows_after)
    state = tag("td", _named(change.state), class_="state")
    return state, change.path or "root", *tests, *_figures(change)


def _figures(change: Change) -> tuple[str, ...]:
    """Rows before and after, and standard errors."""
    rows = ("" if rows is None else count_text(rows) for rows in (change.rows_before, change.rows_after))
    errors = "" if change.standard_errors is None else f"{change.standard_errors:.1f}"
    return *rows, errors


def _test_or_end(test: str, rows: int | None) -> str:
    return test or ("no tree" if rows is None else "a leaf")
