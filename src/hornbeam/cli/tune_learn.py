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
from hornbeam.growth import ClassTarget, Pair, Target
from hornbeam.model import Tree
from hornbeam.model_selection import TreeSearchCV
from hornbeam.report import judge
from hornbeam.validation import deal_folds

from .learn import Learned, learned_of, model_of, table_of
from .request import FitRequest, Report, Settings, read_weights, settle, without
from .targets import read_target


@dataclass(frozen=True)
class SearchRequest:
    """What was asked for: a tree, and what to choose it from and by."""

    tree: FitRequest
    grid: Mapping[str, Any]
    repeats: int = 1
    mean: str = "mean"
    select: str = "1se"
    scoring: str | None = None
    nested: int | None = None


def learn_search(data: pa.Table, asked: SearchRequest, report: Report = None) -> Learned:
    """Choose a tree among those that the grid gives; whoever waits sees only that it goes on."""
    # What is chosen has no say yet: a value that is out of range is named by the search.
    request = replace(asked.tree, parameters=without(asked.tree.parameters, asked.grid))
    task, attributes, settings = settle(data, request, report)
    check_scoring(asked.scoring)
    if asked.nested is not None and asked.nested > data.num_rows:
        raise DataError(f"--nested {asked.nested}: {data.num_rows} rows cannot be dealt to so many folds")
    target = read_target(data, request.targets, task)
    start = time.perf_counter()
    search = _search(data, attributes, target, asked, settings)
    seconds = time.perf_counter() - start
    best = search.best_estimator_
    parameters, pruning = best._checked()
    pair = Pair(best.tree_, best.unpruned_tree_).each(lambda tree: _named(tree, request))
    model = model_of(pair, replace(settings, parameters=parameters, pruning=pruning))
    table = table_of(attributes, np.arange(data.num_rows), request)
    judged = judge(pair.tree, table, target, target, False, request.threads)
    return learned_of(model, request, seconds, table=table, search=search.search_, **judged)


def check_scoring(name: str | None) -> None:
    """Refuse what is no scorer of scikit-learn."""
    from sklearn.metrics import get_scorer_names

    if name is None or name in (names := get_scorer_names()):
        return
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    meant = f"did you mean {' or '.join(near)}?" if near else "use for instance accuracy, roc_auc or r2"
    raise UsageError(f"--scoring {name!r} is no score of scikit-learn; {meant}")


def _search(
    data: pa.Table, attributes: pa.Table, target: Target, asked: SearchRequest, settings: Settings
) -> TreeSearchCV:
    """The search, whose folds are those of a fit where they are dealt once."""
    from sklearn.model_selection import PredefinedSplit

    request, order = settings.request, np.arange(data.num_rows)
    assert request.cv is not None
    folds = deal_folds(target, request.cv, request.seed) if asked.repeats == 1 else None
    given = {**request.parameters, "nominal_features": request.nominal, "random_state": request.seed}
    if isinstance(target, ClassTarget):
        estimator: Any = TreeClassifier(**given, class_weight=request.class_weight)
        y = target.labels[target.codes]
    else:
        estimator = TreeRegressor(**given)
        y = target.values[:, 0] if len(target.names) == 1 else target.values
    if asked.nested is not None:
        # Outer folds are taken in the order of the rows, which in a file may mean something.
        order = np.random.RandomState(request.seed).permutation(data.num_rows)
        attributes, y = attributes.take(order), y[order]
    weights = read_weights(data, request, order)
    search = TreeSearchCV(
        estimator,
        dict(asked.grid),
        cv=request.cv if folds is None else PredefinedSplit(folds[order]),
        repeats=asked.repeats,
        mean=asked.mean,
        select=asked.select,
        scoring=asked.scoring,
        nested=asked.nested,
        memory_limit=settings.memory_limit,
        error_score="raise",
        random_state=request.seed,
        n_jobs=request.threads,
    )
    with _naming_score(asked.scoring), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scores that are not numbers are seen in the table
        search.fit(attributes, y, **({} if weights is None else {"sample_weight": weights}))
    return search


def _named(tree: Tree, request: FitRequest) -> Tree:
    """The tree with the names of its targets, which plain numbers do not have."""
    if tree.targets is None:
        return tree
    kept = tree.kept_competitors
    competitors = None if kept is None else kept.arrays
    return Tree.trusted(tree.schema, tree.arrays, targets=request.targets, competitors=competitors)


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
