"""The law of tuning: every score is that of an independent fit, every choice that of the oracle, and no row
that a fold leaves out has a part in its trees."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, ShuffleSplit, StratifiedKFold

from hornbeam import C45Classifier, TreeClassifier, TreeRegressor
from hornbeam.model_selection import TreeSearchCV
from tests.laws.reading import frame, target_array
from tests.laws.test_folds import some_rows
from tests.oracle.search import Marks, Search, choose, dealt
from tests.oracle.table import AllParameters, Classes, Column
from tests.strategies import Case

pytestmark = pytest.mark.filterwarnings("ignore:The least populated class", "ignore:R.2 score", "ignore:The scoring")
EXAMPLES = settings.default.max_examples  # type: ignore[union-attr]
SEED = st.integers(0, 2**32 - 1)
Rows = npt.NDArray[np.int64]

VALUES: dict[str, list[Any]] = {
    "min_samples_split": [2, 3, 5, 9, 20, 50, 10**6, 0.05, 0.2, 1.0],
    "min_samples_leaf": [1, 2, 3, 5, 9, 25, 10**6, 0.05, 0.2, 0.5],
    "min_objs": [None, 1, 2, 3, 5.5, 9, 30, 1e9],
    "max_depth": [None, 1, 2, 3, 5, 10**6],
    "min_impurity_decrease": [0.0, 1e-12, 0.001, 0.01, 0.02, 0.1, 5.0],
    "ccp_alpha": [0.0, 1e-9, 0.003, 0.01, 0.02, 0.1, 7.0],
    "confidence": [1e-6, 0.01, 0.1, 0.25, 0.5, 0.9, 1.0],
    "criterion": ["gini", "entropy", "gain_ratio", "correlation", "c45", "log_loss"],
    "nominal": ["subset", "value", "multiway"],
    "prune": [None, "error_based", "cost_complexity", "reduced_error"],
}


def drawn(source: random.Random, names: Sequence[str], most: int) -> dict[str, list[Any]]:
    return {
        name: source.sample(VALUES[name], source.randint(1, min(most, len(VALUES[name])))) for name in names
    }


def some_grid(source: random.Random, task: str) -> list[dict[str, list[Any]]]:
    """One to three dicts over what goes together: alphas only belong to cost_complexity."""
    growth = ["min_samples_split", "min_samples_leaf", "min_objs", "max_depth", "min_impurity_decrease"]
    growth += ["nominal"] + (["criterion"] if task == "classification" else [])
    parts: list[dict[str, list[Any]]] = []
    for _ in range(source.randint(1, 3)):
        part = drawn(source, source.sample(growth, source.randint(1, 2)), 3)
        ways: list[dict[str, list[Any]]] = [
            {},
            drawn(source, ["ccp_alpha"], 4),
            {"prune": ["cost_complexity"], **drawn(source, ["ccp_alpha"], 3)},
            {"prune": [None, "reduced_error", "cost_complexity"]},
        ]
        if task == "classification":
            ways += [{"prune": ["error_based"], **drawn(source, ["confidence"], 4)}] * 2
        parts.append({**part, **source.choice(ways)})
    return parts


def some_cv(source: random.Random, n: int) -> Any:
    seed = source.randrange(10**6)
    if source.random() < 0.4:
        return source.choice([2, 3, 5])
    return source.choice(
        [
            KFold(4, shuffle=True, random_state=seed),
            StratifiedKFold(3, shuffle=True, random_state=seed),
            ShuffleSplit(3, test_size=0.4, random_state=seed),
            list(KFold(3, shuffle=True, random_state=seed).split(np.zeros(n))),
        ]
    )


def fingerprint(model: Any, X: Any, y: Any) -> float:
    """Both trees of a fitted model as a number, exact in a double: who scores by it sees which they are."""
    text = model.tree_.digest + model.unpruned_tree_.digest
    return float(int(hashlib.sha256(text.encode()).hexdigest()[:12], 16))


def split_scores(found: Mapping[str, Any], name: str = "test_score") -> npt.NDArray[np.float64]:
    """[setting, fold]"""
    columns = []
    while f"split{len(columns)}_{name}" in found:
        columns.append(np.asarray(found[f"split{len(columns)}_{name}"]))
    return np.column_stack(columns)


def assert_same_results(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Every key but the times, to the last bit."""
    assert set(found) == set(expected)
    assert found["params"] == expected["params"]
    for name, values in expected.items():
        if name == "params" or name.endswith("_time"):
            continue
        given = found[name]
        if name.startswith("param_"):
            assert isinstance(given, np.ma.MaskedArray)
            assert np.ma.getmaskarray(given).tolist() == np.ma.getmaskarray(values).tolist()
            assert given.tolist() == values.tolist()
        else:
            assert np.array_equal(given, values, equal_nan=True), name


