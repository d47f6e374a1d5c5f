"""The benchmark of anytime induction: what it counts, what it confirms, what it judges."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import anytime as bench
from benchmarks import anytime_compared, anytime_peers, anytime_referee, anytime_sets, gosdt_apart
from benchmarks.answers import WrongAnswerError
from benchmarks.anytime_kept import Fold, Kept
from benchmarks.anytime_peers import Answer
from benchmarks.anytime_referee import Outcome
from benchmarks.anytime_sets import Sample, Task
from hornbeam import AnytimeTreeClassifier

pytestmark = pytest.mark.house


@pytest.fixture
def task() -> Task:
    return anytime_sets.xor5(0)


def found(seconds: float, reached: bool = True) -> bench.Found:
    return bench.Found(0, seconds, 32, 1.0, reached)


def compared(ours: list[float], **peers: list[float | None]) -> anytime_compared.Compared:
    return anytime_compared.Compared("XOR-5", 1.0, {anytime_compared.OURS: [*ours], **peers})


def test_a_concept_is_found_and_confirmed(task: Task) -> None:
    one = bench.search(bench.CONCEPTS[0], task)
    assert one.reached
    assert one.leaves <= 32


def test_a_concept_out_of_reach_ends_with_the_search(task: Task) -> None:
    never = bench.Concept("two leaves", anytime_sets.xor5, 2, 0.0, 1.0, 1.0)
    one = bench.search(never, task)
    assert not one.reached
    assert not bench.judge_concept(never, [one])[0].holds


def test_a_tree_of_other_leaves_than_told_stops_the_run(task: Task) -> None:
    model = AnytimeTreeClassifier(objective="size", max_iter=1, random_state=0)
    model.fit(task.learn.frame, task.learn.codes)
    with pytest.raises(WrongAnswerError, match="1 were told"):
        bench.confirm_tree("XOR-5", model, task, 1)


def test_a_seed_that_was_not_reached_counts_as_never() -> None:
    concept = bench.CONCEPTS[1]
    assert bench.judge_concept(concept, [found(1.0), found(2.0), found(1.0, False)])[0].measured == 2.0
    assert not bench.judge_concept(concept, [found(1.0), found(1.0, False), found(1.0, False)])[0].holds


def test_a_difference_inside_the_interval_counts_as_equal() -> None:
    ours = [0.9, 0.8] * 5
    level = compared(ours, peer=[0.85, 0.86] * 5)
    assert level.difference("peer")[0] < 0
    assert level.verdict().holds
    assert not compared(ours, peer=[0.95, 0.86] * 5, poor=[0.1] * 10).verdict().holds


def test_a_fold_that_a_peer_did_not_run_counts_as_all_right_for_it() -> None:
    assert compared([1.0] * 10, peer=[None] * 10).difference("peer") == (0.0, 0.0)
    assert compared([0.5] + [1.0] * 9, peer=[0.5] + [None] * 9).difference("peer")[0] == 0.0


def test_a_peer_runs_no_longer_than_ours_leaves_something_to_be_better_at(task: Task) -> None:
    given = []

    def peer(task: Task, seconds: float) -> Iterator[Answer]:
        given.append(seconds)
        yield lambda rows: rows.codes

    budgets = (1.0, 2.0, 3.0)
    assert anytime_compared.peer_scores(peer, task, budgets, [0.5, 0.9, 1.0]) == [1.0, 1.0, None]
    assert anytime_compared.peer_scores(peer, task, budgets, [1.0, 1.0, 1.0]) == [1.0, None, None]
    assert given == [2.0, 1.0]


def test_a_budget_is_judged_by_the_last_answer_within_it(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(anytime_peers, "time", SimpleNamespace(process_time=lambda: now[0]))

    def learner(task: Task, seconds: float) -> Iterator[Answer]:
        for step, is_right in ((2.0, False), (1.0, True), (9.0, False)):
            now[0] += step
            yield lambda rows, is_right=is_right: judged(rows, is_right)

    def judged(rows: Sample, is_right: bool) -> Any:
        now[0] += 100.0  # looking at an answer is not counted
        return rows.codes if is_right else 1 - rows.codes

    assert anytime_peers.by_budget(learner, task, [1.0, 2.5, 3.0, 11.0]) == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("name", ["C4.5", "ID3-k", "scikit-learn gini, ccp"])
def test_every_answer_is_of_the_rows_that_it_is_asked_about(task: Task, name: str) -> None:
    for answer in anytime_peers.PEERS[name](task, 1e-9):
        said = answer(task.judge)
        assert said.shape == task.judge.codes.shape
        assert set(np.unique(said)) <= {0, 1}


def test_an_absent_peer_is_skipped_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anytime_peers.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(gosdt_apart, "python", lambda: None)
    peers, skips = anytime_peers.at_hand()
    assert not {"STreeD", "DL8.5"} & set(peers)
    assert [name for name, _ in skips] == ["STreeD", "DL8.5", "GOSDT"]


def test_numbers_become_bits_by_their_quantiles_and_bits_stay() -> None:
    matrix = np.column_stack([np.arange(90.0), np.tile([0.0, 1.0], 45)])
    bits = anytime_sets.bits_of(matrix)
    assert bits.shape == (90, anytime_sets.CUTS + 1)
    assert set(np.unique(bits)) == {0, 1}
    assert np.array_equal(bits[:, -1], matrix[:, 1])


def test_tic_tac_toe_is_judged_by_all_deals_and_the_first_is_told() -> None:
    every, first = bench.judge_tic_tac_toe([[0.96, 0.94], [0.99, 1.0]])
    assert (every.floor, every.measured, every.holds) == (97, pytest.approx(97.25), True)
    assert (first.floor, first.measured, first.holds) == (None, pytest.approx(95), True)
    assert not bench.judge_tic_tac_toe([[1.0, 0.99], [0.96, 0.9]])[0].holds
    assert "2 x 2 folds, ± " in every.claim


def test_some_of_the_folds_have_a_wider_interval() -> None:
    ours, theirs = [0.9, 0.8, 0.85, 0.8], [0.95, 0.9, 0.85, 0.95]
    some, more = compared(ours, peer=[*theirs]), compared(ours * 2, peer=theirs * 2)
    assert some.difference("peer")[0] == pytest.approx(more.difference("peer")[0])
    assert some.difference("peer")[1] > more.difference("peer")[1]


def test_only_the_folds_that_were_asked_for_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anytime_peers, "at_hand", lambda: ({"C4.5": anytime_peers.PEERS["C4.5"]}, []))
    folds = list(anytime_compared.measured("XOR-5", [0.01], [2, 7], Kept(None, {})))
    assert [fold.number for fold in folds] == [2, 7]
    (found,) = anytime_compared.compare(folds, [0.01])
    assert [len(scores) for scores in found.scores.values()] == [2, 2]


def fold(number: int, score: float = 0.5) -> Fold:
    return Fold("Glass", number, {anytime_compared.OURS: [score], "peer": [None]}, 1.5, 2.0)


def test_a_fold_that_is_kept_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(tmp_path / "new", {"budgets": [0.01]})
    monkeypatch.setattr(anytime_compared, "fold_scores", lambda *_: {anytime_compared.OURS: [0.25]})
    first = list(anytime_compared.measured("XOR-5", [0.01], [2], kept))
    monkeypatch.setattr(anytime_compared, "fold_scores", lambda *_: {anytime_compared.OURS: [0.75]})
    both = list(anytime_compared.measured("XOR-5", [0.01], [2, 7], kept))
    assert both[0] == first[0]
    assert [one.scores for one in both] == [{anytime_compared.OURS: [0.25]}, {anytime_compared.OURS: [0.75]}]


@pytest.mark.parametrize("name", ["budgets", "numpy"])
def test_folds_of_other_terms_are_refused_in_one_line(tmp_path: Path, name: str) -> None:
    terms = {"budgets": [0.1, 1.0], "numpy": "2.0"}
    Kept(tmp_path, terms).keep(fold(3))
    other = Kept(tmp_path, {**terms, name: "other"})
    with pytest.raises(ValueError, match=rf"^Glass-3\.json was measured with {name} .*now it is other.*$"):
        other.find("Glass", 3)


def test_a_run_says_which_folds_it_has(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {})
    assert "kept: none" in kept.told(["Glass"], range(10))
    kept.keep(fold(3))
    kept.keep(fold(0))
    assert "kept: Glass 0 3;" in kept.told(["XOR-5", "Glass"], range(10))
    assert "--kept FOLDER" in Kept(None, {}).told(["Glass"], range(10))


def run_main(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    line = ["anytime", "--only", "peers", "--sets", "XOR-5", "--budgets", "0.01", "--folds", "0", "1", *words]
    monkeypatch.setattr(sys, "argv", line)
    return bench.main()


def test_a_run_that_is_broken_off_says_what_is_kept_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken_off(task: Task, *_: Any) -> dict[str, list[float]]:
        if task.seed == 1:
            raise KeyboardInterrupt
        return {anytime_compared.OURS: [0.5], "peer": [0.25]}

    monkeypatch.setattr(bench.common, "RESULTS", tmp_path)
    monkeypatch.setattr(anytime_compared, "fold_scores", broken_off)
    assert run_main(monkeypatch, "--kept", str(tmp_path / "kept")) == 130
    assert "broken off; folds that are kept: XOR-5 0;" in capsys.readouterr().out
    monkeypatch.setattr(
        anytime_compared, "fold_scores", lambda *_: {anytime_compared.OURS: [1.0], "peer": [0.75]}
    )
    assert run_main(monkeypatch, "--kept", str(tmp_path / "kept")) == 0
    assert "50.0 (+25.0 ± 0.0)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run_main(monkeypatch, "--kept", str(tmp_path / "kept"), "--budgets", "0.02")
    assert "XOR-5-0.json was measured with budgets [0.01], now it is [0.02]" in capsys.readouterr().err


STAND_IN = """
import time

