"""`hornbeam improve`: limits, Ctrl-C, going on with a saved search, and what is told of it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import hornbeam
from tests.unit.cli.lines import deny, found, say
from tests.unit.cli.test_command import COMMAND, files, place

__all__ = ["place"]


@pytest.fixture
def parity(place: Path) -> Path:
    """200 rows of the parity of five hidden bits among ten."""
    say("generate xor --bits 5 --irrelevant 5 --rows 200 --seed 1 -o xor.csv")
    return place


LARGE = "generate xor --bits 12 --irrelevant 12 --rows 20000 -o large.csv"


def test_a_parity_is_found_and_proved(parity: Path) -> None:
    said = found("improve xor.csv --target class --objective size --time 60s")
    assert (said["leaves"], said["score"]["value"]) == (32, 1.0)
    course = said["course"]
    assert (course["objective"], course["status"], course["last"]["bound"]) == ("size", "proved", 32)
    sizes = [state["leaves"] for state in course["profile"]]
    assert sizes == sorted(sizes, reverse=True)
    text = say("improve xor.csv --target class --objective size --time 60s").stdout
    assert "no tree of these rows has fewer leaves" in text


def test_the_tree_is_that_of_the_estimator(parity: Path) -> None:
    import pandas as pd

    frame = pd.read_csv("xor.csv")
    said = found("improve xor.csv --target class --iterations 6 --seed 3 --granularity 0.2 -o m")
    model = hornbeam.AnytimeTreeClassifier(granularity=0.2, max_time=None, max_iter=6, random_state=3)
    model.fit(frame.drop(columns="class"), frame["class"])
    assert said["digest"] == model.tree_.digest == hornbeam.load("m").tree_.digest
    again = found("improve xor.csv --target class --iterations 6 --seed 3 --granularity 0.2 --threads 2")
    assert again["digest"] == said["digest"]


def test_a_saved_search_goes_on_where_it_ended(parity: Path) -> None:
    whole = found("improve xor.csv --target class --iterations 9")
    say("improve xor.csv --target class --iterations 4 -o m")
    part = found("improve --resume m --iterations 5 -o m")
    assert part["digest"] == whole["digest"]
    assert part["course"]["last"]["iteration"] == 9
    assert hornbeam.load("m").n_iter_ == 9
    assert "x" in say("show m").stdout
    assert say("predict m xor.csv").stdout.count("\n") == 201


def test_rows_of_another_file_are_added_first(parity: Path) -> None:
    say("generate xor --bits 5 --irrelevant 5 --rows 100 --start 200 --seed 1 -o more.csv")
    say("improve xor.csv --target class --iterations 2 -o m")
    more = found("improve more.csv --resume m --iterations 2 -o n")
    assert (more["rows"], more["target"]) == (300, "class")
    assert hornbeam.load("n").tree_.arrays["rows"][0] == 300


def test_held_out_rows_and_a_referee_are_told(parity: Path) -> None:
    said = found("improve xor.csv --target class --test 0.25 --iterations 5 --referee cv")
    assert (said["score"]["held_out"], said["score"]["rows"], said["rows"]) == (True, 51, 149)
    assert 0 <= said["course"]["last"]["cv_error"] <= 1
    assert "inner folds" in say("improve xor.csv --target class --iterations 2 --referee cv").stdout


def test_the_report_has_the_curve_and_no_rows(parity: Path) -> None:
    said = say("improve xor.csv --target class --objective size --iterations 12 --report r.html -o m")
    assert "report written to r.html" in said.stdout
    page = Path("r.html").read_text()
    assert "How this tree was improved" in page
    assert "seconds of searching" in page
    assert "rebuilt in" in page
    assert '"search"' not in page
    assert '"search"' in Path("m").read_text()


STRUCK = """
import os, signal, sys, threading
from hornbeam.estimators.anytime import AnytimeTreeClassifier

whole, how = AnytimeTreeClassifier.improve, sys.argv[1]

def strike():
    os.kill(os.getpid(), signal.SIGINT)

