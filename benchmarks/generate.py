"""Generated rows to files: seconds, rows a second and peak memory, which must not grow with the rows."""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import run

from benchmarks import common
from benchmarks.common import Verdict

ROOT = Path(__file__).resolve().parent.parent
ROWS = 1_000_000
FORMATS = ("parquet", "csv")
# Agrawal's function 7, seed 1: the checksum of the first 100,000 rows, and the exact share of group A.
ANSWER_ROWS = 100_000
ANSWER = "33cceaf990defab9604bafeff76387bbcbc03d45721b6b29b696fc1278390f94"
SHARE_OF_A = 0.48997


@dataclass(frozen=True)
class Run:
    """One run of the command in a process of its own."""

    format: str
    rows: int
    wall: float
    cpu: float
    file_bytes: int
    peak_bytes: int
    hash: str
    share_of_a: float


def generate(rows: int, form: str, folder: Path) -> Run:
    """Make a file and remove it again; the command says what it holds."""
    place = folder / f"rows.{form}"
    command = [sys.executable, "-m", "benchmarks.generate", "--one", str(rows), str(place)]
    begin = time.perf_counter()
    done = run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    wall = time.perf_counter() - begin
    made = json.loads(done.stdout)
    used = json.loads(done.stderr.splitlines()[-1])
    size = place.stat().st_size
    place.unlink()
    share = made["classes"]["A"] / rows
    return Run(form, rows, wall, used["cpu"], size, used["peak"], made["hash"], share)


def run_command(rows: int, place: str) -> None:
    """In the process that is measured: nothing but the command is loaded; its peak goes to stderr."""
    from hornbeam.cli import main

    try:
        main(
            [
                "generate",
                "agrawal",
                "--function",
                "7",
                "--seed",
                "1",
                "--rows",
                str(rows),
                "-o",
                place,
                "--json",
            ]
        )
    finally:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = {"peak": common.peak_bytes(), "cpu": usage.ru_utime + usage.ru_stime}
        print(json.dumps(used), file=sys.stderr)


def confirm_answer(folder: Path) -> None:
    """Both formats hold the rows that the checksum names, and a larger set holds its groups' exact shares."""
    for form in FORMATS:
        found = generate(ANSWER_ROWS, form, folder)
        if found.hash != ANSWER:
            raise SystemExit(
                f"the first {ANSWER_ROWS} rows as {form} have the hash {found.hash}, not {ANSWER}"
            )


def confirm_share(found: Run) -> None:
    deviation = (SHARE_OF_A * (1 - SHARE_OF_A) / found.rows) ** 0.5
    if abs(found.share_of_a - SHARE_OF_A) > 5 * deviation:
        raise SystemExit(f"{found.rows} rows have {found.share_of_a:.5f} in group A, not {SHARE_OF_A}")


def bare_seconds(rows: int, form: str, folder: Path) -> float:
    """CPU seconds of pyarrow alone for as many rows of such columns, drawn before: what nobody can beat."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    from hornbeam.datasets import generate as rows_of

    pieces = [batch for batch in rows_of("agrawal", min(rows, 2**19), seed=1, function=7)]
    table = pa.Table.from_batches(pieces)
    place = folder / f"bare.{form}"
    begin = time.process_time()
    if form == "csv":
        csv.write_csv(table, place, csv.WriteOptions(quoting_style="none", include_header=False))
    else:
        parquet.write_table(table, place, row_group_size=2**17)
    spent = time.process_time() - begin
    place.unlink()
    return spent * rows / table.num_rows


def print_runs(runs: Sequence[Run]) -> None:
    body = [
        [
            f"{found.rows:,} rows, {found.format}",
            f"{found.wall:.2f} s",
            f"{found.cpu:.2f} s",
            f"{found.rows / found.wall / 1e6:.2f} M/s",
            f"{found.file_bytes / 1e6:.0f} MB",
            f"{found.peak_bytes / 1e6:.0f} MB",
        ]
        for found in runs
    ]
    print(common.format_table(["set", "wall", "CPU", "rows", "file", "peak memory"], body))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"rows of the larger set (default {ROWS:,})")
    parser.add_argument("--folder", default=None, help="where to write; a temporary folder by default")
    parser.add_argument("--one", nargs=2, metavar=("ROWS", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_command(int(options.one[0]), options.one[1])
        return 0
    setting = common.environment(["hornbeam", "numpy", "pyarrow"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    print("Agrawal's function 7, nine attributes and the class; start of Python and imports are counted.\n")
    runs: list[Run] = []
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        confirm_answer(folder)
        for form in FORMATS:
            small = generate(max(options.rows // 5, 1), form, folder)
            large = generate(options.rows, form, folder)
            confirm_share(large)
            runs += [small, large]
            growth = large.peak_bytes / small.peak_bytes
            verdicts.append(
                Verdict(
                    f"peak memory, five times the rows / the rows, {form}", growth, better="lower", floor=1.25
                )
            )
            bare = bare_seconds(options.rows, form, folder)
            verdicts.append(
                Verdict(f"CPU, generate / bare writing, {form}", large.cpu / bare, better="lower")
            )
    print_runs(runs)
    return common.close("generate", verdicts, {"setting": setting, "rows": [asdict(r) for r in runs]}, [])


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    raise SystemExit(main())
