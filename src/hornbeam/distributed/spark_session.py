"""Sessions of Spark: the one that is given, the one that this process has, or one that is started here."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import warnings
from typing import Any

import hornbeam
from hornbeam.distributed.engine import start_apart
from hornbeam.distributed.spark_engine import SparkEngine
from hornbeam.distributed.spark_jobs import beside, cannot_start, line
from hornbeam.distributed.spark_work import version
from hornbeam.errors import EngineError, UsageError

_WAIT = 20  # seconds for a master to answer
_COME = 120  # seconds for a first executor to come
_RETRIES = 4  # tries of a task on this machine, as many as on a cluster
_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # spark-submit says here where the Java is that it has started
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # what goes wrong is said in one line
}
_HERE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",  # at most: rows that scans keep are in its heap, and on disk beyond that
}
MASTERS = ("spark://", "k8s://", "local", "yarn")
"""How the address of a master begins."""


def is_master(given: str) -> bool:
    """Whether a text names a master of Spark."""
    return given.startswith(MASTERS[:2]) or given in MASTERS[2:] or given.startswith("local[")


def is_session(given: Any) -> bool:
    """Whether something is a session of Spark, without importing it."""
    return type(given).__module__.startswith("pyspark.sql.") and type(given).__name__ == "SparkSession"


def spark_engine(given: Any = None, *, workers: int = 1) -> SparkEngine:
    """The engine of a session, of a master's address, of the session that this process has, or of one with so
    many threads of Spark that is started here."""
    pyspark = _pyspark()
    if is_session(given):
        return SparkEngine(_classic(given))
    if given is not None and not is_master(given):
        raise UsageError(
            f"{given!r} is no address of a Spark master; give spark://host:port, k8s://..., yarn or local[N]"
        )
    sessions = pyspark.sql.SparkSession
    active = sessions.builder.getOrCreate() if _SUBMITTED in os.environ else _session_here(sessions)
    if active is None:
        return _started(pyspark, f"local[{workers},{_RETRIES}]" if given is None else given)
    if given is not None and given != active.sparkContext.master:
        raise UsageError(
            f"this process has a Spark session at {active.sparkContext.master!r}, not at {given!r}; give it "
            "as engine=, or stop it"
        )
    return SparkEngine(_classic(active))


def _session_here(sessions: Any) -> Any:
    """The session that this process has, whichever thread made it; None where there is none."""
    try:
        return sessions.active()
    except RuntimeError:
        return None


def _pyspark() -> Any:
    try:
        import pyspark
        import pyspark.sql
    except ImportError:
        raise UsageError(
            "engine='spark' needs pyspark; install it by pip install 'hornbeam[spark]'"
        ) from None
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise UsageError(
            f"pyspark {pyspark.__version__} is too old; pip install 'hornbeam[spark]' installs 4.0 or newer"
        )
    return pyspark


def _classic(session: Any) -> Any:
    if ".connect." in type(session).__module__:
        raise UsageError(
            "engine= is a session of Spark Connect, which runs no kernels; make one that is not remote"
        )
    if session.sparkContext._jsc is None:
        raise EngineError("engine= is a Spark session that was stopped; make a new one")
    return session


def _started(pyspark: Any, master: str) -> SparkEngine:
    _check_java()
    if master.startswith("spark://"):
        _check_answers(master)
    here = master.startswith("local")
    settings = _QUIET | (_HERE if here else {})
    try:
        # Spark sets a handler of signals in the main thread, which would outlive it; in another it does not.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of pandas, which nothing here uses
            session = start_apart(lambda: _quiet_session(pyspark, master, settings), lambda made: made.stop())
    except Exception as error:
        raise cannot_start(master, error) from None
    if here and "PYSPARK_PYTHON" not in os.environ:
        session.sparkContext.pythonExec = sys.executable  # else any python3 of the path
    engine = SparkEngine(session, lambda: beside(session.stop))
    if not here:
        _check_workers(engine, master)
    return engine


def _quiet_session(pyspark: Any, master: str, settings: dict[str, str]) -> Any:
    """A session whose Java does not speak to the terminal: it would tell of what it loads, and of tasks that
    end with it."""
    from pyspark.java_gateway import launch_gateway

    said = pyspark.SparkConf().setMaster(master).setAppName("hornbeam").setAll(list(settings.items()))
    gateway = pyspark.SparkContext._gateway  # that of a session which was stopped
    if gateway is None:
        gateway = launch_gateway(said, popen_kwargs={"stderr": subprocess.DEVNULL})
    context = pyspark.SparkContext(conf=said, gateway=gateway)
    try:
        return pyspark.sql.SparkSession.builder.getOrCreate()
    except BaseException:
        context.stop()  # else none can be made any more
        raise


def _check_java() -> None:
    """Spark's own launcher says it in several lines."""
    home = os.environ.get("JAVA_HOME")
    found = os.path.join(home, "bin", "java") if home else "java"
    if shutil.which(found) is None:
        where = f"JAVA_HOME={home!r} has no bin/java" if home else "no java is on the path"
        raise EngineError(
            f"Spark needs Java, and {where}; install Java 17 or newer, or let JAVA_HOME name its folder"
        )


def _check_answers(master: str) -> None:
    """Spark itself would try for a minute, and then end in pages of Java."""
    reasons = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_WAIT).close()
        except (OSError, ValueError) as error:
            reasons.append(str(error))
        else:
            return
    raise EngineError(
        f"no Spark master answers at {master!r} ({line('; '.join(reasons))}); give the address that the "
        "master shows, such as spark://10.0.0.1:7077"
    )


def _check_workers(engine: SparkEngine, master: str) -> None:
    """Whether an executor comes, and is one of us."""
    asked = engine.context.parallelize([0], 1).mapPartitions(version)
    try:
        found = engine.within(_COME, asked.collect)
        if found is None:
            raise EngineError(
                f"no executor of {master!r} came within {_COME} seconds; look at its free cores and memory"
            )
        if found != [hornbeam.__version__]:
            raise EngineError(
                f"a worker has hornbeam {found[0]} and the client {hornbeam.__version__}; install the same "
                "version everywhere"
            )
    except BaseException:
        engine.close()
        raise
