"""How sessions are run, what of their texts truly varies, and where they are kept: a file each in `texts/`.

What varies is written as a word in its place: the version of Hornbeam, times, memory of the process, sizes of
files that other libraries write; and a number in JSON by twelve digits, for some sums are numpy's.
The command `reproduce` is left out: it moves to a package of its own. The width of the terminal is fixed.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib.metadata
import re
import shlex
import tempfile
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

from click.testing import CliRunner, Result

import hornbeam

from .session_files import prepare
from .sessions import SESSIONS

PLACE = Path(__file__).with_name("texts")
# Help and some refusals are worded by click, and by each of its versions a little differently: they are
# compared where this one is installed. Write them down again with another one, and name it here.
CLICK = "8.5"
WORDED_BY_CLICK = tuple(name for name in SESSIONS if name.startswith("help") or name == "refused-usage")

_SETTINGS = {"COLUMNS": "102", "NO_COLOR": "1"}
_SHOWN = (".csv", ".txt", ".kb", ".s", ".html")
_VARYING = (
    (re.escape(hornbeam.__version__), "<version>"),
    (r"\n  reproduce  .*", ""),
    (r", reproduce(?=;)", ""),
    (r"(?<![\w.])[\d.]+ (ms|s|min)\b", "<time>"),
    (r'("(?:seconds|elapsed|cpu)": )[\d.e-]+', r"\1<time>"),
    (r'("(?:reading|growing|survey|scans|settling|families|judging)": )\d+\.[\d.e-]+', r"\1<time>"),
    (r"[\d.]+ .?B of the process", "<memory> of the process"),
    (r'("peak_memory": )\d+', r"\1<memory>"),
    (r"[\d.]+ .?B read", "<size> read"),
    (r"\([\d,]+ bytes\)", "(<size>)"),
    (r'("bytes": )\d+', r"\1<size>"),
)


def click_version() -> str:
    return ".".join(importlib.metadata.version("click").split(".")[:2])


def run(name: str) -> str:
    """What each command of a session says in a folder of its own, its exit code, and the files it makes."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        place = Path(folder)
        prepare(place)
        return "\n".join(_said(line, place) for line in SESSIONS[name])


def say(line: str) -> Result:
    """What a line of the shell does: the installed command, in this process; `<` is the only redirection."""
    command, _, fed = line.partition(" <")
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="hornbeam")
    given = Path(fed).read_text() if fed else None
    return CliRunner().invoke(entry.load(), shlex.split(command), input=given, env=_SETTINGS)


def _said(line: str, place: Path) -> str:
    before = _contents(place)
    done = say(line)
    parts = [f"$ hornbeam {line}".rstrip(), f"exit {done.exit_code}"]
    parts += [
        f"--- {name}\n{text}" for name, text in (("stdout", done.stdout), ("stderr", done.stderr)) if text
    ]
    parts += [
        _made(path, place)
        for path, content in sorted(_contents(place).items())
        if before.get(path) != content
    ]
    return _without_what_varies("\n".join(part.removesuffix("\n") for part in parts) + "\n")


def _contents(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def _made(path: Path, place: Path) -> str:
    """The name of a new file, and its text where people read it; of pages what a browser shows."""
    name = f"--- file {path.relative_to(place)}"
    if path.suffix not in _SHOWN:
        return name
    text = path.read_text()
    return f"{name}\n{visible(text) if path.suffix == '.html' else text}"


class _Page(HTMLParser):
    """Gathers the texts of a page, but for its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if data.strip() and not self._hidden:
            self.lines.append(" ".join(data.split()))


def visible(page: str) -> str:
    reader = _Page()
    reader.feed(page)
    return "\n".join(reader.lines)


def _without_what_varies(text: str) -> str:
    for pattern, word in _VARYING:
        text = re.sub(pattern, word, text)
    return re.sub(r'(?m)^( +(?:"[^"]*": )?)(-?\d+\.\d{9,}(?:e-?\d+)?)(?=,?$)', _rounded, text)


def _rounded(number: re.Match[str]) -> str:
    return f"{number[1]}{float(number[2]):.12g}"


def read(name: str) -> str:
    place = PLACE / f"{name}.txt"
    return place.read_text() if place.exists() else ""


def write(names: Iterable[str] = ()) -> list[str]:
    """Write what these sessions say now, or all; the names of those that changed."""
    changed = []
    for name in list(names) or SESSIONS:
        text = run(name)
        if text != read(name):
            changed.append(name)
            (PLACE / f"{name}.txt").write_text(text)
    for place in PLACE.glob("*.txt"):
        if place.stem not in SESSIONS:
            changed.append(place.stem)
            place.unlink()
    return changed


def differences(before: str, now: str) -> str:
    """Line by line, each with the command that said it; empty where nothing differs."""
    found: list[str] = []
    old, new = _by_command(before), _by_command(now)
    for command in {**old, **new}:
        lines = difflib.unified_diff(old.get(command, []), new.get(command, []), n=1, lineterm="")
        changed = list(lines)[2:]
        found += [command, *changed] if changed else []
    return "\n".join(found)


def _by_command(text: str) -> dict[str, list[str]]:
    """The lines of each command; the same one again gets a number."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("$ hornbeam"):
            name = f"{line} ({len(found) + 1})"
            found[name] = []
        else:
            found[name].append(line)
    return found
