"""The first half of the page: the result in a sentence, its figures, the pictures, the questions."""

from __future__ import annotations

from hornbeam.drawing import draw_icicle, draw_tree
from hornbeam.drawing.page import cards, depth_section, page_head, section, tag
from hornbeam.drawing.records import fitting_depths
from hornbeam.drawing.text import count_text, escape, number_text
from hornbeam.validation import Estimate
from hornbeam.validation.search_record import SearchRecord

from .records import Score, Study
from .search import search_figures, search_headline, search_lead

_MOST_BOXES = 90
_EASY_BOXES = 19


def heading(study: Study) -> str:
    """The result in one sentence, and where it comes from."""
    return page_head(headline(study), _lead(study))


def headline(study: Study) -> str:
    """What the tree comes to, as HTML."""
    score = study.score
    size = f"{count_text(study.tree.n_leaves)} {'leaf' if study.tree.n_leaves == 1 else 'leaves'}"
    if study.search is not None:
        return search_headline(study.search, size, study.target)
    if study.estimate is not None and not score.held_out:
        return f"One tree with {escape(size)} {_promise(study.estimate, study.target)}"
    where: str = tag("span", f"{rows_scored(score)} rows", class_="whole")
    if score.measure == "accuracy":
        right = f"{count_text(round(score.value * score.rows))} of {count_text(score.rows)}"
        if score.by_weight:
            right, where = score_text(score.value), f"of the weight of {where}"
        return f"One tree with {escape(size)} is right on {tag('em', escape(right))} {where}"
    explained = tag("em", escape(score_text(score.value) if score.value > 0 else "none"))
    of = f"{explained} of the variance of {escape(study.target)}"
    return f"One tree with {escape(size)} explains {of} on {where}"


def _promise(estimate: Estimate, target: str) -> str:
    """What the folds let expect of rows that the tree never saw."""
    share = tag("em", escape(score_text(estimate.mean) if estimate.mean > 0 else "none"))
    new = tag("span", "new rows", class_="whole")
    if estimate.measure == "accuracy":
        return f"is right on {share} of {new}"
    return f"explains {share} of the variance of {escape(target)} on {new}"


def rows_scored(score: Score) -> str:
    """Which rows the score is of."""
    return "held-out" if score.held_out else "training"


def score_text(share: float) -> str:
    """A score in percent with one decimal."""
    return f"{share * 100:.1f}\u202f%"


def _lead(study: Study) -> str:
    data = f" of {study.data_name}" if study.data_name else ""
    grown = f"Grown from {count_text(study.rows)} rows{data} to predict {study.target}"
    deciding = f"{study.attributes_used} of {len(study.columns)} attributes decide."
    if study.search is not None:
        return f"{grown}. {search_lead(study.search)} {deciding}"
    if study.score.held_out:
        return f"{grown}; scored on rows it never saw. {deciding}"
    if study.estimate is not None:
        folds = f"Estimated by {study.estimate.folds} folds, each scored on rows that its tree never saw"
        return f"{grown}. {folds}: {estimate_text(study.estimate)}. {deciding}"
    return f"{grown}; scored on the same rows, so expect less on new ones. {deciding}"


def estimate_text(estimate: Estimate) -> str:
    """What the folds say: their mean score and its spread."""
    if estimate.measure == "accuracy":
        spread = f"± {estimate.spread * 100:.1f}"
        return f"accuracy {score_text(estimate.mean)} {spread}"
    return f"R² {estimate.mean:.3f} ± {estimate.spread:.3f}"


