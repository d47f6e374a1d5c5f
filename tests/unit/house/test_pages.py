"""The README and the guide do what they show: Python and commands run, no option or page is left out."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from hornbeam.cli import main

pytestmark = pytest.mark.house

ROOT = Path(__file__).resolve().parents[3]
GUIDE = sorted((ROOT / "docs").rglob("*.md"))
COMMANDS = (
    "bag",
    "demo",
    "fit",
    "generate",
    "improve",
    "maintain",
    "predict",
    "relational",
    "reproduce",
    "show",
)


def blocks(page: Path, language: str = "") -> list[str]:
    """The fenced blocks of a page; between two fences there is a block only every other time."""
    parts = re.split(r"^```(.*)\n", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [parts[i + 1] for i in range(1, len(parts), 4) if parts[i] == language]


def some_people(rows: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": random.integers(18, 80, rows),
            "job": random.choice(["clerk", "nurse", None], rows),
            "y": random.choice(["yes", "no"], rows),
        }
    )


def test_the_example_of_the_readme_grows_a_tree() -> None:
    (example,) = blocks(ROOT / "README.md", "python")
    names: dict[str, Any] = {}
    exec(example, names)
    assert names["model"].tree_.n_leaves >= 2
    answer = names["model"].predict(names["people"][["job", "age"]])
    assert set(answer) <= set(names["people"]["owner"])


@pytest.mark.parametrize("page", [p for p in GUIDE if blocks(p, "python")], ids=lambda page: page.stem)
def test_the_examples_of_the_guide_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people = some_people()
    names: dict[str, Any] = {"frame": people[["age", "job"]], "labels": people["y"]}
    for block in blocks(page, "python"):
        exec(block, names)
    assert names["model"].tree_.depth >= 1


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/anytime.md",
        "docs/boat.md",
        "docs/command.md",
        "docs/exports.md",
        "docs/maintained.md",
        "docs/relational.md",
    ],
)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people = some_people()
    people.to_csv("data.csv", index=False)
    people.drop(columns="y").to_csv("new.csv", index=False)
    shown = "".join(blocks(ROOT / page)).splitlines()
    lines = [line for line in shown if line.startswith("hornbeam ")]
    assert len(lines) >= 3
    for line in lines:
        done = CliRunner().invoke(main, shlex.split(line, comments=True)[1:])
        assert done.exit_code == 0, f"{line}: {done.output}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_on_the_page_of_the_command(name: str) -> None:
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    command = main.get_command(click.Context(main), name)
    assert command is not None
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    options = [option.opts for part in parts for option in part.params if isinstance(option, click.Option)]
    shown = re.findall(r"`[^`\n]*`", page)
    assert [names for names in options if not any(name in code for name in names for code in shown)] == []


def test_every_page_of_the_guide_is_linked_from_its_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {str(page.relative_to(ROOT / "docs")) for page in GUIDE} - {"index.md"}
    assert pages == set(re.findall(r"\]\(([^)#]+)\)", index))


@pytest.mark.parametrize("page", [*GUIDE, *sorted(ROOT.glob("*.md"))], ids=lambda page: page.stem)
def test_no_link_between_pages_is_broken(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []
