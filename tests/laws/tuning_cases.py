"""What the laws of tuning share: grids over random tables, and results compared with independent fits."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from hornbeam import C45Classifier, TreeClassifier
from tests.oracle.search import Marks

Rows = npt.NDArray[np.int64]
QUIET = ("ignore:The least populated class", "ignore:R.2 score", "ignore:The scoring")

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
        part = drawn(source, source.sample(growth, source.randint(1, 2)), 2)
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
        return source.choice([2, 3, 5, 10])  # from 9 folds on, means depend on the order of sums
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
    columns: list[npt.NDArray[np.float64]] = []
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
    also: dict[str, Any] = source.choice(
        [{}, {}, {"class_weight": "balanced"}, {"class_weight": {"u": 2.5}}, {"min_samples_leaf": 2}]
    )
    kind = source.choice([TreeClassifier, TreeClassifier, C45Classifier])
    return kind(**also, random_state=source.randrange(99))


def without_alphas_for_c45(model: Any, grid: list[dict[str, list[Any]]]) -> list[dict[str, list[Any]]]:
    """C45Classifier prunes by errors unless told otherwise, so an alpha of its own needs the other way."""
    if not isinstance(model, C45Classifier):
        return grid
    return [{**part, "prune": ["cost_complexity"]} if "ccp_alpha" in part else part for part in grid]


def splits_of(cv: Any, X: Any, y: Any) -> list[tuple[Rows, Rows]]:
    if isinstance(cv, int):
        cv = StratifiedKFold(cv)
    return cv if isinstance(cv, list) else list(cv.split(X, y))


def assert_close_results(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Sums of many doubles may differ in their last bits; everything else may not."""
    np.testing.assert_allclose(split_scores(found), split_scores(expected), rtol=1e-12, atol=1e-14)
    rounded = [name for name in expected if name.endswith("_score")]
    for name in rounded:
        if not name.startswith("rank"):
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-11, atol=1e-13)
    rest = {name: value for name, value in expected.items() if name not in rounded}
    assert_same_results({name: found[name] for name in rest}, rest)
