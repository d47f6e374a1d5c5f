"""The part of the page about a search: the choice in a sentence, the curve, the table of sizes and errors."""

from __future__ import annotations

from hornbeam.drawing.curve import draw_curve
from hornbeam.drawing.page import Html, row, section, table, tag
from hornbeam.drawing.text import count_text, escape
from hornbeam.validation.search_curve import curve_of
from hornbeam.validation.search_record import SearchRecord
from hornbeam.validation.search_rows import Row, SearchRows, rows_of, words_of
from hornbeam.validation.search_text import (
    choice_text,
    heading_text,
    level_text,
    nested_text,
    numbers_text,
    why_text,
)

_MOST_SHOWN = 14
_MOST_ROWS = 1000


def search_section(search: SearchRecord) -> str:
    """Which setting was chosen, and what it was chosen from."""
    whole = rows_of(search)
    hint = f"{heading_text(search)}; {numbers_text(whole)}."
    said = [("Chosen:", f"{choice_text(search, whole)}."), ("Why:", why_text(search, whole))]
    if search.nested is not None:
        said.append(("On new rows:", nested_text(search.nested, whole)))
    sentences = [tag("p", tag("b", escape(name)), " ", escape(text), class_="said") for name, text in said]
    curve = draw_curve(curve_of(search), title="Error by size", inline=True)
    shown = whole.thinned(_MOST_SHOWN)
    parts = [*sentences, tag("div", curve, class_="scroll"), _table(shown), _notes(whole)]
    if len(shown.rows) < len(whole.rows):
        parts.append(_all(whole))
    return section("How this tree was chosen", hint, *parts, class_="long")


def _table(shown: SearchRows) -> str:
    names = ("leaves", "depth", shown.words.name, "±", *shown.names, "")
    return table(names, (_line(shown, of) for of in shown.rows), range(4), class_="search")


def _line(shown: SearchRows, of: Row) -> Html:
    setting = dict(of.setting)
    figures = count_text(of.leaves), str(of.depth), shown.value_text(of), shown.spread_text(of)
    cells = (*figures, *(setting.get(name, "") for name in shown.names), of.remark)
    return row(cells, range(4), class_="chosen" if of.chosen else None)


def _notes(whole: SearchRows) -> str:
    notes = []
    if any(row.remark == "about as good" for row in whole.rows) and whole.level is not None:
        notes.append(f"About as good: {level_text(whole)}.")
    if whole.fixed:
        notes.append("In all of them: " + ", ".join(f"{name} {value}" for name, value in whole.fixed) + ".")
    return tag("p", escape(" ".join(notes)), class_="hint") if notes else ""


def _all(whole: SearchRows) -> str:
    """Every row, folded away; a very long path is thinned even here."""
    listed = whole.thinned(_MOST_ROWS)
    many = f"all {len(whole.rows)} rows"
    if len(listed.rows) < len(whole.rows):
        many = f"{len(listed.rows)} of {len(whole.rows)} rows"
    return tag("details", tag("summary", many), _table(listed))


def search_headline(search: SearchRecord, leaves: str, target: str) -> str:
    """The result in a sentence: what to expect of new rows, by the outer folds where there are any."""
    chosen = search.results[search.chosen]
    score = chosen.score if search.nested is None else search.nested.score
    many = len(search.results)
    tree = f"One tree with {escape(leaves)}" + (f", chosen among {count_text(many)}," if many > 1 else "")
    new = tag("span", "new rows", class_="whole")
    share = tag("em", escape(f"{score * 100:.1f}\u202f%" if score > 0 else "none"))
    if search.measure == "accuracy":
        return f"{tree} is right on {share} of {new}"
    if search.measure == "r2":
        return f"{tree} explains {share} of the variance of {escape(target)} on {new}"
    figure, _ = search_figures(search)
    return f"{tree} has {escape(words_of(search.measure).name)} {tag('em', escape(figure))} on {new}"


def search_lead(search: SearchRecord) -> str:
    """The sentence below the headline: by which folds the score was estimated."""
    folds = f"Estimated by {heading_text(search)}"
    if search.nested is not None:
        outer = f"{len(search.nested.scores)} outer folds"
        return f"Estimated by {outer}, whose rows had no part in growing and none in choosing."
    if len(search.results) == 1:
        return f"{folds}, each scored on rows that its tree never saw."
    return f"{folds}; the folds made the choice too, so expect a little less."


def search_figures(search: SearchRecord) -> tuple[str, str]:
    """What to expect of new rows as a figure, and a caption for it."""
    words = words_of(search.measure)
    chosen = search.results[search.chosen]
    score, error = (chosen.score, chosen.error)
    where = f"{search.folds} folds"
    if search.nested is not None:
        score, error, where = (
            search.nested.score,
            search.nested.error,
            f"{len(search.nested.scores)} outer folds",
        )
    if search.measure == "accuracy":
        return f"{score * 100:.1f}\u202f%", f"accuracy ± {error * 100:.1f}, {where}"
    if search.measure == "r2":
        return f"{score:.3f}", f"R² ± {error:.3f}, {where}"
    digits = words.digits([error])
    figure = words.text(words.value(score), digits)
    return figure, f"{words.name} ± {words.spread_text(error, digits)}, {where}"
