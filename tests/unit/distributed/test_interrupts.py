"""Ctrl-C while a cluster is started here: one line, and nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hornbeam.distributed.engine import start_apart
from tests.unit.cli.test_command import COMMAND
from tests.unit.distributed.growing import People, need_spark


@pytest.mark.parametrize(("engine", "starts"), [("dask", b"spawn_main"), ("spark", b"spark")])
def test_an_interrupt_at_the_start_is_one_line_and_leaves_nothing(
    people: People, engine: str, starts: bytes
) -> None:
    """All that a command has started must have ended when what it says comes to its end."""
    if engine == "spark":
        need_spark()
    else:
        pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    asked = [*COMMAND, "fit", people[1], "--target", "class", "--engine", engine]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(asked, start_new_session=True, **pipes) as command:
        while not any(starts in line for line in _children(command.pid)):
            assert command.poll() is None
            time.sleep(0.02)
        os.killpg(command.pid, signal.SIGINT)  # as a terminal does
        said, errors = command.communicate()
    assert (command.returncode, said, errors.strip()) == (
        130,
        "",
        "hornbeam: interrupted; nothing was written",
    )


def _children(process: int) -> list[bytes]:
    """The commands of all that a process has started by any of its threads."""
    found = []
    try:
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found.append(Path(f"/proc/{child}/cmdline").read_bytes())
    except OSError:  # one has ended meanwhile
        pass
    return found


@pytest.mark.usefixtures("interrupts")
def test_what_begins_after_an_interrupt_is_ended() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        go_on.wait()
        return "session"

    with pytest.raises(KeyboardInterrupt):
        start_apart(work, lambda made: ended.set())
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(60)


def test_what_begins_is_given_and_what_fails_is_raised() -> None:
    assert start_apart(lambda: 3, lambda made: None) == 3
    with pytest.raises(KeyError):
        start_apart(lambda: {}["a"], lambda made: None)
