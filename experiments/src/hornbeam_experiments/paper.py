"""What a paper says, as it is printed there: the paper.json of its experiments, read once."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def paper(package: str = __package__) -> dict[str, Any]:
    """Everything that is set beside our figures; `package` has the experiments."""
    text = (resources.files(package) / "paper.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def said(part: str, package: str = __package__) -> str:
    """The paper's own finding on a figure or section."""
    words: str = paper(package)["said"][part]
    return words


def expected(rows: int, nodes: int, numeric: int, classes: int | None) -> dict[str, Any]:
    """The leaf of the paper's figure 14 that a set falls into; a numeric target has more than two values."""
    if rows <= 4601:
        kind = "small data, two classes" if classes == 2 else "small data, more classes"
    elif nodes <= 48:
        kind = "large data, small trees"
    else:
        kind = "large data, numeric" if numeric else "large data, nominal"
    leaf: dict[str, Any] = next(leaf for leaf in paper()["figure 14"]["leaves"] if leaf["kind"] == kind)
    return leaf
