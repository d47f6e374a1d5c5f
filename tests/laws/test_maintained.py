"""Rows come and go, and the kept tree is after every batch that of `fit` on those that are present."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hornbeam.boat.task import SourceTask
from hornbeam.errors import HornbeamError, SourceChanged
from hornbeam.maintained import counts, subtrees
from hornbeam.maintained.incremental import IncrementalTree
from hornbeam.maintained.kept import KeptNode
from hornbeam.maintained.update import Update
from tests.depth import seeds
from tests.laws import number_cases, source_cases
from tests.laws.source_growing import case_task, fitted

BATCHES = 6
STEPS = {"_doubtful": "looked into", "_moving": "moved", "_anew": "grown anew"}


class Rows:
    """Some rows of a table are present; batches are drawn from the others and from them."""

    def __init__(self, table: pa.Table, seed: int) -> None:
        self.rng, self._table, n = np.random.default_rng(seed), table, table.num_rows
        self._present = np.sort(self.rng.choice(n, max(1, n // 2), replace=False))

    @property
    def present(self) -> pa.Table:
        return self._table.take(pa.array(self._present))

    def draw(self) -> tuple[pa.Table, pa.Table]:
        """Rows that come and rows that go: a few, many, or none; at least one stays. They are of everywhere,
        or neighbours by an attribute, so that other parts of the tree are not touched."""
        n = self._table.num_rows
        by = self._table.column_names[self.rng.integers(self._table.num_columns)]
        neighbours = self.rng.random() < 0.5
        place = np.argsort(pc.sort_indices(self._table, [(by, "ascending")]).to_numpy())

        def some(rows: Any, most: int) -> Any:
            size = min(int(self.rng.choice([0, 1, 3, n // 20, n // 4])), most)
            if not neighbours:
                return self.rng.choice(rows, size, replace=False)
            first = self.rng.integers(len(rows) - size + 1)
            return rows[np.argsort(place[rows])][first : first + size]

        rest = np.setdiff1d(np.arange(n), self._present)
        come, go = some(rest, len(rest)), some(self._present, len(self._present) - 1)
        self._present = np.sort(np.concatenate([np.setdiff1d(self._present, go), come]))
        return self._table.take(pa.array(come)), self._table.take(pa.array(go))


@contextmanager
def recording() -> Iterator[Counter[str]]:
    """Counts the ways of all batches inside."""
    ways: Counter[str] = Counter()
    before = {name: getattr(Update, name) for name in ("_look", "_move", "_grow_anew")}

    def counted(step: Callable[[Update], None], waiting: str) -> Callable[[Update], None]:
        def count(self: Update) -> None:
            ways[STEPS[waiting]] += len(getattr(self, waiting))
            step(self)

        return count

    for (name, step), waiting in zip(before.items(), STEPS, strict=True):
        setattr(Update, name, counted(step, waiting))
    try:
        yield ways
    finally:
        for name, step in before.items():
            setattr(Update, name, step)


def reopened(engine: IncrementalTree, way: str) -> IncrementalTree:
    """The engine as another process would have it: still open, with its tree alone, or with saved counts."""
    if way == "open":
        return engine
    again = IncrementalTree(engine.present, engine.tree)
    if way == "recalled":
        counts = engine.counts()
        assert counts is not None
        again.recall(counts)
        assert again.warm
    return again


def follow(
    rows: Rows,
    task: Callable[[pa.Table], SourceTask],
    fit: Callable[[pa.Table], str],
    ways: Sequence[str] = ("open",),
    *,
    keep_families: bool = True,
) -> None:
    engine = IncrementalTree(lambda wants, kept=None: task(rows.present), keep_families=keep_families)
    assert engine.warm_up().digest == fit(rows.present)
    for i in range(BATCHES):
        engine = reopened(engine, ways[i % len(ways)])
        come, go = rows.draw()
        try:
            rebuilt = fit(rows.present)
        except HornbeamError as refused:  # costs of a class that is gone
            with pytest.raises(type(refused)):
                engine.apply(come, go)
            return
        assert engine.apply(come, go).digest == rebuilt


def check_classes(seed: int, ways: Sequence[str] = ("open",), **parameters: Any) -> None:
    case = source_cases.random_case(seed)
    keep_families = parameters.pop("keep_families", True)
    case = replace(case, parameters=case.parameters | parameters)
    limit = case.memory_limit if seed % 2 else 10**8

    def task(present: pa.Table) -> SourceTask:
        return replace(case_task(replace(case, table=present), "memory"), memory_limit=limit)

    def fit(present: pa.Table) -> str:
        return fitted(present, case.parameters).digest

    follow(Rows(case.table, seed), task, fit, ways, keep_families=keep_families)


def check_numbers(seed: int, ways: Sequence[str] = ("open",)) -> None:
    case = number_cases.random_case(seed)
    if case.weighted:  # some row weighs something, always
        heavy = pa.array(np.maximum(case.table["weight"].to_numpy(), 0.5 * (seed % 3)))
        at = case.table.schema.get_field_index("weight")
        case = replace(case, table=case.table.set_column(at, "weight", heavy))

    def of(present: pa.Table) -> Any:
        return replace(case, table=present)

    follow(Rows(case.table, seed), lambda p: of(p).source_task("memory"), lambda p: of(p).fit(), ways)


@pytest.mark.parametrize("seeds", [range(first, first + 20) for first in seeds(0, 100, 200)[::20]])
def test_classes_of_random_tables(seeds: range) -> None:
    with recording() as ways:
        for seed in seeds:
            check_classes(seed)
    print(ways)
    assert all(ways[way] for way in STEPS.values())


@pytest.mark.parametrize("seed", seeds(0, 30, 60))
def test_numbers_and_weights(seed: int) -> None:
    check_numbers(seed)


WAYS = (("open",), ("recalled",), ("cold",), ("open", "recalled", "open", "cold"))


@pytest.fixture
def always_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of small tables are saved as well."""
    monkeypatch.setattr(counts, "_LEAST_ROWS", 0)
    monkeypatch.setattr(counts, "_MOST_BYTES", 10**9)


