"""Peak memory of one fit, in a process of its own: bytes above what the loaded table already took."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import peers
from benchmarks.common import peak_bytes
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
        command = [sys.executable, "-m", "benchmarks.memory", name, contestant, str(min_leaf)]
        root = Path(__file__).resolve().parent.parent
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)) / case.table.nbytes


if __name__ == "__main__":
    print(json.dumps(fit_once(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
