"""TreeSearchCV gives what scikit-learn's GridSearchCV gives, to the last bit, and has its interface."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, cross_val_score

import hornbeam
from hornbeam import C45Classifier, TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, UsageError
from hornbeam.model_selection import TreeSearchCV

N = 90
RANDOM = np.random.default_rng(5)
NUMBERS = RANDOM.integers(0, 6, size=(N, 3)).astype(float)
NUMBERS[RANDOM.random((N, 3)) < 0.05] = np.nan
X = pd.DataFrame(NUMBERS, columns=["a", "b", "c"]).assign(d=RANDOM.choice(["p", "q", "r", "s"], N))
SCORE = np.nan_to_num(NUMBERS[:, 0]) + 2 * (X["d"] == "q") + RANDOM.normal(size=N)
Y = np.array(["low", "middle", "high"])[np.digitize(SCORE, [1.5, 4.0])]
TWO = (SCORE > 2.5).astype(int)
VALUE = np.asarray(SCORE)

CLASS_GRIDS = [
    {"max_depth": [1, 2, 3, None], "min_samples_split": [2, 9, 0.3]},
    {"min_impurity_decrease": [0.0, 0.01, 0.05]},
    {"min_samples_leaf": [1, 3, 0.1], "max_depth": [2, None]},
    {"min_objs": [None, 1, 4.5]},
    {"ccp_alpha": [0.0, 0.005, 0.02, 1.0], "max_depth": [2, None]},
    {"prune": ["error_based"], "confidence": [0.05, 0.25, 0.9], "max_depth": [3, None]},
    {"prune": [None, "reduced_error", "cost_complexity"], "max_depth": [2, None]},
    {"criterion": ["gini", "entropy", "gain_ratio", "c45"], "nominal": ["subset", "value", "multiway"]},
    [{"max_depth": [1]}, {"prune": ["error_based"]}, {"max_depth": [3], "criterion": ["correlation"]}],
]


def same_results(ours: Any, theirs: Any, close: bool = False) -> None:
    """All of it is equal; `close`: but for the rounding of scikit-learn's own sums."""
    assert set(ours) == set(theirs)
    for name, expected in theirs.items():
        if name.endswith("_time"):
            continue
        if name == "params":
            assert ours[name] == expected
        elif name.startswith("param_"):
            assert ours[name].tolist() == expected.tolist()
            assert ours[name].dtype == expected.dtype
        elif close and not name.startswith("rank_"):
            assert ours[name] == pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True), name
        else:
            assert np.array_equal(ours[name], expected, equal_nan=True), name


def both(
    estimator: Any, grid: Any, X: Any, y: Any, fit: Any = None, close: bool = False, **options: Any
) -> tuple[Any, Any]:
    found = [
        search(estimator, grid, **options).fit(X, y, **(fit or {})) for search in (TreeSearchCV, GridSearchCV)
    ]
    ours, theirs = found
    same_results(ours.cv_results_, theirs.cv_results_, close)
    return ours, theirs


def require_own_trees(search: Any, X: Any, y: Any, **fit: Any) -> None:
    """The chosen tree, and the sizes of all, are those of fits of their own."""
    alone = clone(search.estimator).set_params(**search.best_params_).fit(X, y, **fit)
    assert search.best_estimator_.tree_ == alone.tree_
    assert search.best_estimator_.unpruned_tree_ == alone.unpruned_tree_
    assert search.best_estimator_.get_params() == alone.get_params()
    for result in search.search_.results:
        tree = clone(search.estimator).set_params(**result.params).fit(X, y, **fit).tree_
        assert (result.leaves, result.depth) == (tree.n_leaves, tree.depth)


