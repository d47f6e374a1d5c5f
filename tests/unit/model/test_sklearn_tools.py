"""The tools that take scikit-learn's trees take ours; those of the extra `tools` where they are installed."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.inspection import permutation_importance
from sklearn.tree import export_graphviz, export_text

from hornbeam import TreeClassifier, TreeRegressor
from tests.unit.model.test_sklearn_form import people

# Under the sanitizers what others have compiled is not looked at.
pytestmark = pytest.mark.house

EXTRA = "not installed: pip install hornbeam[tools]"


@pytest.fixture(scope="module")
def iris() -> tuple[pd.DataFrame, Any, Any]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y, TreeClassifier(max_depth=3).fit(X, y).tree_.to_sklearn(X)


def test_scikit_learns_own_pictures(iris: tuple[pd.DataFrame, Any, Any]) -> None:
    X, _, model = iris
    text = export_text(model, feature_names=list(X.columns))
    assert "petal length (cm) <= 2.45" in text
    assert export_graphviz(model, out_file=None).startswith("digraph Tree")
    matplotlib = pytest.importorskip("matplotlib", reason=EXTRA)
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from sklearn.tree import plot_tree

    figure, axes = pyplot.subplots()
    assert len(plot_tree(model, ax=axes)) >= model.tree_.node_count
    pyplot.close(figure)


def test_permutation_importance(iris: tuple[pd.DataFrame, Any, Any]) -> None:
    X, y, model = iris
    found = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert found.importances_mean.max() > 0.1


def test_shap_explains_classes_numbers_and_pipelines(iris: tuple[pd.DataFrame, Any, Any]) -> None:
    shap = pytest.importorskip("shap", reason=EXTRA)
    X, _, model = iris
    frame, _ = people(200)
    regressor = TreeRegressor(max_depth=4).fit(frame[["age", "height"]], frame["age"]).tree_.to_sklearn()
    pipeline = TreeClassifier(max_depth=4).fit(*people(200)).tree_.to_sklearn()
    for estimator, rows in (
        (model, X.to_numpy()),
        (regressor, frame[["age", "height"]].to_numpy()),
        (pipeline[-1], pipeline[0].transform(frame)),
    ):
        explainer = shap.TreeExplainer(estimator)
        parts = np.asarray(explainer.shap_values(rows)).sum(axis=1) + explainer.expected_value
        whole = estimator.predict_proba(rows) if hasattr(estimator, "classes_") else estimator.predict(rows)
        assert parts == pytest.approx(whole)


def test_onnx_answers_alike(iris: tuple[pd.DataFrame, Any, Any]) -> None:
    skl2onnx = pytest.importorskip("skl2onnx", reason=EXTRA)
    onnxruntime = pytest.importorskip("onnxruntime", reason=EXTRA)
    X, _, model = iris
    frame, labels = people(200)
    known = frame["height"].notna() & frame["colour"].notna()  # skl2onnx drops the way of missing values
    pipeline = TreeClassifier(max_depth=5).fit(frame, labels).tree_.to_sklearn()
    for estimator, rows in ((model, X.to_numpy()), (pipeline[-1], pipeline[0].transform(frame[known]))):
        given = rows.astype(np.float32)
        converted = skl2onnx.to_onnx(estimator, given[:1], options={id(estimator): {"zipmap": False}})
        session = onnxruntime.InferenceSession(converted.SerializeToString())
        classes, shares = session.run(None, {"X": given})
        assert np.array_equal(classes, estimator.predict(rows))
        assert shares == pytest.approx(estimator.predict_proba(rows), abs=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_dtreeviz_draws(iris: tuple[pd.DataFrame, Any, Any]) -> None:
    dtreeviz = pytest.importorskip("dtreeviz", reason=EXTRA)
    if shutil.which("dot") is None:
        pytest.skip("no Graphviz: dtreeviz needs the program dot")
    X, y, model = iris
    view = dtreeviz.model(
        model,
        X_train=X.to_numpy(),
        y_train=y.to_numpy(),
        feature_names=list(X.columns),
        class_names=["a", "b", "c"],
    )
    assert "<svg" in view.view().svg()
