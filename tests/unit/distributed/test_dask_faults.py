"""What goes wrong on a Dask cluster of two workers: the same tree, or one line, and nothing is left to do."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hornbeam as hb
from hornbeam import TreeClassifier
from hornbeam.distributed import kernels
from hornbeam.distributed.dask_engine import DaskEngine
from hornbeam.errors import EngineError
from tests.unit.distributed.test_dask import People, _assert_idle, fitted

Kernel = Callable[[Any, Any], bytes]


class _Troubled(DaskEngine):
    """Runs the kernel of the cleanup scan with some trouble around it."""

    def __init__(self, client: Any, trouble: Callable[[Kernel], Kernel]) -> None:
        super().__init__(client)
        self._trouble = trouble

    def map(self, kernel: Kernel, items: Any, state: Any, done: Any = None) -> Any:
        return super().map(
            self._trouble(kernel) if kernel is kernels.scan_part else kernel, items, state, done
        )


def grown_by(engine: Any, files: str) -> str:
    src = hb.source(files, engine=engine)
    digest: str = TreeClassifier(max_depth=6).fit_source(src, target="class", algorithm="boat").tree_.digest
    return digest


def test_a_worker_that_is_killed_while_it_reads_a_part_changes_nothing(
    people: People, tmp_path: Path
) -> None:
    """The other, or the one that takes its place, reads the part again."""
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    died = str(tmp_path / "died")

    def dying(kernel: Kernel) -> Kernel:
        def run(part: Any, state: Any) -> bytes:
            found = kernel(part, state)
            if part.index == 2 and not os.path.exists(died):
                open(died, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return run

    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        assert grown_by(_Troubled(client, dying), people[1]) == fitted(people[0], max_depth=6)
    assert os.path.exists(died)


def test_a_slow_part_changes_nothing(client: Any, people: People, tmp_path: Path) -> None:
    """The first part waits until all others are done."""
    folder = str(tmp_path)

    def slow(kernel: Kernel) -> Kernel:
        def run(part: Any, state: Any) -> bytes:
            while part.index == 0 and len(os.listdir(folder)) < 4:
                time.sleep(0.02)
            found = kernel(part, state)
            open(os.path.join(folder, str(part.index)), "w").close()
            return found

        return run

    assert grown_by(_Troubled(client, slow), people[1]) == fitted(people[0], max_depth=6)


class _Twice(DaskEngine):
    """Delivers a result twice, to be merged at once or in two places, and rows too."""

    other = False

    def _by_worker(self, futures: Any) -> list[list[Any]]:
        if self.other:
            return [futures[:2], [*futures[2:], futures[0]]]
        first, *others = super()._by_worker(futures)
        return [[*first, first[0]], *others]

    def shuffle(self, pick: Any, items: Any, destinations: int, state: Any) -> Any:
        return [[*brought, brought[0]] for brought in super().shuffle(pick, items, destinations, state)]


def test_a_part_that_is_delivered_twice_is_counted_once(client: Any, people: People) -> None:
    assert grown_by(_Twice(client), people[1]) == fitted(people[0], max_depth=6)


def test_a_part_that_two_workers_have_merged_with_others_is_one_line(client: Any, people: People) -> None:
    engine = _Twice(client)
    engine.other = True
    with pytest.raises(
        EngineError, match=r"^the cluster delivered parts of a scan twice, merged with others"
    ):
        grown_by(engine, people[1])
    _assert_idle(client)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_while_parts_are_read_leaves_nothing_to_do(
    client: Any, people: People, tmp_path: Path
) -> None:
    """Ctrl-C as it comes, while a worker is in the midst of a part."""
    waiting, go_on = tmp_path / "waiting", tmp_path / "go on"
    engine = _Troubled(client, _waiting(str(waiting), str(go_on)))
    stop = threading.Thread(target=_when, args=(waiting, lambda: os.kill(os.getpid(), signal.SIGINT)))
    stop.start()
    with pytest.raises(KeyboardInterrupt):
        grown_by(engine, people[1])
    stop.join()
    _assert_idle(client)
    go_on.touch()
    assert grown_by(DaskEngine(client), people[1]) == fitted(people[0], max_depth=6)


def test_work_that_is_cancelled_while_parts_are_read_is_one_line(
    client: Any, people: People, tmp_path: Path
) -> None:
    waiting, go_on = tmp_path / "waiting", tmp_path / "go on"
    engine = _Troubled(client, _waiting(str(waiting), str(go_on)))
    stop = threading.Thread(
        target=_when, args=(waiting, lambda: client.cancel(list(engine._live), force=True))
    )
    stop.start()
    with pytest.raises(EngineError, match=r"^the Dask cluster failed: ") as caught:
        grown_by(engine, people[1])
    stop.join()
    assert "\n" not in str(caught.value)
    _assert_idle(client)
    go_on.touch()


def _waiting(waiting: str, go_on: str) -> Callable[[Kernel], Kernel]:
    """The first part says that it is being read, and waits."""

    def wait(kernel: Kernel) -> Kernel:
        def run(part: Any, state: Any) -> bytes:
            if part.index == 0:
                open(waiting, "w").close()
                while not os.path.exists(go_on):
                    time.sleep(0.05)
            return kernel(part, state)

        return run

    return wait


def _when(path: Path, call: Callable[[], Any]) -> None:
    while not path.exists():
        time.sleep(0.05)
    call()
