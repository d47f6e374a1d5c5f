"""Damaged files as sources: one line, or the rows that are left; never another error or a dead process."""

from __future__ import annotations

import collections
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam.errors import HornbeamError
from hornbeam.table.sources import ColumnLabels
from tests.unit.table.sources.rows import every_type, people

ROOT = Path(__file__).resolve().parents[2]


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Cut off, some bits flipped, a byte near the end changed, or a block overwritten."""
    changed = bytearray(content)
    how, at = int(rng.integers(4)), int(rng.integers(len(content)))
    if how == 0:
        return content[:at]
    if how == 1:
        for place in rng.integers(len(content), size=3):
            changed[place] ^= 1 << int(rng.integers(8))
    elif how == 2:
        changed[-1 - at % min(len(content), 3000)] = int(rng.integers(256))
    else:
        block = rng.bytes(min(len(content) - at, 40))
        changed[at : at + len(block)] = block
    return bytes(changed)


def read_damaged(kind: str, seed: int, folder: Path) -> collections.Counter[str]:
    whole, path = folder / f"whole.{kind}", folder / f"damaged.{kind}"
    if kind == "parquet":
        pq.write_table(every_type(200).drop_columns(["view"]), whole, row_group_size=50)
    else:
        pc.write_csv(people(200), whole)
        if kind == "csv.gz":
            whole.write_bytes(gzip.compress(whole.read_bytes()))
    content, rng = whole.read_bytes(), np.random.default_rng(seed)
    seen: collections.Counter[str] = collections.Counter()
    for _ in range(250):
        path.write_bytes(damaged(content, rng))
        try:
            source = hb.source(path)
            categories = ColumnLabels(source.schema)
            for chunk in source.scan():
                categories.add(chunk)
            source.sample(10)
            seen["read"] += 1
        except HornbeamError as error:
            fine = "\n" not in str(error) and path.name in str(error)
            seen["refused" if fine else f"badly refused: {error}"] += 1
    return seen


@pytest.mark.parametrize(("kind", "seed"), [("parquet", 3), ("parquet", 4), ("csv", 1), ("csv.gz", 1)])
def test_damaged_files_are_refused_or_read(kind: str, seed: int, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.faults.test_damaged_sources import read_damaged; "
        "print(*read_damaged(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, kind, str(seed), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert set(done.stdout.split()) <= {"read", "refused"}
