"""The one-file page of a tree over linked tables: the result, the tree, its folds, its rules, its bias."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hornbeam.drawing import Picture
from hornbeam.drawing.page import cards, page_head, section, table, write_page
from hornbeam.drawing.text import count_text
from hornbeam.relational.picture import picture_of
from hornbeam.relational.stability import RelationalStability

from . import findings, overview
from .page import embed_json, footer
from .records import Study


@dataclass(frozen=True)
class RelationalStudy(Study):
    """One tree over linked tables, and everything needed to grow it again; its seed is that of the folds."""

    bias: str = ""
    tables: str = ""
    """What the data is made of, as text."""
    stability: RelationalStability | None = None

    @property
    def rows(self) -> int:
        return int(self.tree.size(0))

    @cached_property
    def picture(self) -> Picture:
        return picture_of(self.tree)


def render_relational(study: RelationalStudy) -> str:
    """The page as text; it needs no network."""
    rules = "The first rule that applies decides; it says only what must be found."
    missing = "A missing value satisfies no condition, so such rows are not found."
    bias = "What tests may ask, in this order; edit it and fit again with --bias."
    content = (
        page_head(overview.headline(study), _lead(study)),
        _figures(study),
        overview.tree_section(study),
        overview.icicle_section(study),
        _stability_section(study.stability) if study.stability is not None else "",
        findings.folded_section("As rules", rules, study.tree.rules().to_text(), 30),
        findings.text_section(study),
        findings.folded_section("The tables", missing, study.tables, 30),
        findings.folded_section("The bias", bias, study.bias, 30),
        findings.repeat_section(study),
    )
    embedded = embed_json({"model": study.document})
    return write_page(study.title, *content, footer=footer(), data=embedded)


def _lead(study: RelationalStudy) -> str:
    data = f" of {study.data_name}" if study.data_name else ""
    grown = f"Grown from {count_text(study.rows)} examples{data} to predict {study.target}"
    if study.estimate is None:
        return f"{grown}; scored on the same examples, so expect less on new ones."
    folds = f"Estimated by {study.estimate.folds} folds, each scored on examples that its tree never saw"
    return f"{grown}. {folds}: {overview.estimate_text(study.estimate)}."


def _figures(study: RelationalStudy) -> str:
    score, (tests, literals) = study.score, study.tree.complexity
    is_accuracy = score.measure == "accuracy"
    value = overview.score_text(score.value) if is_accuracy else f"{score.value:.3f}"
    name = "accuracy" if is_accuracy else "R²"
    found = [(value, f"{name}, training examples")]
    if is_accuracy:
        found.append((overview.score_text(score.baseline), "by always giving the most common answer"))
    if study.estimate is not None:
        found.append((overview.estimate_figure(study.estimate)[0], f"{name} by {study.estimate.folds} folds"))
    leaves = "leaf" if study.tree.n_leaves == 1 else "leaves"
    many = f"test{'' if tests == 1 else 's'} of {literals} literal{'' if literals == 1 else 's'}"
    found.append((count_text(study.tree.n_leaves), f"{leaves}, depth {study.tree.depth}"))
    found.append((count_text(tests), many))
    return cards(found)


def _stability_section(stability: RelationalStability) -> str:
    """How many folds ask the same at each node that asks."""
    rows = []
    for record in stability:
        if not record.test:
            continue
        band = "" if record.band is None or record.same == 0 else f" ({record.band.text})"
        others = "; ".join(f"{len(arm.folds)}: {arm.test}" for arm in record.alternatives[:3])
        where = "\u2003" * record.depth + record.test + band
        rows.append((where, count_text(record.rows), f"{record.same} of {record.folds}", others))
    hint = (
        f"{stability.nodes[0].same} of {stability.n_folds} folds begin as the tree does. A fold asks "
        "the same where it came by the same tests and asks the same of the same tables; its threshold may be "
        "another."
    )
    names = ("question", "examples", "folds", "what others ask")
    return section("How stable it is", hint, table(names, rows, (1, 2)) if rows else "")
