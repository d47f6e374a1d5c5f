"""First-order trees: folds grown together and one by one, the memory of answers, tests by Prolog and SQL.

Times are CPU seconds of growth over a database that is coded already; the cache of answers is off unless the
line says otherwise, for it would let serial growth share what the others share.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks import common, relational_works
from benchmarks.answers import confirm
from benchmarks.common import Verdict, format_seconds
from benchmarks.relational_works import CACHED, PLAIN, Questions, Work, accuracy_188, questions, works
from hornbeam.relational.database import solve
from tests import real_data, relational_prolog, relational_sets
from tests.relational_coding import nodes_of, query_of
from tests.relational_sql import sql_database, sql_of

ALGORITHMS = ("serial", "overlapping", "folds", "auto")
FLOORS = {"SB": (6.0, 8.0), "CB": (3.0, 4.0), "Muta": (1.1, 1.3)}
CACHE_FLOOR = 3.0
PROLOG_FLOOR, SQL_FLOOR = 5.0, 20.0
EVERY = 40  # test that SQL is asked: it needs milliseconds for one
PICTURES = 250_000  # of the large database: a million objects
MOST_SECONDS, MOST_BYTES = 600.0, 2e9


@dataclass(frozen=True)
class Row:
    """One set, ten folds and the tree of all: CPU seconds by algorithm, with the cache, and of one tree."""

    name: str
    examples: int
    nodes: int
    bifurcations: int
    seconds: Mapping[str, float]
    tests: Mapping[str, int]

    @property
    def sharing(self) -> float:
        return self.seconds["serial"] / self.seconds["auto"]

    @property
    def with_cache(self) -> float:
        return self.seconds["serial"] / self.seconds["auto, cache"]


def measure_sharing(work: Work, repeats: int) -> Row:
    """The answers first: the trees depend neither on the algorithm nor on the cache."""
    forests = {name: work.grow(name) for name in ALGORITHMS}
    forests["auto, cache"] = work.grow("auto", CACHED)
    trees = [[forest.tree(i) for i in range(len(forest))] for forest in forests.values()]
    title = work.loaded.title
    confirm(all(some == trees[0] for some in trees), f"{title}: the trees depend on the algorithm")
    runs = {name: lambda name=name: work.grow(name, PLAIN) for name in ALGORITHMS}  # type: ignore[misc]
    runs["auto, cache"] = lambda: work.grow("auto", CACHED)
    runs["serial, cache"] = lambda: work.grow("serial", CACHED)
    took = common.measure(runs, repeats=repeats, budget=30)
    return Row(
        title,
        work.loaded.n_examples,
        sum(not node.is_leaf for node in forests["auto"].tree(0).nodes),
        forests["auto"].counters.bifurcations,
        {name: timing.median for name, timing in took.items()},
        {name: forest.counters.tests for name, forest in forests.items()},
    )


@dataclass(frozen=True)
class Asked:
    """Microseconds for a test over the examples of its node, while one tree grows."""

    name: str
    tests: int
    ours: float
    prolog: float | None
    sql: float


def measure_tests(name: str, asked: Questions, repeats: int) -> Asked:
    problem = asked.problem
    settings = relational_works.Settings("gain", asked.min_samples_leaf)
    growth = relational_works.Growth.of(problem.database, problem.bias, problem.classes, settings)
    confirm(asked.grow().tree(0).nodes == nodes_of(growth.grow()), f"{name}: the tree is not the oracle's")
    took = common.measure({"ours": asked.grow}, repeats=repeats, budget=10)["ours"].median
    prolog = ask_prolog(name, asked) if relational_prolog.find_swipl() else None
    return Asked(name, asked.n_tests, 1e6 * took / asked.n_tests, prolog, ask_sql(name, asked))


def ask_prolog(name: str, asked: Questions) -> float:
    """All tests of all nodes, compiled; the time inside Prolog alone."""
    seconds = 0.0
    for query, tests, examples in asked.nodes:
        whole = [query + test for test in tests]
        answers = relational_prolog.ask(asked.problem.database, whole, examples)
        seconds += answers.seconds
        for test, found in list(zip(whole, answers.found, strict=True))[::EVERY]:
            holds = solve(asked.given[0], query_of(test), examples)  # type: ignore[arg-type]
            confirm(found == set(np.asarray(examples)[holds].tolist()), f"{name}: Prolog answers otherwise")
    return 1e6 * seconds / asked.n_tests


def ask_sql(name: str, asked: Questions) -> float:
    """Some of the tests, one query each, in one thread of DuckDB."""
    connection = sql_database(asked.problem.database)
    seconds, n = 0.0, 0
    for query, tests, examples in asked.nodes:
        connection.execute(
            "create or replace table here as select * from example where e in (select unnest(?))",
            [list(examples)],
        )
        for test in tests[::EVERY]:
            text = sql_of(asked.problem.database, query + test, "here")
            begin = time.process_time()
            rows = connection.execute(text).fetchall()
            seconds += time.process_time() - begin
            n += 1
            holds = solve(asked.given[0], query_of(query + test), examples)  # type: ignore[arg-type]
            found = set(np.asarray(examples)[holds].tolist())
            confirm({row[0] for row in rows} == found, f"{name}: DuckDB answers otherwise")
    return 1e6 * seconds / n


def measure_large() -> dict[str, float]:
    """A process of its own, so that the peak is that of this work."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.relational_large", str(PICTURES)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def print_rows(rows: Sequence[Row], asked: Sequence[Asked], large: Mapping[str, float] | None) -> None:
    body = [
        (
            f"{row.name} {row.examples}",
            str(row.nodes),
            str(row.bifurcations),
            *(format_seconds(row.seconds[name]) for name in ALGORITHMS),
            format_seconds(row.seconds["serial, cache"]),
            format_seconds(row.seconds["auto, cache"]),
            f"{row.sharing:.2f} ({row.tests['serial'] / row.tests['auto']:.2f})",
            f"{row.with_cache:.2f}",
        )
        for row in rows
    ]
    head = (
        "set",
        "nodes",
        "bifurcations",
        *ALGORITHMS,
        "serial, cache",
        "auto, cache",
        "serial/auto",
        "with cache",
    )
    print(
        "\nTen folds and the tree of all, CPU seconds, one thread; in brackets the ratio of tests x examples"
    )
    print(common.format_table(head, body))
    body = [
        (
            one.name,
            str(one.tests),
            f"{one.ours:.2f}",
            "-" if one.prolog is None else f"{one.prolog:.0f}",
            f"{one.sql:.0f}",
        )
        for one in asked
    ]
    print("\nMicroseconds for a test over the examples of its node, while one tree grows, cache off")
    print(common.format_table(("set", "tests", "hornbeam", "SWI-Prolog", "DuckDB"), body))
    if large is not None:
        print("\nA large database")
        print("  ".join(f"{name} {value:,.1f}" for name, value in large.items()))


