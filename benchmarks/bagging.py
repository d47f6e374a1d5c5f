"""Bagging: trees of 10 to 100 bootstrap samples, grown together, one by one, and by scikit-learn."""

import argparse
import itertools
import math
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks import common, tables
from benchmarks.answers import POINT, accuracy, confirm
from benchmarks.common import Verdict, format_seconds, geometric_mean
from hornbeam import BaggedTreesClassifier
from tests import real_data

BAGS = 25
NUMERIC = ("spambase", "pendigits_train", "letter", "adult_train", "electricity", "shuttle")
MIXED = ("car", "mushroom", "nursery", "adult_train", "connect4")
SMALL = ("car", "mushroom", "nursery")  # measured with fewer and with more bags as well
FEWER, MORE = 10, 100
TIMES = 3.0  # scikit-learn's CPU seconds for ours, at least
NEAR = 1.1  # auto for the best of the others, at most
ALGORITHMS = ("auto", "serial", "overlapping")


@dataclass(frozen=True)
class Row:
    """CPU seconds of fitting all bags and of predicting all rows; scikit-learn's where it takes the table."""

    table: str
    shape: str
    bags: int
    min_leaf: int
    leaves: float
    oob: float
    auto: float
    serial: float
    overlapping: float
    predict: float
    peer: float | None
    peer_predict: float | None

    @property
    def best(self) -> float:
        return min(self.serial, self.overlapping)


def ours(
    case: tables.Case, bags: int, min_leaf: int, algorithm: str, oob: bool = False
) -> BaggedTreesClassifier:
    model = BaggedTreesClassifier(
        n_estimators=bags, algorithm=algorithm, min_samples_leaf=min_leaf, oob_score=oob, random_state=0
    )
    return model.fit(case.table, case.codes)


def theirs(case: tables.Case, bags: int, min_leaf: int, oob: bool = False) -> BaggingClassifier:
    tree = DecisionTreeClassifier(min_samples_leaf=min_leaf)
    peer = BaggingClassifier(tree, n_estimators=bags, oob_score=oob, random_state=0)
    return peer.fit(case.table, case.codes)


def cases() -> Iterator[tables.Case]:
    yield from (case for case in tables.numeric_cases() if case.name in NUMERIC)
    mixed = (case for case in tables.mixed_cases() if case.name in MIXED)
    yield from (replace(case, name=f"{case.name} with text") for case in mixed)


def confirm_answers(case: tables.Case, bags: int, min_leaf: int) -> tuple[float, float]:
    """No algorithm changes a tree, and the rows outside are answered as well as by scikit-learn.

    (The accuracy on the rows outside, the mean number of leaves.)
    """
    what = f"{case.name}, {bags} bags, leaves of {min_leaf}"
    models = [ours(case, bags, min_leaf, algorithm, oob=algorithm == "auto") for algorithm in ALGORITHMS]
    digests = [[tree.digest for tree in model.trees_] for model in models]
    confirm(digests[0] == digests[1] == digests[2], f"{what}: the trees depend on the algorithm")
    model = models[0]
    if isinstance(case.table, np.ndarray):
        peer = theirs(case, bags, min_leaf, oob=True)
        drawn = zip(model.estimators_samples_, peer.estimators_samples_, strict=True)
        confirm(all(np.array_equal(a, b) for a, b in drawn), f"{what}: other rows than scikit-learn's")
        score = peer.oob_score_
        chance = 2 * math.sqrt(score * (1 - score) / len(case.codes))
        confirm(
            model.oob_score_ >= score - max(POINT, chance),
            f"{what}: accuracy {model.oob_score_:.4f} out of bag, scikit-learn has {score:.4f}",
        )
        fit = accuracy(model.predict(case.table), case.codes), accuracy(peer.predict(case.table), case.codes)
        confirm(fit[0] >= fit[1] - POINT, f"{what}: training accuracy {fit[0]:.4f} and {fit[1]:.4f}")
    return model.oob_score_, float(np.mean([tree.n_leaves for tree in model.trees_]))


