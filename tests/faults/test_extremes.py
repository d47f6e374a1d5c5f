"""Tables at the edge: a category for every row, chains, hostile names, many threads, next to nothing."""

from __future__ import annotations

import pickle
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import hornbeam
from hornbeam import Tree, TreeClassifier, TreeRegressor
from hornbeam.cli import main


def memory() -> int:
    """Most bytes this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# ---- a category for every row ----


@pytest.mark.parametrize("mode", ["subset", "multiway"])
def test_a_million_categories_take_bounded_memory(mode: str) -> None:
    n = 1_000_000
    X = pd.DataFrame({"key": pd.array([f"key {i:07d}" for i in range(n)], dtype="str")})
    y = np.random.default_rng(0).integers(0, 2, n)
    before = memory()
    model = TreeClassifier(nominal=mode).fit(X, y)
    more = memory() - before
    assert more < 2**30
    assert model.get_n_leaves() == (2 if mode == "subset" else n)
    assert (model.predict(X.head(1000)) == y[:1000]).all()


def test_a_million_and_one_categories_are_refused() -> None:
    X = pd.DataFrame({"key": pd.array([f"{i}" for i in range(1_000_001)], dtype="str")})
    with pytest.raises(hornbeam.errors.DataError, match="key") as caught:
        TreeClassifier().fit(X, np.arange(1_000_001) % 2)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mode", ["subset", "multiway"])
def test_sixty_thousand_categories_and_ten_classes_are_told_apart(mode: str) -> None:
    n = 60_000
    X = pd.DataFrame({"key": [f"key {i}" for i in range(n)]})
    y = np.random.default_rng(0).integers(0, 10, n)
    model = TreeClassifier(nominal=mode).fit(X, y)
    assert model.score(X, y) == 1.0


def test_value_tests_of_twenty_thousand_keys_take_little_memory() -> None:
    n = 20_000
    X = pd.DataFrame({"key": [f"key {i}" for i in range(n)]})
    y = (np.random.default_rng(0).random(n) < 0.05).astype(int)
    before = memory()
    model = TreeClassifier(nominal="value").fit(X, y)
    assert memory() - before < 50_000_000  # a list of the keys at every node would take 160 MB
    assert model.get_depth() == y.sum()
    assert len(model.tree_.arrays["branch_code"]) < n + 2 * y.sum()
    assert model.score(X, y) == 1.0


def test_a_value_test_for_every_row_is_grown() -> None:
    n = 5_000
    X = pd.DataFrame({"key": [f"key {i}" for i in range(n)]})
    y = np.random.default_rng(0).integers(0, 2, n)
    model = TreeClassifier(nominal="value").fit(X, y)
    assert model.score(X, y) == 1.0


# ---- a chain ----


@pytest.fixture(scope="module")
def chain() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], TreeClassifier]:
    """Alternating labels along one column: nearly every test takes one row."""
    n = 20_000
    X, y = np.arange(n, dtype=np.float64)[:, None], np.arange(n) % 2
    return X, y, TreeClassifier().fit(X, y)


def test_a_chain_is_grown_and_routed(chain: Any) -> None:
    X, y, model = chain
    assert model.get_depth() > 5000
    assert (model.predict(X) == y).all()
    assert model.decision_path(X[:3]).shape == (3, model.tree_.n_nodes)


def test_a_chain_is_written_as_text_to_a_depth(chain: Any) -> None:
    tree = chain[2].tree_
    assert 3 <= len(tree.to_text(max_depth=3).splitlines()) <= 20
    assert len(tree.to_text()) < 300 * tree.n_nodes


def test_a_chain_survives_json_pickle_and_files(chain: Any, tmp_path: Path) -> None:
    X, y, model = chain
    tree = model.tree_
    assert Tree.from_json(tree.to_json()).digest == tree.digest
    assert pickle.loads(pickle.dumps(model)).tree_.digest == tree.digest
    hornbeam.save(model, tmp_path / "chain.hornbeam")
    again = hornbeam.load(tmp_path / "chain.hornbeam")
    assert again.tree_.digest == tree.digest
    assert (again.predict(X) == y).all()


@pytest.mark.parametrize("form", ["--text", "--json", "--svg"])
def test_a_chain_is_shown_by_the_command(chain: Any, tmp_path: Path, form: str) -> None:
    path = str(tmp_path / "chain.hornbeam")
    hornbeam.save(chain[2], path)
    result = CliRunner().invoke(main, ["show", path, form, *(["--depth", "3"] if form != "--json" else [])])
    assert result.exit_code == 0, result.stderr
    assert result.stdout


def test_a_chain_of_numbers_is_a_regression_tree(tmp_path: Path) -> None:
    n = 5000
    X = np.arange(n, dtype=np.float64)[:, None]
    y = np.exp2(np.arange(n) % 300 - 150.0)
    model = TreeRegressor().fit(X, y)
    assert np.allclose(model.predict(X), y, rtol=1e-15)
    hornbeam.save(model, tmp_path / "m")
    assert hornbeam.load(tmp_path / "m").tree_.digest == model.tree_.digest


def test_a_growth_ratio_chain_of_labels(tmp_path: Path) -> None:
    n = 3000
    X = pd.DataFrame({"x": np.arange(n), "key": [f"k{i % 50}" for i in range(n)]})
    y = [f"c{i % 26}" for i in range(n)]
    model = TreeClassifier(criterion="gain_ratio").fit(X, y)
    assert (model.predict(X) == y).all()


# ---- many Python threads on one model ----


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_eight_python_threads_predict_alike(n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    X = pd.DataFrame({"x": rng.normal(size=n), "key": rng.choice(list("abcdefgh"), n)})
    X.loc[rng.random(n) < 0.1, "x"] = np.nan
    y = rng.integers(0, 5, n)
    model = TreeClassifier(min_samples_leaf=3, n_jobs=n_jobs).fit(X, y)
    fresh = pickle.loads(pickle.dumps(model))  # nothing cached yet: the threads meet in the first call
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: fresh.predict_proba(X), range(24)))
        digests = set(pool.map(lambda _: fresh.tree_.digest, range(16)))
    expected = model.predict_proba(X)
    assert all((answer == expected).all() for answer in answers)
    assert digests == {model.tree_.digest}


def test_eight_python_threads_fit_alike() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 5)), rng.integers(0, 3, 3000)
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda i: TreeClassifier(n_jobs=1 + i % 3).fit(X, y).tree_.digest, range(24)))
    assert len(digests) == 1


# ---- names and labels that want to break something ----

HOSTILE = [
    *("", " ", "\n", "\r\n", "\t", "\0", "a\0b", "\x1b[31mred\x1b[0m", "\u202egnp.exe", "\ufeffbom"),
    *("<script>alert(1)</script>", "&amp;", "]]>", '"', "'", "\\", '","', "a,b", "a;b", "=1+1", "-- ", "%s"),
    *(
        "nan",
        "NaN",
        "None",
        "null",
        "True",
        "inf",
        "0",
        "-0.0",
        "__class__",
        "<=",
        "> 3",
        "and 7 more",
        "{0}",
    ),
    *(
        "é",
        "e\u0301",
        "ﬁ",
        "İ",
        "ß",
        "𝕏",
        "👩‍👩‍👧",
        "x" * 5000,
        "../../etc/passwd",
        "\u2028",
        "~",
        "$HOME",
        "`id`",
    ),
]


def hostile_table() -> tuple[pd.DataFrame, list[str]]:
    """Every hostile text is the name of a column, a category of all of them, and a class."""
    k = len(HOSTILE)
    rows = [[HOSTILE[(i * (j + 1)) % k] for j in range(k)] for i in range(4 * k)]
    return pd.DataFrame(rows, columns=HOSTILE), [HOSTILE[i % k] for i in range(4 * k)]


@pytest.mark.parametrize("mode", ["subset", "value", "multiway"])
def test_hostile_names_and_labels_come_back_as_they_were(tmp_path: Path, mode: str) -> None:
    X, y = hostile_table()
    model = TreeClassifier(nominal=mode).fit(X, y)
    assert list(model.predict(X)) == y
    assert list(model.feature_names_in_) == HOSTILE
    assert set(model.classes_) == set(HOSTILE)
    hornbeam.save(model, tmp_path / "m")
    again = hornbeam.load(tmp_path / "m")
    assert again.tree_.digest == model.tree_.digest
    assert list(again.predict(X)) == y
    assert list(again.predict(X[HOSTILE[::-1]])) == y  # by name
    assert Tree.from_json(model.tree_.to_json()).digest == model.tree_.digest
    text = model.tree_.to_text(max_labels=100)
    assert len(text.splitlines()) == 1 + model.tree_.n_nodes  # a heading first
    assert "\x1b" not in text
    assert "\0" not in text


@pytest.mark.parametrize("form", ["--text", "--json", "--svg"])
def test_hostile_names_and_labels_are_shown_escaped(tmp_path: Path, form: str) -> None:
    import xml.etree.ElementTree as ElementTree

    X, y = hostile_table()
    path = str(tmp_path / "m")
    hornbeam.save(TreeClassifier().fit(X, y), path)
    result = CliRunner().invoke(main, ["show", path, form])
    assert result.exit_code == 0, result.stderr
    assert "\x1b" not in result.stdout
    assert "\0" not in result.stdout
    if form == "--svg":
        assert "<script" not in result.stdout
        ElementTree.fromstring(result.stdout)


def test_names_that_differ_only_in_normal_form_stay_apart() -> None:
    X = pd.DataFrame({"é": [0.0, 0.0, 1.0, 1.0], "e\u0301": [0.0, 1.0, 0.0, 1.0]})
    model = TreeClassifier().fit(X, ["é", "é", "e\u0301", "e\u0301"])
    assert list(model.predict(X)) == ["é", "é", "e\u0301", "e\u0301"]
    assert model.tree_.test_text(0).startswith("é")


# ---- small and empty ----


def one_line(error: BaseException) -> str:
    text = str(error)
    assert text
    assert "\n" not in text
    return text


ESTIMATORS = [TreeClassifier, TreeRegressor]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("face", [np.asarray, pd.DataFrame], ids=["numpy", "pandas"])
def test_zero_rows_and_zero_columns_are_refused(estimator: Any, face: Any) -> None:
    with pytest.raises(ValueError, match=r"0 sample|zero rows|no row|0 rows") as caught:
        estimator().fit(face(np.empty((0, 3))), np.empty(0))
    one_line(caught.value)
    with pytest.raises(ValueError, match=r"0 feature|zero columns|no column|0 columns") as caught:
        estimator().fit(face(np.empty((3, 0))), np.array([0, 1, 0]))
    one_line(caught.value)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 2.0]], [1]),  # one row
        ([[1.0], [2.0], [3.0]], [1, 1, 1]),  # one class
        ([[np.nan, np.nan]] * 4, [0, 1, 0, 1]),  # all cells missing
        ([[5.0, -0.0], [5.0, 0.0], [5.0, 0.0]], [0, 1, 1]),  # constant columns
        ([[np.inf], [np.inf]], [0, 1]),
    ],
    ids=["one row", "one class", "all missing", "constant", "infinite constant"],
)
def test_where_nothing_can_be_asked_the_tree_is_a_leaf(
    estimator: Any, X: Any, y: Any, tmp_path: Path
) -> None:
    model = estimator().fit(np.array(X), np.array(y))
    assert model.tree_.n_nodes == 1
    assert model.get_depth() == 0
    assert len(model.predict(np.array(X))) == len(y)
    assert model.feature_importances_.sum() == 0
    assert len(model.tree_.to_text().splitlines()) == 2  # a heading, and the leaf
    hornbeam.save(model, tmp_path / "m")
    assert hornbeam.load(tmp_path / "m").tree_.digest == model.tree_.digest


def test_nominal_columns_without_a_known_cell_or_with_one_label() -> None:
    X = pd.DataFrame({"gone": pd.array([None] * 4, dtype="str"), "same": ["a"] * 4})
    model = TreeClassifier().fit(X, [0, 1, 1, 1])
    assert model.tree_.n_nodes == 1
    assert list(model.predict(pd.DataFrame({"gone": ["new"], "same": ["b"]}))) == [1]


def test_extreme_numbers_are_separated() -> None:
    values = [-np.inf, -1e308, -5e-324, 0.0, 5e-324, 1e308, np.nextafter(np.inf, 0), np.inf]
    X = np.array(values)[:, None]
    y = np.arange(len(values))
    assert (TreeClassifier().fit(X, y).predict(X) == y).all()
    edges = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 2, 2**63 - 1]
    whole = pd.DataFrame({"x": np.array(edges, dtype=np.int64)})
    assert (TreeClassifier().fit(whole, y[:7]).predict(whole) == y[:7]).all()


def test_targets_of_extreme_size() -> None:
    X = np.arange(6.0)[:, None]
    y = np.array([-1e100, -1.0, 5e-324, 0.0, 1e-300, 1e100])
    assert (TreeRegressor().fit(X, y).predict(X) == y).all()
    with pytest.raises(ValueError, match="1e\\+100"):
        TreeRegressor().fit(X, np.array([0.0, 0, 0, 0, 0, 1e101]))


COMMAND_CASES = {
    "zero rows": ("x,y\n", 3),
    "an empty file": ("", 3),
    "no attribute": ("y\na\nb\n", 3),
    "one class": ("x,y\n1,a\n2,a\n", 0),
    "one row": ("x,y\n1,a\n", 0),
    "all missing": ("x,z,y\n,,a\n,,b\n", 0),
    "constant": ("x,y\n1,a\n1,b\n1,b\n", 0),
    "a missing target": ("x,y\n1,a\n2,\n", 3),
    "a name twice": ("x,x,y\n1,2,a\n2,3,b\n", 3),
    "ragged": ("x,y\n1,a,7\n2,b\n", 3),
    "not text": ("\x00\x01\x02\n", 2),
    "no such target": ("x,z\n1,a\n", 2),
}


@pytest.mark.parametrize("name", COMMAND_CASES)
def test_the_command_says_one_line_and_the_right_code(name: str, tmp_path: Path) -> None:
    content, code = COMMAND_CASES[name]
    data, model = tmp_path / "d.csv", tmp_path / "m"
    data.write_text(content)
    result = CliRunner().invoke(main, ["fit", str(data), "--target", "y", "-o", str(model)])
    assert result.exit_code == code, result.stderr
    assert model.exists() == (code == 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == (["d.csv", "m"] if code == 0 else ["d.csv"])
    if code:
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1
        assert result.stderr.startswith("hornbeam: ")
        return
    answers = CliRunner().invoke(main, ["predict", str(model), str(data)])
    assert answers.exit_code == 0, answers.stderr
    assert len(answers.stdout.splitlines()) == len(content.splitlines())
