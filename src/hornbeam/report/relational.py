"""The one-file page of a tree over linked tables: the result, the tree, its folds, its rules, its bias."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hornbeam.drawing.page import cards, page_head, section, table, tag, write_page
from hornbeam.drawing.text import clean, count_text, escape
from hornbeam.relational.picture import picture_of
from hornbeam.relational.stability import RelationalStability
from hornbeam.relational.tree import RelationalTree
from hornbeam.validation import Estimate

from . import findings, overview
from .page import embed_json
from .records import Score, Study


@dataclass(frozen=True)
class RelationalStudy:
    """One tree over linked tables, and everything needed to grow it again."""

    tree: RelationalTree
    target: str
    score: Score
    bias: str
    tables: str
    """What the data is made of, as text."""
    estimate: Estimate | None = None
    stability: RelationalStability | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    seconds: float = 0.0
    command: str = ""
    data_name: str = ""
    data_hash: str = ""
    version: str = ""
    document: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    """Of the folds."""

    @property
    def plain(self) -> Study:
        """What it has in common with a tree of one table."""
        tree = self.tree
        return Study(
            title=f"A tree for {self.target}",
            target=self.target,
            task=tree.task,
            picture=picture_of(tree),
            text=tree.to_text(),
            n_leaves=tree.n_leaves,
            depth=tree.depth,
            rows=int(tree.size(0)),
            columns=(),
            score=self.score,
            estimate=self.estimate,
            parameters=self.parameters,
            command=self.command,
            version=self.version,
            data_name=self.data_name,
            data_hash=self.data_hash,
            digest=tree.digest,
            seconds=self.seconds,
            seed=self.seed,
        )


def render_relational(study: RelationalStudy) -> str:
    """The page as text; it needs no network."""
    plain = study.plain
    content = (
        page_head(overview.headline(plain), _lead(study)),
        _cards(study),
        overview.tree_section(plain),
        overview.icicle_section(plain),
        _stability_section(study.stability) if study.stability is not None else "",
        _text(
            "As rules",
            "The first rule that applies decides; it says only what must be found.",
            _rules(study),
        ),
        findings.text_section(plain),
        _text(
            "The tables", "A missing value satisfies no condition, so such rows are not found.", study.tables
        ),
        _text(
            "The bias", "What tests may ask, in this order; edit it and fit again with --bias.", study.bias
        ),
        findings.repeat_section(plain),
    )
    data = tag("script", embed_json({"model": study.document}), type="application/json", id="hornbeam-data")
    return write_page(plain.title, *content, footer=f"Grown by Hornbeam {study.version}", data=data)


def _lead(study: RelationalStudy) -> str:
    data = f" of {study.data_name}" if study.data_name else ""
    grown = f"Grown from {count_text(study.tree.size(0))} examples{data} to predict {study.target}"
    if study.estimate is None:
        return f"{grown}; scored on the same examples, so expect less on new ones."
    folds = f"Estimated by {study.estimate.folds} folds, each scored on examples that its tree never saw"
    return f"{grown}. {folds}: {overview.estimate_text(study.estimate)}."


def _cards(study: RelationalStudy) -> str:
    score, (tests, literals) = study.score, study.tree.complexity
    value = overview.score_text(score.value) if score.measure == "accuracy" else f"{score.value:.3f}"
    name = "accuracy" if score.measure == "accuracy" else "R²"
    figures = [(value, f"{name}, training examples")]
    if score.measure == "accuracy":
        figures.append((overview.score_text(score.baseline), "by always giving the most common answer"))
    if study.estimate is not None:
        mean = study.estimate.mean
        shown = overview.score_text(mean) if score.measure == "accuracy" else f"{mean:.3f}"
        figures.append((shown, f"{name} by {study.estimate.folds} folds"))
    leaves = "leaf" if study.tree.n_leaves == 1 else "leaves"
    figures += [
        (count_text(study.tree.n_leaves), f"{leaves}, depth {study.tree.depth}"),
        (
            count_text(tests),
            f"test{'' if tests == 1 else 's'} of {literals} literal{'' if literals == 1 else 's'}",
        ),
    ]
    return cards(figures)


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


def _rules(study: RelationalStudy) -> str:
    return study.tree.rules().to_text()


def _text(title: str, hint: str, text: str) -> str:
    lines = [escape(clean(line)) for line in text.rstrip("\n").split("\n")]
    body = tag(
        "details", tag("summary", f"{len(lines)} lines"), tag("pre", "\n".join(lines)), open=len(lines) <= 30
    )
    return section(title, hint, body, class_="long")
