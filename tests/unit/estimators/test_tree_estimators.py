"""The tree estimators inside scikit-learn's world: frames, pipelines, searches, files."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris, load_linnerud
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, HornbeamError, UsageError

COLUMNS = {
    "age": [23.0, 31.0, None, 45.0, 52.0, 61.0, 38.0, 29.0] * 5,
    "colour": ["red", "blue", "red", None, "green", "blue", "green", "red"] * 5,
    "member": [True, False, True, True, False, False, None, True] * 5,
}
LABELS = ["yes", "no", "yes", "yes", "no", "no", "no", "yes"] * 5


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


@pytest.fixture(params=["pandas", "polars", "arrow"])
def mixed_table(request: pytest.FixtureRequest) -> Any:
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[request.param](COLUMNS)


def reorder(table: Any) -> Any:
    """The same rows with the columns in another order and one more."""
    columns = {"extra": [1] * 40, **{name: COLUMNS[name] for name in reversed(COLUMNS)}}
    return pa.table(columns) if isinstance(table, pa.Table) else type(table)(columns)


def test_every_frame_gives_the_same_tree(mixed_table: Any) -> None:
    model = TreeClassifier().fit(mixed_table, LABELS)
    assert model.tree_.digest == TreeClassifier().fit(pa.table(COLUMNS), LABELS).tree_.digest
    assert list(model.feature_names_in_) == list(COLUMNS)
    assert model.n_features_in_ == 3
    assert model.score(mixed_table, LABELS) == 1.0


def test_columns_are_matched_by_name_at_predict(mixed_table: Any) -> None:
    model = TreeClassifier().fit(mixed_table, LABELS)
    np.testing.assert_array_equal(model.predict(reorder(mixed_table)), model.predict(mixed_table))
    with pytest.raises(DataError, match="age"):
        model.predict(pa.table({"colour": COLUMNS["colour"], "member": COLUMNS["member"]}))


def test_an_array_after_named_columns_warns_as_in_scikit_learn() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    model = TreeClassifier().fit(frame, [0, 0, 1, 1])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(frame.to_numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)


def test_names_of_an_earlier_fit_are_forgotten(iris: Any) -> None:
    X, y = iris
    model = TreeClassifier().fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert not hasattr(model.fit(X, y), "feature_names_in_")


def test_labels_come_back_as_they_were_given(iris: Any) -> None:
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    model = TreeClassifier().fit(X, names[y])
    assert list(model.classes_) == list(names)
    assert model.n_classes_ == 3
    np.testing.assert_array_equal(model.predict(X), names[TreeClassifier().fit(X, y).predict(X)])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert TreeClassifier().fit(X, y == 1).predict(X).dtype == bool


def test_paths_and_leaves_agree(iris: Any) -> None:
    X, y = iris
    model = TreeClassifier(max_depth=3).fit(X, y)
    path, leaves = model.decision_path(X), model.apply(X)
    assert path.shape == (150, model.tree_.n_nodes)
    assert all(path[row, leaf] == 1 for row, leaf in enumerate(leaves))
    assert len(set(leaves.tolist())) == model.get_n_leaves()
    assert model.get_depth() == 3
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))


def test_importances_add_up_to_one(iris: Any) -> None:
    X, y = iris
    importances = TreeClassifier().fit(X, y).feature_importances_
    assert importances.shape == (4,)
    assert importances.sum() == pytest.approx(1.0)
    assert permutation_importance(TreeClassifier().fit(X, y), X, y, n_repeats=2, random_state=0)


def test_the_tree_does_not_depend_on_threads(iris: Any) -> None:
    X, y = iris
    one = TreeClassifier(n_jobs=1).fit(X, y)
    for n_jobs in (2, 3, -1):
        other = TreeClassifier(n_jobs=n_jobs).fit(X, y)
        assert other.tree_.digest == one.tree_.digest
        np.testing.assert_array_equal(other.predict(X), one.predict(X))
    with pytest.raises(UsageError, match="n_jobs=0"):
        TreeClassifier(n_jobs=0).fit(X, y)


def test_clone_pipeline_search_and_cross_validation_work(iris: Any) -> None:
    X, y = iris
    assert clone(TreeClassifier(max_depth=2)).get_params()["max_depth"] == 2
    pipeline = make_pipeline(StandardScaler(), TreeClassifier())
    assert cross_val_score(pipeline, X, y, cv=5).mean() > 0.9
    search = GridSearchCV(TreeClassifier(), {"max_depth": [1, 3], "criterion": ["gini", "entropy"]}, cv=3)
    assert search.fit(X, y).best_params_["max_depth"] == 3


def test_metadata_routing_finds_nothing_to_route(iris: Any) -> None:
    X, y = iris
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(ColumnTransformer([("s", StandardScaler(), [0, 1])]), TreeClassifier())
        assert pipeline.fit(X, y).score(X, y) > 0.8
        assert TreeClassifier().get_metadata_routing() is not None


@pytest.mark.parametrize("estimator", [TreeClassifier(max_depth=4), TreeRegressor(min_samples_leaf=3)])
def test_pickles_and_files_bring_back_an_equal_model(estimator: Any, iris: Any, tmp_path: Path) -> None:
    X, y = iris
    model = estimator.fit(pd.DataFrame(X, columns=list("abcd")), y)
    hornbeam.save(model, tmp_path / "model.hornbeam")
    for other in (pickle.loads(pickle.dumps(model)), hornbeam.load(tmp_path / "model.hornbeam")):
        assert type(other) is type(model)
        assert other.get_params() == model.get_params()
        assert other.tree_.digest == model.tree_.digest
        frame = pd.DataFrame(X, columns=list("abcd"))
        np.testing.assert_array_equal(other.predict(frame), model.predict(frame))
        assert list(other.feature_names_in_) == list("abcd")
        assert other.n_outputs_ == 1


def test_text_classes_survive_the_file(tmp_path: Path) -> None:
    model = TreeClassifier(nominal_features=["colour"]).fit(pa.table(COLUMNS), LABELS)
    hornbeam.save(model, tmp_path / "m")
    other = hornbeam.load(tmp_path / "m")
    assert list(other.classes_) == ["no", "yes"]
    assert list(other.predict(pa.table(COLUMNS))) == LABELS
    assert other.nominal_features == ["colour"]


def test_large_unsigned_classes_survive_the_file(tmp_path: Path) -> None:
    y = np.array([1, 2**64 - 1], dtype=np.uint64)
    hornbeam.save(TreeClassifier().fit([[0.0], [1.0]], y), tmp_path / "m")
    again = hornbeam.load(tmp_path / "m")
    assert again.classes_.dtype == np.uint64
    assert again.predict([[0.0], [1.0]]).tolist() == y.tolist()


def test_parameters_of_any_number_type_are_saved_and_others_refused(tmp_path: Path, iris: Any) -> None:
    model = TreeClassifier(min_samples_leaf=Fraction(1, 4), max_depth=np.int8(3), nominal_features={0}).fit(
        *iris
    )
    hornbeam.save(model, tmp_path / "m")
    again = hornbeam.load(tmp_path / "m").get_params()
    assert (again["min_samples_leaf"], again["max_depth"], again["nominal_features"]) == (0.25, 3, [0])
    with pytest.raises(UsageError, match="cannot save max_depth="):
        hornbeam.save(model.set_params(max_depth=object()), tmp_path / "n")
    assert not (tmp_path / "n").exists()


def test_save_refuses_what_is_no_fitted_tree(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="StandardScaler"):
        hornbeam.save(StandardScaler(), tmp_path / "m")
    with pytest.raises(NotFittedError):
        hornbeam.save(TreeClassifier(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "payload",
    [
        {"estimator": "os.system", "parameters": {}, "tree": {}, "notes": {}},
        {"estimator": ["TreeClassifier"], "parameters": {}, "tree": {}, "notes": {}},
        {"estimator": "TreeClassifier", "parameters": {"__class__": 1}, "tree": {}, "notes": {}},
        {"estimator": "TreeClassifier", "parameters": {"max_depth": {"a": 1}}, "tree": {}, "notes": {}},
        {"estimator": "TreeClassifier", "parameters": {}, "tree": {}, "notes": []},
        {"estimator": "TreeClassifier", "parameters": {}, "tree": {"nodes": 1}, "notes": {}},
        {"tree": {}},
    ],
)
def test_load_refuses_documents_that_are_no_models(payload: dict[str, Any], tmp_path: Path) -> None:
    from hornbeam.model import write_document

    write_document(tmp_path / "m", payload)
    with pytest.raises(HornbeamError):
        hornbeam.load(tmp_path / "m")


def test_load_refuses_a_tree_of_the_other_kind(tmp_path: Path, iris: Any) -> None:
    from hornbeam.model import read_document, write_document

    X, y = iris
    hornbeam.save(TreeRegressor(max_depth=1).fit(X, y), tmp_path / "m")
    write_document(tmp_path / "m", read_document(tmp_path / "m") | {"estimator": "TreeClassifier"})
    with pytest.raises(DataError, match="not that of a TreeClassifier"):
        hornbeam.load(tmp_path / "m")


@pytest.mark.parametrize("estimator", [TreeClassifier, TreeRegressor])
@pytest.mark.parametrize(
    "name",
    [
        "class_weight",
        "max_features",
        "max_leaf_nodes",
        "min_weight_fraction_leaf",
        "monotonic_cst",
        "splitter",
    ],
)
def test_parameters_of_scikit_learn_that_do_not_exist_say_what_to_use(estimator: Any, name: str) -> None:
    if name in estimator().get_params():
        return
    with pytest.raises(TypeError, match=f"{estimator.__name__} has no parameter '{name}': .+") as caught:
        estimator(**{name: None})
    assert "\n" not in str(caught.value)
    with pytest.raises(TypeError, match=name):
        estimator().set_params(**{name: None})


def test_unknown_parameters_are_answered_with_the_nearest_name() -> None:
    for estimator in (TreeClassifier, TreeRegressor):
        says = rf"{estimator.__name__} has no parameter 'max_dept': use 'max_depth'"
        with pytest.raises(UsageError, match=says):
            estimator(max_dept=1)
        with pytest.raises(UsageError, match=says):
            estimator().set_params(max_dept=1)
        with pytest.raises(TypeError, match="has no parameter 'colour': allowed are criterion, nominal, "):
            estimator(colour=1)
        with pytest.raises(TypeError, match=f"{estimator.__name__} takes its parameters by name"):
            estimator("gini")


@pytest.mark.parametrize(
    ("estimator", "criterion"), [(TreeClassifier, "squared_error"), (TreeRegressor, "log_loss")]
)
def test_a_criterion_of_the_other_task_is_called_as_the_caller_did(estimator: Any, criterion: str) -> None:
    with pytest.raises(UsageError, match=f"criterion='{criterion}' for"):
        estimator(criterion=criterion).fit([[1], [2]], [0, 1])


@pytest.mark.parametrize("alias", ["log_loss", "entropy"])
def test_aliases_of_criteria_are_accepted(alias: str, iris: Any) -> None:
    X, y = iris
    assert TreeClassifier(criterion=alias).fit(X, y).criterion == alias
    assert TreeRegressor(criterion="squared_error").fit(X, y).get_depth() > 0


@pytest.mark.parametrize(
    "parameters",
    [
        {"criterion": "variance"},
        {"criterion": 3},
        {"nominal": "one-hot"},
        {"max_depth": 0},
        {"max_depth": 1.5},
        {"min_samples_split": 1},
        {"min_samples_leaf": 0},
        {"min_samples_leaf": 1.0},
        {"min_impurity_decrease": -1.0},
        {"n_jobs": 0},
        {"n_jobs": 1.5},
        {"n_jobs": True},
        {"n_jobs": 2**31},
        {"nominal_features": "all"},
        {"nominal_features": [4]},
        {"nominal_features": ["colour"]},
    ],
)
def test_wrong_parameters_are_refused_in_one_line(parameters: dict[str, Any], iris: Any) -> None:
    X, y = iris
    with pytest.raises(HornbeamError, match=next(iter(parameters))) as caught:
        TreeClassifier(**parameters).fit(X, y)
    assert "\n" not in str(caught.value)


def test_several_classes_at_once_are_refused_in_one_line(iris: Any) -> None:
    X, y = iris
    both = np.column_stack([y, y])
    with pytest.raises(DataError, match="MultiOutputClassifier") as caught:
        TreeClassifier().fit(X, both)
    assert "\n" not in str(caught.value)
    assert MultiOutputClassifier(TreeClassifier(max_depth=2)).fit(X, both).predict(X).shape == (150, 2)


def test_several_numbers_at_once_are_predicted() -> None:
    X, Y = load_linnerud(return_X_y=True)
    model = TreeRegressor(min_samples_leaf=2).fit(X, Y)
    assert model.n_outputs_ == 3
    assert model.predict(X).shape == (20, 3)
    assert model.score(X, Y) > 0.3
    named = TreeRegressor().fit(X, pd.DataFrame(Y, columns=["Weight", "Waist", "Pulse"]))
    assert named.tree_.targets == ("Weight", "Waist", "Pulse")


def test_regression_averages_the_leaf() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = TreeRegressor(max_depth=2).fit(X, y)
    leaves = model.apply(X)
    for leaf in set(leaves.tolist()):
        assert model.predict(X[leaves == leaf])[0] == pytest.approx(y[leaves == leaf].mean())


def test_one_class_gives_a_single_leaf(iris: Any) -> None:
    X, _ = iris
    model = TreeClassifier().fit(X, np.ones(150, dtype=int))
    assert model.get_n_leaves() == 1
    assert model.get_depth() == 0
    assert set(model.predict(X).tolist()) == {1}
    assert model.feature_importances_.sum() == 0


def test_all_cells_missing_gives_a_single_leaf() -> None:
    model = TreeClassifier().fit(np.full((6, 2), np.nan), [0, 1, 1, 0, 1, 1])
    assert model.get_n_leaves() == 1
    assert model.predict(np.zeros((1, 2))).tolist() == [1]


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (np.zeros((0, 2)), [], "0 sample"),
        (np.zeros((3, 0)), [1, 2, 3], "0 feature"),
        (np.zeros((3, 2)), [1, 2], "inconsistent"),
        (np.zeros((3, 2)), None, "requires y"),
        (pa.table([[1.0, 2.0], [1.0, 2.0]], names=["a", "a"]), [0, 1], "'a'"),
        (5, [0], "X is of type int; allowed are"),
        ("data.csv", [0], "read a file first"),
        ({"a": [1.0]}, [0], "pandas.DataFrame"),
        ([{"a": 1.0}], [0], "pandas.DataFrame"),
        ([[1.0], [2.0, 3.0]], [0, 1], "row 1 has 2 cells and row 0 has 1"),
        (np.zeros((2, 2, 2)), [0, 1], "dim 3"),
        (np.zeros((2, 2)), 1, "y is of type int"),
        (np.zeros((2, 2)), [0, None], "missing label in row 1"),
        (np.zeros((2, 2)), [0, 0.5], "continuous"),
        (np.zeros((2, 2)), [0, "a"], "y mixes or holds"),
    ],
)
def test_bad_tables_are_refused_in_one_line(X: Any, y: Any, says: str) -> None:
    with pytest.raises(HornbeamError, match=says) as caught:
        TreeClassifier().fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("y", "says"),
    [
        (["a", "b"], "y holds text where numbers are needed"),
        ([1.0, np.inf], "infinity"),
        ([1.0, None], "NaN"),
        ([1.0, 1e200], "up to 1e.100 is allowed"),
        (np.zeros((2, 0)), "no target columns"),
        (np.zeros((2, 1, 1)), r"y has shape \(2, 1, 1\)"),
        (7, "y is of type int"),
    ],
)
def test_bad_numbers_are_refused_in_one_line(y: Any, says: str) -> None:
    with pytest.raises(HornbeamError, match=says) as caught:
        TreeRegressor().fit(np.zeros((2, 2)), y)
    assert "\n" not in str(caught.value)


def test_importing_hornbeam_is_light() -> None:
    heavy = "('sklearn', 'pandas', 'polars', 'matplotlib', 'duckdb', 'pyarrow', 'scipy', 'numpy')"
    code = f"import hornbeam, sys; dir(hornbeam); print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_signature_is_that_of_the_constructor() -> None:
    import inspect

    assert "max_depth" in inspect.signature(TreeClassifier).parameters
    assert inspect.signature(TreeClassifier).parameters["criterion"].default == "gini"
    assert inspect.signature(TreeRegressor).parameters["criterion"].default == "variance"


def test_a_subclass_may_have_other_defaults_or_a_constructor_of_its_own(iris: Any) -> None:
    @dataclass(kw_only=True, eq=False, repr=False)
    class Small(TreeClassifier):
        max_depth: int | None = 1

    class Own(TreeClassifier):
        def __init__(self, max_depth: int = 2) -> None:
            super().__init__(max_depth=max_depth)

    for model, depth in ((Small(), 1), (Small(max_depth=3), 3), (Own(), 2), (TreeClassifier(max_depth=4), 4)):
        assert clone(model).fit(*iris).get_depth() == depth
    assert TreeClassifier().max_depth is None


def test_the_types_name_what_the_package_exports() -> None:
    stub = ast.parse(Path(hornbeam.__file__).with_suffix(".pyi").read_text())
    typed = {name.asname for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert typed | {"__version__"} == set(hornbeam.__all__)
    assert all(getattr(hornbeam, name) is not None for name in hornbeam.__all__)
    with pytest.raises(AttributeError, match="Forrest"):
        _ = hornbeam.Forrest
