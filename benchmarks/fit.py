"""One tree against the peers: fit and predict by CPU time, one thread each; then two threads and memory."""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common, tables
from benchmarks.answers import (
    POINT,
    accuracy,
    confirm,
    confirm_held_out_answer,
    confirm_same_answers,
    confirm_training_answer,
)
from benchmarks.common import Verdict, format_seconds
from benchmarks.memory import measure_peak
from benchmarks.peers import Absent, Hornbeam, Peer, find_peers, find_rpart
from tests import real_data

LABELS = ("integer", "string")
TEST_ROWS = 20_000


@dataclass(frozen=True)
class Row:
    """What one peer did on one table."""

    group: str
    table: str
    shape: str
    labels: str
    min_leaf: int
    peer: str
    fit: float
    predict: float
    accuracy: float  # on the training rows
    runs: int


def contest(
    case: tables.Case, group: str, labels: str, min_leaf: int, peers: Sequence[Peer], budget: float
) -> tuple[list[Row], dict[str, Any]]:
    """Times fit, then predict, of everybody in turn; returns the rows and the models."""
    y = case.labels(labels)
    forms = {peer.name: peer.prepare(case.table) for peer in peers}
    fits = common.measure(
        {p.name: lambda p=p: p.fit(forms[p.name], y, min_leaf) for p in peers},  # type: ignore[misc]
        budget=budget,
    )
    models = {name: timing.result for name, timing in fits.items()}
    asked = [p for p in peers if can_predict(p, models[p.name], forms[p.name])]
    asks = common.measure(
        {p.name: lambda p=p: p.predict(models[p.name], forms[p.name]) for p in asked},  # type: ignore[misc]
        budget=budget / 2,
    )
    peers = asked
    rows = [
        Row(
            group,
            case.name,
            case.shape,
            labels,
            min_leaf,
            p.name,
            fits[p.name].median,
            asks[p.name].median,
            accuracy(asks[p.name].result, y),
            len(fits[p.name].seconds),
        )
        for p in peers
    ]
    return rows, {name: (models[name], timing.result) for name, timing in asks.items()}


def can_predict(peer: Peer, model: Any, table: Any) -> bool:
    """A peer may refuse its own tree (YDF has a limit of nodes): it is named and left out. We may not."""
    try:
        peer.predict(model, table)
    except Exception as error:
        if isinstance(peer, Hornbeam):
            raise
        print(f"    {peer.name} left out: {error}")
        return False
    return True


