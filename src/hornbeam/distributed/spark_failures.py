"""What Spark raises, in one line: its own errors are pages of Java and Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from hornbeam.errors import EngineError, HornbeamError, UsageError

_RAISED = re.compile(r"^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception|Interrupt)): *(.*)$", re.MULTILINE)
_CANCELLED = re.compile(r"cancelled|SparkContext was shut ?down|stopped SparkContext", re.IGNORECASE)
_STARTING = re.compile(r"^: (?:[\w$]+\.)*([\w$]+: .*)$", re.MULTILINE)
_PYTHON = (
    "Python on Spark's workers has no hornbeam; install the same version everywhere, and name that Python"
)
_INSTALL = "pip install 'hornbeam[spark]' installs what it needs"
_MEMORY = "a worker had no memory left; give a lower memory_limit, or workers more memory"


@contextmanager
def one_line() -> Iterator[None]:
    """Whatever Spark raises becomes one line."""
    try:
        yield
    except Exception as error:
        raise failed(error) from None


def failed(error: BaseException) -> HornbeamError:
    """What a kernel refused, or one line for what Spark did."""
    if isinstance(error, HornbeamError):
        return error
    text = str(error)
    if isinstance(error, ImportError):  # pyspark looks at pandas and pyarrow itself
        return UsageError(f"Spark cannot be used here: {line(text)}; {_INSTALL}")
    raised = _RAISED.findall(text.split("Driver stacktrace:")[0])
    kind, said = raised[-1] if raised else ("", text)
    if kind == "ModuleNotFoundError" and "hornbeam" in said:
        return EngineError(f"{_PYTHON} by PYSPARK_PYTHON")
    if kind == "MemoryError" or "OutOfMemoryError" in text:
        return EngineError(_MEMORY)
    if _CANCELLED.search(text):
        return EngineError("the Spark job failed: the work was cancelled")
    return EngineError(f"the Spark job failed: {line(said or kind)}")


def cannot_start(master: str, error: BaseException) -> EngineError:
    """One line for a session that does not begin."""
    text = str(error)
    if "stopped SparkContext" in text:
        return EngineError(
            f"the Spark master at {master!r} did not take this program; give it what the master has of "
            "spark.authenticate and its secret, in spark-defaults.conf of the folder SPARK_CONF_DIR"
        )
    found = _STARTING.search(text)
    said = line(found[1] if found else text)
    return EngineError(f"Spark cannot be started at {master!r}: {said}; it needs Java 17 or newer")


def line(text: str) -> str:
    """The first line, bounded."""
    return (text.strip().splitlines() or ["no reason was given"])[0][:300].rstrip(". ")
