"""Trees that grow together: folds, bags, and settings of a search."""

from __future__ import annotations

from functools import partial
from typing import Any

from hornbeam import (
    BaggedTreesClassifier,
    BaggedTreesRegressor,
    C45Classifier,
    CrossValidatedC45,
    TreeClassifier,
    TreeRegressor,
)
from hornbeam.datasets import load
from hornbeam.model_selection import TreeSearchCV, cross_val_predict, cross_validate

from .fits import COSTS, others_of, table_of
from .tables import attributes, splits
from .values import Case, Values, answers_of, checksum, of_model, of_tree, of_trees, scores


def cases() -> dict[str, Case]:
    found = {f"folds, {name}": case for name, case in _folds().items()}
    found |= {f"bags, {name}": case for name, case in _bags().items()}
    return found | {f"search, {name}": case for name, case in _searches().items()}


def _folds() -> dict[str, Case]:
    forest, tree, number = partial(_forest, "class"), TreeClassifier, TreeRegressor
    grown: dict[str, Case] = {
        f"gini, {algorithm}": partial(forest, tree(min_samples_leaf=2), algorithm=algorithm)
        for algorithm in ("auto", "serial", "overlapping", "folds")
    }
    return grown | {
        "entropy, value": partial(forest, tree(criterion="entropy", nominal="value")),
        "gain_ratio, multiway": partial(forest, tree(criterion="gain_ratio", nominal="multiway")),
        "correlation": partial(forest, tree(criterion="correlation", max_depth=5)),
        "quest": partial(forest, tree(criterion="quest")),
        "c45": partial(forest, C45Classifier()),
        "drawn test rows": partial(forest, tree(), overlapping=True),
        "repeated": partial(forest, tree(min_samples_leaf=3), repeats=2),
        "weights": partial(forest, tree(max_depth=5), weights="weight"),
        "balanced, costs": partial(forest, tree(class_weight="balanced", cost_matrix=COSTS)),
        "error_based": partial(forest, tree(prune="error_based")),
        "reduced_error": partial(forest, tree(prune="reduced_error", random_state=1)),
        "cost_complexity": partial(forest, tree(ccp_alpha=0.01)),
        "share sizes": partial(forest, tree(min_samples_leaf=0.05, min_impurity_decrease=0.005)),
        "variance": partial(_forest, "amount", number(min_samples_leaf=3)),
        "variance, folds": partial(_forest, "amount", number(), algorithm="folds"),
        "variance, drawn test rows, weights": partial(
            _forest, "amount", number(max_depth=6), overlapping=True, weights="weight"
        ),
        "fit with cv=4": partial(_fit_with_folds, tree(cv=4, min_samples_leaf=4), "class"),
        "fit with cv=3, variance": partial(_fit_with_folds, number(cv=3, ccp_alpha=1.0), "amount"),
        "stability": _stability,
        "predictions": _predictions,
    }


def _forest(
    target: str,
    model: Any,
    *,
    folds: int = 4,
    repeats: int = 1,
    overlapping: bool = False,
    weights: str | None = None,
    **how: Any,
) -> Values:
    table = table_of("gaps")
    cv = [pair for i in range(repeats) for pair in splits(len(table), folds, i, overlapping=overlapping)]
    params = None if weights is None else {"sample_weight": table[weights].to_numpy()}
    found = cross_validate(model, attributes(table), table[target], cv=cv, params=params, **how)
    return of_tree(found.forest.tree(0)) | {
        "folds": of_trees(found.forest.tree(i + 1) for i in range(len(cv))),
        "scores": scores(found["test_score"]),
    }


def _fit_with_folds(model: Any, target: str) -> Values:
    table = table_of("gaps")
    model.fit(attributes(table), table[target])
    return of_model(model, others_of("gaps")) | {
        "folds": of_trees(model.forest_.tree(i + 1) for i in range(model.cv)),
        "scores": scores(model.cv_results_["test_score"]),
    }


def _stability() -> Values:
    table = table_of("gaps")
    model = TreeClassifier(cv=5, min_samples_leaf=6).fit(attributes(table), table["class"])
    forest = model.forest_
    text = forest.stability().to_text()
    return of_tree(forest.tree(0)) | {"text": checksum(text.splitlines()), "lines": len(text.splitlines())}


def _predictions() -> Values:
    table = table_of("gaps")
    given = {"X": attributes(table), "y": table["class"], "cv": splits(len(table), 5, 3)}
    model = TreeClassifier(min_samples_leaf=4)
    return {
        "predict": checksum(cross_val_predict(model, **given)),
        "proba": checksum(cross_val_predict(model, method="predict_proba", **given)),
    }


