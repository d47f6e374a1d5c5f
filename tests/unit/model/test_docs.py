"""The pages about trees show what is true: the JSON of a tree, the outputs and the picture of its exports."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

from hornbeam import TreeClassifier
from tests.unit.model.test_canonical import stump

DOCS = Path(__file__).parents[3] / "docs"


def test_the_example_of_the_page_is_true() -> None:
    page = (DOCS / "model-file.md").read_text("utf-8")
    example = page.split(">>> tree.to_json()\n")[1].split("\n\n")[0]
    assert "".join(line.strip() for line in example.splitlines()) == stump(["no", "yes"]).to_json()


def outputs(page: str) -> list[tuple[str, str]]:
    """What each example of a page prints, beside what the page shows for it; empty where it shows nothing."""
    names: dict[str, Any] = {}
    found = []
    for code, shown in re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", page, re.DOTALL):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        found.append((printed.getvalue(), shown))
    return found


def test_the_outputs_of_the_exports_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = outputs((DOCS / "exports.md").read_text("utf-8"))
    assert len([shown for _, shown in pairs if shown]) == 4
    for printed, shown in pairs:
        assert printed.rstrip() == shown.rstrip()


def test_the_picture_of_the_exports_is_true() -> None:
    iris = load_iris(as_frame=True)
    tree = TreeClassifier().fit(iris.data, iris.target_names[iris.target]).tree_
    assert (DOCS / "pictures" / "iris.svg").read_text("utf-8") == tree.to_svg(
        title="The tree of the iris data"
    )
