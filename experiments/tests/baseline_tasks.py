"""Concepts for baselines, as tables with their classes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from hornbeam.datasets import Dataset
from hornbeam.growth import ClassTarget
from hornbeam.table import Table, encode_classes, from_data
from hornbeam_experiments.baselines import Answer, Baseline, GATree, Model

Problem = tuple[Table, ClassTarget]


def problem(X: Any, y: Sequence[Any], nominal: Sequence[str] | Sequence[int] = ()) -> Problem:
    codes, labels = encode_classes(y)
    return from_data(X, nominal_features=list(nominal) or "from_dtype"), ClassTarget(codes, labels)


def problem_of(data: Dataset) -> Problem:
    return problem(data.X, data.y.to_pylist(), data.nominal)


def first(baseline: Baseline, given: Problem, many: int, seed: int = 0) -> list[Answer]:
    """The first answers, whatever time they take."""
    answers = baseline.improve(*given, seconds=1e6, seed=seed)
    return list(itertools.islice(answers, many))


def after(baseline: Baseline, given: Problem, setting: str, seed: int = 0) -> Model:
    """The model of one setting."""
    answers = baseline.improve(*given, seconds=1e6, seed=seed)
    return next(answer.model for answer in answers if answer.setting == setting)


def accuracy(model: Model, given: Problem) -> float:
    table, target = given
    return float(np.mean(model.predict_codes(table) == target.codes))


def made(kind: type[Baseline]) -> Baseline:
    """One that comes to an end: GATree may breed for ever without a better tree."""
    return GATree(population=40, generations=30) if kind is GATree else kind()
