"""The one-file page of a stability: the result in a sentence, pictures, levels, partings, every node."""

from __future__ import annotations

from functools import partial

from .icicle import Brush, draw_icicle
from .page import Html, cards, depth_section, page_head, read_part, section, table, tag, write_page
from .records import fitting_depths
from .stability import KINDS, Agreement, Parting, StabilityPicture, draw_range, draw_stability, folds_text
from .svg import element
from .text import count_text, escape, percent_text

_MOST_BOXES = 70
_EASY_BOXES = 15
_MOST_ROWS = 1500  # nodes in the list of all of them
_OPEN_ROWS = 12  # nodes that are open at first
_MOST_ARMS = 5


def render_stability(stability: StabilityPicture, title: str) -> str:
    """The page as text; it needs neither network nor script."""
    return write_page(
        title,
        _heading(stability),
        _cards(stability),
        _tree_section(stability),
        _reading_section(),
        _icicle_section(stability),
        _level_section(stability),
        _parting_section(stability),
        _outline_section(stability),
        more_style=read_part("stability.css"),
    )


def _heading(stability: StabilityPicture) -> str:
    root, folds = stability.agreements[0], stability.folds
    who = f"All {folds_text(folds)}" if root.same == folds else f"{root.same} of {folds_text(folds)}"
    share = tag("em", escape(percent_text(stability.agreement)))
    if not stability.picture.nodes[0].test:
        return page_head(f"This tree is a single leaf in {share} of the folds", f"{who} ask nothing either.")
    headline = f"A fold’s tree asks {share} of the questions that a row meets in this tree, on average"
    lead = f"{who} begin with the same question. Each fold’s tree was grown without a part of the rows."
    return page_head(headline, lead)


def _cards(stability: StabilityPicture) -> str:
    nodes = list(zip(stability.picture.nodes, stability.agreements, strict=True))
    tests = [agreement for node, agreement in nodes if node.test]
    kept = sum(agreement.same == agreement.folds for agreement in tests)
    most = sum(2 * agreement.same > agreement.folds for agreement in tests)
    figures = [
        (f"{stability.agreements[0].same} of {stability.folds}", "folds agree at the root"),
        (f"{kept} of {len(tests)}", "questions are asked in every fold"),
        (f"{most} of {len(tests)}", "in more than half of the folds"),
        (count_text(stability.n_partings), "places where folds part"),
    ]
    return cards(figures)


def _tree_section(stability: StabilityPicture) -> str:
    """The boxes, with a choice of depths where the tree is deep."""
    hint = (
        "A cell is a fold. The stripe of a box is the stronger the more folds agree; where their thresholds "
        "differ, a line shows them on the scale of the attribute, and the dot is this tree’s."
    )
    boxes, draw = stability.picture.boxes, partial(draw_stability, stability, inline=True)
    depths = fitting_depths(boxes, _MOST_BOXES)[:6]
    return depth_section("The tree and its folds", hint, depths, boxes, _EASY_BOXES, draw)


def _icicle_section(stability: StabilityPicture) -> str:
    if len(stability.picture.nodes) <= 9:
        return ""

    def paint(index: int) -> Brush:
        agreement = stability.agreements[index]
        note = f"{agreement.same} of {folds_text(agreement.folds)} agree"
        return Brush(agreement.fill, 1.0, "s", note, plate=True)

    hint = (
        "Every level is a band and every node as wide as its share of the rows; the stronger its colour, the "
        "more folds agree. Hover for the path."
    )
    drawn = draw_icicle(stability.picture, inline=True, title="Agreement of the folds", paint=paint)
    return section("Where it is stable", hint, tag("div", drawn, class_="scroll"))


def _level_section(stability: StabilityPicture) -> str:
    if not stability.levels:
        return section("By level", "The tree is a single leaf: it asks nothing.")
    names = ("level", "questions", "agreement", "", "in all trees", "f")
    rows = [
        (
            str(level.level),
            count_text(level.tests),
            percent_text(level.agreement),
            tag("td", tag("i", style=f"width:{level.agreement * 100:.1f}%"), class_="share"),
            count_text(level.forest_tests),
            f"{level.f:.2f}",
        )
        for level in stability.levels
    ]
    hint = (
        "Agreement: the share of folds with the same question, weighted by rows. f: different questions in "
        "all trees together, for each question of a single tree."
    )
    return section("By level", hint, table(names, rows, (0, 1, 2, 4, 5)))


def _reading_section() -> str:
    looks = [f"background:{fill}" if fill else "border:1px solid var(--hb-soft)" for _, fill, *_ in KINDS]
    rows = [
        tag("li", tag("i", class_="fold", style=look), escape(meaning))
        for look, (*_, meaning) in zip(looks, KINDS, strict=True)
    ]
    note = (
        "A question that few folds share is not wrong: another one was nearly as good. What the tree says "
        "there depends on which rows it saw."
    )
    return section(
        "How to read it", "", tag("ul", *rows, class_="key"), tag("p", escape(note), class_="hint")
    )