def measure(case: tables.Case, bags: int, min_leaf: int, repeats: int) -> Row:
    """The answers first, then the clock."""
    oob, leaves = confirm_answers(case, bags, min_leaf)
    contestants: dict[str, Any] = {
        algorithm: lambda algorithm=algorithm: ours(case, bags, min_leaf, algorithm)
        for algorithm in ALGORITHMS
    }
    model = ours(case, bags, min_leaf, "auto")
    contestants["predict"] = lambda: model.predict(case.table)
    if isinstance(case.table, np.ndarray):
        peer = theirs(case, bags, min_leaf)
        contestants["peer"] = lambda: theirs(case, bags, min_leaf)
        contestants["peer_predict"] = lambda: peer.predict(case.table)
    timings = common.measure(contestants, repeats=repeats, budget=60)
    seconds: dict[str, float | None] = {"peer": None, "peer_predict": None}
    seconds |= {name: timing.median for name, timing in timings.items()}
    return Row(case.name, case.shape, bags, min_leaf, leaves, oob, **seconds)  # type: ignore[arg-type]


def print_rows(rows: list[Row]) -> None:
    body = [
        (
            f"{row.table} {row.shape}, {row.bags} bags, leaves of {row.min_leaf}",
            f"{row.leaves:.0f}",
            f"{row.oob:.4f}",
            *(format_seconds(seconds) for seconds in (row.auto, row.serial, row.overlapping)),
            "-" if row.peer is None else f"{row.peer / row.auto:.2f}",
            f"{row.serial / row.auto:.2f}",
            f"{row.auto / row.best:.2f}",
            format_seconds(row.predict),
            "-" if row.peer_predict is None else f"{row.peer_predict / row.predict:.2f}",
        )
        for row in rows
    ]
    head = ("table", "leaves", "out of bag", "auto", "serial", "overlapping")
    head += ("scikit-learn/auto", "serial/auto", "auto/best", "predict", "scikit-learn/predict")
    print("\nCPU seconds, one thread")
    print(common.format_table(head, body))


def judge(rows: list[Row]) -> list[Verdict]:
    verdicts = []
    for row in rows:
        where = f"{row.table}, {row.bags} bags, leaves of {row.min_leaf}"
        if row.peer is not None:
            verdicts.append(Verdict(f"scikit-learn / hornbeam, {where}", row.peer / row.auto, floor=TIMES))
        verdicts.append(Verdict(f"serial / auto, {where}", row.serial / row.auto, floor=1.0))
        best = Verdict(f"auto / best fixed, {where}", row.auto / row.best, better="lower", floor=NEAR)
        verdicts.append(best)
    peers = [row.peer / row.auto for row in rows if row.peer is not None]
    if peers:
        verdicts.append(Verdict("scikit-learn / hornbeam, geometric mean", geometric_mean(peers)))
    shared = [row.serial / row.auto for row in rows]
    if shared:
        verdicts.append(Verdict("serial / auto, geometric mean", geometric_mean(shared)))
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="names of sets")
    options = parser.parse_args()
    # Among tens of thousands of rows one may be in all 25 bags; both contestants say so.
    warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
    warnings.filterwarnings("ignore", "invalid value encountered in divide")
    setting = common.environment(["hornbeam", "numpy", "scikit-learn"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    rows: list[Row] = []
    skips = []
    if real_data.find_folder() is None:
        skips.append(("real sets", real_data.ABSENT))
    else:
        every = [(case.name.split()[0], case) for case in cases()]
        names = list(dict.fromkeys(name for name, _ in every))
        if unknown := set(options.only or ()) - set(names):
            parser.error(f"no set {min(unknown)!r}; there are {', '.join(names)}")
        chosen = [case for name, case in every if name in (options.only or names)]
        for case in chosen:
            counts = (FEWER, BAGS, MORE) if case.name.split()[0] in SMALL else (BAGS,)
            for bags, min_leaf in itertools.product(counts, (1, 10)):
                print(f"{case.name}, {bags} bags, leaves of {min_leaf}", file=sys.stderr)
                rows.append(measure(case, bags, min_leaf, options.repeats))
    print_rows(rows)
    records = {"setting": setting, "rows": [asdict(row) for row in rows]}
    return common.close("bagging", judge(rows), records, skips)


if __name__ == "__main__":
    raise SystemExit(main())
