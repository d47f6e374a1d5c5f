"""`hornbeam bag`: the trees are the estimator's, the score is that of the rows outside, the file predicts."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import hornbeam
from hornbeam import BaggedTreesClassifier, BaggedTreesRegressor
from tests.unit.cli.test_command import files, place, refused, run

__all__ = ["place"]

LINE = ("bag", "data.csv", "--target", "class")


@pytest.fixture
def people(place: Path) -> pd.DataFrame:
    """A noisy table in data.csv."""
    line = "generate agrawal --noise 0.2 --rows 300 -o data.csv"
    assert run(*line.split()).exit_code == 0
    return pd.read_csv("data.csv")


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("", {"n_estimators": 25}),
        ("-n 9 --seed 3 --max-depth 4", {"n_estimators": 9, "random_state": 3, "max_depth": 4}),
        ("-n 5 --voting hard --algorithm serial", {"n_estimators": 5, "voting": "hard"}),
        ("-n 5 --max-samples 0.5 --prune error_based", {"max_samples": 0.5, "prune": "error_based"}),
        ("-n 5 --max-samples 90 --class-weight balanced", {"max_samples": 90, "class_weight": "balanced"}),
        ("-n 5 --prune reduced_error", {"prune": "reduced_error"}),
    ],
)
def test_the_trees_are_the_estimators(
    people: pd.DataFrame, options: str, parameters: dict[str, object]
) -> None:
    assert run(*LINE, "-o", "model", *options.split()).exit_code == 0
    given = {"n_estimators": 5, "random_state": 0, "oob_score": True, **parameters}
    X, y = people.drop(columns="class"), people["class"]
    model = BaggedTreesClassifier(**given).fit(X, y)
    read = hornbeam.load("model")
    assert read.trees_ == model.trees_
    assert read.predict(X).tolist() == model.predict(X).tolist()
    found = json.loads(run(*LINE, "--json", *options.split()).output)
    assert found["score"]["value"] == model.oob_score_
    assert found["trees"] == given["n_estimators"]
    assert found["digests"] == [tree.digest for tree in model.trees_]
    assert found["leaves"] == [tree.n_leaves for tree in model.trees_]


def test_the_spread_is_told_of_the_score_and_of_the_trees(people: pd.DataFrame) -> None:
    found = json.loads(run(*LINE, "-n", "12", "--json").output)
    score, rows = found["score"]["value"], found["score"]["rows"]
    assert found["score"]["standard_error"] == pytest.approx(np.sqrt(score * (1 - score) / rows))
    model = BaggedTreesClassifier(n_estimators=12, random_state=0).fit(
        people.drop(columns="class"), people["class"]
    )
    alone = []
    for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        outside = people.drop(index=np.unique(drawn))
        alone.append(member.score(outside.drop(columns="class"), outside["class"]))
    assert found["tree_alone"]["mean"] == pytest.approx(np.mean(alone))
    assert found["tree_alone"]["deviation"] == pytest.approx(np.std(alone))
    shown = run(*LINE, "-n", "12").output
    assert f"{score:.4f} ± " in shown
    assert f"{np.mean(alone):.4f} ± {np.std(alone):.4f} (mean and deviation of 12 trees)" in shown
    assert "importance of attributes" in shown
    assert "12 trees, " in shown


def test_numbers_are_bagged_too(place: Path) -> None:
    data = load_diabetes(as_frame=True).frame
    data.to_csv("numbers.csv", index=False)
    done = run(
        "bag", "numbers.csv", "--target", "target", "-n", "8", "-o", "model", "--min-samples-leaf", "3"
    )
    assert done.exit_code == 0
    assert "R² (out of bag)" in done.output
    X = data.drop(columns="target")
    model = BaggedTreesRegressor(n_estimators=8, random_state=0, min_samples_leaf=3).fit(X, data["target"])
    answers = run("predict", "model", "numbers.csv").output.splitlines()
    assert answers[0] == '"prediction"'
    np.testing.assert_array_equal(np.array(answers[1:], dtype=np.float64), model.predict(X))


def test_the_file_predicts_classes_and_shares(people: pd.DataFrame) -> None:
    assert run(*LINE, "-n", "7", "-o", "model").exit_code == 0
    rows = list(csv.DictReader(io.StringIO(run("predict", "model", "data.csv", "--proba").output)))
    model = hornbeam.load("model")
    X = people.drop(columns="class")
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()
    shares = [[float(row[f"probability:{label}"]) for label in model.classes_] for row in rows]
    np.testing.assert_array_equal(shares, model.predict_proba(X))


def test_one_of_the_trees_is_shown(people: pd.DataFrame) -> None:
    assert run(*LINE, "-n", "3", "-o", "model").exit_code == 0
    assert run("show", "model", "--tree", "2").output == hornbeam.load("model").trees_[2].to_text()
    refused(2, "show", "model", says="the model has 3 trees; name one with --tree, 0 to 2")
    refused(2, "show", "model", "--tree", "3", says="--tree 3: the model has 3 trees")
    assert run("fit", "data.csv", "--target", "class", "-o", "one").exit_code == 0
    refused(2, "show", "one", "--tree", "0", says="--tree 0: the model has one tree; leave it out")


def test_weights_draw_the_rows(people: pd.DataFrame) -> None:
    assert run(*LINE, "-n", "3", "--weight", "salary", "-o", "model").exit_code == 0
    X, weights = people.drop(columns=["class", "salary"]), people["salary"]
    model = BaggedTreesClassifier(n_estimators=3, random_state=0).fit(X, people["class"], weights)
    assert hornbeam.load("model").trees_ == model.trees_


def test_where_every_bag_has_every_row_the_score_is_unknown(place: Path) -> None:
    (place / "one.csv").write_text("a,y\n1,x\n")
    done = run("bag", "one.csv", "--target", "y", "-n", "2")
    assert done.exit_code == 0
    assert "unknown: every bag has every row" in done.output
    assert json.loads(run("bag", "one.csv", "--target", "y", "--json").output)["score"] is None


def test_a_wrong_option_is_named_and_nothing_is_written(place: Path) -> None:
    before = files(place)
    line = (*LINE, "-o", "model")
    refused(2, *line, "-n", "0", says="-n")
    refused(2, *line, "--max-samples", "1.5", says="--max-samples 1.5: a whole number of rows from 1")
    refused(
        2, "bag", "data.csv", "--target", "size", "--task", "regression", "--voting", "hard", says="--voting"
    )
    refused(2, *line, "--criterion", "variance", says="--criterion 'variance' for classification")
    refused(2, "bag", "data.csv", "--target", "clas", says="did you mean 'class'?")
    assert files(place) == before


def test_a_source_has_bags_that_are_drawn_row_by_row(place: Path) -> None:
    lines = (place / "data.csv").read_text().splitlines()
    (place / "in").mkdir()
    for i in range(2):
        (place / "in" / f"{i}.csv").write_text("\n".join([lines[0], *lines[1 + i :: 2] * 20]) + "\n")
    given = ("--target", "class", "-n", "5", "--json")
    found = [
        json.loads(run("bag", "in/*.csv", *given, "--algorithm", algorithm, "-o", "m").stdout)
        for algorithm in ("auto", "memory", "rf_read")
    ]
    assert found[0]["digests"] == found[1]["digests"] == found[2]["digests"]
    assert found[2]["scan_stats"]["algorithm"] == "rf_read"
    assert found[0]["score"]["measure"] == "accuracy"
    text = run("bag", "in/*.csv", "--target", "class", "-n", "5", "--memory-limit", "100MB")
    assert text.exit_code == 0, text.output
    assert "out of bag" in text.stdout
    assert "scans" in text.stdout
    assert run("predict", "m", "data.csv").exit_code == 0
    refused(2, "bag", "in/*.csv", "--target", "class", "--algorithm", "serial", says="for rows in memory")
    refused(2, "bag", "in/*.csv", "--target", "class", "--weight", "x", says="--weight")
