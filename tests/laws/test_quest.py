"""QUEST's choice is the oracle's: lone trees and forests, every path of the engine, competitors and sizes."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from hornbeam import BaggedTreesClassifier, TreeClassifier
from hornbeam.growth import Engine, TrainingSets, grow_settings, grow_tree
from hornbeam.model_selection import TreeSearchCV
from tests import strategies
from tests.forests import grow_forest
from tests.laws.engine_tables import assert_same, generated
from tests.laws.growing import DEFAULT, Call, assert_equal
from tests.laws.random_cases import cells, random_cases, random_column
from tests.laws.reading import by_package
from tests.laws.test_bagging import assert_lone_fits
from tests.laws.test_c45 import assert_competitors, assert_identical, drawn_sets, native_trees
from tests.laws.test_core_identity import COUNTING, KERNELS
from tests.laws.test_core_identity import assert_identical as assert_identical_to
from tests.laws.test_folds import ALGORITHMS, assert_lone, some_rows, splitter
from tests.oracle.table import AllParameters, Classes, Column
from tests.strategies import LABELS, Case

OBJECTS: list[float | None] = [None, None, None, 1.0, 2.0, 3.5]


def by_quest(case: Case, min_objs: float | None = None) -> Case:
    changes = {"criterion": "quest", "nominal": "subset", "min_objs": min_objs}
    return Case(case.columns, case.target, AllParameters(**{**vars(case.parameters), **changes}))


def leaning(seed: int) -> Case:
    """Classes that lean on the columns, so that trees grow; many categories, gaps, twins, vast numbers."""
    source = random.Random(seed)
    n, k = source.choice([12, 30, 60, 90]), source.choice([2, 2, 3, 4, 6])
    codes = [source.randrange(k) for _ in range(n)]
    columns = []
    for i in range(source.choice([1, 2, 4])):
        kind = source.choice(["normal", "shifted", "labels", "any"])
        if kind == "any":
            columns.append(random_column(source, n, f"x{i}", source.choice([2, 4, 17])))
            continue
        if kind == "labels":
            labels = source.sample(LABELS, source.choice([2, 3, 6, 20]))
            lean = [source.sample(labels, max(1, len(labels) // 2)) for _ in range(k)]
            values: list[Any] = [source.choice(lean[c]) for c in codes]
        else:
            scale, offset = 2.0 ** source.choice([0, 0, 40, -1000, 900]), source.choice([0.0, 0.0, 3.0, 1e6])
            width = [source.choice([0.0, 0.5, 1.0, 3.0]) for _ in range(k)]
            digits = source.choice([0, 1, 15])
            values = [scale * (offset + round(source.gauss(c % 3, width[c]), digits)) for c in codes]
        gaps = cells(source, n, [1]) if source.random() < 0.3 else (1,) * n
        name = "nominal" if kind == "labels" else "float"
        columns.append(
            Column(f"x{i}", name, tuple(None if g is None else v for g, v in zip(gaps, values, strict=True)))
        )
    if source.random() < 0.2:
        columns.append(Column("twin", columns[-1].kind, columns[-1].values))
    leaf = source.choice([1, 1, 2, 5, 0.05])
    return Case(tuple(columns), Classes(tuple(codes)), AllParameters("quest", min_samples_leaf=leaf))


LEANING = st.integers(0, 2**32 - 1).map(leaning)
ANY = st.one_of(strategies.classification(), random_cases, LEANING, LEANING, LEANING)


@st.composite
def quest_cases(draw: st.DrawFn) -> Case:
    case = draw(ANY)
    assume(isinstance(case.target, Classes))
    return by_quest(case, draw(st.sampled_from(OBJECTS)))


@pytest.mark.agreed
@settings(max_examples=4 * settings.default.max_examples)  # type: ignore[union-attr]
@given(quest_cases())
def test_a_lone_tree_is_the_oracles(case: Case) -> None:
    assert_identical(case, native_trees(case)[0])


@pytest.mark.agreed
@given(quest_cases(), KERNELS, st.booleans(), st.sampled_from([1, 2]), st.sampled_from(COUNTING))
def test_every_path_gives_the_oracles_tree(
    case: Case, kernels: str, accelerate: bool, threads: int, counting: str
) -> None:
    engine: dict[str, Any] = {"kernels": kernels, "accelerate": accelerate, "counting": counting}
    assert_identical(case, native_trees(case, threads=threads, **engine)[0])


@pytest.mark.agreed
@given(quest_cases(), st.integers(0, 2**32 - 1))
def test_each_tree_of_a_forest_is_the_oracles_with_its_competitors(case: Case, seed: int) -> None:
    times = drawn_sets(case.n, seed)
    for i, tree in enumerate(native_trees(case, times, competitors=5)):
        assert_identical(case, tree, [row[i] for row in times])
        assert_competitors(case, tree, [row[i] for row in times])


@pytest.mark.agreed
@given(quest_cases(), st.sampled_from([1, 2]), st.booleans())
def test_competitors_are_the_oracles(case: Case, threads: int, accelerate: bool) -> None:
    """Their qualities are logarithms of p-values: these are the oracle's to the last bit."""
    tree = native_trees(case, competitors=5, threads=threads, accelerate=accelerate)[0]
    assert_identical(case, tree)
    assert_competitors(case, tree)