@pytest.mark.parametrize("grid", CLASS_GRIDS)
def test_classes_are_scored_as_by_scikit_learn(grid: Any) -> None:
    ours, theirs = both(TreeClassifier(random_state=3), grid, X, Y, cv=4, return_train_score=True)
    require_own_trees(ours, X, Y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.search_.measure == "accuracy"


@pytest.mark.parametrize("grid", [CLASS_GRIDS[0], CLASS_GRIDS[3], CLASS_GRIDS[5]])
def test_c45_is_scored_as_by_scikit_learn(grid: Any) -> None:
    ours, theirs = both(C45Classifier(), grid, X, Y, cv=4)
    require_own_trees(ours, X, Y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)


@pytest.mark.parametrize("targets", [1, 2])
def test_numbers_are_scored_as_by_scikit_learn(targets: int) -> None:
    y = VALUE if targets == 1 else np.column_stack([VALUE, VALUE**2])
    grid = {"max_depth": [1, 3, None], "ccp_alpha": [0.0, 0.05], "min_samples_leaf": [1, 4]}
    ours, _ = both(TreeRegressor(), grid, X, y, cv=5, return_train_score=True)
    require_own_trees(ours, X, y)
    assert ours.search_.measure == "r2"


@pytest.mark.parametrize("y", [Y, TWO])
def test_log_loss_is_that_of_scikit_learn(y: Any) -> None:
    ours, _ = both(TreeClassifier(), CLASS_GRIDS[4], X, y, cv=3, scoring="neg_log_loss", close=True)
    assert "log loss" in ours.search_.reason
    assert ours.search_.measure == "neg_log_loss"


def shown_wrong(model: Any, X: Any, y: Any) -> float:
    assert isinstance(X, pd.DataFrame)
    return -float((model.predict(X) != y).sum())


@pytest.mark.parametrize(
    "scoring", ["balanced_accuracy", shown_wrong, make_scorer(accuracy_score, normalize=False), "roc_auc"]
)
def test_any_scorer(scoring: Any) -> None:
    ours, theirs = both(TreeClassifier(), {"max_depth": [1, 2, None]}, X, TWO, cv=3, scoring=scoring)
    assert ours.score(X, TWO) == theirs.score(X, TWO)


def test_several_measures_and_who_chooses() -> None:
    grid, options = {"max_depth": [1, 2, None]}, {"scoring": ["accuracy", "balanced_accuracy"], "cv": 3}
    ours, theirs = both(TreeClassifier(), grid, X, Y, refit="balanced_accuracy", **options)
    assert ours.multimetric_
    assert ours.best_score_ == theirs.best_score_
    assert ours.search_.measure == "balanced_accuracy"
    assert set(ours.scorer_) == {"accuracy", "balanced_accuracy"}
    assert ours.score(X, Y) == theirs.score(X, Y)
    none, _ = both(TreeClassifier(), grid, X, Y, refit=False, **options)
    assert not hasattr(none, "best_index_")
    assert not hasattr(none, "best_estimator_")
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        TreeSearchCV(TreeClassifier(), grid, **options).fit(X, Y)

    def worst(results: Any) -> int:
        return int(results["mean_test_accuracy"].argmin())

    called, theirs = both(TreeClassifier(), grid, X, Y, refit=worst, **options)
    assert called.best_params_ == theirs.best_params_
    assert not hasattr(called, "best_score_")
    assert called.search_.chosen == called.best_index_
    assert "refit" in called.search_.reason


def test_without_refit_there_is_no_estimator() -> None:
    search = TreeSearchCV(TreeClassifier(), {"max_depth": [1, 2]}, cv=3, refit=False).fit(X, Y)
    assert search.best_params_
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "predict")


def test_splitters_lists_and_groups() -> None:
    grid = {"max_depth": [1, 3], "min_samples_leaf": [1, 5]}
    for cv in (
        KFold(3, shuffle=True, random_state=1),
        ShuffleSplit(4, random_state=0),
        [([0, 1, 5, 9], [3, 4])],
    ):
        ours, theirs = both(TreeClassifier(), grid, X, Y, cv=cv)
        assert ours.n_splits_ == theirs.n_splits_
    groups = RANDOM.integers(0, 5, N)
    ours, theirs = both(TreeClassifier(), grid, X, Y, cv=GroupKFold(3), fit={"groups": groups})
    assert ours.n_splits_ == theirs.n_splits_ == 3


