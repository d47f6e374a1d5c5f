"""A program that imports everything once and then forks a child for each task that it is given."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

_LOOP = """
import json, sys

for line in sys.stdin:
    print("answer", json.dumps(answer(json.loads(line))), flush=True)
"""


class Driver:
    """A program with a function `answer(task)`: a JSON value each."""

    def __init__(self, program: str, *args: str) -> None:
        command = [sys.executable, "-c", program + _LOOP, *args]
        self._process = subprocess.Popen(command, stdin=-1, stdout=-1, text=True)

    def ask(self, task: Any) -> Any:
        """What the program answers; other lines that it prints are passed over."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(task), file=self._process.stdin, flush=True)
        for line in self._process.stdout:
            if line.startswith("answer "):
                return json.loads(line.removeprefix("answer "))
        raise AssertionError(f"the program ended with {self._process.wait()}")

    def close(self) -> None:
        self._process.communicate()


_FORKS = """
import os, signal, tempfile, traceback

def answer(task):
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if child == 0:
            os.dup2(said.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            signal.alarm(300)  # a child that hangs is ended
            code = 1
            try:
                work(*task)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in (said, errors):
            file.seek(0)
        return [code, said.read(), errors.read()]
"""


class Forks(Driver):
    """A program with a function `work(*task)`, which a child of its own does for each task."""

    def __init__(self, program: str) -> None:
        super().__init__(f"{program}\n{_FORKS}")

    def run(self, *task: Any) -> str:
        """What the child prints; it must end well."""
        code, said, errors = self.ask(task)
        assert code == 0, errors[-2000:]
        return str(said)
