"""Trees that are searched for by looking ahead: bounded by counted work, so the same on every machine."""

from __future__ import annotations

from functools import partial
from typing import Any

from hornbeam import AnytimeTreeClassifier, LookaheadTreeClassifier

from .fits import others_of
from .tables import attributes, parity, people
from .values import Case, Values, of_model


def cases() -> dict[str, Case]:
    found = {f"look ahead, {name}": case for name, case in _once().items()}
    return found | {f"anytime, {name}": case for name, case in _on_and_on().items()}


def _once() -> dict[str, Case]:
    return {
        "r=0": partial(_look, r=0),
        "r=2, value": partial(_look, r=2),
        "r=2, subset": partial(_look, r=2, nominal="subset"),
        "r=1, multiway, error_based": partial(_look, r=1, nominal="multiway", prune="error_based"),
        "share of the cuts": partial(_look, r=1, sample_fraction=0.1),
        "r by work": partial(_look, r="auto", max_work=1_500_000),
        "two threads": partial(_look, r=2, n_jobs=2),
    }


def _look(**given: Any) -> Values:
    table = people(90, seed=6, gaps=0.1)
    model = LookaheadTreeClassifier(random_state=5, **given).fit(attributes(table), table["class"])
    return of_model(model, others_of("gaps")) | {"r": getattr(model, "r_", given["r"])}


def _on_and_on() -> dict[str, Case]:
    return {
        "error, iterations": partial(_search, max_iter=6),
        "error, work": partial(_search, max_work=3_000_000),
        "error, granularity": partial(_search, max_iter=12, granularity=0.01),
        "error, multiway": partial(_search, max_iter=4, nominal="multiway"),
        "error, referee": partial(_search, max_iter=3, referee="cv"),
        "size, work": partial(_search, objective="size", max_work=3_000_000),
        "size, error_based, subset": partial(
            _search, objective="size", max_iter=5, prune="error_based", nominal="subset"
        ),
        "size, parity, proved": partial(_parity, objective="size", max_iter=400),
        "error, parity with noise": partial(_parity, wrong=0.05, max_iter=8),
        "interrupted": _interrupted,
        "rows that come later": _later,
    }


def _search(**given: Any) -> Values:
    table = people(90, seed=6, gaps=0.1)
    given = {"referee": None, "max_time": None, "random_state": 5} | given
    model = AnytimeTreeClassifier(**given).fit(attributes(table), table["class"])
    return of_model(model, others_of("gaps")) | _course(model)


def _course(model: Any) -> Values:
    """The search, but for its seconds."""
    last = model.profile_[-1]
    return {
        "status": model.status_,
        "iterations": model.n_iter_,
        "work": last.work,
        "bound": last.bound,
        "leaves of each": [state.leaves for state in model.profile_],
    }


def _parity(*, wrong: float = 0.0, **given: Any) -> Values:
    table = parity(wrong=wrong)
    X = attributes(table)
    given = {"referee": None, "max_time": None, "random_state": 1} | given
    model = AnytimeTreeClassifier(**given).fit(X, table["class"])
    return of_model(model, parity(seed=12)) | _course(model)


def _begun() -> Any:
    return AnytimeTreeClassifier(referee=None, max_time=None, max_iter=2, random_state=3)


def _interrupted() -> Values:
    table = people(90, seed=6, gaps=0.1)
    model = _begun().fit(attributes(table), table["class"])
    for _ in range(3):
        list(model.improve(iterations=2))
    return of_model(model, others_of("gaps")) | _course(model)


def _later() -> Values:
    table = people(120, seed=6, gaps=0.1)
    X, y = attributes(table), table["class"]
    model = _begun().partial_fit(X.slice(0, 60), y.slice(0, 60), classes=["high", "low", "middle"])
    for begin in (60, 90):
        list(model.improve(iterations=2))
        model.partial_fit(X.slice(begin, 30), y.slice(begin, 30))
    list(model.improve(iterations=2))
    return of_model(model, others_of("gaps")) | _course(model)
