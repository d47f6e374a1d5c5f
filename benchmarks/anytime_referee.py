"""Does long searching overfit few rows with noise, and does a referee prevent it?

200 rows of ten real sets to learn from, up to 5,000 others to be judged by, three draws of each. The same CPU
seconds with and without `referee="cv"`, and what the referee tells of errors beside what is wrong.
"""

import argparse
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks import common
from benchmarks.answers import accuracy
from benchmarks.anytime_peers import cpu_limit
from benchmarks.common import Verdict
from hornbeam import AnytimeTreeClassifier
from tests import real_data

SETS = (
    "pima_diabetes",
    "credit_approval",
    "led24",
    "electricity",
    "adult_train",
    "pendigits_train",
    "yeast",
    "abalone",
    "breast_cancer_wisconsin",
    "spambase",
)
ROWS, MOST_JUDGED = 200, 5_000
DRAWS = (1, 2, 3)
SECONDS = 3.0
RINGS = (9, 11)  # abalone's ages in three classes


@dataclass(frozen=True)
class Outcome:
    """Percent of unseen rows that the first tree and the last one get right; the errors that were told."""

    table: str
    draw: int
    referee: str | None
    first: float
    last: float
    told: float | None


def classes_of(real: real_data.RealSet) -> Any:
    if real.name == "abalone":
        return np.digitize(np.asarray(real.target, dtype=float), RINGS).astype(str)
    return np.asarray(real.target.astype(str))


def searched(table: str, draw: int, referee: str | None, seconds: float) -> Outcome:
    real = real_data.load(table)
    frame = real.table.astype({column: "category" for column in real.nominal})
    classes = classes_of(real)
    learn, judge, known, truth = train_test_split(
        frame,
        classes,
        train_size=ROWS,
        test_size=min(MOST_JUDGED, len(classes) - ROWS),
        random_state=draw,
    )
    model = AnytimeTreeClassifier(objective="error", referee=referee, random_state=draw)
    model.partial_fit(learn, known)
    first = accuracy(model.predict(judge), truth)
    with cpu_limit(seconds, model.stop):
        for _ in model.improve():
            pass
    told = model.course_.last.cv_error
    last = accuracy(model.predict(judge), truth)
    return Outcome(table, draw, referee, 100 * first, 100 * last, None if told is None else 100 * told)


def outcomes(draws: int, seconds: float) -> Iterator[tuple[Outcome, Outcome]]:
    for draw in DRAWS[:draws]:
        for table in SETS:
            yield searched(table, draw, None, seconds), searched(table, draw, "cv", seconds)


def judged(pairs: list[tuple[Outcome, Outcome]]) -> list[Verdict]:
    """Means over all draws of all sets; twice the standard error beside the difference."""
    leads = [asked.last - free.last for free, asked in pairs]
    half = 2 * statistics.stdev(leads) / len(leads) ** 0.5
    wrong = statistics.fmean(100 - asked.last for _, asked in pairs)
    told = statistics.fmean(asked.told for _, asked in pairs if asked.told is not None)
    return [
        Verdict("first tree", statistics.fmean(free.first for free, _ in pairs), unit=" %"),
        Verdict("searched alone", statistics.fmean(free.last for free, _ in pairs), unit=" %"),
        Verdict("with a referee", statistics.fmean(asked.last for _, asked in pairs), unit=" %"),
        Verdict(f"with less without, ± {half:.1f}", statistics.fmean(leads), floor=0.0, unit=" points"),
        Verdict("errors as told less as found", abs(told - wrong), "lower", 2.0, 1.0, " points"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw, one second")
    options = parser.parse_args()
    setting = common.environment(["hornbeam", "scikit-learn", "numpy"])
    if real_data.find_folder() is None:
        return common.close("anytime_referee", [], {"setting": setting}, [("all", real_data.ABSENT)])
    with threadpool_limits(1):
        pairs = list(outcomes(1, 1.0) if options.quick else outcomes(len(DRAWS), SECONDS))
    body = []
    for free, asked in pairs:
        figures = (free.first, free.last, asked.last, asked.told or 0.0)
        body.append((free.table, str(free.draw), *(f"{figure:.1f}" for figure in figures)))
    head = ("set", "draw", "first tree", "alone", "referee", "errors told")
    print(common.format_table(head, body))
    records = {"setting": setting, "outcomes": [asdict(one) for pair in pairs for one in pair]}
    return common.close("anytime_referee", judged(pairs), records, [])


if __name__ == "__main__":
    raise SystemExit(main())
