"""Trees over sources: BOAT against bare scans, memory, RainForest and those who also read from disk."""

import argparse
import importlib.util
import os
import statistics
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import boat_sets, common
from benchmarks.answers import confirm
from benchmarks.boat_sets import Set
from benchmarks.common import Verdict
from hornbeam_experiments.boat import growths, probe

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 10**9
ROWS, QUICK_ROWS, HUGE_ROWS = 10_000_000, 1_000_000, 100_000_000
DEEP = {"max_depth": 8, "min_samples_leaf": 50}
ENTRIES, FAMILY = 3_000_000, 0.15  # of all rows: 1.5 million of ten
MOST_FAMILY = 1_500_000
BARE: dict[str, Any] = {"kind": "bare"}
BOAT: dict[str, Any] = {"algorithm": "boat", "memory_limit": LIMIT}
MEMORY: dict[str, Any] = {"algorithm": "memory"}
HYBRID = {"algorithm": "rf_hybrid", "memory_limit": LIMIT, "avc_entries": ENTRIES}
VERTICAL = HYBRID | {"algorithm": "rf_vertical", "avc_entries": 1_800_000}
PEERS = {"scikit-learn": "sklearn", "XGBoost": "xgboost", "Spark": "pyspark"}

Told = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """The growths of one contestant on one set: medians of CPU and wall seconds, all else of the last."""

    set: str
    contestant: str
    told: tuple[Told, ...] = field(repr=False)

    @property
    def cpu(self) -> float:
        return statistics.median(told["cpu"] for told in self.told)

    @property
    def wall(self) -> float:
        return statistics.median(told["wall"] for told in self.told)

    @property
    def last(self) -> Told:
        return self.told[-1]

    @property
    def bytes(self) -> int:
        """Read from the source and written for a while."""
        return int(self.last.get("bytes", 0) + self.last.get("spilled_bytes", 0))

    def cells(self) -> tuple[str, ...]:
        last = self.last
        return (
            f"{self.set}: {self.contestant}",
            f"{self.cpu:.2f} s",
            f"{self.wall:.2f} s",
            str(last.get("scans", "-")),
            f"{last['bytes'] / 1e6:.0f} MB" if "bytes" in last else "-",
            f"{last['spilled_bytes'] / 1e6:.0f} MB" if last.get("spilled_bytes") else "-",
            f"{last['peak']:.0f} MB",
            str(last.get("alarms", "-")),
            str(last.get("nodes", "-")),
        )

    def record(self) -> Told:
        return {"set": self.set, "contestant": self.contestant, "runs": list(self.told)}


HEAD = ("set: contestant", "CPU", "wall", "scans", "read", "spilled", "peak", "alarms", "nodes")


def ask(place: Set, question: Told) -> Told:
    asked = {"kind": "grow", "source": place.place, "options": place.options, "parameters": DEEP, **question}
    if "avc_entries" in question:
        asked.setdefault("family_rows", min(round(FAMILY * place.rows), MOST_FAMILY))
    return growths.ask(asked, None if asked["kind"] in probe.KINDS else "benchmarks.boat_child")


def measure(place: Set, contestants: dict[str, Told], repeats: int, truth: str | None) -> list[Row]:
    """Everybody in turn, round after round. The trees first: a wrong one ends the benchmark."""
    told: dict[str, list[Told]] = {name: [] for name in contestants}
    for turn in range(repeats):
        for name, question in contestants.items():
            print(f"{place.name}: {name}, {turn + 1} of {repeats}", file=sys.stderr)
            answer = ask(place, question)
            confirm("refused" not in answer, f"{place.name}: {name} refuses: {answer.get('refused')}")
            if "digest" in answer:
                truth = truth or answer["digest"]
                confirm(answer["digest"] == truth, f"{place.name}: {name} grew another tree")
            told[name].append(answer)
    return [Row(place.name, name, tuple(answers)) for name, answers in told.items()]


# ---- the sets ----