def exact(
    scores: npt.NDArray[np.float64], sizes: Sequence[int], leaves: Sequence[int], repeats: int = 1
) -> list[Marks]:
    """Accuracies of folds as the fractions that they are."""
    width = len(sizes) // repeats
    result = []
    for row, n_leaves in zip(scores.tolist(), leaves, strict=True):
        points = [(Fraction(round(score * size)), size) for score, size in zip(row, sizes, strict=True)]
        assert [float(right / size) for right, size in points] == row
        result.append(
            Marks(tuple(tuple(points[i : i + width]) for i in range(0, len(points), width)), n_leaves)
        )
    return result


def independent(model: Any, params: Mapping[str, Any], X: Any, y: Any, weights: Any = None) -> Any:
    given = {} if weights is None else {"sample_weight": weights}
    return clone(model).set_params(**params).fit(X, y, **given)


def classifier(source: random.Random) -> Any:
    also = source.choice(
        [{}, {}, {"class_weight": "balanced"}, {"class_weight": {"u": 2.5}}, {"min_samples_leaf": 2}]
    )
    kind = source.choice([TreeClassifier, TreeClassifier, C45Classifier])
    return kind(**also, random_state=source.randrange(99))


def without_alphas_for_c45(model: Any, grid: list[dict[str, list[Any]]]) -> list[dict[str, list[Any]]]:
    """C45Classifier prunes by errors unless told otherwise, so an alpha of its own needs the other way."""
    if not isinstance(model, C45Classifier):
        return grid
    return [{**part, "prune": ["cost_complexity"]} if "ccp_alpha" in part else part for part in grid]


@given(SEED)
def test_scores_and_choice_of_classes_are_those_of_independent_fits(seed: int) -> None:
    source = random.Random(seed)
    X, y, _, weights = some_rows(seed, source.randint(40, 110))
    model, cv = classifier(source), some_cv(source, len(X))
    grid = without_alphas_for_c45(model, some_grid(source, "classification"))
    params = {"sample_weight": weights + 0.25} if source.random() < 0.4 else {}
    train_too = source.random() < 0.3
    expected = GridSearchCV(model, grid, cv=cv, refit=False, return_train_score=train_too).fit(X, y, **params)
    found = TreeSearchCV(model, grid, cv=cv, return_train_score=train_too).fit(X, y, **params)
    assert_same_results(found.cv_results_, expected.cv_results_)
    splits = [test for _, test in splits_of(cv, X, y)]
    alone = [independent(model, p, X, y, params.get("sample_weight")) for p in ParameterGrid(grid)]
    leaves = [one.get_n_leaves() for one in alone]
    assert [result.leaves for result in found.search_.results] == leaves
    assert [result.depth for result in found.search_.results] == [one.get_depth() for one in alone]
    assert found.best_index_ == found.search_.chosen == found.search_.best
    if params:  # accuracy is weighted then, as scikit-learn has it: no longer a count of rows
        assert found.best_score_ == pytest.approx(expected.cv_results_["mean_test_score"].max(), rel=1e-12)
    else:
        marks = exact(split_scores(expected.cv_results_), [len(test) for test in splits], leaves)
        assert found.best_index_ == choose(marks)
    assert found.best_params_ == expected.cv_results_["params"][found.best_index_]
    assert found.best_score_ == expected.cv_results_["mean_test_score"][found.best_index_]
    assert found.best_estimator_.tree_.digest == alone[found.best_index_].tree_.digest
    assert found.best_estimator_.unpruned_tree_.digest == alone[found.best_index_].unpruned_tree_.digest
    event(f"settings {len(leaves) // 5 * 5}")


