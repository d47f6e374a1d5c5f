"""A tree that is kept: digest, JSON, file and verifier at 1k and 100k nodes, and what an import costs."""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import hornbeam
from benchmarks import common, tables
from benchmarks.answers import confirm
from benchmarks.common import Verdict, format_seconds
from hornbeam.model import Tree

# Rows of labels that no column explains, and the least leaf: about 1k and 100k nodes.
SIZES = {"1k": (6_000, 8), "100k": (290_000, 2)}
STARTS = {
    "python alone": "pass",
    "import hornbeam": "import hornbeam",
    "from hornbeam import TreeClassifier": "from hornbeam import TreeClassifier",
    "import sklearn.tree": "import sklearn.tree",
    "hornbeam --help": "from hornbeam.cli import main; main(['--help'])",
}


@dataclass(frozen=True)
class Row:
    """What one way of keeping a tree took; bytes of what it writes, 0 where it writes nothing."""

    nodes: int
    work: str
    seconds: float
    bytes: int


def grow_pair(size: str) -> tuple[Any, Any, Any]:
    """Hornbeam's and scikit-learn's tree of the same rows, and the rows."""
    rows, min_leaf = SIZES[size]
    case = tables.generate("noise", rows)
    ours = hornbeam.TreeClassifier(min_samples_leaf=min_leaf).fit(case.table, case.codes)
    maker = import_module("sklearn.tree").DecisionTreeClassifier
    theirs = maker(min_samples_leaf=min_leaf, random_state=0).fit(case.table, case.codes)
    larger, smaller = sorted((ours.tree_.n_nodes, theirs.tree_.node_count))[::-1]
    confirm(larger <= 1.1 * smaller, f"{size}: trees of {larger} and {smaller} nodes cannot be compared")
    return ours, theirs, case.table[:2000]


def fresh(tree: Tree) -> Tree:
    """The same tree without what it remembers of itself."""
    return Tree.trusted(tree.schema, tree.arrays, classes=tree.classes)


def works(ours: Any, theirs: Any, folder: Path) -> dict[str, Callable[[], Any]]:
    """Everything that is measured, by name; peers are named last."""
    tree, joblib = ours.tree_, import_module("joblib")
    text = tree.to_json()

    def dump() -> None:
        (folder / "theirs.pickle").write_bytes(pickle.dumps(theirs))

    def undump() -> Any:
        return pickle.loads((folder / "theirs.pickle").read_bytes())

    return {
        "digest": lambda: fresh(tree).digest,
        "verify": lambda: Tree(tree.schema, tree.arrays, classes=tree.classes),
        "to_json": lambda: fresh(tree).to_json(),
        "from_json": lambda: Tree.from_json(text),
        "to_text": lambda: fresh(tree).to_text(),
        "save": lambda: hornbeam.save(ours, folder / "ours.hornbeam"),
        "load": lambda: hornbeam.load(folder / "ours.hornbeam"),
        "pickle of hornbeam's, write": lambda: (folder / "ours.pickle").write_bytes(pickle.dumps(ours)),
        "pickle of hornbeam's, read": lambda: pickle.loads((folder / "ours.pickle").read_bytes()),
        "pickle of scikit-learn's, write": dump,
        "pickle of scikit-learn's, read": undump,
        "joblib of scikit-learn's, write": lambda: joblib.dump(theirs, folder / "theirs.joblib"),
        "joblib of scikit-learn's, read": lambda: joblib.load(folder / "theirs.joblib"),
    }


def confirm_kept(ours: Any, theirs: Any, table: Any, results: dict[str, Any]) -> None:
    """What was kept and read again is the same tree and answers alike."""
    digest = ours.tree_.digest
    confirm(results["digest"] == digest, "a digest is not the same twice")
    for name in ("verify", "from_json"):
        confirm(results[name].digest == digest, f"{name} gave another tree")
    for name in ("load", "pickle of hornbeam's, read"):
        confirm(results[name].tree_.digest == digest, f"{name}: another tree came back")
        answers = results[name].predict(table)
        confirm(bool(np.all(answers == ours.predict(table))), f"{name} answers otherwise")
    for name in ("pickle of scikit-learn's, read", "joblib of scikit-learn's, read"):
        answers = results[name].predict(table)
        confirm(bool(np.all(answers == theirs.predict(table))), f"{name} answers otherwise")


