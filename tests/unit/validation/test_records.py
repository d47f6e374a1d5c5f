"""What a cross-validation tells beside scikit-learn's dict."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from hornbeam import TreeClassifier
from hornbeam.model_selection import cross_validate

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("algorithm", ["auto", "serial", "overlapping", "folds"])
def test_the_seconds_of_growing_are_told_by_kind_of_work_and_by_depth(algorithm: str) -> None:
    found = cross_validate(TreeClassifier(), X, Y, cv=4, algorithm=algorithm)
    timing = found.timing
    assert found.algorithm == algorithm
    assert list(timing.components) == ["tests", "statistics", "numeric", "other"]
    assert timing.by_level.shape == (len(found.forest.levels.nodes), 4)
    assert sum(timing.components.values()) == pytest.approx(timing.by_level.sum())
    assert 0 < timing.by_level.sum() <= timing.growing
    assert found["fit_time"].tolist() == [(timing.reading + timing.growing) / 4] * 4
    assert found["score_time"].sum() == pytest.approx(timing.scoring)


def test_f_counts_the_tests_of_a_level() -> None:
    f = cross_validate(TreeClassifier(max_depth=3), X, Y, cv=4).timing.f
    assert len(f) >= 3
    assert (f >= 1).all()
    assert (f <= 5).all()


def test_verbose_prints_a_line_for_each_fold(capsys: pytest.CaptureFixture[str]) -> None:
    scores = cross_validate(TreeClassifier(), X, Y, cv=3, verbose=1)["test_score"]
    lines = [f"[CV {i}/3] score {score:.4f}" for i, score in enumerate(scores, 1)]
    assert capsys.readouterr().out.splitlines() == lines


def test_a_pickle_keeps_everything() -> None:
    found = cross_validate(TreeClassifier(max_depth=3), X, Y, cv=3, return_estimator=True)
    again = pickle.loads(pickle.dumps(found))
    assert again["estimator"][0].tree_ == found["estimator"][0].tree_
    assert np.array_equal(again.timing.by_level, found.timing.by_level)
    assert again.estimator_.tree_ == found.estimator_.tree_
