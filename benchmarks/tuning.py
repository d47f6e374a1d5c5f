"""Parameters chosen by cross-validation: TreeSearchCV against GridSearchCV, and the whole of CVC4.5.

The same grid and the same folds, as users call them; both fit the best setting on all rows at the end. Scores
are confirmed first: those of sampled settings and folds are those of lone fits, bit by bit, and mean scores
are scikit-learn's but for ties.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks import common
from benchmarks.common import Verdict, format_seconds, geometric_mean
from benchmarks.searches import (
    Search,
    confirm_lone_fits,
    confirm_protocol,
    confirm_scores,
    large_cases,
    small_cases,
    whole_protocol,
)
from tests import real_data

# How many times as long scikit-learn must take: (floor, goal).
BOUNDS = {
    "min_samples_split": (100, 300),
    "max_depth": (100, 300),
    "ccp_alpha": (100, 300),
    "min_samples_leaf": (25, 60),
}
PROTOCOL = 5.0  # CPU seconds of CVC4.5 on Pima, at most


@dataclass(frozen=True)
class Row:
    """One search: CPU seconds of both, the largest difference of a mean score, and what was chosen."""

    table: str
    shape: str
    parameter: str
    settings: int
    splits: int
    ours: float
    theirs: float
    difference: float
    chosen: str
    theirs_chosen: str

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


def searches(quick: bool) -> Iterator[Search]:
    """The small sets 5 times 20 folds, the large ones 10 folds; tables are read one at a time."""
    repetitions = 1 if quick else 5
    for case in small_cases():
        for parameter in ("min_samples_split", "min_samples_leaf"):
            yield Search(case, parameter, 20, repetitions)
    if quick:
        return
    for case in large_cases():
        for parameter in ("ccp_alpha", "max_depth"):
            yield Search(case, parameter, 10)


def measure(search: Search) -> Row:
    """The answers first, then the clocks."""
    confirm_lone_fits(search, search.ours())
    took = common.measure({"ours": search.ours, "theirs": search.theirs}, repeats=3, budget=40)
    ours, theirs = took["ours"], took["theirs"]
    difference = confirm_scores(search, ours.result, theirs.result)
    return Row(
        table=search.case.name,
        shape=search.case.shape,
        parameter=search.parameter,
        settings=len(search.values),
        splits=len(search.splits),
        ours=ours.median,
        theirs=theirs.median,
        difference=difference,
        chosen=f"{ours.result.best_params_[search.parameter]:.3g}",
        theirs_chosen=f"{theirs.result.best_params_[search.parameter]:.3g}",
    )


def measure_protocol() -> float:
    """CPU seconds of CVC4.5 on Pima."""
    case = next(small_cases())
    took = common.measure({"CVC4.5": lambda: whole_protocol(case)}, repeats=3, budget=30)["CVC4.5"]
    confirm_protocol(case, took.result)
    return took.median


def print_rows(rows: Sequence[Row]) -> None:
    print("\nThe whole search, level of users: scikit-learn / hornbeam")
    body = [
        (
            f"{row.table} {row.shape}, {row.parameter}",
            f"{row.settings} x {row.splits}",
            format_seconds(row.ours),
            format_seconds(row.theirs),
            f"{row.ratio:.0f}x",
            f"{row.difference:.4f}",
            row.chosen,
            row.theirs_chosen,
        )
        for row in rows
    ]
    head = (
        "search",
        "fits",
        "hornbeam",
        "scikit-learn",
        "ratio",
        "scores differ",
        "chosen",
        "scikit-learn's",
    )
    print(common.format_table(head, body))


def judge(rows: Sequence[Row], protocol: float) -> list[Verdict]:
    """A floor for each search, the mean of each parameter for information, and the protocol's seconds."""
    verdicts = []
    for row in rows:
        floor, goal = BOUNDS[row.parameter]
        verdicts.append(
            Verdict(f"GridSearchCV / ours, {row.table}, {row.parameter}", row.ratio, floor=floor, goal=goal)
        )
    for parameter in BOUNDS:
        if mine := [row.ratio for row in rows if row.parameter == parameter]:
            claim = f"GridSearchCV / ours, {parameter} (mean of {len(mine)})"
            verdicts.append(Verdict(claim, geometric_mean(mine)))
    claim = "CVC4.5 on Pima: 22 values of m, 5 x 20 folds, CPU"
    verdicts.append(Verdict(claim, protocol, better="lower", floor=PROTOCOL, unit=" s"))
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Pima and Breast, one repetition of 20 folds")
    options = parser.parse_args()
    if real_data.find_folder() is None:
        print(f"nothing to measure: {real_data.ABSENT}")
        return 2
    setting = common.environment(["hornbeam", "scikit-learn", "numpy"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    print("CPU seconds, medians of interleaved runs, one thread; scores are those of lone fits.")
    rows = []
    for search in searches(options.quick):
        print(f"  {search.name} {search.case.shape}: {search.fits:,} fits, {search.case.got}", flush=True)
        rows.append(measure(search))
    protocol = measure_protocol()
    print_rows(rows)
    print(f"\nCVC4.5 on Pima: {format_seconds(protocol)}")
    skips = [("adult_train and letter", "left out by --quick")] if options.quick else []
    records = {"setting": setting, "rows": [asdict(row) for row in rows], "CVC4.5 on Pima": protocol}
    return common.close("tuning", judge(rows, protocol), records, skips)


if __name__ == "__main__":
    raise SystemExit(main())
