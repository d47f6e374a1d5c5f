"""From rows to a chosen tree: deal the folds, search, keep the tree of all rows."""

from __future__ import annotations

import difflib
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, HornbeamError, UsageError, first_line
from hornbeam.estimators.store import CLASSIFIER, REGRESSOR
from hornbeam.model import Tree
from hornbeam.model_selection import TreeSearchCV
from hornbeam.report import count_errors, sample_points, score_classes, score_numbers
from hornbeam.validation import deal_classes, deal_rows
from hornbeam.validation.scores import means_of

from .learn import Learned, model_of, table_of
from .plan import Plan, Report, Settings, read_weights, settle, without
from .targets import read_classes, read_numbers


@dataclass(frozen=True)
class SearchPlan:
    """What was asked for: a tree's plan, and what to choose it from and by."""

    plan: Plan
    grid: Mapping[str, Any]
    repeats: int = 1
    mean: str = "mean"
    select: str = "1se"
    scoring: str | None = None
    nested: int | None = None


def learn_search(data: pa.Table, asked: SearchPlan, report: Report = None) -> Learned:
    """Choose a tree among those that the grid gives; whoever waits sees only that it goes on."""
    # What is chosen has no say yet: a value that is out of range is named by the search.
    fixed = replace(asked.plan, parameters=without(asked.plan.parameters, asked.grid))
    task, attributes, settings = settle(data, fixed, report)
    check_scoring(asked.scoring)
    if asked.nested is not None and asked.nested > data.num_rows:
        raise DataError(f"--nested {asked.nested}: {data.num_rows} rows cannot be dealt to so many folds")
    if task == "classification":
        return _learn_classes(data, attributes, asked, settings)
    return _learn_numbers(data, attributes, asked, settings)


def check_scoring(name: str | None) -> None:
    """Refuse what is no scorer of scikit-learn."""
    from sklearn.metrics import get_scorer_names

    if name is None or name in (names := get_scorer_names()):
        return
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    meant = f"did you mean {' or '.join(near)}?" if near else "use for instance accuracy, roc_auc or r2"
    raise UsageError(f"--scoring {name!r} is no score of scikit-learn; {meant}")


def _learn_classes(data: pa.Table, attributes: pa.Table, asked: SearchPlan, settings: Settings) -> Learned:
    plan = settings.plan
    codes, classes = read_classes(data, plan.targets[0])
    folds = deal_classes(codes, _folds(plan), plan.seed) if asked.repeats == 1 else None
    estimator = TreeClassifier(**_parameters(settings), class_weight=plan.class_weight)
    search, chosen, seconds = _search(estimator, data, attributes, classes[codes], folds, asked, settings)
    table = table_of(attributes, np.arange(len(codes)), plan)
    answered = search.best_estimator_.tree_.predict_codes(table, plan.threads)
    score = score_classes(codes, answered, int(np.bincount(codes).argmax()), False)
    errors = count_errors(codes, answered, tuple(str(label) for label in classes.tolist()))
    model = _stored(CLASSIFIER, search, chosen)
    return Learned(model, table, plan, score, seconds, True, errors=errors, search=search.search_)


def _learn_numbers(data: pa.Table, attributes: pa.Table, asked: SearchPlan, settings: Settings) -> Learned:
    plan = settings.plan
    values = read_numbers(data, plan.targets)
    folds = deal_rows(len(values), _folds(plan), plan.seed) if asked.repeats == 1 else None
    y = values[:, 0] if values.shape[1] == 1 else values
    estimator = TreeRegressor(**_parameters(settings))
    search, chosen, seconds = _search(estimator, data, attributes, y, folds, asked, settings)
    table = table_of(attributes, np.arange(len(values)), plan)
    answered = search.best_estimator_.tree_.predict_means(table, plan.threads)
    score = score_numbers(values, answered, means_of(values), False)
    points = sample_points(values, answered, plan.targets[0])
    model = _stored(REGRESSOR, search, chosen)
    return Learned(model, table, plan, score, seconds, True, points=points, search=search.search_)


def _folds(plan: Plan) -> int:
    assert plan.cv is not None
    return plan.cv


def _parameters(settings: Settings) -> dict[str, Any]:
    """What the estimator is asked for beside the grid."""
    plan = settings.plan
    nominal = list(plan.nominal_features) or "from_dtype"
    return {**plan.parameters, "nominal_features": nominal, "random_state": plan.seed}


def _search(
    estimator: Any,
    data: pa.Table,
    attributes: pa.Table,
    y: Any,
    folds: Any,
    asked: SearchPlan,
    settings: Settings,
) -> tuple[TreeSearchCV, Settings, float]:
    """The search, how the chosen tree was grown and pruned, and the seconds of all."""
    from sklearn.model_selection import PredefinedSplit

    plan, start = settings.plan, time.perf_counter()
    order = np.arange(data.num_rows)
    if asked.nested is not None:
        # Outer folds are taken in the order of the rows, which in a file may mean something.
        order = np.random.RandomState(plan.seed).permutation(data.num_rows)
        attributes, y = attributes.take(order), y[order]
    weights = read_weights(data, plan, order)
    given = {} if weights is None else {"sample_weight": weights}
    search = TreeSearchCV(
        estimator,
        dict(asked.grid),
        cv=plan.cv if folds is None else PredefinedSplit(folds[order]),
        repeats=asked.repeats,
        mean=asked.mean,
        select=asked.select,
        scoring=asked.scoring,
        nested=asked.nested,
        memory_limit=settings.memory_limit,
        error_score="raise",
        random_state=plan.seed,
        n_jobs=plan.threads,
    )
    with _naming_score(asked.scoring), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scores that are not numbers are seen in the table
        search.fit(attributes, y, **given)
    seconds = time.perf_counter() - start
    parameters, pruning = search.best_estimator_._checked()
    return search, replace(settings, parameters=parameters, pruning=pruning), seconds


def _stored(estimator: str, search: TreeSearchCV, settings: Settings) -> Any:
    """The model file of the chosen tree: what fit would write with the chosen parameters."""
    model = search.best_estimator_
    tree = _named(model.tree_, settings.plan)
    unpruned = None if model.unpruned_tree_ is model.tree_ else _named(model.unpruned_tree_, settings.plan)
    return model_of(estimator, tree, unpruned, settings)


def _named(tree: Tree, plan: Plan) -> Tree:
    """The tree with the names of its targets, which plain numbers do not have."""
    if tree.targets is None:
        return tree
    kept = tree.kept_competitors
    competitors = None if kept is None else kept.arrays
    return Tree.trusted(tree.schema, tree.arrays, targets=plan.targets, competitors=competitors)


@contextmanager
def _naming_score(scoring: str | None) -> Iterator[None]:
    """What a score of scikit-learn refuses, by its name."""
    try:
        yield
    except HornbeamError:
        raise
    except ValueError as error:
        if scoring is None:
            raise
        raise UsageError(f"--scoring {scoring}: {first_line(error)}; use another score") from error
