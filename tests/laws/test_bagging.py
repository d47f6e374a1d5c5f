"""The tree of a bag is the tree that its rows grow alone, whatever the algorithm, the threads, the chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.base import clone

from hornbeam import BaggedTreesClassifier, BaggedTreesRegressor, _core
from hornbeam.growth import (
    ClassTarget,
    Engine,
    Parameters,
    TrainingSets,
    grow_sets,
    grow_tree,
)
from hornbeam.table import encode_classes, from_data
from tests.forests import grow_forest
from tests.laws.engine_tables import answer, attributes, generated, take
from tests.real_data import RealSet

ROWS = 240
ALGORITHMS = ("auto", "serial", "overlapping")

CLASSES: dict[str, dict[str, Any]] = {
    "gini": {},
    "entropy by value": {"criterion": "entropy", "nominal": "value"},
    "gain ratio, a branch a label": {"criterion": "gain_ratio", "nominal": "multiway", "min_samples_leaf": 3},
    "correlation": {"criterion": "correlation", "max_depth": 4},
    "c45": {"criterion": "c45", "nominal": "multiway", "min_objs": 2, "prune": "error_based"},
    "balanced classes": {"class_weight": "balanced", "min_samples_leaf": 2},
    "named weights": {"class_weight": {"a": 3.0, "c": 0.5}, "prune": "error_based"},
    "costs": {"cost_matrix": [[0, 1, 4], [2, 0, 1], [1, 1, 0]], "max_depth": 5},
    "shares of rows": {"min_samples_split": 0.1, "min_samples_leaf": 0.03},
    "error_based": {"prune": "error_based", "confidence": 0.1},
    "cost_complexity": {"ccp_alpha": 0.01},
    "reduced_error": {"prune": "reduced_error", "validation_fraction": 0.4},
    "competitors": {"competitors": 3, "max_depth": 4},
    "small bags": {"max_samples": 0.3},
    "without replacement": {"max_samples": 0.6, "bootstrap": False},
    "bags larger than the table": {"max_samples": 5 * ROWS, "min_samples_leaf": 8},
}
NUMBERS: dict[str, dict[str, Any]] = {
    "variance": {},
    "leaves of five": {"min_samples_leaf": 5, "nominal": "value"},
    "reduced_error": {"prune": "reduced_error"},
    "cost_complexity": {"ccp_alpha": 0.05, "nominal": "multiway"},
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Numbers, gaps and nominal columns."""
    return attributes(np.random.default_rng(5), ROWS, nominal=True)


@pytest.fixture(scope="module")
def numbers(table: pd.DataFrame) -> npt.NDArray[np.float64]:
    return answer(np.random.default_rng(6), table)