import numpy as np

class GOSDTClassifier:
    def __init__(self, regularization, depth_budget, time_limit):
        self.depth, self.time_limit = depth_budget, time_limit

    def fit(self, rows, codes):
        print("this is no answer")
        begin = time.process_time()
        while time.process_time() == begin:  # some clocks go by ticks
            pass
        self.said = np.bincount(codes).argmax() if self.depth == 2 else None
        self.codes = codes

    def predict(self, rows):
        if self.said is not None:
            return np.full(len(rows), self.said)
        return self.codes[: len(rows)]
"""


def test_a_peer_in_another_process_is_asked_deeper_and_counted_by_its_own_clock(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gosdt.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(gosdt_apart.ENVIRONMENT, sys.executable)
    assert "GOSDT" in anytime_peers.at_hand()[0]
    swapped = Task(task.judge, task.learn, 2, 0)  # more rows to learn from than to be judged by
    answers = list(gosdt_apart.gosdt(swapped, 100.0))
    common = int(np.bincount(swapped.learn.codes).argmax())
    assert answers[0](swapped.judge).tolist() == [common] * len(swapped.judge.codes)
    assert answers[1](swapped.judge).tolist() == swapped.learn.codes[: len(swapped.judge.codes)].tolist()
    assert all(answer.cpu > 0 for answer in answers)
    assert len(answers) == 2  # the second one knows all rows that it learned from


def test_a_peer_in_another_process_is_ended_when_its_time_is_used_up(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = STAND_IN.replace("self.codes = codes", "while self.depth == 3: pass")
    assert endless != STAND_IN
    (tmp_path / "gosdt.py").write_text(endless)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(gosdt_apart.ENVIRONMENT, sys.executable)
    (only,) = gosdt_apart.gosdt(task, 0.5)
    assert set(only(task.judge)) == {int(np.bincount(task.learn.codes).argmax())}


def test_a_peer_that_is_nowhere_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(gosdt_apart.ENVIRONMENT, raising=False)
    monkeypatch.setattr(gosdt_apart, "ROOT", tmp_path)
    peers, skips = anytime_peers.at_hand()
    assert "GOSDT" not in peers
    assert "make .venv-gosdt" in dict(skips)["GOSDT"]


def test_a_python_without_the_peer_is_named(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gosdt.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(gosdt_apart.ENVIRONMENT, sys.executable)
    with pytest.raises(RuntimeError, match="can it import gosdt"):
        list(gosdt_apart.gosdt(task, 1.0))


def test_cpu_time_takes_longer_beside_others() -> None:
    assert gosdt_apart.Pace().after(0.01, 0.2).ratio == 1.0  # too little to tell
    assert gosdt_apart.Pace().after(1.0, 3.0).after(1.0, 1.0).ratio == 2.0
    assert gosdt_apart.Pace(1.0, 0.9).ratio == 1.0


def test_a_referee_is_judged_by_pairs_and_by_what_it_tells() -> None:
    def pair(draw: int, alone: float, asked: float) -> tuple[Outcome, Outcome]:
        return Outcome("a", draw, None, 70.0, alone, None), Outcome("a", draw, "cv", 70.0, asked, 29.0)

    pairs = [pair(1, 68.0, 70.0), pair(2, 70.0, 71.0), pair(3, 69.0, 72.0)]
    first, alone, asked, lead, told = anytime_referee.judged(pairs)
    assert [one.measured for one in (first, alone, asked)] == [70.0, 69.0, 71.0]
    assert lead.measured == pytest.approx(2.0)
    assert told.measured == pytest.approx(0.0)  # 29 % are told, and 29 % are wrong
