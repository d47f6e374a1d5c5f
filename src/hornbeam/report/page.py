"""The one-file HTML page of a study: no outside links; for screen, paper, the dark, a phone, and programs."""

from __future__ import annotations

import json
from importlib import resources

import hornbeam
from hornbeam.drawing.page import tag, write_page

from . import findings, overview
from .questions import questions_of
from .records import Study
from .search import search_section


def render_page(study: Study) -> str:
    """The page as text; a reader can question the tree in it."""
    ask = None if study.table is None else questions_of(study.tree, study.picture, study.table)
    content = (
        overview.heading(study),
        overview.figures(study),
        overview.tree_section(study),
        search_section(study.search) if study.search is not None else "",
        findings.course_section(study.course) if study.course is not None else "",
        overview.icicle_section(study),
        overview.ask_section() if ask is not None else "",
        _side_by_side(findings.importance_section(study), findings.error_section(study)),
        findings.text_section(study),
        findings.data_section(study),
        findings.scans_section(study.growth.stats) if study.growth is not None else "",
        findings.repeat_section(study),
    )
    script = (resources.files(__package__) / "page.js").read_text(encoding="utf-8")
    embedded = embed_json({"model": study.document, "ask": ask})
    return write_page(study.title, *content, footer=footer(), data=embedded, script=script)


def footer() -> str:
    return f"Grown by Hornbeam {hornbeam.__version__}"


def _side_by_side(first: str, second: str) -> str:
    return tag("div", first, second, class_="pair") if second else first


def embed_json(content: object) -> str:
    """A script element of JSON, which cannot end it nor open a comment: < is written as an escape."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return tag("script", text, type="application/json", id="hornbeam-data")
