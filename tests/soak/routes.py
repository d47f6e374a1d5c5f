"""Routes: every way to the tree of some rows gives the same tree, and every way to its answers the same.

Lone growths by all kernels, threads and switches; folds and overlapping sets grown together and one by
one; bags; sources by all algorithms; maintained trees; files, pickles and JSON; SQL in DuckDB and SQLite.
"""

from __future__ import annotations

import os
import pickle
import random
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa

import hornbeam as hb
from hornbeam.errors import HornbeamError
from hornbeam.growth import Engine
from hornbeam.model import Tree
from hornbeam.model_selection import cross_validate
from tests.soak.runner import Adversary, Differs
from tests.soak.tables import Array, Case

ALGORITHMS = ("memory", "boat", "rf_hybrid", "rf_vertical", "rf_write", "rf_read")
SWITCHES: tuple[dict[str, Any], ...] = (
    {},
    {"accelerate": False},
    {"twigs": False},
    {"counting": "always"},
    {"counting": "never"},
    {"accelerate": False, "twigs": False, "counting": "never"},
)
KERNELS = ("auto", "plain", "avx2", "avx512")
MOST_SETS = 130
Splits = list[tuple[Array, Array]]
Outcome = str | tuple[str, str]  # a digest, or that the fit was refused and why


@contextmanager
def switched(kernels: str, **switches: Any) -> Iterator[None]:
    """Every growth inside uses these switches, which no public call takes."""
    names = [field.name for field in fields(Engine)]
    defaults = list(Engine.__init__.__defaults__ or ())
    for name, value in switches.items():
        defaults[names.index(name)] = value
    with (
        mock.patch.object(Engine.__init__, "__defaults__", tuple(defaults)),
        mock.patch.dict(os.environ, HORNBEAM_KERNELS=kernels),
    ):
        yield


def some_switches(rng: random.Random) -> Any:
    return switched(rng.choice(KERNELS), **rng.choice(SWITCHES))


def outcome(work: Callable[[], Any]) -> Any:
    """What the work gives, or in which line it was refused."""
    try:
        return work()
    except HornbeamError as error:
        if "\n" in str(error):
            raise Differs(f"a refusal of several lines: {error}") from error
        return ("refused", str(error))


def refused(given: Any) -> bool:
    return isinstance(given, tuple) and given[:1] == ("refused",)


def estimator(case: Case, **changes: Any) -> Any:
    kind = hb.TreeClassifier if case.classifies else hb.TreeRegressor
    return kind(**{**case.parameters, **changes})


def fit(case: Case, **changes: Any) -> Any:
    return outcome(
        lambda: estimator(case, **changes).fit(case.table, case.target, sample_weight=case.weights)
    )


def digest(fitted: Any) -> Outcome:
    return fitted if refused(fitted) else fitted.tree_.digest


def same(name: str, one: Any, other: Any, ways: Counter[str]) -> None:
    ways[name] += 1
    if one != other:
        raise Differs(f"{name}: {one} is not {other}")


def check(case: Case, rng: random.Random, ways: Counter[str]) -> None:
    with switched("auto"):
        lone = fit(case)
    grow_alone(case, digest(lone), rng, ways)
    if refused(lone):
        return
    keep(lone, case, ways)
    ask_databases(lone, case, ways)
    grow_sets(case, rng, ways)
    grow_bags(case, rng, ways)
    scan(case, lone, rng, ways)
    maintain(case, lone, rng, ways)


def grow_alone(case: Case, lone: Outcome, rng: random.Random, ways: Counter[str]) -> None:
    for _ in range(3):
        with some_switches(rng):
            same("lone", digest(fit(case, n_jobs=rng.randint(1, 4))), lone, ways)
    order = np.array(rng.sample(range(case.n_rows), case.n_rows))
    same("rows in another order", digest(fit(case.take(order))), lone, ways)