def _parting_section(stability: StabilityPicture) -> str:
    if not stability.partings:
        return section(
            "Where folds part", "Nowhere: no two trees that came together ask different questions."
        )
    listed = len(stability.partings)
    hint = "Places where trees that came the same way ask different questions, those of most rows first."
    if listed < stability.n_partings:
        hint += f" Listed are {listed} of {count_text(stability.n_partings)}."
    rows = table(("rows", "where", "who asks what"), map(_parting, stability.partings), (0,))
    return section("Where folds part", hint, rows, class_="long")


def _parting(parting: Parting) -> tuple[str, Html, Html]:
    arms = []
    for place, arm in enumerate(parting.arms[:_MOST_ARMS]):
        who = folds_text(arm.folds)
        if parting.final and place == 0:
            who = f"{who} and this tree" if arm.folds else "this tree alone"
        arms.append(tag("li", tag("span", escape(who), class_="who"), " ", escape(arm.text)))
    more = len(parting.arms) - _MOST_ARMS
    if more > 0:
        arms.append(tag("li", f"… {more} more ways"))
    path = tag("td", escape(parting.path or "at the root"), class_="where")
    asked = tag("td", tag("ul", *arms, class_="arms"))
    return count_text(parting.rows), path, asked


def _outline_section(stability: StabilityPicture) -> str:
    """Every node as a line that opens; what lies below it is inside."""
    picture, leaves = stability.picture, stability.picture.leaves_below
    kept = _kept(stability)
    inside: dict[int, str] = {}
    for index in sorted(kept, reverse=True):  # children stand after their node
        children = [inside.pop(child) for child in picture.nodes[index].children if child in kept]
        hidden = len(picture.nodes[index].children) - len(children)
        if hidden:
            below = sum(leaves[c] for c in picture.nodes[index].children if c not in kept)
            children.append(tag("p", f"… {count_text(below)} leaves below", class_="hint"))
        inside[index] = _line(stability, index, "".join(children), len(kept))
    hint = "Open a line for what the other folds do, and for what lies below."
    if len(kept) < len(picture.nodes):
        hint += f" The {count_text(len(kept))} nodes of most rows are listed."
    return section("Every node", hint, tag("div", inside[0], class_="outline"), class_="long")


def _kept(stability: StabilityPicture) -> set[int]:
    """The nodes that are listed: all, or those of most rows; a parent has at least the rows of its child."""
    nodes = stability.picture.nodes
    if len(nodes) <= _MOST_ROWS:
        return set(range(len(nodes)))
    return set(sorted(range(len(nodes)), key=lambda index: (-nodes[index].rows, index))[:_MOST_ROWS])


def _line(stability: StabilityPicture, index: int, below: str, lines: int) -> str:
    node, agreement = stability.picture.nodes[index], stability.agreements[index]
    above = tag("span", escape(node.branch), class_="way") if node.branch else ""
    says = tag("b", escape(node.test)) if node.test else tag("b", escape(node.prediction), class_="end")
    count = tag("span", escape(f"{agreement.same} of {agreement.folds}"), class_="count")
    rows = tag("span", escape(f"n = {count_text(node.rows)}"), class_="rows")
    head = above + says + _fold_bar(agreement) + count + rows
    details = _details(agreement, not node.test)
    if not details and not below:
        return tag("div", head, class_="row")
    opened = lines <= 40 or node.rows * _OPEN_ROWS >= stability.picture.nodes[0].rows
    nested = tag("div", below, class_="below") if below else ""
    return tag("details", tag("summary", head), details, nested, open=opened)


def _fold_bar(agreement: Agreement) -> str:
    """The folds as stretches of one bar."""
    counts = agreement.counts
    parts = [
        tag("i", style=f"flex:{counts[name]};" + (f"background:{fill}" if fill else ""))
        for name, fill, *_ in KINDS
        if counts[name]
    ]
    return tag("span", *parts, class_="folds", aria_hidden="true")


def _details(agreement: Agreement, leaf: bool) -> str:
    """The thresholds on their scale, and what the other folds do."""
    parts = []
    if agreement.spread:
        drawn = draw_range(agreement.spread, 0, 7, 120)
        drawing = element("svg", drawn, class_="hb", width=120, height=14, aria_hidden="true")
        parts.append(tag("li", "thresholds ", drawing, " ", escape(agreement.spread.text)))
    parts += [tag("li", escape(one.says(leaf))) for one in agreement.alternatives]
    if agreement.astray:
        parts.append(tag("li", f"{folds_text(agreement.astray)} with another answer"))
    if agreement.gone:
        parts.append(tag("li", f"{folds_text(agreement.gone)} parted above"))
    return tag("ul", *parts, class_="arms") if parts else ""