@pytest.fixture(scope="module")
def classes(numbers: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Of the class c there are so few rows that bags lack it now and then."""
    return np.array(["a", "b", "c"], dtype=object)[
        np.searchsorted(np.quantile(numbers, [0.5, 0.99]), numbers)
    ]


def assert_lone_fits(model: Any, X: pd.DataFrame, y: npt.NDArray[Any]) -> None:
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        drawn = X.take(rows), y[rows]
        present = set(np.unique(drawn[1])) if isinstance(model, BaggedTreesClassifier) else set()
        lone = clone(member)
        if isinstance(model, BaggedTreesClassifier) and present != set(model.classes_):
            lone = lacking(lone, sorted(present), model.classes_.tolist())
        lone.fit(*drawn)
        assert member.tree_.digest == lone.tree_.digest
        assert member.unpruned_tree_.digest == lone.unpruned_tree_.digest
        assert member.random_state == lone.random_state


def lacking(lone: Any, present: list[Any], labels: list[Any]) -> Any:
    """The estimator for a bag that lacks a class: weights and costs may name only those that are there."""
    if isinstance(lone.class_weight, dict):
        lone.set_params(class_weight={k: w for k, w in lone.class_weight.items() if k in present})
    if lone.cost_matrix is not None:
        at = [labels.index(label) for label in present]
        lone.set_params(cost_matrix=np.array(lone.cost_matrix)[np.ix_(at, at)])
    return lone


@pytest.mark.parametrize("case", CLASSES)
def test_trees_of_bags_are_those_of_their_rows_alone(
    table: pd.DataFrame, classes: npt.NDArray[Any], case: str
) -> None:
    model = BaggedTreesClassifier(n_estimators=6, random_state=1, **CLASSES[case]).fit(table, classes)
    assert_lone_fits(model, table, classes)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("case", NUMBERS)
def test_trees_of_bags_of_numbers_are_those_of_their_rows_alone(
    table: pd.DataFrame, numbers: npt.NDArray[np.float64], case: str, targets: int
) -> None:
    y = numbers if targets == 1 else np.column_stack((numbers, np.round(numbers[::-1], 1)))
    model = BaggedTreesRegressor(n_estimators=6, random_state=2, **NUMBERS[case]).fit(table, y)
    assert_lone_fits(model, table, y)


def test_some_bags_lack_a_class(table: pd.DataFrame, classes: npt.NDArray[Any]) -> None:
    model = BaggedTreesClassifier(n_estimators=6, random_state=1).fit(table, classes)
    assert any(len(np.unique(classes[rows])) == 2 for rows in model.estimators_samples_)
    assert model.predict_proba(table).shape == (ROWS, 3)


@pytest.mark.parametrize("prune", [None, "error_based", "reduced_error"])
def test_weights_draw_rows_and_rows_that_are_drawn_count_as_one(
    table: pd.DataFrame, classes: npt.NDArray[Any], prune: str | None
) -> None:
    weights = np.random.default_rng(3).exponential(size=ROWS)
    weights[::7] = 0.0
    model = BaggedTreesClassifier(n_estimators=6, random_state=4, prune=prune)
    model.fit(table, classes, sample_weight=weights)
    assert_lone_fits(model, table, classes)
    assert not any(np.isin(rows, np.flatnonzero(weights == 0)).any() for rows in model.estimators_samples_)


@pytest.mark.parametrize("prune", [None, "error_based", "reduced_error"])
def test_a_row_may_be_drawn_more_often_than_a_byte_counts(
    table: pd.DataFrame, classes: npt.NDArray[Any], prune: str | None
) -> None:
    weights = np.ones(ROWS)
    weights[[5, 50, 200]] = 3000.0, 900.0, 120.0
    model = BaggedTreesClassifier(n_estimators=4, random_state=0, prune=prune, max_samples=1500, min_objs=2)
    model.fit(table, classes, sample_weight=weights)
    assert max(np.bincount(rows).max() for rows in model.estimators_samples_) > 2 * 255
    assert_lone_fits(model, table, classes)


def digests(model: Any) -> list[str]:
    return [tree.digest for tree in model.trees_]


@pytest.mark.parametrize("prune", [None, "error_based"])
def test_no_algorithm_and_no_number_of_threads_changes_a_tree(
    table: pd.DataFrame, classes: npt.NDArray[Any], prune: str | None
) -> None:
    found = [
        digests(
            BaggedTreesClassifier(
                n_estimators=9, random_state=1, algorithm=algorithm, n_jobs=threads, prune=prune
            ).fit(table, classes)
        )
        for algorithm in ALGORITHMS
        for threads in (1, 2, 3)
    ]
    assert all(one == found[0] for one in found)
    assert len(set(found[0])) == 9


def test_more_bags_than_grow_together_begin_with_the_same_trees(
    table: pd.DataFrame, classes: npt.NDArray[Any]
) -> None:
    few = BaggedTreesClassifier(n_estimators=5, random_state=8, max_depth=4).fit(table, classes)
    many = BaggedTreesClassifier(n_estimators=150, random_state=8, max_depth=4).fit(table, classes)
    assert digests(many)[:5] == digests(few)
    for i in (63, 64, 65, 128, 149):
        rows = many.estimators_samples_[i]
        assert clone(many.estimators_[i]).fit(table.take(rows), classes[rows]).tree_ == many.trees_[i]


@pytest.mark.parametrize("name", ["credit_approval", "mushroom", "yeast", "glass", "abalone"])
def test_bags_of_real_sets_grow_the_trees_of_their_rows(
    real_set: Callable[[str], RealSet], name: str
) -> None:
    real = real_set(name)
    kind: Any = BaggedTreesRegressor if name == "abalone" else BaggedTreesClassifier
    model = kind(n_estimators=4, random_state=0, min_samples_leaf=2).fit(real.table, real.target)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        lone = clone(member).fit(real.table.iloc[rows], real.target.iloc[rows])
        assert member.tree_.digest == lone.tree_.digest


@pytest.mark.parametrize("classes", [2, 3, 11])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("bags", [5, 20, 50, 70])
def test_bags_of_few_values_are_counted_together_and_are_lone_growths(
    bags: int, criterion: str, classes: int
) -> None:
    n = 1500
    rng = np.random.default_rng(bags)
    X = rng.integers(0, [2, 3, 5, 40], (n, 4)).astype(np.float64)
    X[rng.random(n) < 0.1, 1] = np.nan
    table = pd.DataFrame(X, columns=list("abcd")).assign(e=rng.choice(list("xyz"), n))
    y = (X[:, 0] + X[:, 2] + X[:, 3] + rng.integers(0, 3, n)).astype(np.int64) % classes
    found = [
        BaggedTreesClassifier(
            n_estimators=bags, random_state=1, algorithm=algorithm, n_jobs=threads, criterion=criterion
        ).fit(table, y)
        for algorithm, threads in [("auto", 1), ("auto", 3), ("serial", 1), ("overlapping", 1)]
    ]
    assert all(digests(one) == digests(found[0]) for one in found)
    for i in (0, bags // 2, bags - 1):
        rows = found[0].estimators_samples_[i]
        lone = clone(found[0].estimators_[i]).fit(table.take(rows), y[rows])
        assert lone.tree_.digest == found[0].trees_[i].digest


# In these tables a bag is left alone among as many rows as it counts, of which some are other bags'.
@pytest.mark.parametrize("seed", [88, 277, 514, 612])
def test_a_bag_that_counts_as_many_rows_as_there_are_may_still_repeat_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 80))
    X = np.stack([rng.integers(0, 3, n) for _ in range(5)], axis=1).astype(np.float64)
    y = (X[:, 0] > 0) ^ (rng.random(n) < 0.2)
    bags = TrainingSets.of_rows(n, [rng.integers(0, n, n) for _ in range(3)])
    table, target = from_data(X), ClassTarget(*encode_classes(y.astype(np.int64)))
    parameters = Parameters(min_samples_leaf=3, max_depth=5).checked("classification")
    together, serial = (
        grow_sets(table, target, parameters, bags, engine=Engine(algorithm=algorithm, counting="always"))
        for algorithm in ("overlapping", "serial")
    )
    assert [together.tree(i).digest for i in range(3)] == [serial.tree(i).digest for i in range(3)]


@pytest.mark.parametrize("kernels", _core.kernels())
def test_bags_are_counted_alike_by_all_kernels(kernels: str) -> None:
    n, bags = 40_000, 18
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, (n, 6)).astype(np.float64)
    y = (X.sum(axis=1) + rng.integers(0, 4, n)).astype(np.int64) % 3
    table, target = from_data(X), ClassTarget(*encode_classes(y))
    times = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(bags)], axis=1)
    parameters = Parameters(max_depth=7).checked("classification")
    together, serial = (
        grow_forest(table, target, parameters, times.astype(np.uint8), engine=engine)
        for engine in (Engine(kernels), Engine(algorithm="serial"))
    )
    assert [tree.digest for tree in together] == [tree.digest for tree in serial]


def test_bags_of_a_wide_table_share_a_growth_though_two_columns_have_many_values() -> None:
    n, wide, bags = 400, 128, 5
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.integers(0, 2, (n, wide)), rng.normal(size=(n, 2))]).astype(np.float64)
    y = (X[:, 0] + X[:, 5] + (X[:, wide] > 0) + rng.integers(0, 2, n)).astype(np.int64) % 3
    table, target = from_data(X), ClassTarget(*encode_classes(y))
    sets = TrainingSets.of_rows(n, [rng.integers(0, n, n) for _ in range(bags)])
    parameters = Parameters().checked("classification")
    together, serial = (
        grow_sets(table, target, parameters, sets, engine=Engine(algorithm=algorithm))
        for algorithm in ("auto", "serial")
    )
    assert together.levels.entries[0] < serial.levels.entries[0]  # the root is read once for several bags
    assert [together.tree(i).digest for i in range(bags)] == [serial.tree(i).digest for i in range(bags)]


@pytest.mark.parametrize("algorithm", ["serial", "overlapping"])
@pytest.mark.parametrize("classes", [2, 3])
def test_bags_of_a_large_table_are_lone_growths(algorithm: str, classes: int) -> None:
    """A bag alone has a row as often as it counts, also where nodes are handed to smaller frames below."""
    n = 60_000
    table, target = generated(n, classes=classes)
    rng = np.random.default_rng(classes)
    times = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(3)], axis=1)
    parameters = Parameters(max_depth=6).checked("classification")
    engine = Engine(algorithm=algorithm)
    trees = grow_forest(table, target, parameters, times.astype(np.uint8), engine=engine)
    for i, tree in enumerate(trees):
        rows = np.repeat(np.arange(n), times[:, i])
        assert tree.digest == grow_tree(*take(table, target, rows), parameters).digest