def keep(fitted: Any, case: Case, ways: Counter[str]) -> None:
    answers = np.asarray(fitted.predict(case.table))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        hb.save(fitted, path)
        kept = hb.load(path)
    for name, other in (("file", kept), ("pickle", pickle.loads(pickle.dumps(fitted)))):
        same(name, other.tree_.digest, fitted.tree_.digest, ways)
        same(f"{name}, answers", np.array_equal(np.asarray(other.predict(case.table)), answers), True, ways)
    same("JSON", Tree.from_json(fitted.tree_.to_json()).digest, fitted.tree_.digest, ways)


def ask_databases(fitted: Any, case: Case, ways: Counter[str]) -> None:
    """The leaf of every row, by SQL."""
    tree = fitted.tree_
    if tree.n_nodes > 300:
        return
    leaves = fitted.apply(case.table).tolist()
    numbered = case.table.append_column("row__", pa.array(range(case.n_rows)))
    query = outcome(lambda: tree.to_sql("duckdb", "leaf"))
    if not refused(query):
        with duckdb.connect(config={"threads": 1}) as database:
            database.register("t", numbered)
            rows = database.execute(f"SELECT {query} FROM t ORDER BY row__").fetchall()
        same("DuckDB", [row[0] for row in rows], leaves, ways)
    query = outcome(lambda: tree.to_sql("sqlite", "leaf"))
    if refused(query) or not all(is_plain(field.type) for field in case.table.schema):
        return
    with sqlite3.connect(":memory:") as lite:
        names = ", ".join(f"`{name}`" for name in numbered.column_names)
        lite.execute(f"CREATE TABLE t ({names})")
        marks = ", ".join("?" * numbered.num_columns)
        lite.executemany(f"INSERT INTO t VALUES ({marks})", zip(*numbered.to_pydict().values(), strict=True))
        rows = lite.execute(f"SELECT {query} FROM t ORDER BY row__").fetchall()
    same("SQLite", [row[0] for row in rows], leaves, ways)


def is_plain(kind: pa.DataType) -> bool:
    """Whether SQLite takes values of the type as they are; NaN it takes for NULL, as the tree does."""
    return pa.types.is_float64(kind) or pa.types.is_int64(kind) or pa.types.is_string(kind)


# ---- several training sets ----