def _bags() -> dict[str, Case]:
    trees, numbers = (
        partial(_bag, BaggedTreesClassifier, "class"),
        partial(_bag, BaggedTreesRegressor, "amount"),
    )
    return {
        "gini": partial(trees, oob_score=True),
        "entropy, serial": partial(trees, criterion="entropy", algorithm="serial"),
        "gain_ratio, overlapping, hard votes": partial(
            trees, criterion="gain_ratio", algorithm="overlapping", voting="hard"
        ),
        "half of the rows, once": partial(trees, max_samples=0.5, bootstrap=False, nominal="value"),
        "weights": partial(trees, weights="weight", max_depth=4),
        "costs, error_based": partial(trees, cost_matrix=COSTS, prune="error_based"),
        "reduced_error": partial(trees, prune="reduced_error", min_samples_leaf=2),
        "quest": partial(trees, criterion="quest", max_depth=4),
        "variance": partial(numbers, oob_score=True, min_samples_leaf=3),
        "variance, serial": partial(numbers, algorithm="serial", max_samples=90, ccp_alpha=1.0),
        "two targets": partial(_bag, BaggedTreesRegressor, "amount change", max_depth=4),
    }


def _bag(estimator: Any, targets: str, *, weights: str | None = None, **given: Any) -> Values:
    table = table_of("gaps")
    weighed = None if weights is None else table[weights].to_numpy()
    X, names = attributes(table), targets.split()
    y = table[targets] if len(names) == 1 else table.select(names)
    model = estimator(n_estimators=5, random_state=4, **given).fit(X, y, sample_weight=weighed)
    values: Values = {"trees": of_trees(model.trees_)} | answers_of(model, others_of("gaps"))
    values["drawn"] = checksum([row for rows in model.estimators_samples_ for row in rows])
    if given.get("oob_score"):
        values["outside"] = scores(model.oob_score_)
    return values


def _searches() -> dict[str, Case]:
    sizes = {"max_depth": [1, 3, None], "min_samples_leaf": [1, 4, 9]}
    mixed = [{"criterion": ["gini", "entropy"], "ccp_alpha": [0.0, 0.01]}, {"nominal": ["multiway"]}]
    pruned = {"prune": ["error_based"], "confidence": [0.05, 0.25, 0.8]}
    variance = {"min_samples_leaf": [2, 5, 11], "min_impurity_decrease": [0.0, 2.0]}
    path = {"ccp_alpha": "path"}
    return {
        "sizes": partial(_search, sizes),
        "sizes, smallest of three": partial(_search, sizes, select="smallest", repeats=3, random_state=1),
        "path, 1se": partial(_search, path, select="1se"),
        "path, nested": partial(_search, path, select="1se", nested=3),
        "criteria and kinds": partial(_search, mixed, algorithm="folds"),
        "confidence, trimmed": partial(_search, pruned, mean="trimmed", repeats=5, random_state=2),
        "min_objs": partial(_search, {"min_objs": [1, 2, 6]}, model=C45Classifier()),
        "costs": partial(_search, sizes, model=TreeClassifier(cost_matrix=COSTS)),
        "variance": partial(_search, variance, "amount", model=TreeRegressor()),
        "CrossValidatedC45": partial(_chosen, cv=4, repeats=3, min_objs=(1, 2, 4, 8), random_state=0),
        "CrossValidatedC45, small": partial(
            _chosen, cv=3, repeats=2, min_objs=(2, 5), small=True, runs=2, random_state=1
        ),
        "CrossValidatedC45, min_samples_split": partial(
            _chosen, cv=3, repeats=2, min_objs=(1, 3, 20), rule="min_samples_split", random_state=2
        ),
        "iris, path": _iris,
    }


def _search(grid: Any, target: str = "class", *, model: Any = None, **how: Any) -> Values:
    table = table_of("gaps")
    search = TreeSearchCV(model or TreeClassifier(), grid, cv=3, **how)
    return _of_search(search.fit(attributes(table), table[target]), others_of("gaps"))


def _of_search(search: Any, X: Any) -> Values:
    found = search.search_
    values = of_model(search.best_estimator_, X) | {
        "chosen": found.chosen,
        "best": found.best,
        "leaves of each": [result.leaves for result in found.results],
        "score of each": scores([result.score for result in found.results]),
        "reason": found.reason,
    }
    if found.nested is not None:
        values["nested"] = scores(found.nested.scores) + [str(params) for params in found.nested.params]
    return values


def _chosen(**given: Any) -> Values:
    table = table_of("gaps")
    model = CrossValidatedC45(**given).fit(attributes(table), table["class"])
    return (
        of_tree(model.tree_) | answers_of(model, others_of("gaps")) | {"parameters": str(model.best_params_)}
    )


def _iris() -> Values:
    data = load("iris")
    return _of_search(TreeSearchCV(TreeClassifier(), {"ccp_alpha": "path"}, cv=5).fit(data.X, data.y), data.X)
