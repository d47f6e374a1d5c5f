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
DEEP_PART = 10  # of the rows, one such part is what a tree is grown from to its end


@dataclass(frozen=True)
class Row:
    """CPU seconds on one function: growing alone, making the file, counting its rows after that, one batch of
    the same people, one of others, a small one, and to close the file with its counts and have them again."""

    function: int
    fit_source: float
    create: float
    warm_up: float
    batch: float
    small: float
    changed: float
    rebuilt: float
    """Making the file anew from the rows after the changed batch."""
    saved: float
    recalled: float
    saved_bytes: int
    tests: dict[str, int]
    """Of the batch: how many were kept, moved and rebuilt."""


@dataclass(frozen=True)
class Deep:
    """CPU seconds of a tree that is grown to its end: making its file, and a small batch."""

    create: float
    small: float
    nodes: int
    tests: dict[str, int]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def changed(rows: pa.Table) -> pa.Table:
    """The same people, but from 60 years on they are of the other class."""
    other = pc.if_else(pc.equal(rows["class"], "A"), "B", "A")
    said = pc.if_else(pc.greater_equal(rows["age"], 60), other, rows["class"])
    return rows.set_column(rows.schema.get_field_index("class"), "class", said)


def path_in(folder: str) -> Path:
    return Path(folder) / "people.tree"


def make(folder: str, rows: pa.Table, parameters: dict[str, Any] = PARAMETERS) -> MaintainedTree:
    path_in(folder).unlink(missing_ok=True)
    source = hb.source(rows)
    return MaintainedTree.create(
        path_in(folder), source, target="class", memory_limit=MEMORY, algorithm="boat", **parameters
    )


def small_batches(tree: MaintainedTree, come: pa.Table, go: pa.Table) -> tuple[float, Any]:
    """The median of some, and what the last did."""
    taken, told = [], None
    for i in range(SMALL_BATCHES):
        more, less = come.slice(i * SMALL, SMALL), go.slice(i * SMALL, SMALL)
        cost, told = timed(lambda more=more, less=less: tree.apply(inserted=more, deleted=less))
        taken.append(cost)
    return statistics.median(taken), told


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
        small, _ = small_batches(tree, deleted, news)
        check(tree, f"F{function}: after small batches")
        say(function, "closing and opening")
        size = tree.stats["bytes"]
        saved, _ = timed(tree.close)
        saved_bytes = path_in(folder).stat().st_size - size
        recalled, tree = timed(lambda: opened(path_in(folder)))
        say(function, "changed people")
        others, _ = timed(lambda: tree.insert(changed(people.slice(0, n_in))))
        check(tree, f"F{function}: after the changed batch")
        present = pa.Table.from_batches(tree.source().scan())
        tree.close()
        rebuilt, tree = timed(lambda: make(folder, present))
        tree.close()
    return Row(
        function,
        alone,
        create,
        warm_up,
        batch,
        small,
        others,
        rebuilt,
        saved,
        recalled,
        saved_bytes,
        told.counts,
    )


def opened(path: Path) -> MaintainedTree:
    tree = MaintainedTree.open(path)
    tree.warm_up()
    return tree


def measure_deep(cache: Path, rows: int) -> Deep:
    """Function 7 with the default parameters: a tree that is grown to its end, noise and all."""
    people = pq.read_table(boat_sets.plain(cache, 7, NOISE, rows).place)
    n_small = SMALL * SMALL_BATCHES
    news, base = people.slice(0, n_small), people.slice(n_small)
    goes = np.sort(np.random.default_rng(7).choice(base.num_rows, n_small, replace=False))
    with tempfile.TemporaryDirectory(prefix="hornbeam-") as folder:
        say(7, "a deep tree")
        create, tree = timed(lambda: make(folder, base, {}))
        tree.warm_up()
        small, told = small_batches(tree, news, base.take(pa.array(goes)))
        check(tree, "F7, deep: after small batches")
        nodes = tree.tree.n_nodes
        tree.close()
    return Deep(create, small, nodes, told.counts)


def say(function: int, what: str) -> None:
    print(f"F{function}: {what}", file=sys.stderr)


def check(tree: MaintainedTree, when: str) -> None:
    confirm(tree.verify()["equal"], f"{when} the tree is not that of a rebuild")


def judge(rows: list[Row], deep: Deep | None, floors: bool) -> list[Verdict]:
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
        again = (row.saved + row.recalled) / row.warm_up
        verdicts.append(Verdict(f"{name}: counts saved and recalled / counted", again, "lower", None, None))
    if deep is not None:
        ratio = deep.small / deep.create
        verdicts.append(Verdict(f"F7, a deep tree: {2 * SMALL:,} rows / create", ratio, "lower", None, None))
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
    deep = measure_deep(options.cache, rows // DEEP_PART) if 7 in options.functions else None
    print(
        f"\n{rows:,} rows, depth 8, leaves of 50, gains from 1e-4, +2 % -1.5 %, limit {MEMORY}; CPU seconds"
    )
    head = (
        "set",
        "fit_source",
        "create",
        "warm up",
        "batch",
        "1,000 rows",
        "changed",
        "rebuild",
        "save",
        "recall",
        "MB saved",
        "tests",
    )
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
                    row.saved,
                    row.recalled,
                    row.saved_bytes / 1e6,
                )
            ),
            ", ".join(f"{count} {state}" for state, count in row.tests.items()),
        )
        for row in found
    ]
    print(common.format_table(head, body))
    if deep is not None:
        print(
            f"\nF7, {rows // DEEP_PART:,} rows, default parameters, {deep.nodes:,} nodes: create "
            f"{deep.create:.2f}, {2 * SMALL:,} rows {deep.small:.2f}; {deep.tests}"
        )
    records = {
        "setting": setting,
        "rows": rows,
        "measured": [asdict(row) for row in found],
        "deep": None if deep is None else asdict(deep),
    }
    return common.close("maintained", judge(found, deep, not options.quick), records, [])


if __name__ == "__main__":
    raise SystemExit(main())