def splits_of(case: Case, rng: random.Random) -> Splits:
    n = case.n_rows
    many = min(rng.choice((2, 3, 5, 10, 16, 17, 63, 64, 65, MOST_SETS)), n)
    if rng.random() < 0.5:
        fold = np.array([rng.randrange(many) for _ in range(n)])
        parts: Sequence[tuple[Array, Array]] = [
            (np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(many)
        ]
    else:
        sizes = [rng.choice((1, max(1, n // 10), max(1, n // 2), n - 1)) for _ in range(many)]
        taken = [np.sort(rng.sample(range(n), size)) for size in sizes]
        parts = [(rows, np.setdiff1d(np.arange(n), rows)) for rows in taken]
    return [(train, test) for train, test in parts if len(train) and len(test)]


def grow_sets(case: Case, rng: random.Random, ways: Counter[str]) -> None:
    """The forest of some splits, by every algorithm; the scores; and some of its trees alone."""
    splits = splits_of(case, rng) if case.n_rows > 3 else []
    if len(splits) < 2:
        return
    params = {} if case.weights is None else {"params": {"sample_weight": case.weights}}

    def validated(algorithm: str) -> Any:
        model = estimator(case, n_jobs=rng.randint(1, 4))
        with some_switches(rng):
            found = cross_validate(
                model, case.table, case.target, cv=splits, algorithm=algorithm, error_score=np.nan, **params
            )
        trees = [
            outcome(lambda place=place: found.forest.tree(place).digest) for place in range(len(splits) + 1)
        ]
        return trees, [repr(score) for score in found["test_score"].tolist()]

    serial = outcome(lambda: validated("serial"))
    for algorithm in ("overlapping", "auto"):
        same(f"sets, {algorithm}", outcome(lambda name=algorithm: validated(name)), serial, ways)
    if refused(serial) or isinstance(case.parameters.get("class_weight"), dict):
        return
    for place in rng.sample(range(len(splits)), 2):
        tree = serial[0][place + 1]
        alone = digest(fit(case.take(splits[place][0])))
        if not refused(tree) and not refused(alone):
            same("a set alone", alone, tree, ways)


def grow_bags(case: Case, rng: random.Random, ways: Counter[str]) -> None:
    kind = hb.BaggedTreesClassifier if case.classifies else hb.BaggedTreesRegressor
    most = rng.choice((None, None, 0.5, 1, min(case.n_rows, 7)))
    if case.weights is not None and isinstance(most, float):
        most = None  # a share of what they weigh, which may be billions of draws
    seed, many = rng.randrange(1000), rng.choice((1, 2, 5, 63, 65))

    def grown(algorithm: str) -> list[str]:
        model = kind(
            **case.parameters,
            n_estimators=many,
            random_state=seed,
            algorithm=algorithm,
            max_samples=most,
            n_jobs=rng.randint(1, 4),
        )
        with some_switches(rng):
            model.fit(case.table, case.target, sample_weight=case.weights)
        return [tree.digest for tree in model.trees_]

    serial = outcome(lambda: grown("serial"))
    for algorithm in ("overlapping", "auto"):
        same(f"bags, {algorithm}", outcome(lambda name=algorithm: grown(name)), serial, ways)


# ---- rows that are scanned or kept ----


def with_targets(case: Case) -> tuple[pa.Table, Any, dict[str, str]]:
    """The table with its targets and weights as columns, the targets' names, and what names the weights."""
    table = case.table
    wide = case.target.reshape(case.n_rows, -1)
    names = [f"y{i}" for i in range(wide.shape[1])]
    for place, name in enumerate(names):
        table = table.append_column(name, pa.array(wide[:, place].tolist()))
    if case.weights is None:
        return table, names[0] if len(names) == 1 else names, {}
    table = table.append_column("weight", pa.array(case.weights))
    return table, names[0] if len(names) == 1 else names, {"weight": "weight"}


def scan(case: Case, lone: Any, rng: random.Random, ways: Counter[str]) -> None:
    table, target, weight = with_targets(case)
    table = pa.Table.from_batches(table.to_batches(max_chunksize=rng.choice((1, 7, 100))), table.schema)
    for algorithm in rng.sample(ALGORITHMS, 2):
        model = estimator(case, n_jobs=rng.randint(1, 2))
        scanned = outcome(
            lambda model=model, name=algorithm: model.fit_source(
                hb.source(table, **weight), target=target, algorithm=name
            )
        )
        if refused(scanned):
            ways[f"source refused, {algorithm}"] += 1
        else:
            same(f"source, {algorithm}", digest(scanned), digest(lone), ways)


def maintain(case: Case, lone: Any, rng: random.Random, ways: Counter[str]) -> None:
    """A tree that was created from half of the rows and took the others in."""
    table, target, weight = with_targets(case)
    half = np.array(rng.sample(range(case.n_rows), case.n_rows))
    first, rest = half[: (case.n_rows + 1) // 2], half[(case.n_rows + 1) // 2 :]
    with tempfile.TemporaryDirectory() as folder:

        def kept() -> str:
            rows = hb.source(table.take(pa.array(first)), **weight)
            path = Path(folder) / "tree"
            with hb.MaintainedTree.create(path, rows, target=target, **case.parameters) as tree:
                if len(rest):
                    tree.insert(table.take(pa.array(rest)))
                return str(tree.tree.digest)

        found = outcome(kept)
    if refused(found):
        ways["maintained refused"] += 1
    else:
        same("maintained", found, digest(lone), ways)


ROUTES = Adversary("routes", check)
