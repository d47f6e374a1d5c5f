"""Ten folds and the tree of all rows, against the peers and against our own trees grown one by one; memory.

Peers are measured at the level of users: `fit` and `cross_validate` of scikit-learn, ours of `cross_validate`
alone, which gives the tree of all rows too. Algorithms and one tree are measured at the level of growth
(`grow_sets`), over a table that is read already; serial presorts once, as the others do.
"""

import argparse
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from benchmarks import common, tables
from benchmarks.common import Verdict, format_seconds, geometric_mean
from benchmarks.folds import (
    ALGORITHMS,
    Work,
    confirm_scores,
    confirm_trees,
    cross_validation_of,
    run_rpart,
)
from benchmarks.memory import measure_growth
from benchmarks.peers import Absent, find_peers, find_rpart
from tests import real_data

NOMINAL = ("car", "mushroom", "led24", "nursery", "connect4")
GENERATED, DEPTH = (100_000, 500_000), 6
KINDS = ("tree", "rule")  # folds agree on a tree; the tests of the rule nearly tie, and they part early
STABLE = ("mushroom", f"tree 500k depth {DEPTH}")
QUICK = ("yeast", "spambase", "mushroom", "tree 100k")
FIXED = ALGORITHMS[:-1]
# Blockeel and Struyf, figure 14: what CV gains over S, by kind of set.
PAPER = {
    "large data, small trees": 6.30,
    "large data, nominal": 4.09,
    "large data, numeric": 2.74,
    "small data, two classes": 2.00,
    "small data, more classes": 1.51,
}


@dataclass(frozen=True)
class Row:
    """What one set gave: CPU seconds of everybody, entries that growth read, bytes."""

    table: str
    shape: str
    group: str
    kind: str  # of the paper's figure 14
    peers: Mapping[str, float]
    growth: Mapping[str, float]  # by algorithm, and "one"
    entries: Mapping[str, int]  # "shared", "serial" (what the sets would have read one by one), "one"
    memory: Mapping[str, int]  # "one", "folds"
    accuracy: Mapping[str, float]
    runs: int

    @property
    def over_peers(self) -> dict[str, float]:
        ours = self.peers["hornbeam"]
        return {name: took / ours for name, took in self.peers.items() if name != "hornbeam"}

    @property
    def sharing(self) -> float:
        return self.growth["serial"] / self.growth["auto"]

    @property
    def over_one(self) -> float:
        return self.growth["auto"] / self.growth["one"]

    @property
    def over_best(self) -> float:
        return self.growth["auto"] / min(self.growth[name] for name in FIXED)

    @property
    def peak(self) -> float:
        return self.memory["folds"] / self.memory["one"]


def kind_of(rows: int, nodes: int, numeric: bool, classes: int) -> str:
    """The leaf of figure 14 that a set falls into; its trees were 'small' up to 48 nodes."""
    if rows <= 4601:
        return "small data, more classes" if classes > 2 else "small data, two classes"
    if nodes <= 48:
        return "large data, small trees"
    return "large data, numeric" if numeric else "large data, nominal"


def works(chosen: Sequence[str] | None) -> Iterator[tuple[str, Work]]:
    """The sets asked for, each with its group; tables are read one at a time."""
    if real_data.find_folder() is not None:
        for case in tables.numeric_cases():
            if chosen is None or case.name in chosen:
                yield "numeric", Work(case)
        for case in tables.mixed_cases():
            if case.name in NOMINAL and (chosen is None or case.name in chosen):
                yield "nominal", Work(case)
    for kind, size in itertools.product(KINDS, GENERATED):
        if chosen is None or tables.size_name(kind, size) in chosen:
            yield "generated", Work(tables.generate(kind, size), max_depth=DEPTH)


def measure(group: str, work: Work, rpart: str | Absent, memory: bool) -> Row:
    """The answers first, then the clocks."""
    confirm_trees(work)
    contestants = {peer.name: cross_validation_of(peer, work) for peer in find_peers(work.max_depth)[0]}
    took = common.measure(contestants, repeats=5, budget=25)
    scores = {name: float(timing.result) for name, timing in took.items()}
    confirm_scores(work, scores["hornbeam"], scores["scikit-learn"])
    peers = {name: timing.median for name, timing in took.items()}
    if isinstance(rpart, str) and work.numeric and len(work.folds) <= 100_000:
        seconds, scores["rpart"] = run_rpart(rpart, work, runs=1)
        peers["rpart"] = min(seconds)
    runs = {name: lambda name=name: work.grow(name) for name in ALGORITHMS}  # type: ignore[misc]
    growth = common.measure({**runs, "one": work.grow_one}, repeats=9, budget=20)
    shared, one = growth["auto"].result, growth["one"].result
    classes = len(work.target.labels)
    return Row(
        table=work.name,
        shape=work.case.shape,
        group=group,
        kind=kind_of(len(work.folds), shared.tree(0).n_nodes, work.numeric, classes),
        peers=peers,
        growth={name: timing.median for name, timing in growth.items()},
        entries={
            "shared": int(shared.levels.entries.sum()),
            "serial": int(shared.levels.own_entries.sum()),
            "one": int(one.levels.entries.sum()),
        },
        memory=measure_growth(work) if memory else {},
        accuracy=scores,
        runs=len(growth["auto"].seconds),
    )


