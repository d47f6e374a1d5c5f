"""Metadata routing: who asks for what gets it, as in scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import model_selection as theirs
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold

from hornbeam import TreeClassifier
from hornbeam import model_selection as ours

N = 60
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(N, 3)).round(1)
Y = (X[:, 0] + RANDOM.normal(size=N) > 0).astype(int)
WEIGHTS = RANDOM.integers(0, 3, N).astype(float)
GROUPS = RANDOM.integers(0, 6, N)


@pytest.fixture(autouse=True)
def _routed() -> Any:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_weights_go_to_fit_and_to_the_scorer_that_ask_for_them() -> None:
    found = []
    for fit, score in ((True, True), (True, False), (False, True)):
        model = TreeClassifier(max_depth=3).set_fit_request(sample_weight=fit)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=score)
        options = {"cv": KFold(4), "scoring": scorer, "params": {"sample_weight": WEIGHTS}}
        mine = ours.cross_validate(model, X, Y, **options)
        found.append(mine["test_score"].tolist())
        yours = theirs.cross_validate(model, X, Y, **options)
        assert np.array_equal(mine["test_score"], yours["test_score"])
    assert len(set(map(tuple, found))) == 3


def test_groups_go_to_the_splitter() -> None:
    options: Any = {"cv": GroupKFold(3), "params": {"groups": GROUPS}}
    mine = ours.cross_validate(TreeClassifier(max_depth=3), X, Y, **options)
    yours = theirs.cross_validate(TreeClassifier(max_depth=3), X, Y, **options)
    assert np.array_equal(mine["test_score"], yours["test_score"])
    answers = ours.cross_val_predict(TreeClassifier(max_depth=3), X, Y, **options)
    assert np.array_equal(answers, theirs.cross_val_predict(TreeClassifier(max_depth=3), X, Y, **options))
    with pytest.raises(ValueError, match="`groups` can only be passed if metadata routing is not enabled"):
        ours.cross_validate(TreeClassifier(), X, Y, groups=GROUPS)


def test_what_nobody_asks_for_is_refused() -> None:
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight") as error:
        ours.cross_validate(TreeClassifier(), X, Y, params={"sample_weight": WEIGHTS})
    assert "cross_validate.fit" not in str(error.value)
