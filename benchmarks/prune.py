"""Pruning beside growing: error-based pruning and the path of cost-complexity against the growth before."""

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks import common, tables
from benchmarks.answers import confirm
from benchmarks.common import Verdict, format_seconds
from hornbeam.growth import (
    ClassTarget,
    Parameters,
    Pruning,
    complexity_path,
    grow_in_order,
    prune_tree,
)
from hornbeam.model import Tree
from hornbeam.table import Table, from_data
from tests import real_data

NUMERIC, MIXED = ("letter", "spambase"), ("adult_train",)
SHARE = 0.2  # of the time of growing, which both together may take
BY_ERRORS = Pruning("error_based").checked("classification")


@dataclass(frozen=True)
class Row:
    """CPU seconds of growing one tree and of pruning it."""

    table: str
    min_leaf: int
    nodes: int
    nodes_left: int
    grow: float
    by_errors: float
    path: float

    @property
    def share(self) -> float:
        return (self.by_errors + self.path) / self.grow


def covertype_like(rows: int = 100_000) -> tables.Case:
    """Ten numbers of few digits and seven classes of very different size, a fifth of the labels noise."""
    source = np.random.default_rng(0)
    table = source.normal(size=(rows, 10)).round(2)
    score = table[:, 0] + 0.5 * table[:, 1] * table[:, 2] + np.abs(table[:, 3])
    codes = np.digitize(score, [-0.5, 1.4, 2.2, 2.6, 3.0, 3.6])
    noisy = source.random(rows) < 0.2
    codes[noisy] = source.permutation(codes[noisy])
    return tables.with_labels("covertype-like 100k", table, codes, "10 numeric columns")


def cases(real: bool) -> Iterator[tables.Case]:
    if real:
        yield from (case for case in tables.numeric_cases() if case.name in NUMERIC)
        mixed = (case for case in tables.mixed_cases() if case.name in MIXED)
        yield from (replace(case, name=f"{case.name} with text") for case in mixed)
    yield covertype_like()


def confirm_pruned(table: Table, target: ClassTarget, grown: Tree, pruned: Tree, path: Any) -> None:
    """The pruned tree holds every row, in leaves that count them, and the path ends at the root."""
    confirm(pruned.n_nodes < grown.n_nodes, "error-based pruning left everything as it was")
    leaves = pruned.apply(table)
    reached = np.bincount(leaves, minlength=pruned.n_nodes)
    confirm(
        bool(np.all(reached[reached > 0] == pruned.arrays["rows"][reached > 0])),
        "a leaf of the pruned tree does not hold the rows that reach it",
    )
    wrong = int((pruned.leaf_class[leaves] != target.codes).sum())
    counted = sum(
        float(pruned.counts(leaf).sum() - pruned.counts(leaf).max()) for leaf in np.flatnonzero(reached)
    )
    confirm(wrong == counted, f"{wrong} rows are answered wrongly where the counts say {counted:g}")
    alphas, impurities = path
    confirm(bool(np.all(np.diff(alphas) >= 0)), "the alphas of the path do not rise")
    confirm(impurities[-1] == grown.arrays["impurity"][0], "the path does not end at the root")
    middle = float(alphas[len(alphas) // 2])
    by_alpha = Pruning("cost_complexity", ccp_alpha=middle).checked("classification")
    left = prune_tree(grown, by_alpha, criterion="gini").n_leaves
    confirm(left <= grown.n_leaves - len(alphas) // 2, f"{left} leaves are left at the middle of the path")


def measure(case: tables.Case, min_leaf: int, repeats: int) -> Row:
    """The answer first, then the clock."""
    parameters = Parameters(min_samples_leaf=min_leaf).checked("classification")
    table = from_data(case.table)
    target = ClassTarget(case.codes.astype(np.int32), np.unique(case.codes))
    grown, order = grow_in_order(table, target, parameters)
    pruned = prune_tree(grown, BY_ERRORS, table, target, criterion="gini", order=order)
    confirm_pruned(table, target, grown, pruned, complexity_path(grown))
    timings = common.measure(
        {
            "grow": lambda: grow_in_order(table, target, parameters),
            "by_errors": lambda: prune_tree(grown, BY_ERRORS, table, target, criterion="gini", order=order),
            "path": lambda: complexity_path(grown),
        },
        repeats=repeats,
        budget=20,
    )
    seconds = {name: timing.median for name, timing in timings.items()}
    return Row(case.name, min_leaf, grown.n_nodes, pruned.n_nodes, **seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    setting = common.environment(["hornbeam", "numpy"])
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    real = real_data.find_folder() is not None
    rows = [measure(case, min_leaf, options.repeats) for case in cases(real) for min_leaf in (1, 10)]
    body = [
        (
            f"{row.table}, leaves of {row.min_leaf}",
            f"{row.nodes} -> {row.nodes_left}",
            *(format_seconds(seconds) for seconds in (row.grow, row.by_errors, row.path)),
            f"{row.share:.3f}",
        )
        for row in rows
    ]
    print("\nCPU seconds, one thread")
    print(common.format_table(("table", "nodes", "grow", "error_based", "path", "share"), body))
    verdicts = [
        Verdict(
            f"pruning and path / growth, {row.table}, leaves of {row.min_leaf}",
            row.share,
            better="lower",
            floor=SHARE,
        )
        for row in rows
    ]
    skips = [] if real else [("real sets", real_data.ABSENT)]
    records = {"setting": setting, "rows": [asdict(row) for row in rows]}
    return common.close("prune", verdicts, records, skips)


if __name__ == "__main__":
    raise SystemExit(main())