def measure_size(size: str) -> list[Row]:
    """One run for the answers, then the clock."""
    ours, theirs, table = grow_pair(size)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contestants = works(ours, theirs, folder)
        confirm_kept(ours, theirs, table, {work: run() for work, run in contestants.items()})
        written = {
            "to_json": len(ours.tree_.to_json()),
            "to_text": len(ours.tree_.to_text().encode()),
            "save": (folder / "ours.hornbeam").stat().st_size,
            "pickle of hornbeam's, write": (folder / "ours.pickle").stat().st_size,
            "pickle of scikit-learn's, write": (folder / "theirs.pickle").stat().st_size,
            "joblib of scikit-learn's, write": (folder / "theirs.joblib").stat().st_size,
        }
        timings = common.measure(contestants, repeats=5, budget=30)
    nodes = ours.tree_.n_nodes
    return [Row(nodes, work, timing.median, written.get(work, 0)) for work, timing in timings.items()]


def start(code: str) -> float:
    """CPU seconds of a new interpreter that runs `code`."""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    confirm(child.returncode == 0, f"{code!r} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime


def measure_starts(rounds: int = 7) -> dict[str, float]:
    """The median of each start, in turn; the first round warms the file cache."""
    seconds: dict[str, list[float]] = {name: [] for name in STARTS}
    for name, code in [*STARTS.items()] * (rounds + 1):
        seconds[name].append(start(code))
    return {name: float(np.median(times[1:])) for name, times in seconds.items()}


def judge(rows: list[Row], starts: dict[str, float]) -> list[Verdict]:
    verdicts = []
    for nodes in sorted({row.nodes for row in rows}):
        took = {row.work: row.seconds for row in rows if row.nodes == nodes}
        for ours, theirs in (
            ("save", "pickle of scikit-learn's, write"),
            ("load", "pickle of scikit-learn's, read"),
            ("pickle of hornbeam's, write", "pickle of scikit-learn's, write"),
            ("pickle of hornbeam's, read", "pickle of scikit-learn's, read"),
        ):
            verdicts.append(Verdict(f"{theirs} / {ours}, {nodes} nodes", took[theirs] / took[ours]))
    # A name must cost no more than an interpreter does, whatever the package grows to.
    verdicts.append(
        Verdict(
            "import hornbeam / python alone",
            starts["import hornbeam"] / starts["python alone"],
            better="lower",
            floor=1.5,
        )
    )
    ratio = starts["import sklearn.tree"] / starts["import hornbeam"]
    verdicts.append(Verdict("import sklearn.tree / import hornbeam", ratio, floor=5))
    ratio = starts["import sklearn.tree"] / starts["hornbeam --help"]
    verdicts.append(Verdict("import sklearn.tree / hornbeam --help", ratio, floor=2))
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the small tree only")
    options = parser.parse_args()
    setting = common.environment(["hornbeam", "scikit-learn", "numpy", "joblib"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    print("CPU seconds, medians of interleaved runs. Files go to a temporary folder; save also fsyncs.")
    sizes = ["1k"] if options.quick else list(SIZES)
    rows = [row for size in sizes for row in measure_size(size)]
    body = [
        (
            row.work,
            str(row.nodes),
            format_seconds(row.seconds),
            f"{row.bytes / 1024:.0f} kB" * (row.bytes > 0),
        )
        for row in rows
    ]
    print("\nA tree that is kept")
    print(common.format_table(("work", "nodes", "CPU", "size"), body))
    starts = measure_starts()
    print("\nA new interpreter")
    print(common.format_table(("start", "CPU"), [(name, format_seconds(s)) for name, s in starts.items()]))
    records = {"setting": setting, "rows": [asdict(row) for row in rows], "starts": starts}
    skips = [("the tree of 100k nodes", "--quick was asked for")] if options.quick else []
    return common.close("model", judge(rows, starts), records, skips)


if __name__ == "__main__":
    raise SystemExit(main())