def full_growth(cache: Path, rows: int, repeats: int) -> list[list[Row]]:
    """Depth 8 on functions 1, 6 and 7 with and without noise, each against the tree of `fit`."""
    found = []
    contestants = {"two bare scans": BARE, "boat": BOAT, "memory": MEMORY, "rf_hybrid": HYBRID}
    for function in (1, 6, 7):
        for noise in (0.0, 0.05):
            place = boat_sets.plain(cache, function, noise, rows)
            print(f"{place.name}: fit", file=sys.stderr)
            truth = ask(place, {"kind": "fit"})["digest"]
            found.append(measure(place, contestants, repeats, truth))
    return found


def papers_setting(cache: Path, rows: int, repeats: int) -> list[list[Row]]:
    """Families below 1.5 million rows are leaves: nothing is left to be finished in memory."""
    stop = {"parameters": {"min_samples_split": round(FAMILY * rows)}, "family_rows": round(FAMILY * rows)}
    named = {"boat": BOAT, "memory": MEMORY, "rf_hybrid": HYBRID, "rf_vertical": VERTICAL}
    contestants = {name: question | stop for name, question in named.items()}
    places = [boat_sets.plain(cache, function, 0.0, rows) for function in (1, 6, 7)]
    return [measure(place, contestants, repeats, None) for place in places]


def expensive_scans(cache: Path, rows: int, repeats: int) -> list[list[Row]]:
    """Function 7 with noise as a query and as a wide compressed file."""
    plain = boat_sets.plain(cache, 7, 0.05, rows)
    truth = ask(plain, MEMORY)["digest"]
    contestants = {"boat": BOAT, "rf_hybrid": HYBRID}
    star = measure(boat_sets.star(cache, plain), contestants, repeats, truth)
    wide = boat_sets.wide(cache, 7, 0.05, rows)
    return [star, measure(wide, contestants, repeats, ask(wide, {"kind": "fit"})["digest"])]


def numbers(cache: Path, rows: int, repeats: int) -> list[list[Row]]:
    """What is summed and not only counted: an income, classes of weighted rows, and classes that weigh."""
    asked: list[tuple[Set, Told]] = [
        (boat_sets.numbers(cache, rows, "income", ["income"]), {"target": "income"}),
        (
            boat_sets.numbers(cache, rows, "income, weights", ["income", "weight"], "weight"),
            {"target": "income"},
        ),
        (boat_sets.numbers(cache, rows, "weights", ["class", "weight"], "weight"), {}),
        (boat_sets.numbers(cache, rows, "class_weight", ["class"]), {"class_weight": "balanced"}),
    ]
    found = []
    for place, question in asked:
        variance = {"parameters": DEEP | {"criterion": "variance"}} if "target" in question else {}
        named = {"boat": BOAT, "memory": MEMORY, "rf_hybrid": HYBRID}
        contestants = {name: how | question | variance for name, how in named.items()}
        truth = ask(place, {"kind": "fit"} | question | variance)["digest"]
        found.append(measure(place, contestants, repeats, truth))
    return found


def peers(cache: Path, rows: int) -> tuple[list[Row], list[tuple[str, str]]]:
    """Those who are there, on function 7 with noise; their trees are others than ours."""
    place, rows_, skips = boat_sets.plain(cache, 7, 0.05, rows), [], []
    for name, module in PEERS.items():
        if importlib.util.find_spec(module) is None:
            skips.append((name, f"{module} is not installed; pip install {module}"))
            continue
        print(f"{place.name}: {name}", file=sys.stderr)
        told = ask(place, {"kind": name})
        told["cpu"] += told.pop("other cpu", 0.0)
        told["peak"] += told.pop("other peak", 0.0)
        rows_.append(Row(place.name, name, (told,)))
    return rows_, skips


def huge(cache: Path) -> list[list[Row]]:
    """100 million rows within 1 GB; the tree against that of another algorithm."""
    place = boat_sets.plain(cache, 7, 0.05, HUGE_ROWS)
    return [measure(place, {"boat": BOAT, "rf_hybrid": HYBRID}, 1, None)]


# ---- verdicts ----


