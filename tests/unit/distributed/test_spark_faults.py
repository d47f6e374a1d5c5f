"""What goes wrong on Spark: the same tree, or one line, and nothing is left running."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import TreeClassifier
from hornbeam.distributed.spark_engine import SparkEngine, Spread
from hornbeam.distributed.spark_jobs import cannot_start, failed
from hornbeam.distributed.spark_session import spark_engine
from hornbeam.errors import DataError, EngineError, SourceChanged, UsageError
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


def assert_idle(session: Any) -> None:
    """No job has anything to do any more."""
    end = time.monotonic() + 60
    while session.sparkContext.statusTracker().getActiveJobsIds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_worker_that_is_killed_in_a_scan_changes_nothing(
    spark: Any, people: People, tmp_path: Path
) -> None:
    """Spark runs the task again."""
    died = tmp_path / "died"
    assert grown_by(troubled(SparkEngine, spark, dying(died)), people[1]) == fitted(people[0], max_depth=6)
    assert died.exists()


def test_a_slow_part_changes_nothing(spark: Any, people: People, tmp_path: Path) -> None:
    engine = troubled(SparkEngine, spark, slow(tmp_path))
    assert grown_by(engine, people[1]) == fitted(people[0], max_depth=6)


def test_a_part_that_is_delivered_twice_is_counted_once(spark: Any, people: People) -> None:
    class Twice(SparkEngine):
        """All come to one place, the first part in two tasks."""

        workers = 1

        def parts(self, source: Any) -> Spread:
            once = super().parts(source)
            first = once.rdd.mapPartitionsWithIndex(lambda i, items: items if i == 0 else ())
            return Spread(once.rdd.union(first.coalesce(1)), once.partitions + 1)

    assert grown_by(Twice(spark), people[1]) == fitted(people[0], max_depth=6)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_leaves_nothing_running(spark: Any, people: People, tmp_path: Path) -> None:
    """Ctrl-C while a task hangs: its worker ends too."""
    hanging = tmp_path / "hanging"
    engine = troubled(SparkEngine, spark, waiting(hanging, tmp_path / "never"))
    stop = threading.Thread(target=when, args=(hanging, lambda: os.kill(os.getpid(), signal.SIGINT)))
    stop.start()
    with pytest.raises(KeyboardInterrupt):
        grown_by(engine, people[1])
    stop.join()
    assert_idle(spark)
    _assert_ends(int(hanging.read_text()))
    assert grown_by(SparkEngine(spark), people[1]) == fitted(people[0], max_depth=6)


def test_work_that_somebody_else_cancels_is_one_line(spark: Any, people: People, tmp_path: Path) -> None:
    hanging = tmp_path / "hanging"
    engine = troubled(SparkEngine, spark, waiting(hanging, tmp_path / "never"))
    stop = threading.Thread(target=when, args=(hanging, spark.sparkContext.cancelAllJobs))
    stop.start()
    with pytest.raises(EngineError, match=r"^the Spark job failed: the work was cancelled$"):
        grown_by(engine, people[1])
    stop.join()
    assert_idle(spark)


def _assert_ends(process: int) -> None:
    end = time.monotonic() + 60
    while os.path.exists(f"/proc/{process}"):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_workers_refuse_is_one_line_here_and_is_not_tried_again(spark: Any, tmp_path: Path) -> None:
    for i in range(3):
        classes = ["a", "b", None if i == 2 else "a"]
        pq.write_table(pa.table({"x": [1, 2, 3], "class": classes}), tmp_path / f"{i}.parquet")
    src = hb.source(str(tmp_path / "*.parquet"), engine=spark)
    with pytest.raises(DataError, match="class") as caught:
        TreeClassifier().fit_source(src, target="class")
    assert "\n" not in str(caught.value)
    assert_idle(spark)


def test_rows_that_change_between_scans_are_noticed(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": list(range(100)), "class": ["a", "b"] * 50}), path)
    src = hb.source(str(path), engine=spark)
    frame = hb.source(spark.range(100).selectExpr("rand() as x", "cast(id % 2 as string) as class"))
    pq.write_table(pa.table({"x": list(range(90)), "class": ["a", "b"] * 45}), path)
    with pytest.raises(SourceChanged, match="changed since the source was opened"):
        TreeClassifier().fit_source(src, target="class")
    list(frame.scan())
    frame._origin = hb.source(
        spark.range(100).selectExpr("id * 0.5 as x", "cast(id % 2 as string) as class")
    )._origin
    with pytest.raises(
        SourceChanged, match=r"partition 0 of the Spark frame of .* changed between two scans"
    ):
        TreeClassifier().fit_source(frame, target="class")


def test_rows_that_are_lost_with_an_executor_are_made_again(people: People) -> None:
    """In a process of its own, for Spark has one session in each: two executors, each a JVM, of which one is
    killed when all results of the scan are there."""
    pytest.importorskip("pyspark", reason="pyspark is not installed; make test-spark installs it")
    from tests.unit.distributed.losing_executor import grow_losing_executor

    digest, killed = grow_losing_executor(people[1])
    assert killed == 1
    assert digest == fitted(people[0], max_depth=6)


def test_a_master_that_does_not_answer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed; make test-spark installs it")
    monkeypatch.setattr("hornbeam.distributed.spark_session._check_java", lambda: None)
    monkeypatch.setattr("hornbeam.distributed.spark_session._session_here", lambda sessions: None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(
        EngineError, match=rf"^no Spark master answers at 'spark://127.0.0.1:{port}' \("
    ) as caught:
        spark_engine(f"spark://127.0.0.1:{port}")
    assert "\n" not in str(caught.value)


def test_without_java_there_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed; make test-spark installs it")
    monkeypatch.setattr("hornbeam.distributed.spark_session._session_here", lambda sessions: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match=r"^Spark needs Java, and JAVA_HOME='.*' has no bin/java; install"):
        spark_engine("local[1]")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"^Spark needs Java, and no java is on the path; install"):
        spark_engine()


def test_without_pyspark_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyspark", None)
    with pytest.raises(UsageError, match=r"^engine='spark' needs pyspark; install it by pip install"):
        spark_engine()


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        (
            "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File\n"
            "ModuleNotFoundError: No module named 'hornbeam'",
            "Python on Spark's workers has no hornbeam",
        ),
        ("Traceback:\n  File\nMemoryError: 3 GB\n\nDriver stacktrace:\nError: x", "had no memory left"),
        ("Job 3 cancelled part of cancelled job group hornbeam-1", "the work was cancelled"),
        ("Traceback:\nKeyError: 'a'\n\tat org.apache\n", "the Spark job failed: 'a'"),
        ("something\nelse", "the Spark job failed: something"),
    ],
)
def test_pages_of_spark_become_one_line(raised: str, says: str) -> None:
    said = str(failed(RuntimeError(raised)))
    assert says in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        (
            "An error occurred while calling None.x.\n: java.lang.IllegalStateException: Cannot call methods "
            "on a stopped SparkContext.\nThis",
            "did not take this program; give it what the master has of spark.authenticate",
        ),
        (
            "An error occurred while calling None.x.\n: java.net.BindException: no free port.\n\tat sun.nio",
            "cannot be started at 'spark://m:7077': BindException: no free port; it needs Java 17",
        ),
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited.", "[JAVA_GATEWAY_EXITED] Java gateway"),
    ],
)
def test_a_session_that_does_not_begin_is_one_line(raised: str, says: str) -> None:
    said = str(cannot_start("spark://m:7077", RuntimeError(raised)))
    assert says in said
    assert "\n" not in said


def test_versions_that_spark_does_not_take_are_one_line() -> None:
    error = failed(ImportError("[UNSUPPORTED_PACKAGE_VERSION] Pandas >= 2.2.0 must be installed; it is 2.0."))
    assert isinstance(error, UsageError)
    assert "pip install 'hornbeam[spark]'" in str(error)