def test_weights_grow_and_score_as_in_scikit_learn() -> None:
    weights = RANDOM.integers(0, 4, N).astype(float)
    grid = {"max_depth": [1, 3, None], "ccp_alpha": [0.0, 0.01]}
    ours, theirs = both(TreeClassifier(), grid, X, Y, cv=4, fit={"sample_weight": weights})
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    require_own_trees(ours, X, Y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        routed = TreeClassifier().set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        both(routed, grid, X, Y, cv=4, scoring=scorer, fit={"sample_weight": weights})


def test_folds_without_a_tree_count_as_error_score() -> None:
    half = np.arange(N // 2)
    search = TreeSearchCV(TreeClassifier(), {"max_depth": [1, 2]}, cv=[([], half), (half + N // 2, half)])
    with (
        pytest.warns(FitFailedWarning, match="2 fits failed out of a total of 4"),
        pytest.warns(UserWarning, match="One or more of the test scores are non-finite"),
    ):
        search.fit(X, Y)
    assert np.isnan(search.cv_results_["split0_test_score"]).all()
    with pytest.warns(FitFailedWarning, match="their scores are 0.5"):
        search.set_params(error_score=0.5).fit(X, Y)
    assert search.cv_results_["split0_test_score"].tolist() == [0.5, 0.5]
    with pytest.raises(DataError, match="training set 1 has no rows"):
        search.set_params(error_score="raise").fit(X, Y)


def test_costs_choose_where_a_cost_matrix_is_given() -> None:
    matrix = [[0.0, 1.0], [7.0, 0.0]]
    search = TreeSearchCV(TreeClassifier(cost_matrix=matrix), {"max_depth": [1, 2, None]}, cv=4).fit(X, TWO)
    assert search.search_.measure == "cost"

    def minus_cost(model: Any, X: Any, y: Any) -> float:
        return -float(np.mean(np.array(matrix)[y, model.predict(X)]))

    both_ways = GridSearchCV(search.estimator, search.param_grid, cv=4, scoring=minus_cost).fit(X, TWO)
    same_results(search.cv_results_, both_ways.cv_results_)
    assert search.score(X, TWO) == pytest.approx(minus_cost(search, X, TWO))
    other = TreeSearchCV(search.estimator, {"max_depth": [1]}, cv=4, scoring="accuracy").fit(X, TWO)
    assert other.search_.measure == "accuracy"


def test_the_path_of_alphas_has_one_for_every_tree() -> None:
    search = TreeSearchCV(TreeClassifier(), {"ccp_alpha": "path"}, cv=3).fit(X, Y)
    path = TreeClassifier().cost_complexity_pruning_path(X, Y).ccp_alphas
    leaves = [result.leaves for result in search.search_.results]
    assert len(leaves) == len(path)
    assert leaves[-1] == 1
    assert (np.diff(leaves) < 0).all()


def test_repetitions_are_dealt_once_for_all_settings() -> None:
    grid = {"max_depth": [1, 2, None]}
    options: dict[str, Any] = {"cv": 3, "repeats": 4, "random_state": 7}
    search = TreeSearchCV(TreeClassifier(), grid, mean="trimmed", **options).fit(X, Y)
    assert search.n_splits_ == 12
    assert (search.search_.folds, search.search_.repeats) == (3, 4)
    again = TreeSearchCV(TreeClassifier(), {"max_depth": [2]}, **options).fit(X, Y)
    assert again.search_.results[0].scores == search.search_.results[1].scores
    assert search.best_score_ == search.cv_results_["trimmed_test_score"][search.best_index_]
    assert search.cv_results_["rank_test_score"][search.search_.best] == 1
    other = TreeSearchCV(TreeClassifier(), grid, **{**options, "random_state": 8}).fit(X, Y)
    assert other.search_.results != search.search_.results


@pytest.mark.parametrize("algorithm", ["serial", "overlapping", "folds"])
def test_the_algorithm_and_the_memory_change_nothing(algorithm: str) -> None:
    grid = {"prune": [None, "reduced_error"], "min_samples_leaf": [1, 3]}
    options: dict[str, Any] = {"cv": 3, "nested": 3}
    plain = TreeSearchCV(TreeClassifier(random_state=0), grid, **options).fit(X, Y)
    search = TreeSearchCV(
        TreeClassifier(random_state=0), grid, algorithm=algorithm, memory_limit="50MB", n_jobs=2, **options
    ).fit(X, Y)
    assert search.search_ == plain.search_


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cv": 91}, DataError, "91 folds of n_samples=90 rows"),
        ({"cv": 5, "repeats": 0}, UsageError, "repeats=0: a whole number from 1 is allowed"),
        ({"mean": "median"}, UsageError, "mean='median': use 'mean' or 'trimmed'"),
        ({"select": "worst"}, UsageError, "select='worst': use 'best', '1se' or 'smallest'"),
        ({"nested": 2}, UsageError, "nested=2: a whole number of folds from 3"),
        ({"nested": 3, "refit": lambda results: 0}, UsageError, "it cannot choose inside the outer folds"),
        ({"algorithm": "quick"}, UsageError, "algorithm='quick'"),
        ({"memory_limit": "much"}, UsageError, "memory_limit='much'"),
        ({"error_score": "loud"}, UsageError, "error_score='loud'"),
    ],
)
def test_odd_arguments_are_refused_in_one_line(options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message) as refused:
        TreeSearchCV(TreeClassifier(), {"max_depth": [1]}, **options).fit(X, Y)
    assert "\n" not in str(refused.value)


def test_it_stands_where_scikit_learns_searches_stand(tmp_path: Any) -> None:
    search = TreeSearchCV(TreeClassifier(), {"max_depth": [1, 2]}, cv=3)
    with pytest.raises(NotFittedError):
        search.predict(X)
    assert is_classifier(search)
    assert is_regressor(TreeSearchCV(TreeRegressor(), {"max_depth": [1]}))
    search.fit(X, Y)
    assert search.classes_.tolist() == ["high", "low", "middle"]
    assert search.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert search.n_features_in_ == 4
    assert search.predict_proba(X).shape == (N, 3)
    assert len(cross_val_score(search, X, Y, cv=3)) == 3
    again = pickle.loads(pickle.dumps(search))
    assert again.search_ == search.search_
    assert (again.predict(X) == search.predict(X)).all()
    hornbeam.save(search, tmp_path / "chosen.hornbeam")
    assert hornbeam.load(tmp_path / "chosen.hornbeam").tree_ == search.best_estimator_.tree_


def test_an_estimator_that_has_folds_of_its_own_keeps_them() -> None:
    search = TreeSearchCV(TreeClassifier(cv=4), {"max_depth": [1, 2]}, cv=3).fit(X, Y)
    assert len(search.best_estimator_.cv_results_["test_score"]) == 4


def test_no_row_that_judges_touches_growth_or_pruning() -> None:
    """Where the labels of a fold are turned round, what was right there is wrong, and no tree changes."""
    grid = [
        {"prune": ["error_based", "reduced_error", None], "max_depth": [2, None]},
        {"ccp_alpha": [0.005, 0.02]},
    ]
    out = np.arange(10, 40)
    search = TreeSearchCV(TreeClassifier(random_state=1), grid, cv=[(np.delete(np.arange(N), out), out)])
    before = search.fit(X, TWO).cv_results_["split0_test_score"]
    labels = TWO.copy()
    labels[out] = 1 - labels[out]
    after = search.fit(X, labels).cv_results_["split0_test_score"]
    assert (np.rint(30 * before) + np.rint(30 * after)).tolist() == [30.0] * 8


def test_tables_of_any_kind() -> None:
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    grid = {"max_depth": [1, 2, None], "criterion": ["gini", "entropy"]}
    expected = TreeSearchCV(TreeClassifier(), grid, cv=3).fit(X, Y)
    for table in (polars.from_pandas(X), arrow.Table.from_pandas(X)):
        found = TreeSearchCV(TreeClassifier(), grid, cv=3).fit(table, Y.tolist())
        assert found.search_ == expected.search_
        assert (found.predict(table) == expected.predict(X)).all()
