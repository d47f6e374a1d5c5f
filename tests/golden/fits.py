"""Fits of one table in memory: criteria, nominal tests, gaps, weights, costs, pruning, settings, types.

`prune="reduced_error"` draws by numpy's Generator: if its cases alone fail, look at numpy's version first.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa

from hornbeam import C45Classifier, TreeClassifier, TreeRegressor
from hornbeam.datasets import load, make_agrawal, make_led, make_monks, make_tictactoe

from .tables import attributes, codes, parity, people, typed
from .values import Case, Values, checksum, of_model, scores

CRITERIA = ("gini", "entropy", "gain_ratio", "correlation", "c45", "quest")
NOMINAL = ("subset", "value", "multiway")
COSTS = [[0, 1, 4], [2, 0, 1], [7, 3, 0]]


def table_of(name: str) -> pa.Table:
    """A table by a name that a case can carry before it is drawn."""
    tables = {
        "plain": people,
        "gaps": partial(people, gaps=0.15),
        "many gaps": partial(people, gaps=0.6),
        "few": partial(people, 12),
        "searched": partial(people, 90, seed=6, gaps=0.1),
        "typed": typed,
        "codes": codes,
        "parity": parity,
    }
    return tables[name]()


def others_of(name: str) -> pa.Table:
    """Rows of the same kind that no tree has seen, some with categories that none knows."""
    others = {
        "typed": partial(typed, seed=6),
        "codes": partial(codes, seed=10),
        "parity": partial(parity, seed=12),
    }
    return attributes(others.get(name, partial(people, 200, seed=3, gaps=0.1))())


def classes(
    data: str, weights: str | None = None, *, estimator: Any = TreeClassifier, **given: Any
) -> Values:
    """A classifier of column "class"."""
    table = table_of(data)
    weighed = None if weights is None else table[weights].to_numpy()
    X = attributes(table)
    return of_model(estimator(**given).fit(X, table["class"], sample_weight=weighed), others_of(data))


def numbers(data: str, targets: str = "amount", weights: str | None = None, **given: Any) -> Values:
    """A regressor of one column, or of several."""
    table = table_of(data)
    weighed = None if weights is None else table[weights].to_numpy()
    X, names = attributes(table), targets.split()
    y = table[targets] if len(names) == 1 else table.select(names)
    return of_model(TreeRegressor(**given).fit(X, y, sample_weight=weighed), others_of(data))


def cases() -> dict[str, Case]:
    found = _criteria() | _costs() | _pruned() | _settings() | _types() | _c45() | _built_in()
    return {f"fit, {name}": case for name, case in found.items()}


def _criteria() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for nominal in NOMINAL:
        for criterion in CRITERIA:
            if criterion == "quest" and nominal != "subset":
                continue
            given = {"criterion": criterion, "nominal": nominal}
            for data in ("plain", "gaps"):
                found[f"{criterion}, {nominal}, {data}"] = partial(classes, data, **given)
            if criterion != "quest":
                found[f"{criterion}, {nominal}, gaps, weights"] = partial(classes, "gaps", "weight", **given)
        for data in ("plain", "gaps"):
            found[f"variance, {nominal}, {data}"] = partial(numbers, data, nominal=nominal)
        found[f"variance, {nominal}, gaps, weights"] = partial(
            numbers, "gaps", "amount", "weight", nominal=nominal
        )
    for criterion in CRITERIA:
        found[f"{criterion}, many gaps"] = partial(classes, "many gaps", criterion=criterion)
    return found


def _costs() -> dict[str, Case]:
    found: dict[str, Case] = {}
    ways: dict[str, dict[str, Any]] = {
        "balanced": {"class_weight": "balanced"},
        "class weights": {"class_weight": {"low": 0.3, "high": 5}},
        "costs": {"cost_matrix": COSTS},
    }
    for criterion in ("gini", "entropy", "c45"):
        for name, how in ways.items():
            found[f"{criterion}, {name}"] = partial(classes, "gaps", criterion=criterion, **how)
    weights_too = {"class_weight": "balanced", "cost_matrix": COSTS}
    found["correlation, balanced, costs, weights"] = partial(
        classes, "gaps", "weight", criterion="correlation", **weights_too
    )
    found["gain_ratio, balanced, costs, weights, pruned"] = partial(
        classes, "gaps", "weight", criterion="gain_ratio", prune="error_based", **weights_too
    )
    return found


def _pruned() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for criterion in ("gini", "gain_ratio", "quest"):
        found[f"{criterion}, error_based"] = partial(
            classes, "gaps", criterion=criterion, prune="error_based"
        )
        found[f"{criterion}, cost_complexity"] = partial(classes, "gaps", criterion=criterion, ccp_alpha=0.01)
        found[f"{criterion}, reduced_error"] = partial(
            classes, "gaps", criterion=criterion, prune="reduced_error", random_state=3
        )
    found["entropy, error_based, confidence 0.05"] = partial(
        classes, "plain", criterion="entropy", prune="error_based", confidence=0.05
    )
    found["gini, error_based, weights"] = partial(classes, "gaps", "weight", prune="error_based")
    found["gini, cost_complexity, weights"] = partial(classes, "gaps", "weight", ccp_alpha=0.004)
    found["gini, reduced_error of half"] = partial(
        classes, "plain", prune="reduced_error", validation_fraction=0.5, random_state=0
    )
    found["variance, cost_complexity"] = partial(numbers, "gaps", ccp_alpha=2.0)
    found["variance, reduced_error"] = partial(numbers, "gaps", prune="reduced_error", random_state=3)
    found["path of gini"] = partial(_path, TreeClassifier(), "class")
    found["path of variance, pruned afterwards"] = partial(_path, TreeRegressor(), "amount")
    return found


def _path(model: Any, target: str) -> Values:
    """The alphas of the cost-complexity path, and what one of them leaves of the grown tree."""
    table = table_of("gaps")
    X = attributes(table)
    path = model.cost_complexity_pruning_path(X, table[target])
    alpha = path.ccp_alphas[len(path.ccp_alphas) * 2 // 3]
    pruned = model.fit(X, table[target]).pruned(ccp_alpha=alpha)
    return {"alphas": checksum(scores(path.ccp_alphas)), "alpha": scores(alpha)} | of_model(
        pruned, others_of("gaps")
    )


def _settings() -> dict[str, Case]:
    given: dict[str, dict[str, Any]] = {
        "max_depth 1": {"max_depth": 1},
        "max_depth 4": {"max_depth": 4},
        "min_samples_split 30": {"min_samples_split": 30},
        "min_samples_split 0.2": {"min_samples_split": 0.2},
        "min_samples_leaf 7": {"min_samples_leaf": 7},
        "min_samples_leaf 0.06": {"min_samples_leaf": 0.06, "criterion": "entropy"},
        "min_impurity_decrease": {"min_impurity_decrease": 0.01},
        "min_objs 5, value": {"min_objs": 5, "nominal": "value", "criterion": "gain_ratio"},
        "min_objs 2.5, multiway": {"min_objs": 2.5, "nominal": "multiway", "criterion": "entropy"},
        "competitors": {"competitors": 5, "max_depth": 3},
        "competitors, multiway": {"competitors": 2, "nominal": "multiway", "min_samples_leaf": 4},
        "two threads": {"n_jobs": 2},
        "nominal_features": {"nominal_features": ["age"], "min_samples_leaf": 3},
    }
    found: dict[str, Case] = {name: partial(classes, "gaps", **how) for name, how in given.items()}
    found["few rows"] = partial(classes, "few")
    found["variance, min_samples_leaf 9"] = partial(numbers, "gaps", min_samples_leaf=9)
    found["variance, two targets"] = partial(numbers, "gaps", "amount change", min_samples_leaf=2)
    found["variance, two targets, weights"] = partial(
        numbers, "gaps", "amount change", "weight", nominal="value", max_depth=5
    )
    found["variance, competitors"] = partial(numbers, "plain", "change", competitors=3, max_depth=3)
    return found


def _types() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for criterion in ("gini", "entropy", "c45", "quest"):
        found[f"types, {criterion}"] = partial(classes, "typed", criterion=criterion)
    for nominal in NOMINAL:
        found[f"many categories, {nominal}"] = partial(classes, "codes", nominal=nominal, min_samples_leaf=2)
    found["many categories, entropy, multiway"] = partial(
        classes, "codes", criterion="entropy", nominal="multiway", prune="error_based"
    )
    found["parity, gini"] = partial(classes, "parity")
    return found


def _c45() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for data in ("plain", "gaps", "many gaps", "codes"):
        found[f"C45Classifier, {data}"] = partial(classes, data, estimator=C45Classifier)
    found["C45Classifier, weights, confidence 0.1, min_objs 4"] = partial(
        classes, "gaps", "weight", estimator=C45Classifier, min_objs=4, confidence=0.1
    )
    found["C45Classifier, unpruned"] = partial(classes, "gaps", estimator=C45Classifier, prune=None)
    return found


def _built_in() -> dict[str, Case]:
    return {
        "iris": partial(_set, "iris"),
        "wine, entropy": partial(_set, "wine", criterion="entropy"),
        "breast_cancer, error_based": partial(_set, "breast_cancer", prune="error_based"),
        "breast_cancer, quest": partial(_set, "breast_cancer", criterion="quest"),
        "diabetes": partial(_set, "diabetes", min_samples_leaf=5),
        "linnerud, three targets": partial(_set, "linnerud"),
        "agrawal 7": partial(
            _made, partial(make_agrawal, 600, function=7, noise=0.05, seed=1), min_samples_leaf=3
        ),
        "agrawal 2, c45": partial(_made, partial(make_agrawal, 600, function=2, seed=2), criterion="c45"),
        "led, gain_ratio": partial(_made, partial(make_led, 400, seed=3), criterion="gain_ratio"),
        "monks 2, multiway": partial(_made, partial(make_monks, problem=2), nominal="multiway"),
        "tictactoe, value": partial(_made, make_tictactoe, nominal="value"),
    }


def _set(name: str, **given: Any) -> Values:
    data = load(name)
    estimator = TreeClassifier if data.task == "classification" else TreeRegressor
    return of_model(estimator(**given).fit(data.X, data.y), data.X)


def _made(make: Any, **given: Any) -> Values:
    data = make()
    model = TreeClassifier(nominal_features=list(data.nominal), **given).fit(data.X, data.y)
    return of_model(model, data.X)
