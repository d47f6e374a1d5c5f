"""A tree that stays exact: what a batch costs beside making the tree anew."""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import hornbeam as hb
from benchmarks import boat_sets, common
from benchmarks.answers import confirm
from benchmarks.common import Verdict
from hornbeam import MaintainedTree, TreeClassifier

ROWS, QUICK_ROWS, NOISE = 10_000_000, 200_000, 0.05
MEMORY = "1GB"
PARAMETERS: dict[str, Any] = {"max_depth": 8, "min_samples_leaf": 50, "min_impurity_decrease": 1e-4}
FUNCTIONS = (1, 6, 7)
INSERTED, DELETED = 0.02, 0.015  # of all rows
SMALL, SMALL_BATCHES = 500, 7  # rows that come and as many that go


@dataclass(frozen=True)
class Row:
    """CPU seconds on one function: growing alone, making the file, counting its rows again after opening, one
    batch of the same people, one of others, and a small one."""

    function: int
    fit_source: float
    create: float
    warm_up: float
    batch: float
    small: float
    changed: float
    rebuilt: float
    """Making the file anew from the rows after the changed batch."""
    tests: dict[str, int]
    """Of the batch: how many were kept, moved and rebuilt."""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def changed(rows: pa.Table) -> pa.Table:
    """The same people, but from 60 years on they are of the other class."""
    other = pc.if_else(pc.equal(rows["class"], "A"), "B", "A")
    said = pc.if_else(pc.greater_equal(rows["age"], 60), other, rows["class"])
    return rows.set_column(rows.schema.get_field_index("class"), "class", said)


def make(folder: str, rows: pa.Table) -> MaintainedTree:
    path = Path(folder) / "people.tree"
    path.unlink(missing_ok=True)
    source = hb.source(rows)
    return MaintainedTree.create(
        path, source, target="class", memory_limit=MEMORY, algorithm="boat", **PARAMETERS
    )


def measure(cache: Path, function: int, rows: int) -> Row:
    """One function; every tree is compared with a rebuild before anything is said of it."""
    people = pq.read_table(boat_sets.plain(cache, function, NOISE, rows).place)
    n_in, n_out = round(INSERTED * rows), round(DELETED * rows)
    news, base = people.slice(0, n_in), people.slice(n_in)
    goes = np.sort(np.random.default_rng(function).choice(base.num_rows, n_out, replace=False))
    deleted = base.take(pa.array(goes))

    def fit() -> Any:
        model = TreeClassifier(**PARAMETERS)
        return model.fit_source(hb.source(base), target="class", memory_limit=MEMORY, algorithm="boat")

    say(function, "fit_source")
    alone, model = timed(fit)
    with tempfile.TemporaryDirectory(prefix="hornbeam-") as folder:
        say(function, "create")
        create, tree = timed(lambda: make(folder, base))
        confirm(tree.tree.digest == model.tree_.digest, f"F{function}: create grew another tree")
        warm_up, _ = timed(tree.warm_up)
        say(function, "a batch")
        batch, told = timed(lambda: tree.apply(inserted=news, deleted=deleted))
        check(tree, f"F{function}: after the batch")
        smalls = []
        for i in range(SMALL_BATCHES):
            here = i * SMALL
            come, go = deleted.slice(here, SMALL), news.slice(here, SMALL)
            smalls.append(timed(lambda come=come, go=go: tree.apply(inserted=come, deleted=go))[0])
        check(tree, f"F{function}: after small batches")
        say(function, "changed people")
        others, _ = timed(lambda: tree.insert(changed(people.slice(0, n_in))))
        check(tree, f"F{function}: after the changed batch")
        present = pa.Table.from_batches(tree.source().scan())
        tree.close()
        rebuilt, tree = timed(lambda: make(folder, present))
        tree.close()
    small = statistics.median(smalls)
    return Row(function, alone, create, warm_up, batch, small, others, rebuilt, told.counts)


def say(function: int, what: str) -> None:
    print(f"F{function}: {what}", file=sys.stderr)


def check(tree: MaintainedTree, when: str) -> None:
    confirm(tree.verify()["equal"], f"{when} the tree is not that of a rebuild")


def judge(rows: list[Row], floors: bool) -> list[Verdict]:
    verdicts = []

    def lower(claim: str, value: float, floor: float, goal: float | None = None, unit: str = "x") -> None:
        bounds = (floor, goal) if floors else (None, None)
        verdicts.append(Verdict(claim, value, "lower", *bounds, unit))

    for row in rows:
        name, settled = f"F{row.function}, 5 % noise", row.function == 1
        lower(f"{name}: batch / create", row.batch / row.create, *((0.1,) if settled else (0.5, 0.3)))
        lower(f"{name}: changed batch / rebuild", row.changed / row.rebuilt, 1.2)
        if row.function in (1, 7):
            limits = (0.15,) if settled else (1.0, 0.15)
            lower(f"{name}: {2 * SMALL:,} rows, warm", row.small, *limits, unit=" s")
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="200,000 rows; no floors")
    parser.add_argument("--functions", type=int, nargs="+", choices=FUNCTIONS, default=FUNCTIONS)
    parser.add_argument(
        "--cache", type=Path, default=boat_sets.default_cache(), help="where the sets are kept"
    )
    options = parser.parse_args()
    setting = common.environment(["hornbeam", "pyarrow", "duckdb"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    rows = QUICK_ROWS if options.quick else ROWS
    found = [measure(options.cache, function, rows) for function in options.functions]
    print(
        f"\n{rows:,} rows, depth 8, leaves of 50, gains from 1e-4, +2 % -1.5 %, limit {MEMORY}; CPU seconds"
    )
    head = ("set", "fit_source", "create", "warm up", "batch", "1,000 rows", "changed", "rebuild", "tests")
    body = [
        (
            f"F{row.function}",
            *(
                f"{value:.2f}"
                for value in (
                    row.fit_source,
                    row.create,
                    row.warm_up,
                    row.batch,
                    row.small,
                    row.changed,
                    row.rebuilt,
                )
            ),
            ", ".join(f"{count} {state}" for state, count in row.tests.items()),
        )
        for row in found
    ]
    print(common.format_table(head, body))
    records = {"setting": setting, "rows": rows, "measured": [asdict(row) for row in found]}
    return common.close("maintained", judge(found, not options.quick), records, [])


if __name__ == "__main__":
    raise SystemExit(main())