@pytest.mark.usefixtures("always_saved")
@pytest.mark.parametrize("seeds", [range(first, first + 15) for first in seeds(1000, 30, 60)[::15]])
def test_who_opens_the_file_again_goes_on(seeds: range) -> None:
    for seed in seeds:
        check_classes(seed, WAYS[seed % len(WAYS)])


@pytest.mark.usefixtures("always_saved")
@pytest.mark.parametrize("seed", seeds(100, 30, 60))
def test_numbers_and_weights_of_who_opens_it_again(seed: int) -> None:
    check_numbers(seed, WAYS[seed % len(WAYS)])


# Rules that go by the size of the whole table, near to where they end growth.
RULES: list[dict[str, Any]] = [
    {"min_impurity_decrease": 1e-3},
    {"min_impurity_decrease": 3e-4, "criterion": "entropy"},
    {"min_impurity_decrease": 1e-3, "criterion": "gain_ratio"},
    {"min_impurity_decrease": 1e-4, "criterion": "correlation"},
    {"min_samples_leaf": 0.003},
    {"min_samples_split": 0.01, "min_impurity_decrease": 2e-4},
]


@pytest.mark.usefixtures("always_saved")
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_rules_that_go_by_all_rows(rules: dict[str, Any]) -> None:
    for seed in seeds(2000, 5, 12):
        check_classes(seed, WAYS[seed % len(WAYS)], **rules)


def test_families_may_all_be_grown_anew() -> None:
    for seed in seeds(0, 8, 20):
        check_classes(seed, keep_families=False)


def differs(seed: int, **parameters: Any) -> bool:
    """Whether the law does not hold."""
    try:
        check_classes(seed, **parameters)
    except (AssertionError, SourceChanged):  # another tree, or rows that went where none were expected
        return True
    return False


