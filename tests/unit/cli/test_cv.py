"""`hornbeam fit --cv`: the estimate is that of cross_validate, the tree is that of a fit without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

import hornbeam
from hornbeam.model_selection import cross_validate
from hornbeam.table import encode_classes
from hornbeam.validation import deal_classes, deal_rows
from tests.unit.cli.test_command import place, refused, run

__all__ = ["place"]


def say(line: str) -> Any:
    return run(*line.split())


def deny(code: int, line: str, says: str) -> None:
    refused(code, *line.split(), says=says)


@pytest.mark.parametrize(
    "options", ["", "--prune error_based", "--prune reduced_error", "--class-weight balanced"]
)
def test_the_estimate_is_that_of_cross_validate(place: Path, options: str) -> None:
    assert say("generate agrawal --noise 0.2 --rows 300 -o data.csv").exit_code == 0
    line = f"fit data.csv --target class --min-samples-leaf 5 --seed 4 {options}".split()
    plain = run(*line, "--json")
    done = run(*line, "--cv", "7", "--json", "--report", "page.html", "-o", "model")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["digest"] == json.loads(plain.stdout)["digest"]
    assert json.loads(plain.stdout)["cross_validation"] is None
    assert said["seed"] == 4
    data = pd.read_csv("data.csv")
    model = hornbeam.load("model").set_params(random_state=4)
    folds = StratifiedKFold(7, shuffle=True, random_state=4)
    found = cross_validate(model, data.drop(columns="class"), data["class"], cv=folds)
    estimate = said["cross_validation"]
    assert estimate["scores"] == found["test_score"].tolist()
    assert (estimate["folds"], estimate["measure"]) == (7, "accuracy")
    assert estimate["mean"] == pytest.approx(found["test_score"].mean())
    assert estimate["spread"] == pytest.approx(found["test_score"].std())
    shown = run(*line, "--cv", "7").stdout
    assert f"accuracy {estimate['mean']:.3f} ± {estimate['spread']:.3f} (7 folds)" in shown
    page = Path("page.html").read_text("utf-8")
    assert f"accuracy ± {estimate['spread'] * 100:.1f}, 7 folds" in page
    # The headline is the honest number, not that of the training rows.
    headline = page[page.index("<h1") : page.index("</h1>")]
    assert f"is right on <em>{estimate['mean'] * 100:.1f}" in headline
    assert "new rows" in headline
    assert "training" not in headline


def test_numbers_are_estimated_by_r2(place: Path) -> None:
    random = np.random.default_rng(0)
    data = pd.DataFrame(random.normal(size=(90, 3)), columns=["a", "b", "c"])
    data["y"] = data["a"] + random.normal(size=90) / 3
    data.to_csv("numbers.csv", index=False)
    done = say("fit numbers.csv --target y --min-samples-leaf 5 --cv 5 --json")
    read = pd.read_csv("numbers.csv")
    found = cross_validate(
        hornbeam.TreeRegressor(min_samples_leaf=5),
        read[["a", "b", "c"]],
        read["y"],
        cv=KFold(5, shuffle=True, random_state=0),
    )
    estimate = json.loads(done.stdout)["cross_validation"]
    assert estimate["scores"] == pytest.approx(found["test_score"])
    assert "R² " in say("fit numbers.csv --target y --cv 5").stdout
    deny(3, "fit numbers.csv --target y --cv 46", "R² needs two rows a fold; use at most 45")
    deny(3, "fit numbers.csv --target y --cv 91", "91 folds of 90 rows; use at most 90")


def test_folds_and_held_out_rows_go_together(place: Path) -> None:
    assert say("generate agrawal --rows 200 -o data.csv").exit_code == 0
    said = json.loads(say("fit data.csv --target class --cv 5 --test 0.3 --json").stdout)
    assert said["score"]["held_out"]
    assert said["rows"] < 160
    assert len(said["cross_validation"]["scores"]) == 5


def test_wrong_numbers_of_folds_are_refused(place: Path) -> None:
    assert say("generate agrawal --rows 40 -o data.csv").exit_code == 0
    deny(2, "fit data.csv --target class --cv 1", "--cv")
    deny(3, "fit data.csv --target class --cv 40", "40 folds, but no class has as many rows")


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_dealt_as_scikit_learn_deals_them(seed: int) -> None:
    y = np.random.default_rng(seed).choice(["c", "a", "b"], 50, p=[0.6, 0.3, 0.1])
    codes, _ = encode_classes(y)
    for k in (2, 3, 7):
        ours = deal_classes(codes, k, seed)
        for fold, (_, test) in enumerate(StratifiedKFold(k, shuffle=True, random_state=seed).split(y, y)):
            assert np.array_equal(np.flatnonzero(ours == fold), test)
        ours = deal_rows(50, k, seed)
        for fold, (_, test) in enumerate(KFold(k, shuffle=True, random_state=seed).split(y)):
            assert np.array_equal(np.flatnonzero(ours == fold), test)


def test_a_memory_limit_changes_how_folds_grow_and_nothing_else(place: Path) -> None:
    assert say("generate agrawal --rows 300 -o data.csv").exit_code == 0
    plain = json.loads(say("fit data.csv --target class --cv 5 --min-samples-leaf 10 --json").stdout)
    limited = say("fit data.csv --target class --cv 5 --min-samples-leaf 10 --memory-limit 400KB --json")
    found = json.loads(limited.stdout)
    assert found["digest"] == plain["digest"]
    assert found["cross_validation"] == plain["cross_validation"]
    assert found["parameters"] == plain["parameters"]


@pytest.mark.parametrize("cv", ["", " --cv 3"])
def test_a_memory_limit_is_kept_or_refused(place: Path, cv: str) -> None:
    assert say("generate agrawal --rows 300 -o data.csv").exit_code == 0
    assert say(f"fit data.csv --target class --memory-limit 2GiB{cv}").exit_code == 0
    deny(2, f"fit data.csv --target class --memory-limit much{cv}", "--memory-limit 'much': give a number of")
    deny(2, f"fit data.csv --target class --memory-limit 0{cv}", "--memory-limit '0': give a number of bytes")
    low = f"fit data.csv --target class --memory-limit 20KB{cv}"
    deny(3, low, "'data.csv': --memory-limit 20 KB: a tree of this table may need")
    deny(3, low, "allow as much, or limit the tree by --min-samples-leaf or --max-depth")
