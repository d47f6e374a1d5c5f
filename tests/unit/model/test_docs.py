"""The example of docs/model-file.md is what to_json writes."""

from __future__ import annotations

from pathlib import Path

from tests.unit.model.test_canonical import stump


def test_the_example_of_the_page_is_true() -> None:
    page = (Path(__file__).parents[3] / "docs" / "model-file.md").read_text("utf-8")
    example = page.split(">>> tree.to_json()\n")[1].split("\n\n")[0]
    assert "".join(line.strip() for line in example.splitlines()) == stump(["no", "yes"]).to_json()
