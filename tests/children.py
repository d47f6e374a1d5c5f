"""A program that imports everything once and then forks a child for each task that it is given."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

_LOOP = """
import json, os, sys

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