def judge_full(rows: list[Row], settled: bool, floors: bool) -> list[Verdict]:
    bare, boat, memory, hybrid = rows

    def lower(
        claim: str, value: float, floor: float | None, goal: float | None = None, unit: str = "x"
    ) -> Verdict:
        bound = (floor, goal) if floors else (None, None)
        return Verdict(f"{boat.set}: {claim}", value, "lower", *bound, unit)

    verdicts = [
        lower("boat / two bare scans", boat.cpu / bare.cpu, 4 if settled else 11, 4 if settled else 7),
        lower("boat / one scan, then memory", boat.cpu / memory.cpu, 1.2),
        lower("boat / rf_hybrid", boat.cpu / hybrid.cpu, 1.1 if settled else 0.85),
        lower("boat / rf_hybrid, bytes", boat.bytes / hybrid.bytes, None if settled else 0.4),
        lower("boat, scans", boat.last["scans"], 3, 2, ""),
    ]
    above = (boat.last["peak"] - boat.last["begun"]) / (LIMIT / 1e6)
    return [*verdicts, lower("boat, memory above the start / the limit", above, 1.0)]


def judge(
    full: list[list[Row]], paper: list[list[Row]], expensive: list[list[Row]], floors: bool
) -> list[Verdict]:
    verdicts = []
    for rows in full:
        verdicts += judge_full(rows, rows[0].set == "F1, 0 % noise", floors)
    for boat, hybrid in expensive:
        ratio = hybrid.cpu / boat.cpu
        verdicts.append(Verdict(f"{boat.set}: rf_hybrid / boat", ratio, floor=2 if floors else None))
    for rows in paper:
        verdicts.append(
            Verdict(f"{rows[0].set}, the paper's stop: rf_hybrid / boat", rows[2].cpu / rows[0].cpu)
        )
    return verdicts


def show(title: str, groups: Iterable[Iterable[Row]]) -> None:
    body = [row.cells() for rows in groups for row in rows]
    if body:
        print(f"\n{title}")
        print(common.format_table(HEAD, body))


def say_plainly(paper: list[list[Row]]) -> None:
    """What the paper's own setting shows here."""
    for boat, memory, hybrid, vertical in paper:
        print(
            f"{boat.set}: boat reads {boat.last['scans']} times, rf_hybrid {hybrid.last['scans']} times. "
            f"In times boat's CPU, rf_hybrid takes {hybrid.cpu / boat.cpu:.2f}, rf_vertical "
            f"{vertical.cpu / boat.cpu:.2f}, one scan and then memory {memory.cpu / boat.cpu:.2f}."
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a million rows and one round; no floors")
    parser.add_argument("--huge", action="store_true", help="only 100 million rows within 1 GB")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--cache", type=Path, default=boat_sets.default_cache(), help="where the sets are kept"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=("full", "numbers", "paper", "expensive", "peers"),
        help="some parts",
    )
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    setting = common.environment(
        ["hornbeam", "pyarrow", "duckdb", "scikit-learn", "xgboost", "xgboost-cpu", "pyspark"]
    )
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    rows, repeats = (QUICK_ROWS, 1) if options.quick else (ROWS, options.repeats)
    parts: dict[str, Callable[..., list[list[Row]]]] = {
        "full": full_growth,
        "numbers": numbers,
        "paper": papers_setting,
        "expensive": expensive_scans,
    }
    chosen = options.only or (*parts, "peers")
    found: dict[str, list[list[Row]]] = {name: [] for name in parts}
    others: list[Row] = []
    skips: list[tuple[str, str]] = []
    if options.huge:
        show(f"{HUGE_ROWS:,} rows", huge(options.cache))
        return 0
    for name, run in parts.items():
        if name in chosen:
            found[name] = run(options.cache, rows, repeats)
    if "peers" in chosen:
        others, skips = peers(options.cache, rows)
    show(f"{rows:,} rows, to depth 8, leaves of 50, limit 1 GB", found["full"])
    show("Numbers and weights, to depth 8, leaves of 50, limit 1 GB", found["numbers"])
    show("The paper's setting: smaller families than 1.5 M of 10 M rows are leaves", found["paper"])
    say_plainly(found["paper"])
    show("Expensive scans", found["expensive"])
    show("Peers; their trees are binned or of float32", [others])
    records = {"setting": setting, "rows": rows, "repeats": repeats}
    groups = [*found["full"], *found["numbers"], *found["paper"], *found["expensive"], others]
    records["measured"] = [row.record() for group in groups for row in group]
    verdicts = judge(found["full"], found["paper"], found["expensive"], floors=not options.quick)
    return common.close("boat", verdicts, records, skips)


if __name__ == "__main__":
    raise SystemExit(main())