def test_families_that_are_kept_for_no_reason_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a family taken for untouched that is not, the tests of the law would tell."""

    def broken(self: Update, kept: KeptNode) -> bool:
        return self._stands is not None and not kept.counted

    monkeypatch.setattr(Update, "_stays", broken)
    assert sum(map(differs, range(30))) >= 5


def corners() -> tuple[pa.Table, pa.Table]:
    """Rows with many weak tests, and as many more in a corner that the root tells apart."""
    rng = np.random.default_rng(5)
    x, y, z = rng.uniform(0, 0.9, 3000), rng.uniform(size=3000), rng.uniform(size=3000)
    x[2700:] = rng.uniform(0.95, 1, 300)
    said = (x > 0.9) | (rng.random(3000) < 0.1 + 0.5 * y * z)
    rows = pa.table({"x": x, "y": y, "z": z, "class": np.where(said, "a", "b")})
    corner = rows.slice(2700)
    return rows, pa.concat_tables([corner] * 10)


@pytest.mark.parametrize(
    ("parameters", "name", "broken"),
    [
        ({"min_samples_leaf": 0.01}, "sizes_differ", False),
        ({"min_samples_split": 0.02}, "sizes_differ", False),
        ({"min_impurity_decrease": 1e-3}, "in_doubt", None),
        ({"min_impurity_decrease": 1e-3, "criterion": "entropy"}, "in_doubt", None),
    ],
    ids=str,
)
@pytest.mark.parametrize("comes", [True, False])
@pytest.mark.parametrize("mutated", [False, True])
def test_rules_go_by_all_rows_where_none_came(
    parameters: dict[str, Any],
    name: str,
    broken: Any,
    comes: bool,
    mutated: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All rows come to, or leave, a corner of the tree; elsewhere the rules of all rows say another thing."""
    if mutated:
        none = lambda rules: np.zeros(len(rules._before["kind"]), dtype=np.bool_)  # noqa: E731
        monkeypatch.setattr(subtrees._Rules, name, none if broken is None else broken)
    few, corner = corners()
    states = [few, pa.concat_tables([few, corner])]
    before, after = states if comes else states[::-1]
    present = before

    def task(wants: Any, kept: Any = None) -> SourceTask:
        case = replace(source_cases.random_case(3), table=present, parameters=parameters)
        return replace(case_task(case, "memory"), memory_limit=10**8)

    engine = IncrementalTree(task)
    assert engine.warm_up().digest == fitted(before, parameters).digest
    present = after
    grown = engine.apply(*((corner, None) if comes else (None, corner)))
    assert (grown.digest == fitted(after, parameters).digest) != mutated


def test_families_that_no_row_came_to_are_not_read() -> None:
    few, corner = corners()
    wanted: list[Any] = []
    present = few

    def task(wants: Any, kept: Any = None) -> SourceTask:
        wanted.extend(wants)
        case = replace(source_cases.random_case(3), table=present, parameters={})
        return replace(case_task(case, "memory"), memory_limit=10**8)

    engine = IncrementalTree(task)
    assert engine.warm_up().digest == fitted(few, {}).digest
    wanted.clear()
    present = pa.concat_tables([few, corner.slice(0, 1)])
    assert engine.apply(corner.slice(0, 1), None).digest == fitted(present, {}).digest
    kept = engine._kept
    assert kept is not None
    assert kept.root is not None
    families = [node for node in kept.root.walk() if not node.counted]
    read = [want for want in wanted if not want.kept.counted]
    assert len(families) > 3
    assert len(read) <= 1


def test_ignored_doubts_keep_other_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without looking into doubtful buckets the law would not hold: so the tests of it notice."""
    follow_on = Update._follow

    def trusting(self: Update, pair: Any, settled: Any) -> None:
        if settled.state == "open":
            settled = self._nodes.settling.choose(pair.node, [settled])
        follow_on(self, pair, settled)

    monkeypatch.setattr(Update, "_follow", trusting)
    monkeypatch.setattr(Update, "_foresee", lambda self, root: None)

    assert sum(map(differs, range(30))) >= 10