@given(quest_cases(), st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(case: Case, seed: int) -> None:
    case = Case(case.columns, case.target, DEFAULT_QUEST)
    order = random.Random(seed).sample(range(case.n), case.n)
    assert by_package(case) == by_package(case.rows(order))


DEFAULT_QUEST = by_quest(Case((), Classes(()), AllParameters())).parameters


@given(LEANING, st.integers(-60, 60))
def test_a_column_times_a_power_of_two_and_a_useless_column_change_nothing(case: Case, power: int) -> None:
    """Sums are exact, and so is their scale."""

    def scaled(column: Column) -> Column:
        if column.kind != "float":
            return column
        values = [None if v is None else float(v) * 2.0**power for v in column.values]
        kept = [v is None or v / 2.0**power == w for v, w in zip(values, column.values, strict=True)]
        return replace(column, values=tuple(values)) if all(kept) else column

    tree, other = (
        native_trees(c)[0]
        for c in (
            case,
            case.with_columns([*map(scaled, case.columns), Column("one", "float", (1.0,) * case.n)]),
        )
    )
    for name in ("kind", "attribute", "first_child", "default_child", "rows", "gain", "branch_child"):
        assert np.asarray(getattr(tree, name)).tolist() == np.asarray(getattr(other, name)).tolist(), name
    event(f"{len(tree.kind)} nodes")


@pytest.mark.agreed
def test_many_categories_of_many_classes() -> None:
    """Either axis may be the shorter one."""
    source = random.Random(2)
    for n_labels, n_classes in ((60, 9), (7, 20), (20, 20)):
        labels = [f"v{i:03d}" for i in range(n_labels)]
        lean = {label: source.choices(range(n_classes), k=3) for label in labels}
        found = [*labels, *source.choices(labels, k=900)]
        codes = [source.choice(lean[label]) for label in found]
        case = Case((Column("x", "nominal", tuple(found)),), Classes(tuple(codes)), DEFAULT_QUEST)
        assert_identical_to(case, native_trees(case)[0], None)


@given(
    st.integers(0, 10**6),
    st.sampled_from(
        [
            {},
            {"prune": "error_based"},
            {"ccp_alpha": 0.01},
            {"prune": "reduced_error", "random_state": 3},
            {"min_objs": 2, "competitors": 2},
            {"max_depth": 3, "min_impurity_decrease": 0.01},
            {"min_samples_leaf": 0.05},
        ]
    ),
    st.sampled_from(["folds", "repeats", "sets"]),
    st.sampled_from(ALGORITHMS),
)
def test_a_tree_of_a_fold_is_that_of_a_lone_fit(seed: int, way: Any, kind: str, algorithm: str) -> None:
    X, y, _, _ = some_rows(seed, 40 + seed % 90)
    if algorithm == "folds" and kind == "sets":
        algorithm = "auto"
    assert_lone(TreeClassifier(criterion="quest", **way), X, y, splitter(kind, seed), None, algorithm)


@pytest.mark.parametrize("classes", [2, 5])
def test_settings_grow_together_as_alone(classes: int) -> None:
    table, target = generated(900, classes=classes)
    call = Call(table, target, replace(DEFAULT, criterion="quest")).having()
    sets = [np.arange(900), *(np.flatnonzero(np.arange(900) % 3 != i) for i in range(3))]
    chosen = [replace(call.parameters, min_samples_leaf=m) for m in (1, 30, 2, 0.1, 400)]
    forest = grow_settings(table, target, chosen, TrainingSets.of_rows(900, sets))
    for i, rows in enumerate(sets):
        for s, one in enumerate(chosen):
            assert_equal(forest.tree(i, s), replace(call, parameters=one).of(rows).grown())


@pytest.mark.parametrize("classes", [2, 3])
def test_a_large_table_does_not_depend_on_the_engine(classes: int) -> None:
    """Beyond the size where nodes are grown apart and put together again."""
    table, target = generated(40000, classes=classes)
    parameters = replace(DEFAULT, criterion="quest", min_samples_leaf=20)
    tree = grow_tree(table, target, parameters)
    assert tree.n_leaves > 20
    for engine in (Engine(accelerate=False), Engine(counting="never"), Engine(counting="always")):
        assert_same(grow_tree(table, target, parameters, threads=2, engine=engine), tree)
    times = np.ones((40000, 3), dtype=np.uint8)
    times[::3, 1] = times[1::3, 2] = 0
    for i, grown in enumerate(grow_forest(table, target, parameters, times, threads=2)):
        rows = np.flatnonzero(times[:, i])
        assert grown.digest == grow_tree(table.take(rows), target.take(rows), parameters).digest


@pytest.mark.parametrize("algorithm", ["serial", "overlapping"])
def test_bags_grow_as_their_rows_do(algorithm: str) -> None:
    X, y, _, _ = some_rows(4, 150)
    model = BaggedTreesClassifier(
        criterion="quest", n_estimators=5, algorithm=algorithm, min_samples_leaf=2, random_state=1
    )
    assert_lone_fits(model.fit(X, y), X, y)


def test_a_search_scores_what_lone_fits_score() -> None:
    X, y, _, _ = some_rows(11, 160)
    grid = {"criterion": ["gini", "quest"], "min_samples_leaf": [1, 4, 20], "max_depth": [2, None]}
    search = TreeSearchCV(TreeClassifier(), grid, cv=3).fit(X, y)
    for parameters, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        model = clone(TreeClassifier(**parameters, cv=3)).fit(X, y)
        assert score == pytest.approx(np.mean(model.cv_results_["test_score"]))


def test_a_tree_of_quest_is_kept(tmp_path: Any) -> None:
    import hornbeam

    X, y, _, _ = some_rows(3, 120)
    model = TreeClassifier(criterion="quest", min_samples_leaf=3, competitors=2).fit(X, y)
    hornbeam.save(model, tmp_path / "quest.model")
    loaded = hornbeam.load(tmp_path / "quest.model")
    assert loaded.tree_.digest == model.tree_.digest
    assert loaded.criterion == "quest"
    assert (loaded.predict(X) == model.predict(X)).all()


def test_what_is_refused() -> None:
    X, y = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), np.array([0, 0, 1, 1])
    for nominal in ("value", "multiway"):
        with pytest.raises(ValueError, match=r"quest.*use 'subset'"):
            TreeClassifier(criterion="quest", nominal=nominal).fit(X, y)
    for wrong in ({"class_weight": "balanced"}, {"cost_matrix": [[0, 1], [2, 0]]}):
        with pytest.raises(ValueError, match=r"quest.*leave out sample_weight, class_weight and cost_matrix"):
            TreeClassifier(criterion="quest", **wrong).fit(X, y)
    with pytest.raises(ValueError, match=r"quest.*leave out sample_weight"):
        TreeClassifier(criterion="quest").fit(X, y, sample_weight=[1.0, 2.0, 1.0, 1.0])
