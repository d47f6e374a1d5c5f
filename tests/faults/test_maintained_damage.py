"""Damaged files of maintained trees: a line that says so or the right tree, never a crash or another tree."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree
from hornbeam.errors import StorageError
from hornbeam.maintained import store
from tests.children import Driver
from tests.depth import DEEP

PAGE = 4096
STEP = PAGE if DEEP else 32 * PAGE
FLIPS = 3000 if DEEP else 100

# Children look at damaged files, one each: the database may crash.
JUDGE = """
import os, sys
from hornbeam import MaintainedTree
from hornbeam.errors import HornbeamError

def judged(path):
    try:
        with MaintainedTree.open(path) as tree:
            equal, batches = tree.verify()["equal"], len(tree.changes())
            return tree.tree.digest if equal and batches == tree.stats["batch"] + 1 else "wrong"
    except HornbeamError as error:
        text = str(error)
        return "refused" if "\\n" not in text and path in text else text
    except BaseException as error:
        return f"{type(error).__name__}: {error}"

def answer(path):
    out, inside = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(inside, judged(path).encode())
        os._exit(0)
    os.close(inside)
    code, said = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), os.read(out, 4096).decode()
    os.close(out)
    return said if code == 0 else f"ended by {code}"

judged(sys.argv[1])  # imports what is used
"""


class Made:
    """A tree in a file, and one more batch in the log beside it, as a crash leaves them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "t.tree"
        draw = np.random.default_rng(0)
        rows = pa.table(
            {
                "a": draw.integers(0, 50, 300),
                "b": draw.choice(["x", "y", "z"], 300),
                "class": draw.choice(["no", "yes"], 300),
            }
        )
        source = hb.source(rows.slice(0, 200))
        with MaintainedTree.create(self.path, source, target="class", max_depth=3) as tree:
            self.old = tree.tree.digest
            tree.insert(rows.slice(200))
            self.new = tree.tree.digest
            self.file = self.path.read_bytes()
            self.log = Path(f"{self.path}.wal").read_bytes()
        self.closed = self.path.read_bytes()
        self.judge = Driver(JUDGE, str(self.path))

    def judged(self, file: bytes, log: bytes = b"") -> str:
        """What comes of a file: the digest of a tree that is that of a rebuild, or what went wrong."""
        self.path.write_bytes(file)
        beside = Path(f"{self.path}.wal")
        beside.unlink(missing_ok=True)
        if log:
            beside.write_bytes(log)
        return str(self.judge.ask(str(self.path)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    found = Made(tmp_path_factory.mktemp("made"))
    yield found
    found.judge.close()


def flipped(content: bytes, draw: random.Random) -> bytes:
    """The content with a few wrong bits."""
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 3, 20))):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def test_the_whole_files_are_right(made: Made) -> None:
    assert made.judged(made.closed) == made.new
    assert made.judged(made.file, made.log) == made.new
    assert made.judged(made.file) == made.old


def test_files_that_are_cut_off_are_refused(made: Made) -> None:
    found = Counter(made.judged(made.closed[:end]) for end in range(0, len(made.closed), STEP))
    assert found.keys() <= {"refused", made.new}
    assert found["refused"] > 20


def test_wrong_bits_in_the_file_are_refused_or_in_no_use(made: Made) -> None:
    draw = random.Random(1)
    found = Counter(made.judged(flipped(made.closed, draw)) for _ in range(FLIPS))
    assert found.keys() == {"refused", made.new}
    assert found["refused"] > FLIPS / 3


def test_logs_that_are_cut_off_give_the_state_before_or_after(made: Made) -> None:
    ends = range(0, len(made.log), 1 if DEEP else len(made.log) // 40)
    found = Counter(made.judged(made.file, made.log[:end]) for end in ends)
    assert found.keys() <= {"refused", made.old, made.new}
    assert found[made.old] > 20


def test_wrong_bits_in_the_log_are_refused_or_give_a_whole_state(made: Made) -> None:
    draw = random.Random(2)
    found = Counter(made.judged(made.file, flipped(made.log, draw)) for _ in range(FLIPS // 3))
    assert found.keys() <= {"refused", made.old, made.new}, found


def test_what_is_published_is_not_believed_when_it_is_damaged(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_TRIES", 1)
    path = tmp_path / "t.tree"
    path.write_bytes(made.closed)
    with MaintainedTree.open(path):
        copy = Path(f"{path}.readers")
        whole = copy.read_bytes()
        assert MaintainedTree.open(path, read_only=True).tree.digest == made.new
        draw = random.Random(3)
        for content in (b"", whole[:-1], whole[:100], *(flipped(whole, draw) for _ in range(3))):
            copy.write_bytes(content)
            with pytest.raises(StorageError, match="is locked by this process"):
                MaintainedTree.open(path, read_only=True)
    assert os.listdir(tmp_path) == ["t.tree"]
