"""Accuracy and R² without a model: what `score` of the estimator says, scikit-learn's within rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as theirs
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import KFold

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam import model_selection as ours
from hornbeam.validation.scoring import Judge

RANDOM = np.random.default_rng(2)
N = 1500
X = RANDOM.normal(size=(N, 3)).round(2)
Y = np.sin(X[:, 0]) * 1e3 + RANDOM.normal(size=N)
SEVERAL = np.column_stack([Y, X[:, 1] ** 2, -Y])
STEPS = np.where(np.arange(N) < 500, 2.5, Y)  # the first folds have one value, that is met or not

TARGETS = {
    "doubles": Y,
    "floats": Y.astype(np.float32),
    "halves": (Y / 50).astype(np.float16),
    "integers": Y.astype(np.int16),
    "column": Y[:, None],
    "backwards": Y[::-1],
    "several": SEVERAL,
    "several by column": np.asfortranarray(SEVERAL),
    "series": pd.Series(Y, index=np.arange(N)[::-1]),
    "nullable": pd.Series(Y.astype(np.int64), dtype="Int64"),
    "frame": pd.DataFrame(SEVERAL, columns=["a", "b", "c"]),
    "list": Y.tolist(),
    "steps": STEPS,
}


@pytest.mark.parametrize("scorer", [None, "r2", make_scorer(r2_score, multioutput="variance_weighted")])
@pytest.mark.parametrize("name", TARGETS)
def test_r2_is_that_of_scikit_learn(name: str, scorer: Any) -> None:
    given = {"cv": KFold(7), "scoring": scorer, "return_train_score": True}
    mine, yours = (
        how.cross_validate(TreeRegressor(max_depth=4), X, TARGETS[name], **given) for how in (ours, theirs)
    )
    for part in ("test_score", "train_score"):
        assert mine[part].dtype == yours[part].dtype
        if scorer == "r2":  # scikit-learn's function, which rounds as it adds
            assert mine[part] == pytest.approx(yours[part], rel=1e-12, abs=1e-14)
        else:
            assert mine[part].tolist() == yours[part].tolist()


def test_r2_of_a_single_row_is_undefined_as_there() -> None:
    with pytest.warns(match="not well-defined with less than two samples"):
        scores = ours.cross_val_score(TreeRegressor(), X[:6], Y[:6], cv=KFold(6))
    assert np.isnan(scores).all()


class Doubled(TreeRegressor):
    """Answers in its own way."""

    def predict(self, X: Any) -> Any:
        return 2 * super().predict(X)


@pytest.mark.parametrize(
    ("estimator", "given", "quick"),
    [
        (TreeRegressor(), None, True),
        (TreeRegressor(), "r2", True),
        (TreeRegressor(), "neg_mean_squared_error", False),
        (TreeRegressor(), ["r2"], False),
        (TreeRegressor(), make_scorer(r2_score, force_finite=False), False),
        (Doubled(), None, False),
        (TreeClassifier(), "r2", False),
    ],
)
def test_only_r2_itself_is_quick(estimator: Any, given: Any, quick: bool) -> None:
    assert Judge(estimator, given, np.nan).is_r2 is quick
