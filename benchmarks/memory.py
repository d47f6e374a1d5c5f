"""Peak memory of one fit or growth, in a process of its own: bytes above what the loaded table took."""

import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import peers
from benchmarks.common import forget_peak, peak_bytes
from benchmarks.folds import Work
from benchmarks.tables import Case

CONTESTANTS = {maker.name: maker for maker in (peers.Hornbeam, peers.ScikitLearn)}


def fit_once(folder: Path, contestant: str, min_leaf: int) -> int:
    """Loads the table, fits once and returns the extra bytes. A small fit first pays for imports."""
    peer = CONTESTANTS[contestant]()
    small = np.random.default_rng(0).random((500, 5))
    peer.predict(peer.fit(small, (small[:, 0] > 0.5).astype(np.int64), 1), small)
    table = np.load(folder / "table.npy")
    labels = np.load(folder / "labels.npy")
    before = peak_bytes()
    peer.fit(table, labels, min_leaf)
    return peak_bytes() - before


def measure_peak(case: Case, contestant: str, min_leaf: int) -> float:
    """Extra memory of a fit as a multiple of the table as float64."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "table.npy", case.table)
        np.save(folder / "labels.npy", case.codes)
        return _run("fit", name, contestant, str(min_leaf)) / case.table.nbytes


def grow_once(folder: Path, kind: str) -> int:
    """Reads the table, grows one tree or ten folds beside it, and returns the extra bytes, trees included."""
    small = np.random.default_rng(0).random((500, 5))
    codes = (small[:, 0] > 0.5).astype(np.int64)
    Work(Case("small", small, codes, codes.astype(str).astype(object), ""), 1).grow("auto").tree(1)
    work: Work = pickle.loads((folder / "work").read_bytes())
    grow = work.grow_one if kind == "one" else lambda: work.grow("auto")
    assert work.table.n_rows == work.sets.n_rows == work.target.n_rows  # all is read before the clock
    before = forget_peak()
    trees = list(grow().trees())
    assert trees
    return peak_bytes() - before


def measure_growth(work: Work) -> dict[str, int]:
    """Extra bytes of growing one tree, and of growing ten folds with it."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "work").write_bytes(pickle.dumps(Work(work.case, work.min_leaf, work.max_depth)))
        return {kind: _run("grow", name, kind) for kind in ("one", "folds")}


def _run(*arguments: str) -> int:
    command = [sys.executable, "-m", "benchmarks.memory", *arguments]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return int(json.loads(done.stdout))


if __name__ == "__main__":
    place = Path(sys.argv[2])
    if sys.argv[1] == "grow":
        print(json.dumps(grow_once(place, sys.argv[3])))
    else:
        print(json.dumps(fit_once(place, sys.argv[3], int(sys.argv[4]))))