def splits_of(cv: Any, X: Any, y: Any) -> list[tuple[Rows, Rows]]:
    if isinstance(cv, int):
        cv = StratifiedKFold(cv)
    return cv if isinstance(cv, list) else list(cv.split(X, y))


@given(SEED)
def test_trees_of_all_settings_and_folds_are_those_of_independent_fits(seed: int) -> None:
    """By their fingerprints, before and after pruning."""
    source = random.Random(seed)
    X, y, targets, weights = some_rows(seed, source.randint(30, 80))
    task = source.choice(["classification", "classification", "regression"])
    model = classifier(source) if task == "classification" else TreeRegressor(random_state=3)
    y = y if task == "classification" else targets
    grid, cv = without_alphas_for_c45(model, some_grid(source, task)), some_cv(source, len(X))
    if task == "regression" and isinstance(cv, StratifiedKFold):
        cv = 3
    params = {"sample_weight": weights + 0.25} if source.random() < 0.4 else {}
    expected = GridSearchCV(model, grid, cv=cv, refit=False, scoring=fingerprint).fit(X, y, **params)
    found = TreeSearchCV(model, grid, cv=cv, refit=False, scoring=fingerprint).fit(X, y, **params)
    assert_same_results(found.cv_results_, expected.cv_results_)
    event(f"different trees {len(np.unique(split_scores(expected.cv_results_))) // 10 * 10}")