def run_rpart(script: str, case: tables.Case, group: str, min_leaf: int, runs: int) -> Row:
    """rpart in its own process: R reports its CPU seconds."""
    rows, columns = case.table.shape
    with tempfile.TemporaryDirectory() as folder:
        np.asfortranarray(case.table).ravel(order="F").tofile(Path(folder) / "table.bin")
        (Path(folder) / "labels.txt").write_text("\n".join(case.texts.tolist()) + "\n")
        sizes = [str(number) for number in (rows, columns, min_leaf, runs)]
        program = Path(__file__).resolve().parent / "rpart.R"
        done = subprocess.run([script, program, folder, *sizes], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    fit, ask = float(np.median(told["fit"])), float(np.median(told["predict"]))
    return Row(group, case.name, case.shape, "string", min_leaf, "rpart", fit, ask, told["accuracy"], runs)


def print_rows(title: str, rows: Sequence[Row], what: str) -> None:
    """A line a table and kind of label: our seconds, and how many times longer each peer takes."""
    print(f"\n{title}: {what}")
    names = list(dict.fromkeys(row.peer for row in rows if row.peer != "hornbeam"))
    cells: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        key = f"{row.table} {row.shape}", row.labels, str(row.min_leaf)
        cells.setdefault(key, {})[row.peer] = getattr(row, what)
    body = [
        [*key, format_seconds(took["hornbeam"])]
        + [f"{took[name] / took['hornbeam']:.2f}x" if name in took else "-" for name in names]
        for key, took in cells.items()
    ]
    print(common.format_table(["table", "labels", "leaf", "hornbeam", *names], body))


def ratios(rows: Iterable[Row], peer: str, what: str, **where: Any) -> list[float]:
    """How many times longer the peer took, for each table that both were given."""
    chosen = [r for r in rows if all(getattr(r, name) == value for name, value in where.items())]
    ours = {
        (r.group, r.table, r.labels, r.min_leaf): getattr(r, what) for r in chosen if r.peer == "hornbeam"
    }
    return [getattr(r, what) / ours[r.group, r.table, r.labels, r.min_leaf] for r in chosen if r.peer == peer]


def measure_numeric(peers: Sequence[Peer], rpart: str | Absent, leaves: Sequence[int]) -> list[Row]:
    """Real sets, the same float64 matrix for everybody."""
    rows: list[Row] = []
    for case in tables.numeric_cases():
        print(f"  {case.name} {case.shape}: {case.got}", flush=True)
        for min_leaf in leaves:
            confirm_held_out_answer(case, min_leaf, peers, POINT)
            answers = []
            for labels in LABELS:
                found, results = contest(case, "real", labels, min_leaf, peers, budget=12)
                confirm_training_answer(case, min_leaf, found[0].accuracy, found[1].accuracy)
                answers.append(results["hornbeam"][1])
                rows += found
            confirm_same_answers(case, *answers)
            if isinstance(rpart, str):
                rows.append(run_rpart(rpart, case, "real", min_leaf, runs=3))
    return rows


def measure_mixed(peers: Sequence[Peer], min_leaf: int) -> list[Row]:
    """Real sets with their text columns: each peer gets what it takes, so the trees are not the same."""
    rows: list[Row] = []
    for case in tables.mixed_cases():
        print(f"  {case.name} {case.shape}: {case.got}", flush=True)
        confirm_held_out_answer(case, min_leaf, peers, 3 * POINT)
        rows += contest(case, "mixed", "string", min_leaf, peers, budget=12)[0]
    return rows


def measure_generated(
    peers: Sequence[Peer],
    rpart: str | Absent,
    kind: str,
    size: int,
    label_kinds: Sequence[str],
    min_leaf: int,
) -> list[Row]:
    """Generated rows, with further rows of the same rule to check the answer."""
    whole = tables.generate(kind, size + TEST_ROWS)
    name = tables.size_name(kind, size)
    case = replace(
        whole, name=name, table=whole.table[:size], codes=whole.codes[:size], texts=whole.texts[:size]
    )
    print(f"  {case.name} {case.shape}: {case.got}", flush=True)
    rows: list[Row] = []
    answers = []
    for labels in label_kinds:
        found, results = contest(case, "generated", labels, min_leaf, peers, budget=90)
        scores = {
            p.name: accuracy(
                p.predict(results[p.name][0], p.prepare(whole.table[size:])), whole.labels(labels)[size:]
            )
            for p in peers[:2]
        }
        ours, theirs = scores.values()
        confirm(abs(ours - theirs) <= POINT, f"{name}: accuracy {ours:.4f} on new rows, {scores}")
        answers.append(results["hornbeam"][1])
        rows += found
    if len(answers) == 2:
        confirm_same_answers(case, *answers)
    if isinstance(rpart, str) and "string" in label_kinds and size <= 500_000:
        rows.append(run_rpart(rpart, case, "generated", min_leaf, runs=1))
    return rows


def measure_threads(case: tables.Case, min_leaf: int) -> float:
    """Wall seconds of one thread over those of two, in turn; the answers must be the same."""
    one, two = Hornbeam(1), Hornbeam(2)
    timings = common.measure(
        {
            "one": lambda: one.fit(case.table, case.codes, min_leaf),
            "two": lambda: two.fit(case.table, case.codes, min_leaf),
        },
        repeats=5,
        budget=120,
        clock=time.perf_counter,
    )
    first, second = (timings[name].result.predict(case.table) for name in ("one", "two"))
    confirm(bool(np.all(first == second)), f"{case.name}: two threads gave another tree")
    return timings["one"].median / timings["two"].median


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """The floors and goals of speed."""
    verdicts = []
    for labels in LABELS:
        for min_leaf in sorted({row.min_leaf for row in rows if row.group == "real"}):
            where = {"group": "real", "labels": labels, "min_leaf": min_leaf}
            what = f"real sets (mean), {labels} labels, min leaf {min_leaf}"
            fit = common.geometric_mean(ratios(rows, "scikit-learn", "fit", **where))
            ask = common.geometric_mean(ratios(rows, "scikit-learn", "predict", **where))
            verdicts.append(Verdict(f"fit, scikit-learn / hornbeam, {what}", fit, floor=5, goal=9))
            verdicts.append(Verdict(f"predict, scikit-learn / hornbeam, {what}", ask, floor=1))
            if binned := ratios(rows, "LightGBM", "fit", **where):
                mean = common.geometric_mean(binned)
                verdicts.append(Verdict(f"fit, LightGBM / hornbeam, {what}", mean, goal=1))
    for name, labels in dict.fromkeys((r.table, r.labels) for r in rows if r.group == "generated"):
        where = {"group": "generated", "table": name, "labels": labels}
        bounded = name in ("rule 100k", "rule 500k")
        what = f"{name}, {labels} labels"
        (fit,) = ratios(rows, "scikit-learn", "fit", **where)
        (ask,) = ratios(rows, "scikit-learn", "predict", **where)
        floor, goal = (15, 25) if bounded else (None, None)
        verdicts.append(Verdict(f"fit, scikit-learn / hornbeam, {what}", fit, floor=floor, goal=goal))
        verdicts.append(Verdict(f"predict, scikit-learn / hornbeam, {what}", ask, floor=1))
        for binned in ratios(rows, "LightGBM", "fit", **where):
            verdicts.append(Verdict(f"fit, LightGBM / hornbeam, {what}", binned, goal=1))
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the generated 5M rows")
    parser.add_argument("--sizes", type=int, nargs="*", help="generated rows instead of 100k, 500k and 5M")
    parser.add_argument("--min-leaf", type=int, nargs="*", default=[10, 1], help="on the real numeric sets")
    options = parser.parse_args()
    sizes = (
        options.sizes if options.sizes is not None else [100_000, 500_000] + [5_000_000] * (not options.quick)
    )
    peers, absent = find_peers()
    rpart = find_rpart()
    skips = [(peer.name, peer.reason) for peer in [*absent, *([rpart] if isinstance(rpart, Absent) else [])]]
    missing = {"hornbeam", "scikit-learn"} - {peer.name for peer in peers}
    if missing:
        print(f"nothing to compare without {' and '.join(sorted(missing))}; run this by `make bench`")
        return 2
    setting = common.environment(["hornbeam", "scikit-learn", "lightgbm", "ydf", "numpy"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    print(
        "CPU seconds, medians of interleaved runs, one thread each. "
        "A ratio is peer / hornbeam: above 1x the peer is slower."
    )
    rows: list[Row] = []
    if real_data.find_folder() is None:
        skips.append(("real sets", real_data.ABSENT))
    else:
        rows += measure_numeric(peers, rpart, options.min_leaf)
        rows += measure_mixed(peers, min_leaf=10)
    for size in sizes:
        rows += measure_generated(peers, rpart, "rule", size, LABELS if size <= 500_000 else LABELS[:1], 10)
        if size <= 500_000:
            rows += measure_generated(peers, rpart, "noise", size, LABELS[:1], 10)
    if isinstance(rpart, str) and max(sizes, default=0) > 500_000:
        skips.append(("rpart above 500k rows", "takes minutes and adds nothing to the comparison"))
    for group, title in (
        ("real", "Real sets, numeric columns only: everybody gets the same float64 matrix"),
        (
            "mixed",
            "Real sets with text: hornbeam, YDF and scikit-learn (behind its one-hot encoder) get text; "
            "LightGBM gets categories made outside the clock",
        ),
        ("generated", "Generated: 20 uniform columns"),
    ):
        if chosen := [row for row in rows if row.group == group]:
            print_rows(title, chosen, "fit")
            print_rows(title, chosen, "predict")
    verdicts = judge(rows)
    verdicts += judge_resources(sizes, skips)
    records = {"setting": setting, "rows": [asdict(row) for row in rows]}
    return common.close("fit", verdicts, records, skips)


def judge_resources(sizes: Sequence[int], skips: list[tuple[str, str]]) -> list[Verdict]:
    """Threads at 500k rows (or the largest size below), peak memory at that size and above."""
    verdicts = []
    if usual := max((size for size in sizes if size <= 500_000), default=0):
        case = tables.generate("rule", usual)
        if (os.cpu_count() or 1) < 2:
            skips.append(("two threads", "this machine has one core"))
        else:
            speedup = measure_threads(case, 10)
            floor = 1.6 if usual == 500_000 else None
            verdicts.append(Verdict(f"wall, one thread / two, {case.name}", speedup, floor=floor))
    for size in (size for size in sizes if size >= usual):
        case = tables.generate("rule", size)
        peak = measure_peak(case, "hornbeam", 10)
        verdicts.append(Verdict(f"peak extra memory / table, {case.name}", peak, better="lower", floor=4))
        theirs = measure_peak(case, "scikit-learn", 10)
        verdicts.append(Verdict(f"  the same for scikit-learn, {case.name}", theirs, better="lower"))
    return verdicts


if __name__ == "__main__":
    raise SystemExit(main())
