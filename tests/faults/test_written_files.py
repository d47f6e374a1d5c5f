"""Files that are written: whole or not at all, the old one until then, and no temporary file left behind."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam.errors import StorageError
from hornbeam.files import new_file, new_folder, write_file, write_files
from hornbeam.model.picture import Levels, View
from tests.unit.cli.test_command import run

ROOT = Path(__file__).resolve().parents[2]
ROWS = pa.table({"a": np.arange(6.0), "y": ["p", "q"] * 3})
TREE = hb.TreeClassifier().fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1])


class Picture(View):
    """Any view: all are saved alike."""

    def svg(self, max_depth: Levels = "auto", *, title: str = "") -> str:
        return "<svg/>"

    def html(self, *, title: str = "") -> str:
        return "<html/>"


def in_pieces(path: Path) -> None:
    with new_file(path) as file:
        for _ in range(3):
            file.write(b"piece")


def command(*line: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        (path.parent.parent / "rows.csv").write_text("a,y\n1,p\n2,q\n3,p\n4,q\n")
        hb.save(TREE, path.parent.parent / "model")
        done = run(*(part.format(path=path, folder=path.parent.parent) for part in line))
        if done.exit_code:
            raise StorageError(done.stderr)

    return write


WRITERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "bytes": ("file", lambda path: write_file(path, b"new")),
    "pieces": ("file", in_pieces),
    "model": ("file", lambda path: hb.save(TREE, path)),
    "picture": ("file.svg", lambda path: Picture().save(path)),
    "answers": ("file.csv", lambda path: hb_answers(path)),
    "report": ("r.html", command("fit", "{folder}/rows.csv", "--target", "y", "--report", "{path}")),
    "shown": ("tree.txt", command("show", "{folder}/model", "-o", "{path}")),
    "generated": ("rows.csv", command("generate", "agrawal", "--rows", "50", "-o", "{path}")),
}


def hb_answers(path: Path) -> None:
    fitted = hb.TreeClassifier().fit_source(hb.source(ROWS), target="y")
    fitted.predict_source(hb.source(ROWS), output=path)


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
@pytest.mark.parametrize("kind", WRITERS)
def test_a_failure_leaves_the_old_file_and_no_other(
    kind: str, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, write = WRITERS[kind]
    place = tmp_path / "results"
    place.mkdir()
    (place / name).write_text("old")
    monkeypatch.chdir(tmp_path)
    real: Any = getattr(os, call)

    def fail(*args: Any, **kwargs: Any) -> Any:
        written = "tmp" in str(args[0]) and "results" in str(args[0])
        if call == "fsync" or written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args, **kwargs)

    def write_and_fail(path: Path) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, call, fail)
            write(path)

    with pytest.raises(StorageError, match="no space left"):
        write_and_fail(place / name)
    assert (place / name).read_text() == "old"
    assert os.listdir(place) == [name]
    write(place / name)
    assert (place / name).read_text() != "old"
    assert os.listdir(place) == [name]


@pytest.mark.parametrize("kind", ["bytes", "pieces", "model"])
def test_what_is_written_is_on_disk_before_it_has_its_name_and_its_folder_after(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (seen.append(kind_of(file)), fsync(file)))
    monkeypatch.setattr(os, "replace", lambda *names: (seen.append("renamed"), replace(*names)))
    WRITERS[kind][1](tmp_path / "file")
    assert seen == ["file", "renamed", "folder"]


def kind_of(descriptor: int) -> str:
    return "folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file"


@pytest.mark.parametrize("writer", ["new_file", "new_folder"])
def test_a_process_that_is_killed_leaves_the_old_file(writer: str, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("old")
    script = (
        "import os, signal, sys\nfrom hornbeam.files import new_file, new_folder\n"
        f"with {writer}(sys.argv[1]) as made:\n"
        "    if isinstance(made, str): made = open(made + '/file', 'wb')\n"
        "    made.write(b'new' * 100_000)\n    made.flush()\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    target = place if writer == "new_file" else tmp_path / "folder"
    done = subprocess.run([sys.executable, "-c", script, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert place.read_text() == "old"
    left = sorted(os.listdir(tmp_path))
    assert left[1:] == ["file"]
    assert left[0].startswith(f".{target.name}.")
    assert left[0].endswith(".tmp")


def test_several_files_are_written_all_or_none(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write_files({first: b"1", second: b"2"})
    second.unlink()
    second.mkdir()
    with pytest.raises(StorageError, match="second"):
        write_files({first: b"new", second: b"new"})
    assert first.read_bytes() == b"1"
    assert sorted(os.listdir(tmp_path)) == ["first", "second"]


def test_what_goes_wrong_inside_removes_what_was_written_and_is_passed_on(tmp_path: Path) -> None:
    for kind in (KeyboardInterrupt, ValueError, StorageError):
        for writer in (new_file, new_folder):
            with pytest.raises(kind, match="inside"), writer(tmp_path / "new"):
                raise kind("inside")
    with pytest.raises(StorageError, match=r"cannot write .*no space left"), new_folder(tmp_path / "new"):
        raise OSError(errno.ENOSPC, "inside")
    assert os.listdir(tmp_path) == []


def test_a_folder_takes_the_place_of_an_empty_one_and_of_no_other(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with new_folder(tmp_path / "folder") as folder:
        (Path(folder) / "a").write_text("a")
    assert os.listdir(tmp_path / "folder") == ["a"]
    with pytest.raises(StorageError, match="cannot write"), new_folder(tmp_path / "folder") as folder:
        (Path(folder) / "b").write_text("b")
    assert os.listdir(tmp_path / "folder") == ["a"]
    assert os.listdir(tmp_path) == ["folder"]


def test_settings_and_facts_of_ace_are_written_together(tmp_path: Path) -> None:
    examples = {"id": list(range(8)), "x": [1, 2] * 4, "y": ["p", "q"] * 4}
    data = hb.RelationalData.from_frames({"t": examples}, {"t": "id"}, target="t.y")
    (tmp_path / "app.kb").mkdir()
    with pytest.raises(StorageError, match="cannot write"):
        data.to_ace(tmp_path / "app.s")
    assert os.listdir(tmp_path) == ["app.kb"]


def test_nobody_else_renames_or_syncs() -> None:
    package = ROOT / "src" / "hornbeam"
    names = {path.relative_to(package).as_posix(): path.read_text() for path in package.rglob("*.py")}
    calls = re.compile(r"\bos\.(replace|rename|fsync)\b|\.rename\(|mkstemp|NamedTemporaryFile")
    assert [name for name, text in names.items() if calls.search(text)] == ["files.py"]
