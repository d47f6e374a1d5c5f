"""What the BOAT paper says, as it is printed there: paper.json, read once."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def paper() -> dict[str, Any]:
    """Everything that is set beside our figures."""
    text = (resources.files(__package__) / "paper.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def said(part: str) -> str:
    """The paper's own words on a figure."""
    words: str = paper()["said"][part]
    return words
