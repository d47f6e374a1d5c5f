"""What goes wrong on a Dask cluster of two workers: the same tree, or one line, and nothing is left to do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hornbeam.distributed.dask_engine import DaskEngine, Shuffled
from hornbeam.errors import EngineError
from tests.unit.distributed.growing import (
    People,
    dying,
    fitted,
    grown_by,
    slow,
    troubled,
    waiting,
    when,
)
from tests.unit.distributed.test_dask import assert_idle


def test_a_worker_that_is_killed_while_it_reads_a_part_changes_nothing(
    people: People, tmp_path: Path
) -> None:
    """The other, or the one that takes its place, reads the part again."""
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    died = tmp_path / "died"
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        assert grown_by(troubled(DaskEngine, client, dying(died)), people[1]) == fitted(
            people[0], max_depth=6
        )
    assert died.exists()


def test_a_slow_part_changes_nothing(client: Any, people: People, tmp_path: Path) -> None:
    engine = troubled(DaskEngine, client, slow(tmp_path))
    assert grown_by(engine, people[1]) == fitted(people[0], max_depth=6)


class _Twice(DaskEngine):
    """Delivers a result twice, to be merged at once or in two places, and rows too."""

    other = False

    def _by_worker(self, futures: Any) -> list[tuple[str | None, list[Any]]]:
        if self.other:
            return [(None, futures[:2]), (None, [*futures[2:], futures[0]])]
        (worker, first), *others = super()._by_worker(futures)
        return [(worker, [*first, first[0]]), *others]

    def _batched(self, futures: Any) -> list[list[Any]]:
        return [[future] for future in futures]

    def shuffle(self, pick: Any, items: Any, destinations: int, state: Any) -> Shuffled:
        brought = super().shuffle(pick, items, destinations, state)
        return Shuffled([[*batches, batches[0]] for batches in brought.destinations])


def test_a_part_that_is_delivered_twice_is_counted_once(client: Any, people: People) -> None:
    assert grown_by(_Twice(client), people[1]) == fitted(people[0], max_depth=6)


def test_a_part_that_two_workers_have_merged_with_others_is_one_line(client: Any, people: People) -> None:
    engine = _Twice(client)
    engine.other = True
    with pytest.raises(
        EngineError, match=r"^the cluster delivered parts of a scan twice, merged with others"
    ):
        grown_by(engine, people[1])
    assert_idle(client)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_while_parts_are_read_leaves_nothing_to_do(
    client: Any, people: People, tmp_path: Path
) -> None:
    """Ctrl-C as it comes, while a worker is in the midst of a part."""
    reached, go_on = tmp_path / "reached", tmp_path / "go on"
    engine = troubled(DaskEngine, client, waiting(reached, go_on))
    stop = threading.Thread(target=when, args=(reached, lambda: os.kill(os.getpid(), signal.SIGINT)))
    stop.start()
    with pytest.raises(KeyboardInterrupt):
        grown_by(engine, people[1])
    stop.join()
    assert_idle(client)
    go_on.touch()
    assert grown_by(DaskEngine(client), people[1]) == fitted(people[0], max_depth=6)


def test_work_that_is_cancelled_while_parts_are_read_is_one_line(
    client: Any, people: People, tmp_path: Path
) -> None:
    reached, go_on = tmp_path / "reached", tmp_path / "go on"
    engine = troubled(DaskEngine, client, waiting(reached, go_on))
    stop = threading.Thread(
        target=when, args=(reached, lambda: client.cancel(list(engine._live), force=True))
    )
    stop.start()
    with pytest.raises(EngineError, match=r"^the Dask cluster failed: ") as caught:
        grown_by(engine, people[1])
    stop.join()
    assert "\n" not in str(caught.value)
    assert_idle(client)
    go_on.touch()


def test_a_scheduler_that_is_killed_while_parts_are_read_is_one_line(people: People, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    address, reached, go_on = tmp_path / "scheduler", tmp_path / "reached", tmp_path / "go on"
    places = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    here = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(address)]
    dask = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen([*dask, "scheduler", *here, "--port", "0"], **places)
    worker = subprocess.Popen([*dask, "worker", *here, "--nthreads", "1"], **places)
    try:
        while not address.exists():
            time.sleep(0.05)
        with distributed.Client(scheduler_file=str(address), set_as_default=False) as client:
            stop = threading.Thread(target=when, args=(reached, scheduler.kill))
            stop.start()
            with pytest.raises(EngineError, match=r"^the Dask scheduler is gone; start it again") as caught:
                grown_by(troubled(DaskEngine, client, waiting(reached, go_on)), people[1])
            stop.join()
        assert "\n" not in str(caught.value)
    finally:
        go_on.touch()
        for started in (scheduler, worker):
            started.kill()
            started.wait()


@pytest.mark.parametrize("question", ["nthreads", "nbytes", "who_has"])
def test_a_scheduler_that_does_not_say_what_is_asked_is_one_line(
    client: Any, people: People, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    def broken(*given: Any, **more: Any) -> Any:
        raise OSError("Timed out during handshake\nafter 30 s")

    class Asking(DaskEngine):
        def map(self, kernel: Any, items: Any, state: Any, done: Any = None) -> Any:
            found = super().map(kernel, items, state, done)
            monkeypatch.setattr(self.client, question, broken)
            return found

    with pytest.raises(EngineError, match=r"^the Dask cluster failed: OSError: Timed out during") as caught:
        grown_by(Asking(client), people[1])
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert_idle(client)
