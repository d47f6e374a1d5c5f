"""`hornbeam fit --prune`: the tree is the estimator's, the file keeps both, wrong options are one line."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import hornbeam
from tests.unit.cli.test_command import place, refused, run

__all__ = ["place"]


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("--prune error_based --confidence 0.1", {"prune": "error_based", "confidence": 0.1}),
        ("--ccp-alpha 0.02", {"ccp_alpha": 0.02}),
        (
            "--prune reduced_error --validation-fraction 0.4 --seed 3",
            {"prune": "reduced_error", "validation_fraction": 0.4, "random_state": 3},
        ),
    ],
)
def test_the_tree_is_the_estimators(place: Path, options: str, parameters: dict[str, object]) -> None:
    for line in (
        "generate agrawal --noise 0.2 --rows 400 -o data.csv",
        f"fit data.csv --target class -o model {options}",
    ):
        assert run(*line.split()).exit_code == 0
    data = pd.read_csv("data.csv")
    model = hornbeam.TreeClassifier(**parameters).fit(data.drop(columns="class"), data["class"])
    read = hornbeam.load("model")
    assert read.tree_ == model.tree_
    assert read.unpruned_tree_ == model.unpruned_tree_
    assert read.tree_ != read.unpruned_tree_
    assert read.random_state == model.random_state


def test_a_wrong_option_is_named(place: Path) -> None:
    line = ("fit", "data.csv", "--target", "class")
    assert "--prune 'hard' for classification: use 'error_based'" in refused(2, *line, "--prune", "hard")
    assert "--confidence 0.0: a number above 0 up to 1 is allowed" in refused(2, *line, "--confidence", "0")
    assert "--ccp-alpha 1.0 with prune=" in refused(2, *line, "--prune", "error_based", "--ccp-alpha", "1")
    assert "for regression" in refused(2, *line, "--task", "regression", "--prune", "error_based")
