"""Children whose system calls kill them or fail, by strace's injection."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from tests.children import Driver

CALLS = ("openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "ftruncate", "unlink")
"""What makes and changes files."""

# Everything is imported once; a child is forked for each task, and waits until it is traced.
_DRIVER = """
import os, subprocess, time, traceback

def traced(child):
    with open(f"/proc/{child}/status") as status:
        return "TracerPid:\\t0\\n" not in status.read()

def answer(command):
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)
        code = 1
        try:
            code = work(command[-1])
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(ready)
    tracer = subprocess.Popen([*command[:-1], "-p", str(child)])
    while tracer.poll() is None and not traced(child):
        time.sleep(0.002)
    os.close(go)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    tracer.wait()
    return code
"""


@cache
def why_no_strace() -> str:
    """Why calls cannot be injected here; "" where they can."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        return "strace is not installed"
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace")
        code = "import os; os.getpid()"
        rules = ["-e", "trace=getpid", "-e", "inject=getpid:error=EIO"]
        command = ["strace", "-f", "-o", os.fspath(trace), *rules, sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        injected = trace.exists() and "INJECTED" in trace.read_text()
    return "" if injected else f"strace may not inject here: {done.stderr.strip()[:200]}"


class Traced(Driver):
    """A program with a function `work(folder)`, run in children of which calls on that folder and on some
    files in it are traced."""

    def __init__(self, program: str, names: Sequence[str]) -> None:
        super().__init__(program + _DRIVER)
        self._names = names

    def run(self, folder: Path, *injected: str) -> int:
        """The exit code of a child that works in a new folder; below 0 is the signal that ended it."""
        folder.mkdir()
        command = ["strace", "-f", "-qq", "-o", f"{folder}.trace", "-e", f"trace={','.join(CALLS)}"]
        command += [given for rule in injected for given in ("-e", f"inject={rule}")]
        places = [folder, *(folder / name for name in self._names)]
        command += [given for place in places for given in ("-P", str(place))]
        return int(self.ask([*command, str(folder)]))


def calls_of(folder: Path) -> Counter[str]:
    """How often a child that worked in a folder called what."""
    lines: Iterable[str] = Path(f"{folder}.trace").read_text().splitlines()
    return Counter(call for line in lines for call in CALLS if f" {call}(" in line)
