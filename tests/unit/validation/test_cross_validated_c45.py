"""CVC4.5: the paper's preset, both meanings of m, and the small variant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import hornbeam
from hornbeam import C45Classifier, CrossValidatedC45
from hornbeam.errors import DataError, UsageError

X, Y = load_iris(return_X_y=True)
QUICK: dict[str, Any] = {"cv": 5, "repeats": 3, "random_state": 4}


def test_the_preset_is_that_of_the_paper() -> None:
    model = CrossValidatedC45()
    values = [*range(1, 11), 12, 15, 20, 25, *range(30, 101, 10)]
    assert list(model.min_objs) == values
    assert len(values) == 22
    assert (model.cv, model.repeats, model.mean, model.select, model.rule) == (
        20,
        5,
        "trimmed",
        "best",
        "min_objs",
    )


@pytest.mark.parametrize("rule", ["min_objs", "min_samples_split"])
def test_the_tree_is_that_of_the_m_that_was_chosen(rule: str) -> None:
    model = CrossValidatedC45(rule=rule, **QUICK).fit(X, Y)
    assert list(model.best_params_) == [rule]
    alone = C45Classifier(**{"min_objs": None, **model.best_params_}).fit(X, Y)
    assert model.tree_ == alone.tree_
    assert model.unpruned_tree_ == alone.unpruned_tree_
    assert (model.predict(X) == alone.predict(X)).all()
    assert model.score(X, Y) == alone.score(X, Y)
    assert model.best_score_ == model.search_.results[model.search_.chosen].score
    assert len(model.search_.results) == (22 if rule == "min_objs" else 21)


def test_an_m_beyond_the_rows_gives_one_leaf() -> None:
    for rule in ("min_objs", "min_samples_split"):
        model = CrossValidatedC45(min_objs=[500], rule=rule, **QUICK).fit(X, Y)
        assert model.get_n_leaves() == 1


def test_the_small_variant_keeps_the_smallest_of_its_runs() -> None:
    model = CrossValidatedC45(small=True, runs=4, cv=3, repeats=2, random_state=0).fit(X, Y)
    assert len(model.searches_) == 4
    chosen = [record.results[record.chosen] for record in model.searches_]
    assert model.get_n_leaves() == min(result.leaves for result in chosen)
    assert model.search_ is min(
        model.searches_, key=lambda r: (r.results[r.chosen].leaves, -r.results[r.chosen].score)
    )
    assert model.searches_[0].results != model.searches_[1].results  # each deals anew
    assert len(CrossValidatedC45(**QUICK).fit(X, Y).searches_) == 1


def test_it_is_reproducible_and_can_be_saved(tmp_path: Any) -> None:
    first, second = (CrossValidatedC45(**QUICK).fit(X, Y) for _ in range(2))
    assert first.search_ == second.search_
    hornbeam.save(first, tmp_path / "m.hornbeam")
    assert hornbeam.load(tmp_path / "m.hornbeam").tree_ == first.tree_


def test_what_means_nothing_is_refused_in_one_line() -> None:
    with pytest.raises(NotFittedError, match="before 'predict'"):
        CrossValidatedC45().predict(X)
    for options, message in (
        ({"rule": "m"}, "rule='m': use 'min_objs' or 'min_samples_split'"),
        ({"runs": 0}, "runs=0: a whole number from 1"),
        ({"small": "yes"}, "small='yes': True or False"),
        ({"small": True, "repeats": 1}, "every run would have the same folds"),
        ({"min_objs": []}, r"param_grid\['min_objs'\] has no values"),
        ({"min_objs": [0]}, "min_objs=0"),
        ({"min_objs": 3}, "give a list of values"),
    ):
        with pytest.raises(UsageError, match=message) as refused:
            CrossValidatedC45(**{**QUICK, **options}).fit(X, Y)
        assert "\n" not in str(refused.value)
    with pytest.raises(DataError, match="20 folds of n_samples=15 rows"):
        CrossValidatedC45().fit(X[::10], Y[::10])


def test_costs_are_compared_where_they_are_given() -> None:
    costs = 1.0 - np.eye(3)
    costs[2, 1] = 9.0
    model = CrossValidatedC45(cost_matrix=costs, **QUICK).fit(X, Y)
    assert model.search_.measure == "cost"
    assert model.best_score_ < 0
