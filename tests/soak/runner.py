"""Runs the cases of an adversary, and takes rows, columns and parameters out of one that fails."""

from __future__ import annotations

import json
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tests.soak.tables import Case, draw

Step = tuple[str, int, int] | tuple[str, str]
MOST_TRIES = 300  # smaller cases that are tried of one that fails


class Differs(AssertionError):  # noqa: N818 - said of two answers
    """Two ways to one answer gave two answers."""


@dataclass(frozen=True)
class Adversary:
    """Checks random cases; whatever it raises is a finding. The generator is the same for a smaller case."""

    name: str
    check: Callable[[Case, random.Random, Counter[str]], None]


@dataclass(frozen=True)
class Finding:
    """A case that fails: by which numbers it is drawn, what is taken out of it, and what is said then."""

    adversary: str
    seed: int
    number: int
    steps: tuple[Step, ...]
    error: str

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.adversary}-{self.seed}-{self.number}.json"
        path.write_text(json.dumps(self.__dict__, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path

    @classmethod
    def read(cls, path: Path) -> Finding:
        told = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**told, "steps": tuple(tuple(step) for step in told["steps"])})


def case_of(seed: int, number: int, steps: Sequence[Step] = ()) -> Case:
    case = draw(random.Random(f"{seed} {number}"))
    for step in steps:
        case = without(case, step)
    return case


def without(case: Case, step: Step) -> Case:
    """The case after one step: fewer rows, no such column or parameter, or no weights."""
    what, *rest = step
    if what == "rows":
        begin, end = rest
        return case.take(np.delete(np.arange(case.n_rows), np.s_[begin:end]))
    if what == "weights":
        return replace(case, weights=None)
    if what == "column":
        return replace(case, table=case.table.drop_columns([rest[0]]))
    return replace(case, parameters={k: v for k, v in case.parameters.items() if k != rest[0]})


def next_steps(case: Case) -> Iterator[Step]:
    """Large steps first."""
    if case.table.num_columns > 1:
        yield from (("column", name) for name in case.table.column_names)
    yield from (("parameter", name) for name in case.parameters if name != "criterion")
    if case.weights is not None:
        yield ("weights", "")
    size = (case.n_rows + 1) // 2
    while size and case.n_rows > 1:
        for begin in range(0, case.n_rows, size):
            if (end := min(begin + size, case.n_rows)) - begin < case.n_rows:
                yield ("rows", begin, end)
        size //= 2


def failure(adversary: Adversary, case: Case, seed: int, number: int, ways: Counter[str]) -> str:
    """What the adversary says of a case; nothing where all is well."""
    try:
        adversary.check(case, random.Random(f"{seed} {number} {adversary.name}"), ways)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
    return ""


def shrunk(adversary: Adversary, seed: int, number: int, error: str) -> Finding:
    """The smallest case found that still fails, however it says so."""
    steps: list[Step] = []
    tries, case = 0, case_of(seed, number)
    smaller = True
    while smaller and tries < MOST_TRIES:
        smaller = False
        for step in next_steps(case):
            tries += 1
            less = without(case, step)
            said = failure(adversary, less, seed, number, Counter())
            if said:
                steps, case, error, smaller = [*steps, step], less, said, True
                break
            if tries >= MOST_TRIES:
                break
    return Finding(adversary.name, seed, number, tuple(steps), error)


def hunt(adversary: Adversary, seed: int, numbers: Iterator[int]) -> tuple[Counter[str], Finding | None]:
    """Cases until one fails; how often each way was tried."""
    ways: Counter[str] = Counter()
    for number in numbers:
        ways["cases"] += 1
        error = failure(adversary, case_of(seed, number), seed, number, ways)
        if error:
            return ways, shrunk(adversary, seed, number, error)
    return ways, None


def for_seconds(seconds: float) -> Iterator[int]:
    """Numbers of cases until the time is over."""
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        yield number
        number += 1