def figures(study: Study) -> str:
    """The figures at a glance."""
    score = study.score
    where = f"{rows_scored(score)} rows"
    found: list[tuple[str, ...]] = []
    if score.measure == "accuracy":
        meter = _meter(score.value, score.baseline)
        found.append((score_text(score.value), f"accuracy, {where}", meter))
        found.append((score_text(score.baseline), "by always giving the most common answer"))
    else:
        found.append((f"{score.value:.3f}", f"R², {where}", _meter(score.value, 0.0)))
        if score.mean_absolute_error:
            error = ", ".join(number_text(value, 3) for value in score.mean_absolute_error[:3])
            found.append((error, "mean absolute error"))
    if study.estimate is not None:
        figure, name = estimate_figure(study.estimate)
        name = f"{name}, {study.estimate.folds} folds"
        found.append((figure, name, _meter(study.estimate.mean, 0.0)))
    if study.search is not None:
        found.append(_search_figure(study.search))
    leaves = "leaf" if study.tree.n_leaves == 1 else "leaves"
    found.append((count_text(study.tree.n_leaves), f"{leaves}, depth {study.tree.depth}"))
    found.append((str(study.attributes_used), f"of {len(study.columns)} attributes used"))
    found.append((_duration(study.seconds), _what_took(study)))
    return cards(found)


def _what_took(study: Study) -> str:
    """What the seconds were spent on."""
    if study.course is not None:
        return "of searching"
    if study.search is not None:
        return "to grow all trees and choose"
    time = "to grow the tree" if study.estimate is None else "to grow the tree and all folds"
    return time if study.growth is None else time.replace("grow", "read the rows and grow")


def estimate_figure(estimate: Estimate) -> tuple[str, str]:
    """The mean of the folds' scores, and what it is with how far they spread."""
    if estimate.measure == "accuracy":
        return score_text(estimate.mean), f"accuracy ± {estimate.spread * 100:.1f}"
    return f"{estimate.mean:.3f}", f"R² ± {estimate.spread:.3f}"


def _search_figure(search: SearchRecord) -> tuple[str, ...]:
    figure, caption = search_figures(search)
    score = search.results[search.chosen].score if search.nested is None else search.nested.score
    return figure, caption, _meter(score, 0.0) if search.measure in ("accuracy", "r2") else ""


def _meter(value: float, baseline: float) -> str:
    filled = tag("i", style=f"width:{min(1.0, max(0.0, value)) * 100:.1f}%")
    mark = tag("u", style=f"left:{baseline * 100:.1f}%") if 0 < baseline < 1 else ""
    return tag("div", filled, mark, class_="meter", aria_hidden="true")


def _duration(seconds: float) -> str:
    if seconds < 0.1:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 100 else f"{seconds:.0f} s"


def tree_section(study: Study) -> str:
    """The tree as boxes, with a choice of depths where it is deep."""
    inside = "the bar is how the rows there divide"
    if study.task == "regression":
        inside = "the dot is the mean there, its band one standard deviation"
    hint = (
        f"A box asks a question or gives an answer; {inside}; a branch is as thick as its share of the rows."
    )

    def draw(depth: int) -> str:
        return draw_tree(study.picture, depth, inline=True, title="The tree")

    boxes = study.picture.boxes
    return depth_section("The tree", hint, fitting_depths(boxes, _MOST_BOXES)[:6], boxes, _EASY_BOXES, draw)


def icicle_section(study: Study) -> str:
    """The icicle, for trees that do not fit a picture of boxes."""
    if study.tree.n_leaves <= 12:
        return ""
    hint = (
        "Every level is a band and every node as wide as its share of the rows; "
        "strong colours are leaves. Hover for the path."
    )
    return section(
        "The whole tree at a glance",
        hint,
        tag("div", draw_icicle(study.picture, inline=True), class_="scroll"),
    )


def ask_section() -> str:
    """Room for the script to let a reader ask the tree about a row; hidden where no script runs."""
    hint = "Change a value and see the answer and the path; it starts from a typical row."
    fields = tag("div", class_="fields", id="ask-fields")
    answer = tag("div", class_="answer", id="ask-answer", aria_live="polite")
    return section(
        "Ask the tree",
        hint,
        tag("div", fields, answer, class_="ask"),
        id="ask",
        class_="ask-section",
        hidden=True,
    )
