"""The one-file HTML page of a study: no outside links, readable on paper, in the dark, on a phone, by programs."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hornbeam.drawing import page_definitions
from hornbeam.drawing.text import escape

from . import sections
from .records import Study
from .script import PAGE_SCRIPT
from .style import page_style


def render_page(study: Study, ask: Mapping[str, object] | None = None) -> str:
    """The page as text; `ask` lets a reader question the tree in the page (see `questions`)."""
    body = "".join(
        (
            sections.heading(study),
            sections.cards(study),
            sections.tree_section(study),
            sections.overview_section(study),
            sections.ask_section(ask is not None),
            f'<div class="pair">{sections.importance_section(study)}{sections.error_section(study)}</div>',
            sections.rules_section(study),
            sections.data_section(study),
            sections.reproduce_section(study),
        )
    )
    footer = f"<footer>Grown by Hornbeam {escape(study.version)}; this page needs no network.</footer>"
    data = embed_json({"model": study.document, "ask": ask})
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(study.title)}</title><style>{page_style()}</style></head>"
        f"<body>{page_definitions()}<main>{body}{footer}</main>"
        f'<script type="application/json" id="hornbeam-data">{data}</script><script>{PAGE_SCRIPT}</script></body></html>\n'
    )


def embed_json(content: object) -> str:
    """JSON that cannot end its script element nor open a comment: < is written as an escape."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