@settings(max_examples=max(10, EXAMPLES // 2))
@given(SEED)
def test_scores_of_numbers_are_those_of_independent_fits(seed: int) -> None:
    source = random.Random(seed)
    X, _, targets, weights = some_rows(seed, source.randint(40, 100))
    y = targets if source.random() < 0.5 else targets[:, 0]
    model, cv = (
        TreeRegressor(random_state=source.randrange(99)),
        KFold(3, shuffle=True, random_state=seed % 99),
    )
    grid = some_grid(source, "regression")
    params = {"sample_weight": weights + 0.25} if source.random() < 0.4 else {}
    scoring = source.choice([None, None, "r2", "neg_mean_squared_error"])
    expected = GridSearchCV(model, grid, cv=cv, scoring=scoring, refit=False).fit(X, y, **params)
    found = TreeSearchCV(model, grid, cv=cv, scoring=scoring).fit(X, y, **params)
    assert_close_results(found.cv_results_, expected.cv_results_)
    alone = independent(model, found.best_params_, X, y, params.get("sample_weight"))
    assert found.best_estimator_.tree_.digest == alone.tree_.digest
    top = np.nanmax(expected.cv_results_["mean_test_score"])
    assert found.best_score_ == pytest.approx(top, rel=1e-12)


def assert_close_results(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Sums of many doubles may differ in their last bits; everything else may not."""
    np.testing.assert_allclose(split_scores(found), split_scores(expected), rtol=1e-12, atol=1e-14)
    rounded = [name for name in expected if name.endswith("_score")]
    for name in rounded:
        if not name.startswith("rank"):
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-11, atol=1e-13)
    rest = {name: value for name, value in expected.items() if name not in rounded}
    assert_same_results({name: found[name] for name in rest}, rest)


@pytest.mark.parametrize("name", list(VALUES))
def test_every_parameter_alone(name: str) -> None:
    """On a table where it matters: fingerprints of the trees differ, and all are those of lone fits."""
    X, y, _, _ = some_rows(7, 140)
    also: dict[str, Any] = {"confidence": {"prune": "error_based"}, "prune": {"random_state": 1}}.get(
        name, {}
    )
    if name == "prune":
        also = {**also, "min_samples_leaf": 2}
    model, grid = TreeClassifier(**also), {name: VALUES[name]}
    expected = GridSearchCV(model, grid, cv=4, refit=False, scoring=fingerprint).fit(X, y)
    found = TreeSearchCV(model, grid, cv=4, refit=False, scoring=fingerprint).fit(X, y)
    assert_same_results(found.cv_results_, expected.cv_results_)
    assert len(np.unique(split_scores(expected.cv_results_)[:, 0])) >= (2 if name == "prune" else 3)
    accuracy = GridSearchCV(model, grid, cv=4, refit=False).fit(X, y)
    assert_same_results(TreeSearchCV(model, grid, cv=4).fit(X, y).cv_results_, accuracy.cv_results_)


@pytest.mark.parametrize("algorithm", ["auto", "serial", "overlapping", "folds"])
def test_the_way_of_growing_changes_nothing(algorithm: str) -> None:
    X, y, _, weights = some_rows(3, 120)
    grid = [
        {"min_samples_leaf": [1, 4, 9], "max_depth": [None, 3]},
        {"prune": ["error_based"], "min_objs": [2, 5]},
    ]
    expected = GridSearchCV(TreeClassifier(), grid, cv=4, refit=False, scoring=fingerprint)
    expected.fit(X, y, sample_weight=weights)
    for also in ({}, {"memory_limit": "32MB"}, {"n_jobs": 2}):
        found = TreeSearchCV(
            TreeClassifier(), grid, cv=4, scoring=fingerprint, refit=False, algorithm=algorithm, **also
        )
        assert_same_results(found.fit(X, y, sample_weight=weights).cv_results_, expected.cv_results_)


@pytest.mark.parametrize(
    "scoring",
    [
        "accuracy",
        "balanced_accuracy",
        "neg_log_loss",
        "f1_macro",
        ["accuracy", "neg_log_loss"],
        {"right": "accuracy", "tree": fingerprint},
    ],
)
def test_any_scorer(scoring: Any) -> None:
    X, y, _, _ = some_rows(5, 120)
    grid = {"min_samples_split": [2, 10, 40], "criterion": ["gini", "c45"], "max_depth": [2, None]}
    expected = GridSearchCV(
        TreeClassifier(), grid, cv=4, refit=False, scoring=scoring, return_train_score=True
    )
    found = TreeSearchCV(TreeClassifier(), grid, cv=4, refit=False, scoring=scoring, return_train_score=True)
    if isinstance(scoring, str) and scoring in ("neg_log_loss", "f1_macro", "balanced_accuracy"):
        assert_close_results(found.fit(X, y).cv_results_, expected.fit(X, y).cv_results_)
        return
    found.fit(X, y), expected.fit(X, y)
    for name, values in expected.cv_results_.items():
        if name.startswith(("split", "mean_t", "std_t")) and not name.endswith("_time"):
            np.testing.assert_allclose(found.cv_results_[name], values, rtol=1e-11, err_msg=name)


# the oracle

GRIDS: list[list[dict[str, Any]]] = [
    [{"min_samples_split": m} for m in (2, 4, 6, 9, 15, 99)],
    [{"min_samples_leaf": m} for m in (1, 2, 3, 5, 8, 99)],
    [{"min_objs": m} for m in (1.0, 2.0, 3.0, 5.0, 99.0)],
    [{"max_depth": d} for d in (1, 2, 3, None)],
    [{"min_impurity_decrease": g} for g in (0.0, 0.01, 0.03, 0.2)],
    [{"ccp_alpha": a} for a in (0.0, 0.01, 0.03, 0.2)],
    [{"prune": "error_based", "confidence": c} for c in (0.001, 0.25, 0.9)],
    [{"prune": "error_based", "min_objs": m, "criterion": "c45"} for m in (1.0, 2.0, 4.0)],
    [{"criterion": c, "nominal": n} for c in ("gini", "c45", "correlation") for n in ("subset", "multiway")],
    [{"max_depth": 2}, {"max_depth": 2}, {"max_depth": None}, {"min_samples_split": 99}, {"max_depth": 1}],
]


def small_case(source: random.Random) -> Case:
    """So small that many settings tie."""
    n = source.choice([12, 16, 20, 24, 30])
    columns = (
        Column("x", "integer", tuple(source.randrange(6) for _ in range(n))),
        Column("f", "float", tuple(source.choice([None, 0.5, 1.0, 2.5, 7.0]) for _ in range(n))),
        Column("c", "nominal", tuple(source.choice("abcd") for _ in range(n))),
    )
    first = columns[0].values
    labels = ["q" if int(v or 0) > 2 else "p" for v in first]
    labels = [source.choice("pqr") if source.random() < 0.35 else label for label in labels]
    labels[:6] = list("ppqqrr")
    return Case(columns, Classes(tuple(labels)), AllParameters())


def as_lists(setting: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: [value] for name, value in setting.items()}


@settings(max_examples=2 * EXAMPLES)
@given(
    SEED,
    st.sampled_from(range(len(GRIDS))),
    st.sampled_from([1, 2, 3, 5]),
    st.sampled_from(["mean", "trimmed"]),
    st.sampled_from(["best", "1se", "smallest"]),
)
def test_the_choice_is_the_oracles(seed: int, which: int, repeats: int, how: str, select: str) -> None:
    source = random.Random(seed)
    case, k = small_case(source), source.choice([2, 3, 4, 7])
    grid, state = GRIDS[which], source.randrange(10**6)
    X, y = frame(case.columns), target_array(case)
    if repeats == 1:
        k = min(k, max(Counter(case.target.labels).values()))
        order = [test.tolist() for _, test in StratifiedKFold(k).split(X, y)]
        folds = [order]
    else:
        shuffle = np.random.RandomState(state)
        folds = [dealt(case.target.labels, shuffle.permutation(case.n).tolist(), k) for _ in range(repeats)]
    oracle = Search(case.columns, case.target, AllParameters(), tuple(grid))
    marks = oracle.marks(folds)
    found = TreeSearchCV(
        TreeClassifier(),
        [as_lists(setting) for setting in grid],
        cv=k,
        repeats=repeats,
        mean=how,
        select=select,
        random_state=state,
    ).fit(X, y)
    record = found.search_
    assert [list(result.scores) for result in record.results] == [list(map(float, m.folds)) for m in marks]
    assert [result.score for result in record.results] == pytest.approx(
        [float(m.estimate(how)) for m in marks], rel=1e-14
    )
    assert [result.error**2 for result in record.results] == pytest.approx(
        [float(m.squared_error()) for m in marks], rel=1e-9, abs=1e-30
    )
    assert [result.leaves for result in record.results] == [m.leaves for m in marks]
    assert record.best == choose(marks, how)
    assert record.chosen == found.best_index_ == choose(marks, how, select)
    assert (record.folds, record.repeats, record.mean, record.select) == (k, repeats, how, select)
    event("tie" if len({m.estimate(how) for m in marks}) < len(marks) else "no tie")
    event("other than the best" if record.chosen != record.best else "the best")


# what must not leak


def altered(X: pd.DataFrame, y: Any, rows: Rows, source: random.Random) -> tuple[pd.DataFrame, Any]:
    """Other values, gaps, categories and classes that nobody else has, and other labels, in these rows."""
    X, y = X.copy(), np.array(y, dtype=object)
    n = len(rows)
    X.loc[rows, "few"] = np.array([source.choice([0, 3, 99]) for _ in range(n)])
    X.loc[rows, "ties"] = np.array([source.choice([-1e9, 0.05, np.nan]) for _ in range(n)])
    X.loc[rows, "gaps"] = np.array([source.choice([0.5, np.nan, 1e9]) for _ in range(n)])
    X.loc[rows, "text"] = [source.choice(["!", "a", "zz"]) for _ in range(n)]
    y[rows] = [source.choice("tuvwx") for _ in range(n)]
    return X, y.astype(str)


LEAKY: list[dict[str, list[Any]]] = [
    {"criterion": ["gini", "gain_ratio"], "min_samples_leaf": [1, 0.1], "max_depth": [None, 2]},
    {"criterion": ["c45"], "nominal": ["multiway"], "min_objs": [2, 5], "min_samples_split": [2, 0.3]},
    {"prune": ["error_based"], "confidence": [0.1, 0.5], "nominal": ["value"]},
    {"ccp_alpha": [0.005, 0.03], "min_impurity_decrease": [0.0, 0.01]},
    {"prune": ["reduced_error"], "max_depth": [None, 4]},
]


@settings(max_examples=max(8, EXAMPLES // 4))
@given(SEED, st.sampled_from([None, "balanced"]))
def test_rows_held_out_never_touch_the_trees_of_their_fold(seed: int, class_weight: Any) -> None:
    source = random.Random(seed)
    X, y, _, weights = some_rows(seed, 60)
    splits = list(KFold(4, shuffle=True, random_state=seed % 1000).split(X))
    model = TreeClassifier(random_state=5, class_weight=class_weight)
    params = {"sample_weight": weights + 0.25} if source.random() < 0.5 else {}
    search = TreeSearchCV(model, LEAKY, cv=splits, scoring=fingerprint, refit=False)
    before = split_scores(clone(search).fit(X, y, **params).cv_results_)
    fold = source.randrange(4)
    if params:
        params = {"sample_weight": np.where(np.isin(np.arange(60), splits[fold][1]), 7.5, weights + 0.25)}
    X, y = altered(X, y, splits[fold][1], source)
    after = split_scores(clone(search).fit(X, y, **params).cv_results_)
    assert before[:, fold].tolist() == after[:, fold].tolist()
    others = np.delete(np.arange(4), fold)
    assert (before[:, others] != after[:, others]).any()  # they did learn from these rows


@settings(max_examples=max(8, EXAMPLES // 4))
@given(SEED)
def test_rows_held_out_never_touch_what_their_fold_says_of_others(seed: int) -> None:
    """The same for accuracies, which are counted without models: those of the training rows stay."""
    source = random.Random(seed)
    X, y, _, _ = some_rows(seed, 60)
    splits = list(KFold(4, shuffle=True, random_state=seed % 1000).split(X))
    search = TreeSearchCV(
        TreeClassifier(random_state=5), LEAKY, cv=splits, refit=False, return_train_score=True
    )
    before = split_scores(clone(search).fit(X, y).cv_results_, "train_score")
    fold = source.randrange(4)
    after = split_scores(
        clone(search).fit(*altered(X, y, splits[fold][1], source)).cv_results_, "train_score"
    )
    assert before[:, fold].tolist() == after[:, fold].tolist()


# known answers


def test_a_size_beyond_the_rows_gives_one_leaf() -> None:
    X, y, _, _ = some_rows(1, 60)
    grid = [{name: [61, 10**9]} for name in ("min_samples_split", "min_samples_leaf", "min_objs")]
    found = TreeSearchCV(TreeClassifier(), grid, cv=3).fit(X, y)
    assert [(result.leaves, result.depth) for result in found.search_.results] == [(1, 0)] * 6
    assert found.best_index_ == 0
    assert found.best_estimator_.tree_.n_nodes == 1
