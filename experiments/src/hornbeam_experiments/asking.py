"""Questions to a process of its own, so that what it holds and takes is that of one growth alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hornbeam
from hornbeam.errors import StorageError


def answer_of(what: Sequence[str], measured: str, question: str | None = None) -> Any:
    """The last line that a new Python prints, as JSON; `question` is what it reads. It sees this package."""
    package = str(Path(hornbeam.__file__).parent.parent)
    paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, *what],
        input=question,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise StorageError(f"the process that measures {measured} ended: {last}")
    return json.loads(done.stdout.splitlines()[-1])
