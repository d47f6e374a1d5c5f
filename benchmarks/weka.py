"""Weka's J48 in a process of its own: finding it, writing ARFF for it, reading what it prints."""

import importlib.util
import os
import re
import resource
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.peers import Absent

CLASS = "weka.classifiers.trees.J48"
LEAF = re.compile(r": .*\((\d+(?:\.\d+)?)(?:/(\d+(?:\.\d+)?))?\)$")
LEAVES = re.compile(r"^Number of Leaves\s*:\s*(\d+)$", re.MULTILINE)
NODES = re.compile(r"^Size of the tree\s*:\s*(\d+)$", re.MULTILINE)
CORRECT = re.compile(r"^Correctly Classified Instances\s+(\d+)\s", re.MULTILINE)
# Rows and errors of a leaf -> how many leaves there are of that kind.
Leaves = Counter[tuple[float, float]]


class WekaError(RuntimeError):
    """J48 printed no tree; it ends with exit code 0 all the same."""


@dataclass(frozen=True)
class Weka:
    """Where Java and the jar are."""

    java: str
    jar: str

    @property
    def version(self) -> str:
        """The first line is the version, further ones try Weka's comparison of versions."""
        done = subprocess.run(
            [self.java, "-cp", self.jar, "weka.core.Version"], capture_output=True, text=True, check=True
        )
        return done.stdout.split(maxsplit=1)[0]


@dataclass(frozen=True)
class Printed:
    """A tree as J48 describes it; branches of values that no row has end in empty leaves."""

    n_leaves: int
    n_nodes: int
    leaves: Leaves
    correct: tuple[int, ...]  # on the training rows, then on the test rows, whichever were asked for

    @property
    def n_empty(self) -> int:
        return sum(times for (rows, _), times in self.leaves.items() if rows == 0)


def find_jar() -> Path | None:
    """WEKA_JAR, or the jar inside python-weka-wrapper3, which is looked for and not imported."""
    named = os.environ.get("WEKA_JAR")
    if named:
        return Path(named)
    package = importlib.util.find_spec("weka")
    for folder in (package.submodule_search_locations or []) if package else []:
        jar = Path(folder) / "lib" / "weka.jar"
        if jar.is_file():
            return jar
    return None


def find_weka() -> Weka | Absent:
    java = shutil.which("java")
    if java is None:
        return Absent("J48", "no java on the path; install a Java runtime, 11 or newer")
    jar = find_jar()
    if jar is None:
        return Absent(
            "J48", "no weka.jar; name it by WEKA_JAR or install python-weka-wrapper3, which holds it"
        )
    if not jar.is_file():
        return Absent("J48", f"WEKA_JAR={jar}: no such file; name the weka.jar of a Weka 3.8 or newer")
    return Weka(java, str(jar))


def quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def arff_lines(table: pd.DataFrame, target: pd.Series, domains: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """`domains` holds the values of each nominal column, the class last; the other columns are numbers."""
    whole = table.assign(**{str(target.name): target})
    yield "@relation rows"
    for name in whole.columns:
        kind = "{" + ",".join(map(quote, domains[name])) + "}" if name in domains else "numeric"
        yield f"@attribute {quote(name)} {kind}"
    yield "@data"
    words = [
        [
            "?" if absent else quote(value) if name in domains else repr(value)
            for value, absent in zip(whole[name].tolist(), whole[name].isna(), strict=True)
        ]
        for name in whole.columns
    ]
    yield from (",".join(row) for row in zip(*words, strict=True))


def write_arff(
    path: Path, table: pd.DataFrame, target: pd.Series, domains: Mapping[str, Sequence[str]]
) -> Path:
    path.write_text("\n".join(arff_lines(table, target, domains)) + "\n", encoding="utf-8")
    return path


def read_printed(text: str) -> Printed:
    """What J48 prints after it was trained with -t, and -T or -no-cv."""
    leaves, nodes = LEAVES.search(text), NODES.search(text)
    if leaves is None or nodes is None:
        said = next((line for line in text.splitlines() if line.strip()), "nothing")
        raise WekaError(f"J48 printed no tree, it said: {said}")
    drawing = text[: leaves.start()].splitlines()
    found = (LEAF.search(line) for line in drawing)
    kinds = Counter((float(leaf[1]), float(leaf[2] or 0)) for leaf in found if leaf)
    if kinds.total() != int(leaves[1]):
        raise WekaError(f"J48 counts {leaves[1]} leaves, its drawing has {kinds.total()}")
    correct = tuple(int(count) for count in CORRECT.findall(text))
    return Printed(int(leaves[1]), int(nodes[1]), kinds, correct)


def run_j48(
    weka: Weka, options: Sequence[str], train: Path, test: Path | None = None
) -> tuple[Printed, float]:
    """The tree, and the CPU seconds of the whole process: Java's start, reading, growing, asking."""
    # The serial collector, so that seconds of the program are not mixed with those of idle threads.
    machine = [weka.java, "-Xmx1g", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-cp", weka.jar]
    asked = ["-no-cv"] if test is None else ["-T", str(test)]
    begin = children_seconds()
    done = subprocess.run(
        [*machine, CLASS, "-t", str(train), *asked, "-do-not-output-per-class-statistics", *options],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return read_printed(done.stdout), children_seconds() - begin


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
