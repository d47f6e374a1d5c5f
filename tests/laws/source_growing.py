"""Growth over sources with limits that no user may give, and a record of the ways that it went."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import TreeClassifier, _core
from hornbeam.boat.grown import SourceGrowth
from hornbeam.boat.growth import grow_source
from hornbeam.boat.reading import Reading
from hornbeam.boat.sweep import Sweep
from hornbeam.boat.task import Sampling, SourceTask
from hornbeam.errors import SourceChanged
from hornbeam.growth import Parameters
from hornbeam.model import Tree
from tests.laws.source_cases import SourceCase, random_case

LITERAL = "boat as the paper has it"

# What each step of settling says of the way that a growth went.
STEPS = {
    "_settle_guessed": "guesses",
    "_look_into": "looked into",
    "_settle_family": "over-large families",
    "_gather": "refuted guesses whose rows were kept",
    "_reopen_children": "refuted guesses whose rows were let go",
}


@dataclass(frozen=True)
class SmallTask(SourceTask):
    """A task that may be given any sample."""

    sample: int = 200

    @property
    def sample_rows(self) -> int:
        return self.sample


@contextmanager
def recording() -> Iterator[Counter[str]]:
    """Counts the ways of all growths inside."""
    ways: Counter[str] = Counter()
    before = {name: getattr(Sweep, name) for name in STEPS}

    def counted(name: str) -> Any:
        @functools.wraps(before[name])
        def step(self: Sweep, *given: Any) -> Any:
            ways[STEPS[name]] += 1
            return before[name](self, *given)

        return step

    settle = Sweep._settle

    @functools.wraps(settle)
    def settled(self: Sweep, *given: Any) -> Any:
        families = settle(self, *given)
        ways["reopened nodes"] += len(self.reopened)
        return families

    for name in STEPS:
        setattr(Sweep, name, counted(name))
    Sweep._settle = settled  # type: ignore[method-assign]
    try:
        yield ways
    finally:
        Sweep._settle = settle  # type: ignore[method-assign]
        for name, step in before.items():
            setattr(Sweep, name, step)


def ignore_alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the best test that the counts tell, whatever the bounds say of others."""

    class Trusting:
        def __init__(self, settling: _core.Settling) -> None:
            self._settling = settling

        def __getattr__(self, name: str) -> Any:
            return getattr(self._settling, name)

        def settle(self, node: int, *given: Any, **named: Any) -> _core.Settled:
            settled = self._settling.settle(node, *given, **named)
            return self._settling.choose(node, [settled]) if settled.state == "open" else settled

    monkeypatch.setattr(Sweep, "_settling", property(lambda self: Trusting(self._nodes.settling)))


def is_another(grow: Callable[[], SourceGrowth], digest: str) -> bool:
    """Whether a growth ends with another tree than this, or not at all."""
    try:
        return grow().trees[0].digest != digest
    except SourceChanged:  # rows went where they were not expected
        return True


def grow_table(table: pa.Table, parameters: dict[str, Any], *given: Any, **options: Any) -> SourceGrowth:
    """The tree of column "class", as `source_task` takes it."""
    return grow_source(source_task(table, parameters, *given, **options))


def source_task(
    table: pa.Table,
    parameters: dict[str, Any],
    algorithm: str = "boat",
    *,
    memory_limit: int | None = 10**9,
    sample: int = 2000,
    sampling: Sampling | None = None,
    piece: int = 1000,
    seed: int = 0,
    **options: Any,
) -> SmallTask:
    """Growing the tree of column "class" by an algorithm."""
    source = hb.source(lambda: table.to_batches(max_chunksize=piece))
    return SmallTask(
        Reading(source, ("class",), True),
        Parameters(**parameters).checked("classification"),
        memory_limit=memory_limit,
        algorithm="boat" if algorithm == LITERAL else algorithm,
        variant="paper" if algorithm == LITERAL else None,
        sampling=sampling or Sampling(bootstraps=5, rows=500, buckets=64, least=20, sure=20),
        seed=seed,
        sample=sample,
        **options,
    )


def grow_case(case: SourceCase, algorithm: str) -> SourceGrowth:
    return grow_source(case_task(case, algorithm))


def case_task(case: SourceCase, algorithm: str) -> SmallTask:
    return source_task(
        case.table,
        case.parameters,
        algorithm,
        memory_limit=case.memory_limit,
        sample=case.sample,
        sampling=case.sampling,
        piece=case.piece,
        seed=case.seed,
        # With room for one node at a time it would scan hundreds of times.
        avc_entries=10**6 if algorithm == LITERAL else None,
    )


@functools.cache
def digest_of_case(seed: int) -> str:
    """The digest of the tree of a random case, all rows of it in memory."""
    case = random_case(seed)
    digest: str = fitted(case.table, case.parameters).digest
    return digest


def fitted(table: pa.Table, parameters: dict[str, Any]) -> Tree:
    """The tree of all rows in memory."""
    tree: Tree = TreeClassifier(**parameters).fit(table.drop_columns(["class"]), table["class"]).tree_
    return tree