def print_rows(rows: Sequence[Row]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row.over_peers))
    print("\nTree of all rows and ten folds, level of users: peer / hornbeam")
    body = [
        (
            f"{row.table} {row.shape}",
            format_seconds(row.peers["hornbeam"]),
            *(f"{row.over_peers[name]:.1f}x" if name in row.over_peers else "-" for name in names),
            f"{row.accuracy['hornbeam']:.3f}",
            f"{row.accuracy['scikit-learn']:.3f}",
        )
        for row in rows
    ]
    head = ("table", "hornbeam", *names, "accuracy", "scikit-learn's")
    print(common.format_table(head, body))
    print("\nGrowth alone; in brackets the same ratio of list entries read, which is its limit")
    body = [
        (
            f"{row.table} {row.shape}",
            format_seconds(row.growth["one"]),
            *(f"{row.growth[name] / row.growth['one']:.2f}" for name in ALGORITHMS),
            f"{row.sharing:.2f} ({row.entries['serial'] / row.entries['shared']:.2f})",
            f"{row.over_one:.2f} ({row.entries['shared'] / row.entries['one']:.2f})",
            f"{row.over_best:.2f}",
            f"{row.peak:.2f}" if row.memory else "-",
        )
        for row in rows
    ]
    print(
        common.format_table(
            ("table", "one tree", *ALGORITHMS, "serial/shared", "shared/one", "auto/best", "memory"), body
        )
    )


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """The floors and goals, those of the sets that were measured."""
    verdicts = judge_peers(rows) + judge_sharing(rows)
    worst = max(rows, key=lambda row: row.over_best)
    verdicts.append(
        Verdict(
            f"auto / best fixed algorithm, worst set ({worst.table})",
            worst.over_best,
            better="lower",
            floor=1.1,
        )
    )
    for row in rows:
        if row.memory:
            floor = None if row.table == "connect4" else 3.0
            claim = f"peak memory, ten folds / one tree, {row.table}"
            verdicts.append(Verdict(claim, row.peak, better="lower", floor=floor))
    return verdicts


def judge_peers(rows: Sequence[Row]) -> list[Verdict]:
    verdicts = []
    claim = "users: scikit-learn fit + cross_validate / ours"
    for group, floor, goal in (("numeric", 15, 27), ("nominal", None, None)):
        if mine := [row.over_peers["scikit-learn"] for row in rows if row.group == group]:
            what = f"{claim}, {group} real sets (mean of {len(mine)})"
            verdicts.append(Verdict(what, geometric_mean(mine), floor=floor, goal=goal))
    for row in rows:
        if row.group == "generated":
            large = "500k" in row.table
            bounds = {"floor": 60, "goal": 120} if large else {}
            verdicts.append(Verdict(f"{claim}, {row.table}", row.over_peers["scikit-learn"], **bounds))
    for row in rows:
        fastest = min(row.over_peers, key=lambda name: row.over_peers[name])
        claim = f"users: fastest peer ({fastest}) / ours, {row.table}"
        verdicts.append(Verdict(claim, row.over_peers[fastest], goal=7))
    return verdicts


def judge_sharing(rows: Sequence[Row]) -> list[Verdict]:
    verdicts = []
    if numeric := [row for row in rows if row.group == "numeric"]:
        mean = geometric_mean(row.sharing for row in numeric)
        verdicts.append(
            Verdict(f"growth: serial / shared, numeric sets (mean of {len(numeric)})", mean, floor=2)
        )
    for row in rows:
        if row.table in STABLE:
            verdicts.append(Verdict(f"growth: serial / shared, {row.table}", row.sharing, floor=6, goal=8))
            claim = f"growth: shared / one tree, {row.table}"
            verdicts.append(Verdict(claim, row.over_one, better="lower", goal=1.5))
    for kind, figure in PAPER.items():
        if mine := [row for row in rows if row.kind == kind]:
            claim = f"growth: serial / shared, {kind} ({', '.join(row.table for row in mine)})"
            verdicts.append(Verdict(claim, geometric_mean(row.sharing for row in mine), goal=figure))
    if real := [row for row in rows if row.group != "generated"]:
        mean = geometric_mean(row.over_one for row in real)
        claim = f"growth: shared / one tree, real sets (mean of {len(real)})"
        verdicts.append(Verdict(claim, mean, better="lower", goal=3.5))
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}; no memory")
    parser.add_argument("--sets", help='names with commas, such as letter,mushroom,"tree 500k"')
    options = parser.parse_args()
    chosen = options.sets.split(",") if options.sets else QUICK if options.quick else None
    peers, absent = find_peers()
    rpart = find_rpart()
    skips = [(peer.name, peer.reason) for peer in [*absent, *([rpart] if isinstance(rpart, Absent) else [])]]
    if missing := {"hornbeam", "scikit-learn"} - {peer.name for peer in peers}:
        print(f"nothing to compare without {' and '.join(sorted(missing))}; run this by `make bench`")
        return 2
    if real_data.find_folder() is None:
        skips.append(("real sets", real_data.ABSENT))
    setting = common.environment(["hornbeam", "scikit-learn", "lightgbm", "ydf", "numpy"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    print("CPU seconds, medians of interleaved runs, one thread; every tree of a fold is that of a lone fit.")
    rows = []
    for group, work in works(chosen):
        print(f"  {work.name} {work.case.shape}: {work.case.got}", flush=True)
        rows.append(measure(group, work, rpart, memory=not options.quick))
    if not rows:
        print("no set was measured: name sets that are there, such as --sets letter,mushroom")
        return 2
    if isinstance(rpart, str):
        skips.append(("rpart on nominal sets and above 100k rows", "takes numbers here, and minutes there"))
    print_rows(rows)
    records = {"setting": setting, "rows": [asdict(row) for row in rows]}
    return common.close("cross_validation", judge(rows), records, skips)


if __name__ == "__main__":
    raise SystemExit(main())
