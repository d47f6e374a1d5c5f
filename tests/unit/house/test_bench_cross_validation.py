"""The benchmark of cross-validation: what it confirms, what it counts, what it judges."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import cross_validation as bench
from benchmarks import folds
from benchmarks.answers import WrongAnswerError
from benchmarks.peers import ScikitLearn
from benchmarks.tables import Case

pytestmark = pytest.mark.house


@pytest.fixture
def work() -> folds.Work:
    random = np.random.default_rng(5)
    table = random.random((240, 3)).round(2)
    codes = ((table[:, 0] > 0.5) ^ (random.random(240) < 0.1)).astype(np.int64)
    return folds.Work(Case("small", table, codes, codes.astype(str).astype(object), ""), min_leaf=5)


def row_of(table: str, group: str, kind: str, auto: float = 2.0) -> bench.Row:
    return bench.Row(
        table=table,
        shape="10x2",
        group=group,
        kind=kind,
        peers={"hornbeam": 1.0, "scikit-learn": 30.0, "LightGBM": 8.0},
        growth={"serial": 12.0, "overlapping": 4.0, "folds": 2.0, "auto": auto, "one": 1.0},
        entries={"shared": 150, "serial": 1000, "one": 100},
        memory={"one": 100, "folds": 250},
        accuracy={"hornbeam": 0.9, "scikit-learn": 0.9},
        runs=3,
    )


def test_every_row_is_left_out_once_and_the_first_set_is_all_rows(work: folds.Work) -> None:
    times = work.sets.multiplicity()
    assert (times[:, 0] == 1).all()
    assert (times[:, 1:].sum(axis=1) == folds.FOLDS - 1).all()


def test_trees_are_confirmed_before_the_clock(work: folds.Work, monkeypatch: pytest.MonkeyPatch) -> None:
    folds.confirm_trees(work)
    shallow = replace(work, max_depth=1)
    monkeypatch.setattr(folds.Work, "grow", lambda self, algorithm, other=shallow.grow: other(algorithm))
    with pytest.raises(WrongAnswerError, match="not those of lone fits"):
        folds.confirm_trees(work)


def test_scores_below_scikit_learns_stop_the_run(work: folds.Work) -> None:
    theirs = folds.cross_validation_of(ScikitLearn(), work)()
    folds.confirm_scores(work, theirs, theirs)
    with pytest.raises(WrongAnswerError, match="mean accuracy"):
        folds.confirm_scores(work, theirs - 0.02, theirs)


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        ((4601, 9, True, 2), "small data, two classes"),
        ((4601, 9, True, 3), "small data, more classes"),
        ((4602, 48, False, 3), "large data, small trees"),
        ((4602, 49, False, 3), "large data, nominal"),
        ((4602, 49, True, 3), "large data, numeric"),
    ],
)
def test_kinds_of_sets_are_the_leaves_of_the_papers_tree(
    shape: tuple[int, int, bool, int], kind: str
) -> None:
    assert bench.kind_of(*shape) == kind
    assert kind in bench.PAPER


def test_verdicts_have_the_floors_and_goals_of_their_sets() -> None:
    rows = [
        row_of("letter", "numeric", "large data, numeric"),
        row_of("mushroom", "nominal", "large data, small trees"),
        row_of("connect4", "nominal", "large data, nominal"),
        row_of("rule 500k depth 6", "generated", "large data, small trees", auto=2.5),
    ]
    said = {verdict.claim: verdict for verdict in bench.judge(rows)}
    numeric = said["users: scikit-learn fit + cross_validate / ours, numeric real sets (mean of 1)"]
    assert (numeric.floor, numeric.goal, numeric.measured) == (15, 27, pytest.approx(30))
    large = said["users: scikit-learn fit + cross_validate / ours, rule 500k depth 6"]
    assert (large.floor, large.goal, large.holds) == (60, 120, False)
    assert said["users: fastest peer (LightGBM) / ours, letter"].goal == 7
    assert said["growth: serial / shared, mushroom"].measured == 6
    assert said["growth: serial / shared, large data, numeric (letter)"].goal == 2.74
    best = said["auto / best fixed algorithm, worst set (rule 500k depth 6)"]
    assert (best.measured, best.holds) == (1.25, False)
    assert said["peak memory, ten folds / one tree, connect4"].floor is None
    assert said["peak memory, ten folds / one tree, letter"].holds
