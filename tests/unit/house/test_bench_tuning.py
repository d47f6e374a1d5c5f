"""The benchmark of searches: what it confirms, what it judges."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import searches
from benchmarks import tuning as bench
from benchmarks.answers import WrongAnswerError
from benchmarks.tables import Case

pytestmark = pytest.mark.house


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> searches.Search:
    random = np.random.default_rng(5)
    table = searches.single(random.random((240, 3)).round(2))
    codes = ((table[:, 0] > 0.5) ^ (random.random(240) < 0.1)).astype(np.int64)
    monkeypatch.setitem(searches.GRIDS, "min_samples_leaf", (1, 5, 20))
    case = Case("small", table, codes, codes.astype(str).astype(object), "")
    return searches.Search(case, "min_samples_leaf", 4, 2)


def row_of(parameter: str, theirs: float) -> bench.Row:
    return bench.Row("pima", "768x8", parameter, 22, 100, 0.1, theirs, 0.01, "7", "9")


def test_both_grids_have_the_papers_number_of_values() -> None:
    assert len(searches.GRIDS["min_samples_leaf"]) == len(searches.GRIDS["min_samples_split"]) == 22
    assert min(searches.GRIDS["min_samples_split"]) == 2
    assert len(searches.GRIDS["ccp_alpha"]) == len(searches.GRIDS["max_depth"]) == 30


def test_everybody_gets_the_same_splits(search: searches.Search) -> None:
    assert search.fits == 3 * len(search.splits) == 24
    for half in (search.splits[:4], search.splits[4:]):
        assert np.array_equal(np.sort(np.concatenate([test for _, test in half])), np.arange(240))


def test_a_search_is_confirmed_by_lone_fits(search: searches.Search) -> None:
    found = search.ours()
    searches.confirm_lone_fits(search, found)
    assert searches.confirm_scores(search, found, search.theirs()) <= searches.ONE_SETTING
    wrong = {
        name: np.asarray(values) + 0.001 for name, values in found.cv_results_.items() if "split" in name
    }
    other = SimpleNamespace(cv_results_=wrong, best_params_=found.best_params_)
    with pytest.raises(WrongAnswerError, match="a lone fit has"):
        searches.confirm_lone_fits(search, other)


def test_a_final_tree_of_another_setting_stops_the_run(search: searches.Search) -> None:
    found = search.ours()
    least = search.case.codes[:120]
    other: Any = searches.TreeClassifier(max_depth=1).fit(search.case.table[:120], least)
    wrong = SimpleNamespace(
        cv_results_=found.cv_results_, best_params_=found.best_params_, best_estimator_=other
    )
    with pytest.raises(WrongAnswerError, match="the final tree is not that of a lone fit"):
        searches.confirm_lone_fits(search, wrong)


def test_scores_far_from_scikit_learns_stop_the_run(search: searches.Search) -> None:
    ours, theirs = (
        SimpleNamespace(cv_results_={"mean_test_score": np.full(3, score)}) for score in (0.8, 0.82)
    )
    with pytest.raises(WrongAnswerError, match=r"over all settings we differ by -0\.02"):
        searches.confirm_scores(search, ours, theirs)


def test_floors_are_those_of_each_parameter() -> None:
    rows = [row_of("min_samples_split", 9.9), row_of("min_samples_leaf", 2.6)]
    verdicts = bench.judge(rows, 4.9)
    assert [verdict.holds for verdict in verdicts] == [False, True, True, True, True]
    assert verdicts[0].floor == 100
    assert verdicts[-1].row()[1:3] == ("4.90 s", "5 s pass")
    assert not bench.judge(rows, 5.1)[-1].holds
    assert replace(rows[0], theirs=31.0).ratio == pytest.approx(310)
