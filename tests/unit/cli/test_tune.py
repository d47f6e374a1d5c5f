"""`hornbeam tune`: the tree is that of fit, what is told is what was found, refusals name the option."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.model_selection import KFold, StratifiedKFold

import hornbeam
from hornbeam.cli import main
from hornbeam.model_selection import cross_val_score
from tests.unit.cli.lines import deny, found, say
from tests.unit.cli.test_command import COMMAND, files, place, run

__all__ = ["place"]


@pytest.fixture
def noisy(place: Path) -> Path:
    """300 rows whose class is wrong now and then."""
    say("generate agrawal --function 2 --noise 0.2 --rows 300 --seed 5 -o data.csv")
    return place


def numbers(rows: int = 120) -> pd.DataFrame:
    random = np.random.default_rng(0)
    data = pd.DataFrame(random.normal(size=(rows, 3)), columns=["a", "b", "c"])
    data["y"] = data["a"] + random.normal(size=rows) / 2
    data.to_csv("numbers.csv", index=False)
    return pd.read_csv("numbers.csv")


def test_the_path_is_searched_and_the_chosen_tree_is_that_of_fit(noisy: Path) -> None:
    said = found("tune data.csv --target class --seed 4 -o tuned")
    search = said["search"]
    assert (search["select"], search["folds"], search["measure"]) == ("1se", 10, "accuracy")
    chosen, best = (search["results"][search[name]] for name in ("chosen", "best"))
    assert list(chosen["params"]) == ["ccp_alpha"]
    assert chosen["leaves"] == said["leaves"] <= best["leaves"]
    assert chosen["score"] >= best["score"] - best["standard_error"]
    assert {entry["leaves"] for entry in search["results"]} >= {1, chosen["leaves"]}
    alpha = repr(chosen["params"]["ccp_alpha"])
    fitted = found(f"fit data.csv --target class --prune cost_complexity --ccp-alpha {alpha} -o fitted")
    assert said["digest"] == fitted["digest"]
    assert hornbeam.load("tuned").tree_ == hornbeam.load("fitted").tree_
    assert hornbeam.load("tuned").unpruned_tree_ == hornbeam.load("fitted").unpruned_tree_
    assert hornbeam.load("tuned").ccp_alpha == chosen["params"]["ccp_alpha"]
    assert run("predict", "tuned", "data.csv").stdout == run("predict", "fitted", "data.csv").stdout


def test_scores_are_those_of_fit_with_the_same_folds(noisy: Path) -> None:
    search = found("tune data.csv --target class --param max_depth=1,3,none --cv 5 --seed 4")["search"]
    for depth, entry in zip(("1", "3", "99"), search["results"], strict=True):
        fitted = found(f"fit data.csv --target class --max-depth {depth} --cv 5 --seed 4")
        assert entry["scores"] == fitted["cross_validation"]["scores"]
        assert (entry["leaves"], entry["depth"]) == (fitted["leaves"], fitted["depth"])
    assert [entry["params"]["max_depth"] for entry in search["results"]] == [1, 3, None]


def test_weights_and_names_of_classes_are_those_of_fit(noisy: Path) -> None:
    data = pd.read_csv("data.csv")
    data["w"] = np.arange(len(data)) % 3 + 1
    data.to_csv("data.csv", index=False)
    line = "data.csv --target class --weight w --class-weight balanced --max-depth 3"
    tuned = found(f"tune {line} --param min_samples_leaf=5 -o tuned")
    fitted = found(f"fit {line} --min-samples-leaf 5 -o fitted")
    for name in ("digest", "parameters", "score", "importances", "target", "rows"):
        assert tuned[name] == fitted[name]
    assert Path("tuned").read_bytes() == Path("fitted").read_bytes()


def test_numbers_are_tuned_by_r2(place: Path) -> None:
    data = numbers()
    said = found("tune numbers.csv --target y --param min_samples_leaf=2,10,30 --cv 4 --select best -o m")
    scores = [
        cross_val_score(
            hornbeam.TreeRegressor(min_samples_leaf=leaf),
            data[["a", "b", "c"]],
            data["y"],
            cv=KFold(4, shuffle=True, random_state=0),
        )
        for leaf in (2, 10, 30)
    ]
    assert [entry["scores"] for entry in said["search"]["results"]] == [s.tolist() for s in scores]
    assert said["search"]["measure"] == "r2"
    assert hornbeam.load("m").tree_.targets == ("y",)
    text = say("tune numbers.csv --target y --param max_depth=1,2").stdout
    assert "unexplained: the share of the variance left unexplained" in text
    two = found("tune numbers.csv --target y --target a --param max_depth=1,2 --nested 3 -o m")
    assert hornbeam.load("m").tree_.targets == ("y", "a")
    assert two["search"]["nested"]["score"] is not None


def test_another_score_is_scikit_learns(noisy: Path) -> None:
    search = found("tune data.csv --target class --scoring roc_auc --param max_depth=1,4 --cv 3")["search"]
    data = pd.read_csv("data.csv")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for depth, entry in zip((1, 4), search["results"], strict=True):
        model = hornbeam.TreeClassifier(max_depth=depth)
        scores = cross_val_score(
            model, data.drop(columns="class"), data["class"], cv=folds, scoring="roc_auc"
        )
        assert entry["scores"] == scores.tolist()
    assert search["measure"] == "roc_auc"


def test_outer_folds_do_not_follow_the_order_of_the_file(place: Path) -> None:
    data = numbers(400)
    alone = found("tune numbers.csv --target y --nested 4 --param max_depth=2,3")["search"]
    data.sort_values("y").to_csv("numbers.csv", index=False)
    ordered = found("tune numbers.csv --target y --nested 4 --param max_depth=2,3")["search"]
    assert ordered["nested"]["score"] == pytest.approx(alone["nested"]["score"], abs=0.1)
    assert len(alone["nested"]["scores"]) == len(alone["nested"]["params"]) == 4


def test_repeats_follow_the_seed_and_threads_change_nothing(noisy: Path) -> None:
    line = "tune data.csv --target class --param max_depth=1,2,4 --repeats 3 --mean trimmed --select smallest"
    first = found(f"{line} --cv 4 --seed 1")["search"]
    assert (first["repeats"], first["mean"], first["select"]) == (3, "trimmed", "smallest")
    assert len(first["results"][0]["scores"]) == 12
    assert first == found(f"{line} --cv 4 --seed 1 --threads 2")["search"]
    assert first != found(f"{line} --cv 4 --seed 2")["search"]


def test_what_is_told_fits_a_terminal_and_says_why(noisy: Path) -> None:
    done = say("tune data.csv --target class -o m --report page.html")
    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert lines[0].startswith("10-fold cross-validation of ")
    table = lines[: next(i for i, line in enumerate(lines) if line.startswith("tree "))]
    assert max(map(len, table)) <= 80
    for begin in ("chosen: ccp_alpha ", "why: it is the ", "model saved to m", "time "):
        assert any(line.startswith(begin) for line in lines)
    page = Path("page.html").read_text("utf-8")
    assert "How this tree was chosen" in page
    assert "hornbeam tune data.csv --target class" in page
    assert "chosen among" in page[page.index("<h1") : page.index("</h1>")]
    assert files(noisy) == {"data.csv", "m", "page.html"}


def test_the_chosen_row_is_set_off_on_a_terminal(noisy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ["tune", "data.csv", "--target", "class", "--param", "max_depth=1,2"]
    bold = [x for x in CliRunner().invoke(main, line, color=True).stdout.splitlines() if "\x1b[1m" in x]
    assert any("chosen" in x for x in bold)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in CliRunner().invoke(main, line, color=True).stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--param depth=1,2", "--param 'depth' is no parameter to choose; did you mean max_depth?"),
        ("--param qqq=1,2", "--param 'qqq' is no parameter to choose; use ccp_alpha, max_depth"),
        ("--param max_depth", "--param 'max_depth': give a name and values, for instance max_depth=2,5,10"),
        ("--param max_depth=1,,2", "give a name and values"),
        ("--param max_depth=1,1", "has a value twice; give each once"),
        ("--param max_depth=0,2", "--param max_depth=0: a whole number from 1"),
        ("--param max_depth=deep", "--param max_depth='deep': a whole number from 1"),
        ("--param criterion=gini,beauty", "--param criterion='beauty' for classification: use 'gini'"),
        ("--param max-depth=1 --param max_depth=2", "--param max_depth is given twice"),
        ("--param max_depth=1 --max-depth 2", "--param max_depth and --max-depth are both given"),
        ("--param confidence=0.1,0.2", "add --prune error_based"),
        ("--prune error_based", "--prune error_based: without --param the cost-complexity path is searched"),
        ("--ccp-alpha 0.1", "--ccp-alpha 0.1: without --param the cost-complexity path is searched"),
        ("--min-samples-leaf 0", "--min-samples-leaf 0: a whole number from 1"),
        ("--scoring roc_acu", "--scoring 'roc_acu' is no score of scikit-learn; did you mean roc_auc"),
        ("--scoring r2", "--scoring r2: "),
        ("--cv 1", "--cv"),
        ("--nested 2", "--nested"),
        ("--select first", "'first' is not one of '1se', 'best', 'smallest'"),
        ("--memory-limit much", "--memory-limit 'much': give a number of bytes"),
        ("--target nothing", "--target 'nothing' is not a column"),
    ],
)
def test_a_wrong_option_is_named(options: str, says: str, place: Path) -> None:
    deny(2, f"tune data.csv --target class {options} -o m --report r.html", says)
    assert files(place) == {"data.csv"}


def test_data_that_does_not_fit_is_refused(place: Path) -> None:
    deny(3, "tune data.csv --target class --cv 60", "60 folds, but no class has as many rows")
    deny(3, "tune data.csv --target class --cv 81 --repeats 2", "'data.csv': 81 folds of 80 rows")
    deny(3, "tune data.csv --target class --nested 81", "--nested 81: 80 rows cannot be dealt")
    deny(3, "tune data.csv --target class --memory-limit 5KB", "--memory-limit 5 KB: a tree of this table")
    deny(4, "tune nowhere.csv --target class", "nowhere.csv")
    deny(4, "tune data.csv --target class -o nowhere/m", "there is no directory")
    deny(2, "tune data.csv --target class -o data.csv", "would be overwritten")
    assert files(place) == {"data.csv"}


def test_c45_is_tuned_by_its_m(noisy: Path) -> None:
    line = "tune data.csv --target class --criterion c45 --nominal multiway --prune error_based -o m"
    said = found(f"{line} --param min_objs=1,2,5,20,50 --param confidence=0.1,0.25")
    assert len(said["search"]["results"]) == 10
    model = hornbeam.load("m")
    chosen = said["search"]["results"][said["search"]["chosen"]]["params"]
    assert {"min_objs": model.min_objs, "confidence": model.confidence} == chosen


def test_ctrl_c_exits_130_and_writes_nothing(place: Path) -> None:
    say("generate agrawal --function 2 --noise 0.3 --rows 60000 -o large.csv")
    line = "tune large.csv --target class --scoring roc_auc --repeats 20 -o m --report r.html"
    working = subprocess.Popen([*COMMAND, *line.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(4)
    working.send_signal(signal.SIGINT)
    told, said = working.communicate(timeout=60)
    assert working.returncode == 130
    assert (told, said) == (b"", b"hornbeam: interrupted; nothing was written\n")
    assert files(place) == {"data.csv", "large.csv"}
