"""GOSDT in an environment of its own, as a learner that is given CPU time like the others."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.anytime_sets import Sample, Task

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = "GOSDT_PYTHON"  # names a Python that has gosdt and a scikit-learn below 1.6
DEEPEST = 10


def python() -> str | None:
    """A Python that can import gosdt: the one that is named, or that of `make .venv-gosdt`."""
    named = os.environ.get(ENVIRONMENT)
    made = ROOT / ".venv-gosdt" / "bin" / "python"
    return named or (str(made) if made.exists() else None)


@dataclass(frozen=True)
class Pace:
    """How long CPU time takes on a clock on the wall: a learner that looks at such a clock would have less
    than its share beside others."""

    cpu: float = 0.0
    wall: float = 0.0

    def after(self, cpu: float, wall: float) -> "Pace":
        return Pace(self.cpu + cpu, self.wall + wall)

    @property
    def ratio(self) -> float:
        """From work of a twentieth of a second on; before that nothing is known."""
        return max(1.0, self.wall / self.cpu) if self.cpu > 0.05 else 1.0


@dataclass(frozen=True, eq=False)
class Told:
    """What a tree said of the rows to be judged by, and the CPU seconds that another process took for it."""

    judge: Sample
    classes: npt.NDArray[np.int64]
    cpu: float

    def __call__(self, rows: Sample) -> npt.NDArray[np.int64]:
        assert rows is self.judge
        return self.classes


@contextmanager
def child(command: str) -> Iterator[Any]:
    """A function that asks for a tree. Starting the process is no work of the learner."""
    script = str(Path(__file__).with_name("gosdt_child.py"))
    with subprocess.Popen(
        [command, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None

        def ask(**asked: Any) -> dict[str, Any]:
            print(json.dumps(asked), file=running.stdin, flush=True)
            line = running.stdout.readline()  # type: ignore[union-attr]
            if not line:
                raise RuntimeError(f"{command} gave no answer; can it import gosdt?")
            found: dict[str, Any] = json.loads(line)
            return found

        yield ask
        running.stdin.close()


def gosdt(task: Task, seconds: float) -> Iterator[Told]:
    """Trees of least training error and size at depth 1, 2, 3, ...: deeper while that lowers the error.
    Regularization is 1 / rows, the least that it takes by itself."""
    command = python()
    assert command is not None
    rows = {
        "learn": task.learn.bits.tolist(),
        "judge": task.judge.bits.tolist(),
        "codes": task.learn.codes.tolist(),
    }
    left, least, since, pace = seconds, 1.0, 0.0, Pace()
    with child(command) as ask:
        for depth in range(2, DEEPEST + 2):  # a depth of 1 is a leaf to it
            if left <= 0:
                return
            most = None if depth == 2 else left  # the first answer counts, however late
            found = ask(**rows, depth=depth, seconds=max(1, round(left * pace.ratio)), cpu=most)
            pace = pace.after(found["cpu"], found["wall"])
            left -= found["cpu"]
            since += found["cpu"]
            if found["said"] is None:
                return
            learned, judged = (np.array(said, dtype=np.int64) for said in found["said"])
            error = float(np.mean(learned != task.learn.codes))
            if error < least or depth == 2:
                yield Told(task.judge, judged, since)
                since = 0.0
            least = min(least, error)
            if least == 0.0:
                return
