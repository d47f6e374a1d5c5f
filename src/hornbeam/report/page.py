"""The one-file HTML page of a study: no outside links; for screen, paper, the dark, a phone, and programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources

from hornbeam.drawing.page import tag, write_page

from . import findings, overview
from .course import course_section
from .records import Study
from .scans import scans_section
from .search import search_section


def render_page(study: Study, ask: Mapping[str, object] | None = None) -> str:
    """The page as text; `ask` lets a reader question the tree in the page (see `questions_of`)."""
    content = (
        overview.heading(study),
        overview.cards(study),
        overview.tree_section(study),
        search_section(study.search) if study.search is not None else "",
        course_section(study.course) if study.course is not None else "",
        overview.icicle_section(study),
        overview.ask_section() if ask is not None else "",
        _side_by_side(findings.importance_section(study), findings.error_section(study)),
        findings.text_section(study),
        findings.data_section(study),
        scans_section(study.scans) if study.scans is not None else "",
        findings.repeat_section(study),
    )
    data = embed_json({"model": study.document, "ask": ask})
    script = (resources.files(__package__) / "page.js").read_text(encoding="utf-8")
    element = tag("script", data, type="application/json", id="hornbeam-data")
    footer = f"Grown by Hornbeam {study.version}"
    return write_page(study.title, *content, footer=footer, data=element, script=script)


def _side_by_side(first: str, second: str) -> str:
    return tag("div", first, second, class_="pair") if second else first


def embed_json(content: object) -> str:
    """JSON that cannot end its script element nor open a comment: < is written as an escape."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