def improve(self, **limits):
    if how == "inside":
        threading.Timer(0.5, strike).start()
    for state in whole(self, **limits):
        if state.iteration == 2 and state.status == "running" and how in ("once", "twice"):
            strike()
            if how == "twice":
                strike()
        yield state

AnytimeTreeClassifier.improve = improve
from hornbeam.cli import main
main(sys.argv[2:])
"""


def struck(how: str, line: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", STRUCK, how, *line.split()]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("how", ["once", "inside"])
def test_ctrl_c_keeps_the_best_tree_so_far(place: Path, how: str) -> None:
    say(LARGE)
    done = struck(how, "improve large.csv --target class --objective size --time 1h -o m --json")
    assert done.returncode == 0, done.stderr
    assert "the best tree so far is kept" in done.stderr
    said = json.loads(done.stdout)
    assert said["course"]["status"] == "stopped"
    model = hornbeam.load("m")
    assert model.status_ == "stopped"
    assert model.tree_.digest == said["digest"]


def test_a_second_ctrl_c_aborts(place: Path) -> None:
    say(LARGE)
    done = struck("twice", "improve large.csv --target class --objective size --time 1h -o m")
    assert done.returncode == 130
    assert done.stderr.endswith("hornbeam: interrupted; nothing was written\n")
    assert done.stdout == ""
    assert files(place) == {"data.csv", "large.csv"}


def test_whoever_watches_sees_a_line(parity: Path) -> None:
    ours, theirs = pty.openpty()
    line = "improve xor.csv --target class --objective size --referee cv --iterations 8"
    done = subprocess.Popen([*COMMAND, *line.split()], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:  # the other end is closed
        pass
    assert done.wait(timeout=60) == 0
    for word in (b" s, ", b"leaves", b"errors expected", b"folds", b"% wrong", b"bound"):
        assert word in seen


@pytest.mark.parametrize("classes", ["xx", "xz"])
def test_nothing_to_learn_is_told_and_reported(place: Path, classes: str) -> None:
    Path("little.csv").write_text("a,y\n" + "".join(f"1,{label}\n" for label in classes))
    said = say("improve little.csv --target y --time 5s --report r.html").stdout
    assert "from 1 leaf, 0 times in 0 rebuilds; no rebuild could be better" in said
    assert "How this tree was improved" in Path("r.html").read_text()


def test_what_cannot_be_is_refused_in_one_line(place: Path) -> None:
    deny(2, "improve data.csv", "--target is missing")
    deny(2, "improve --time 3s", "DATA is missing")
    deny(2, "improve data.csv --target class --time 0", "no time above 0")
    deny(2, "improve data.csv --target class --time soon", "'soon' is no time")
    deny(2, "improve data.csv --target class --time -5s", "no time above 0")
    deny(2, "improve data.csv --target class --iterations 0", "--iterations")
    deny(2, "improve data.csv --target class --granularity 2", "--granularity")
    deny(2, "improve data.csv --target class --test 2", "--test 2")
    deny(2, "improve data.csv --target class --prune error_based", "its trees are pruned as they are")
    deny(2, "improve data.csv --target klass", "did you mean 'class'")
    deny(4, "improve nowhere.csv --target class", "nowhere.csv")
    Path("numbers.csv").write_text("a,y\n1,0.5\n2,1.5\n")
    deny(3, "improve numbers.csv --target y", "improve predicts classes")
    say("fit data.csv --target class -o tree")
    deny(2, "improve --resume tree", "only models of improve can go on")
    say("improve data.csv --target class --iterations 1 -o m")
    deny(2, "improve --resume m --objective size", "--objective with --resume")
    deny(2, "improve --resume m --seed 3", "--seed with --resume")
    assert files(place) == {"data.csv", "numbers.csv", "tree", "m"}  # what was refused wrote nothing


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("60s", 60), ("5min", 300), ("1.5m", 90), ("2h", 7200)]
)
def test_times_have_units(text: str, seconds: float) -> None:
    from hornbeam.cli.improve import Duration

    assert Duration().convert(text, None, None) == seconds
    assert Duration().convert("250ms", None, None) == 0.25
