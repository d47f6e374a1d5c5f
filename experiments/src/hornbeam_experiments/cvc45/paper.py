"""What John's paper prints: paper.json, read once."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, NamedTuple


class Printed(NamedTuple):
    """A pair of columns of table 1: accuracy in %, what follows its ±, size in nodes."""

    accuracy: float
    spread: float | None
    size: int


@cache
def paper() -> dict[str, Any]:
    """Everything that is set beside our figures."""
    text = (resources.files(__package__) / "paper.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def printed(title: str, method: str) -> Printed:
    """What the paper has for a set and a method."""
    entry = next(entry for entry in paper()["table 1"] if entry["set"] == title)
    return Printed(*entry[method])
