"""A program: grow a tree by two executors of Spark, each a JVM; one is killed while it holds rows."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

import hornbeam as hb
from hornbeam import TreeClassifier
from hornbeam.distributed import kernels
from hornbeam.distributed.spark_engine import SparkEngine, Spread

HERE = "127.0.0.1"
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": HERE,
    "spark.driver.bindAddress": HERE,
}


class Killing(SparkEngine):
    """Kills an executor when all results of the scan are there."""

    killed = 0

    def map(self, kernel: Any, items: Any, state: Any, done: Any = None) -> Spread:
        found = super().map(kernel, items, state, done)
        if kernel is kernels.scan_part:
            os.kill(executors(self.context.applicationId)[0], signal.SIGKILL)
            self.killed += 1
        return found


def executors(application: str) -> list[int]:
    """The processes that are executors of an application."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:  # it has ended
            continue
        if b"--executor-id" in command and application.encode() in command:
            found.append(int(entry.name))
    return sorted(found)


def grow_losing_executor(files: str) -> tuple[str, int]:
    """The digest of the tree that this program grows, and how many executors it killed."""
    root = str(Path(__file__).parents[3])
    command = [sys.executable, "-m", "tests.unit.distributed.losing_executor", files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 0, done.stderr
    digest, killed = json.loads(done.stdout.splitlines()[-1])
    return digest, killed


def main() -> None:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": HERE}
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("losing an executor")
    for name, value in QUIET.items():
        builder = builder.config(name, value)
    engine = Killing(builder.getOrCreate())
    src = hb.source(sys.argv[1], engine=engine)
    model = TreeClassifier(max_depth=6).fit_source(src, target="class", algorithm="boat")
    print(json.dumps([model.tree_.digest, engine.killed]))
    application = engine.context.applicationId
    engine.session.stop()
    # Executors write what they say beside the jars.
    shutil.rmtree(Path(pyspark.__file__).parent / "work" / application, ignore_errors=True)


if __name__ == "__main__":
    main()