def judge(
    rows: Sequence[Row], asked: Sequence[Asked], accuracy: float | None, large: Mapping[str, float] | None
) -> list[Verdict]:
    verdicts = []
    for row in rows:
        floor, goal = FLOORS[row.name]
        verdicts.append(
            Verdict(f"serial / shared, {row.name}, 10 folds, cache off", row.sharing, floor=floor, goal=goal)
        )
        if row.name == "Muta":
            claim = "plain serial / shared with the cache, Muta, 10 folds"
            verdicts.append(Verdict(claim, row.with_cache, floor=CACHE_FLOOR))
    for one in asked:
        if one.prolog is not None:
            verdicts.append(
                Verdict(
                    f"SWI-Prolog / hornbeam a test, {one.name}", one.prolog / one.ours, floor=PROLOG_FLOOR
                )
            )
        verdicts.append(
            Verdict(f"DuckDB query / hornbeam a test, {one.name}", one.sql / one.ours, floor=SQL_FLOOR)
        )
    if accuracy is not None:
        verdicts.append(
            Verdict("accuracy, Mutagenesis 188, published folds", 100 * accuracy, floor=80.0, unit="%")
        )
    if large is not None:
        what = f"{large['child rows']:,.0f} child rows, tree and 10 folds"
        verdicts.append(
            Verdict(f"CPU seconds, {what}", large["seconds"], better="lower", floor=MOST_SECONDS, unit=" s")
        )
        verdicts.append(
            Verdict(f"peak, {what}", large["peak"] / 1e9, better="lower", floor=MOST_BYTES / 1e9, unit=" GB")
        )
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--only", nargs="+", choices=["sharing", "tests", "accuracy", "large"])
    options = parser.parse_args()
    chosen = options.only or ["sharing", "tests", "accuracy", "large"]
    setting = common.environment(["hornbeam", "numpy", "duckdb"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    real, skips = real_data.find_folder() is not None, []
    if not real:
        skips.append(("Mutagenesis", real_data.ABSENT))
    if relational_prolog.find_swipl() is None:
        skips.append(("SWI-Prolog", relational_prolog.ABSENT))
    names = ["SB", "CB", "Muta"] if real else ["SB", "CB"]
    rows = [measure_sharing(work, options.repeats) for work in works(names)] if "sharing" in chosen else []
    asked = []
    if "tests" in chosen:
        asked.append(
            measure_tests("CB", questions(relational_works.generated("complex"), 2), options.repeats)
        )
        if real:
            asked.append(
                measure_tests("Muta", questions(relational_sets.mutagenesis_230(), 4), options.repeats)
            )
    accuracy = accuracy_188() if real and "accuracy" in chosen else None
    large = measure_large() if "large" in chosen else None
    print_rows(rows, asked, large)
    records = {
        "setting": setting,
        "sharing": [asdict(row) for row in rows],
        "tests": [asdict(one) for one in asked],
        "accuracy": accuracy,
        "large": large,
    }
    return common.close("relational", judge(rows, asked, accuracy, large), records, skips)


if __name__ == "__main__":
    raise SystemExit(main())
