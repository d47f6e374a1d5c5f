"""Trees that look ahead and trees that are improved: what they promise at the door of scikit-learn."""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import hornbeam
from hornbeam import AnytimeTreeClassifier, LookaheadTreeClassifier, TreeClassifier
from hornbeam.anytime import SearchState
from hornbeam.errors import DataError, UsageError

X, Y = load_iris(return_X_y=True)


def parity(rows: int = 200, bits: int = 4, irrelevant: int = 4, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    hidden = random.permutation(bits + irrelevant)[:bits]
    table = random.integers(0, 2, (rows, bits + irrelevant))
    return table.astype(float), table[:, hidden].sum(axis=1) % 2


def people(rows: int = 150) -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 80, rows),
            "income": np.where(random.random(rows) < 0.1, np.nan, random.normal(50, 9, rows)),
            "job": random.choice(["clerk", "nurse", "smith", None], rows),
        }
    )
    odd = (frame["age"] > 45).to_numpy() ^ (frame["job"] == "nurse").to_numpy()
    return frame, np.where(odd ^ (random.random(rows) < 0.1), "yes", "no")


def test_r_of_zero_is_the_greedy_tree() -> None:
    frame, labels = people()
    for nominal in ("value", "subset", "multiway"):
        greedy = TreeClassifier(criterion="entropy", nominal=nominal).fit(frame, labels)
        assert LookaheadTreeClassifier(r=0, nominal=nominal).fit(frame, labels).tree_ == greedy.tree_


def test_looking_ahead_finds_a_parity_that_greed_does_not() -> None:
    table, labels = parity()
    fresh, truth = parity(400)  # the same hidden bits, further rows
    model = LookaheadTreeClassifier(r=5, random_state=0).fit(table, labels)
    assert model.get_n_leaves() == 16
    assert model.score(fresh, truth) == 1.0
    greedy = TreeClassifier(criterion="entropy").fit(table, labels)
    assert greedy.get_n_leaves() > 30


def test_the_seed_names_the_tree_whatever_the_threads() -> None:
    table, labels = parity(120, 5, 6)
    trees = {
        LookaheadTreeClassifier(r=1, random_state=3, n_jobs=jobs).fit(table, labels).tree_.digest
        for jobs in (None, 1, 2, 3)
    }
    assert len(trees) == 1
    others = {
        LookaheadTreeClassifier(r=1, random_state=seed).fit(table, labels).tree_.digest for seed in range(5)
    }
    assert len(others) > 1


def test_sampled_cuts_and_pruning_are_there() -> None:
    model = LookaheadTreeClassifier(r=2, sample_fraction=0.3, random_state=0).fit(X, Y)
    assert model.score(X, Y) == 1.0
    pruned = LookaheadTreeClassifier(r=2, prune="error_based", random_state=0).fit(X, Y)
    assert pruned.get_n_leaves() < pruned.unpruned_tree_.n_leaves
    whole = TreeClassifier(criterion="entropy", prune="error_based")
    assert pruned.unpruned_tree_.digest != pruned.tree_.digest
    assert whole.fit(X, Y).get_n_leaves() <= pruned.unpruned_tree_.n_leaves


@pytest.mark.parametrize("objective", ["size", "error"])
def test_a_search_gets_better_and_says_how(objective: str) -> None:
    table, labels = parity()
    model = AnytimeTreeClassifier(objective=objective, max_iter=40, random_state=1).fit(table, labels)
    profile = model.profile_
    assert model.get_n_leaves() == profile[-1].leaves == 16
    assert profile[0].leaves != 16
    assert model.status_ in ("iterations", "proved")
    assert 1 <= model.n_iter_ <= 40
    values = [s.leaves if objective == "size" else s.expected_error for s in profile]
    assert values == sorted(values, reverse=True)
    assert [s.elapsed for s in profile] == sorted(s.elapsed for s in profile)
    assert pd.DataFrame(profile).columns.tolist() == list(SearchState._fields)
    course = model.course_
    assert course.states == profile
    assert (course.last.leaves, course.last.status) == (16, model.status_)
    assert course.to_svg().startswith("<svg")


def test_improving_goes_on_where_fit_ended() -> None:
    table, labels = parity(160, 5, 5)
    whole = AnytimeTreeClassifier(max_iter=12, random_state=2).fit(table, labels)
    parts = AnytimeTreeClassifier(max_iter=4, random_state=2).fit(table, labels)
    states = list(parts.improve(iterations=8))
    assert len(states) == 9
    assert (states[0].iteration, states[-1].iteration) == (4, 12)
    assert [state.status for state in states] == ["running"] * 8 + ["iterations"]
    assert parts.tree_ == whole.tree_
    assert parts.n_iter_ == whole.n_iter_ == 12


def test_a_loop_may_be_left_and_entered_again() -> None:
    table, labels = parity(160, 5, 5)
    whole = AnytimeTreeClassifier(max_iter=6, random_state=2).fit(table, labels)
    model = AnytimeTreeClassifier(random_state=2).partial_fit(table, labels)
    while model.n_iter_ < 6:
        for place, state in enumerate(model.improve()):
            assert model.tree_.n_leaves == state.leaves
            if place == 2:
                break
    assert model.tree_ == whole.tree_


def test_work_is_the_same_budget_everywhere() -> None:
    table, labels = parity(160, 5, 5)
    models = [
        AnytimeTreeClassifier(max_time=None, max_work=500_000, random_state=0, n_jobs=jobs).fit(table, labels)
        for jobs in (1, 2)
    ]
    assert models[0].tree_ == models[1].tree_
    assert models[0].status_ == "work"
    assert models[0].n_iter_ == models[1].n_iter_


def test_time_ends_a_search_with_a_whole_tree() -> None:
    table, labels = parity(2000, 9, 9)
    model = AnytimeTreeClassifier(objective="size", max_time=0.05, random_state=0).fit(table, labels)
    assert model.status_ == "time"
    assert model.score(table, labels) == 1.0
    tiny = AnytimeTreeClassifier(max_time=1e-9).fit(table, labels)
    assert tiny.status_ == "time"
    assert tiny.get_n_leaves() >= 1


def test_another_thread_may_stop_it() -> None:
    table, labels = parity(3000, 10, 10)
    model = AnytimeTreeClassifier(objective="size", max_time=300, random_state=0)
    begun = threading.Event()
    model.set_params(callback=lambda state: begun.set())
    worker = threading.Thread(target=model.fit, args=(table, labels))
    worker.start()
    assert begun.wait(60)
    model.stop()
    worker.join(60)
    assert not worker.is_alive()
    assert model.status_ == "stopped"
    assert model.score(table, labels) == 1.0
    *_, last = model.improve(iterations=1)
    assert last.status == "iterations"


def test_a_callback_hears_every_state_and_may_stop() -> None:
    table, labels = parity(160, 5, 5)
    heard: list[SearchState] = []

    def listen(state: SearchState) -> bool:
        heard.append(state)
        return state.iteration == 3

    model = AnytimeTreeClassifier(callback=listen, random_state=2).fit(table, labels)
    assert [state.iteration for state in heard] == [0, 1, 2, 3, 3]
    assert (heard[-1].status, model.status_) == ("stopped", "stopped")


def test_stopping_before_anything_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match="nothing to stop"):
        AnytimeTreeClassifier().stop()
    for call in (lambda m: m.improve(), lambda m: m.tree_, lambda m: m.profile_, lambda m: m.predict(X)):
        with pytest.raises(NotFittedError):
            call(AnytimeTreeClassifier())


def test_an_interrupt_keeps_the_best_tree_so_far() -> None:
    table, labels = parity(160, 5, 5)
    model = AnytimeTreeClassifier(max_iter=50, random_state=2)

    def strike(state: SearchState) -> None:
        if state.iteration == 2:
            raise KeyboardInterrupt

    model.set_params(callback=strike)
    assert model.fit(table, labels).status_ == "stopped"
    assert model.n_iter_ == 2
    assert model.score(table, labels) > 0.5


@pytest.mark.parametrize("objective", ["size", "error"])
def test_saved_searches_go_on(objective: str, tmp_path: Path) -> None:
    frame, labels = people()
    whole = AnytimeTreeClassifier(objective=objective, max_iter=9, random_state=5, referee="cv")
    whole.fit(frame, labels)
    part = AnytimeTreeClassifier(objective=objective, max_iter=4, random_state=5, referee="cv")
    part.fit(frame, labels)
    hornbeam.save(part, tmp_path / "m")
    for again in (hornbeam.load(tmp_path / "m"), pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
        assert again.tree_ == part.tree_
        assert [state._replace(bound=None) for state in again.profile_] == [
            state._replace(bound=None) for state in part.profile_
        ]
        assert (again.status_, again.n_iter_) == ("iterations", 4)
        assert again.predict(frame).tolist() == part.predict(frame).tolist()
        list(again.improve(iterations=5))
        assert again.tree_ == whole.tree_
        assert again.n_iter_ == 9
        assert again.profile_[-1][3:] == whole.profile_[-1][3:]
        assert again.profile_[: len(part.profile_)] == part.profile_
    assert part.n_iter_ == 4


def test_a_lookahead_tree_is_saved_as_any_other(tmp_path: Path) -> None:
    frame, labels = people()
    model = LookaheadTreeClassifier(r=1, prune="error_based", random_state=0).fit(frame, labels)
    hornbeam.save(model, tmp_path / "m")
    again = hornbeam.load(tmp_path / "m")
    assert again.tree_ == model.tree_
    assert again.unpruned_tree_ == model.unpruned_tree_
    assert again.get_params() == model.get_params()


def test_a_search_is_not_believed_when_it_is_read(tmp_path: Path) -> None:
    from hornbeam.model import read_document, write_document

    frame, labels = people()
    path = tmp_path / "m"
    hornbeam.save(
        AnytimeTreeClassifier(objective="size", max_iter=2, random_state=0).fit(frame, labels), path
    )
    whole = read_document(path)
    wrong: dict[str, Any] = {
        "codes": [1 - code for code in whole["search"]["codes"]],
        "columns": whole["search"]["columns"][:2],
        "last_r": whole["search"]["last_r"][:-1],
        "made_r": [-1] * len(whole["search"]["made_r"]),
        "granularity": 2.0,
        "objective": "beauty",
        "seed": -1,
        "work": 1.5,
        "profile": [[1, 2]],
        "status": "asleep",
    }
    for name, value in wrong.items():
        write_document(path, whole | {"search": whole["search"] | {name: value}})
        with pytest.raises(DataError, match="search"):
            hornbeam.load(path)
    write_document(path, {name: value for name, value in whole.items() if name != "search"})
    with pytest.raises(DataError, match="comes with a search"):
        hornbeam.load(path)
    moved = [list(reversed(column)) for column in whole["search"]["columns"]]
    write_document(path, whole | {"search": whole["search"] | {"columns": moved}})
    with pytest.raises(DataError, match="do not reach the leaves"):
        hornbeam.load(path)


def test_rows_come_later_with_new_categories_and_values() -> None:
    frame, labels = people(200)
    frame["job"] = frame["job"].astype(object)
    frame.loc[150:, "job"] = np.where(np.arange(50) % 3 == 0, "baker", "zoologist")
    model = AnytimeTreeClassifier(objective="size", random_state=0, max_time=None)
    model.partial_fit(frame[:100], labels[:100], classes=["no", "yes", "perhaps"])
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    for begin in range(100, 200, 25):
        list(model.improve(iterations=1))
        model.partial_fit(frame[begin : begin + 25][["job", "age", "income"]], labels[begin : begin + 25])
    assert model.tree_.arrays["rows"][0] == 200
    assert model.score(frame, labels) > 0.98  # rows that lack a value may contradict others
    assert set(model.schema_.attributes[2].labels) == {"baker", "clerk", "nurse", "smith", "zoologist"}
    list(model.improve(iterations=3))
    assert model.score(frame, labels) > 0.98


def test_rows_may_come_while_states_are_told() -> None:
    table, labels = parity(200, 4, 4)
    model = AnytimeTreeClassifier(objective="size", random_state=0).partial_fit(table[:80], labels[:80])
    left = iter(range(80, 200, 20))
    for state in model.improve(iterations=12):
        assert model.tree_.n_leaves == state.leaves
        begin = next(left, None)
        if begin is not None:
            model.partial_fit(table[begin : begin + 20], labels[begin : begin + 20])
    assert model.tree_.arrays["rows"][0] == 200
    assert model.score(table, labels) == 1.0
    assert model.n_iter_ >= 6


def test_a_frame_of_another_kind_may_bring_the_rows() -> None:
    frame, labels = people(90)
    model = AnytimeTreeClassifier(max_iter=1, random_state=0).fit(frame[:60], labels[:60])
    model.partial_fit(pl.from_pandas(frame[60:]), pl.Series(labels[60:]))
    assert model.tree_.arrays["rows"][0] == 90


def test_a_class_that_was_not_named_is_refused() -> None:
    frame, labels = people(60)
    model = AnytimeTreeClassifier(max_iter=1).fit(frame, labels)
    with pytest.raises(DataError, match=r"'perhaps', .*; leave .*, or begin anew with classes that name it"):
        model.partial_fit(frame[:1], ["perhaps"])
    with pytest.raises(UsageError, match="first call"):
        model.partial_fit(frame[:1], ["yes"], classes=["yes"])
    with pytest.raises(UsageError, match="does not name"):
        AnytimeTreeClassifier().partial_fit(frame, labels, classes=["yes"])
    with pytest.raises(DataError, match="X has 3 rows and y has 2"):
        model.partial_fit(frame[:3], labels[:2])
    assert model.tree_.arrays["rows"][0] == 60
    assert model.partial_fit(frame[:0], labels[:0]).tree_.arrays["rows"][0] == 60


def test_types_of_every_kind_survive_a_file(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    days = pd.to_timedelta(random.integers(0, 1000, 80), unit="D")
    frame = pd.DataFrame(
        {
            "day": pd.Timestamp("2020-01-01") + days,
            "large": random.integers(0, 2**63, 80).astype(np.uint64) * 2,
            "flag": random.random(80) < 0.5,
            "float": np.where(random.random(80) < 0.1, np.inf, random.normal(size=80)),
            "whole": pd.array(np.where(random.random(80) < 0.2, None, 3), dtype="Int64"),
        }
    )
    for labels in (random.random(80) < 0.5, random.choice(["a", "ü"], 80), random.integers(-2, 2, 80)):
        model = AnytimeTreeClassifier(objective="size", max_iter=2, random_state=1).fit(frame, labels)
        hornbeam.save(model, tmp_path / "m")
        again = hornbeam.load(tmp_path / "m")
        assert again.classes_.tolist() == model.classes_.tolist()
        for one in (model, again):
            list(one.improve(iterations=3))
        assert again.tree_ == model.tree_


def test_trees_of_sizes_are_handed_out_pruned_and_searched_whole() -> None:
    frame, labels = people()
    model = AnytimeTreeClassifier(objective="size", prune="error_based", max_iter=5, random_state=0)
    model.fit(frame, labels)
    assert model.get_n_leaves() < model.unpruned_tree_.n_leaves
    assert model.profile_[-1].leaves == model.unpruned_tree_.n_leaves
    plain = clone(model).set_params(prune=None).fit(frame, labels)
    assert plain.tree_ == model.unpruned_tree_


def test_a_referee_lets_fewer_rebuilds_through_and_counts_errors() -> None:
    frame, labels = people(250)
    free = AnytimeTreeClassifier(objective="size", max_iter=25, random_state=0).fit(frame, labels)
    judged = clone(free).set_params(referee="cv").fit(frame, labels)
    assert judged.get_n_leaves() >= free.get_n_leaves()
    assert all(state.cv_error is None for state in free.profile_)
    assert len(judged.profile_) < len(free.profile_)
    assert all(state.cv_error is not None and 0 < state.cv_error < 1 for state in judged.profile_)
    again = clone(judged).set_params(n_jobs=2).fit(frame, labels)
    assert again.tree_ == judged.tree_


def test_nothing_to_learn_gives_a_valid_tree() -> None:
    same = np.ones((6, 2))
    for objective in ("size", "error"):
        for table, labels in (
            (same, [0, 1, 0, 1, 1, 1]),
            (X[:5], [1] * 5),
            (np.full((3, 1), np.nan), [0, 1, 1]),
            (X[:1], [0]),
        ):
            model = AnytimeTreeClassifier(objective=objective, max_time=5).fit(table, labels)
            assert model.get_n_leaves() == 1
            assert model.status_ == ("proved" if objective == "size" else "exhausted")
            assert model.n_iter_ == 1
            assert LookaheadTreeClassifier().fit(table, labels).get_n_leaves() == 1


def test_rows_that_all_contradict_each_other_end_with_a_proof() -> None:
    table = np.array([[a, b, c] for a in (0.0, 1.0) for b in (0.0, 1.0) for c in (0.0, 1.0)] * 2)
    model = AnytimeTreeClassifier(objective="size", max_time=None, random_state=0)
    model.fit(table, [0] * 8 + [1] * 8)
    last = model.course_.last
    assert (last.leaves, last.bound, last.status) == (8, 8, "proved")


def test_contradictory_rows_end_in_a_majority_leaf() -> None:
    table, labels = parity(100, 3, 2)
    table, labels = np.vstack((table, table[:5])), np.concatenate((labels, 1 - labels[:5]))
    model = AnytimeTreeClassifier(objective="size", max_iter=10, random_state=0).fit(table, labels)
    assert model.score(table, labels) == pytest.approx(100 / 105)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"max_time": 0}, "max_time=0: a number of seconds above 0"),
        ({"max_time": -1.5}, "max_time=-1.5"),
        ({"max_time": float("nan")}, "max_time=nan"),
        ({"max_time": True}, "max_time=True"),
        ({"max_iter": 0}, "max_iter=0: a whole number from 1"),
        ({"max_iter": 2.5}, "max_iter=2.5"),
        ({"max_work": -3}, "max_work=-3"),
        ({"granularity": 1.1}, "granularity=1.1: a number from 0 to 1"),
        ({"granularity": "fine"}, "granularity='fine'"),
        ({"objective": "beauty"}, "objective='beauty': use 'size' or 'error'"),
        ({"referee": "me"}, "referee='me': use 'cv', or None"),
        ({"nominal": "all"}, "nominal='all'"),
        ({"prune": "reduced_error"}, "prune='reduced_error'"),
        ({"prune": "error_based"}, "its trees are pruned as they are"),
        ({"callback": 3}, "callback=3"),
        ({"random_state": -1}, "random_state=-1"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says) as refusal:
        AnytimeTreeClassifier(**parameters).fit(X, Y)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [({"r": -1}, "r=-1"), ({"r": 1.5}, "r=1.5"), ({"sample_fraction": 0}, "sample_fraction=0")],
)
def test_samples_that_mean_nothing_are_refused(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        LookaheadTreeClassifier(**parameters).fit(X, Y)


def test_improving_for_no_time_is_refused_at_once() -> None:
    model = AnytimeTreeClassifier(max_iter=1).fit(X, Y)
    for limits in ({"seconds": 0}, {"iterations": 0}, {"work": -1}):
        with pytest.raises(UsageError):
            model.improve(**limits)


@pytest.mark.parametrize("kind", [LookaheadTreeClassifier, AnytimeTreeClassifier])
def test_weights_numbers_and_foreign_parameters_are_refused(kind: Any) -> None:
    with pytest.raises(UsageError, match="leave out sample_weight"):
        kind().fit(X, Y, sample_weight=np.ones(len(Y)))
    kind(random_state=0, **({"max_iter": 1} if kind is AnytimeTreeClassifier else {})).fit(
        X, Y, sample_weight=None
    )
    with pytest.raises(TypeError, match="unexpected keyword argument 'check_input'"):
        kind().fit(X, Y, check_input=False)
    with pytest.raises(ValueError, match="continuous"):
        kind().fit(X, X[:, 0])
    with pytest.raises(TypeError, match="every row counts as one"):
        kind(class_weight="balanced")


def test_they_work_where_other_classifiers_work() -> None:
    model = make_pipeline(FunctionTransformer(), AnytimeTreeClassifier(max_iter=3, random_state=0))
    scores = cross_val_score(model, X, Y, cv=3)
    assert scores.mean() > 0.85
    frame, labels = people()
    anytime = AnytimeTreeClassifier(max_iter=3, random_state=0).fit(frame, labels)
    assert anytime.feature_names_in_.tolist() == ["age", "income", "job"]
    assert anytime.feature_importances_.sum() == pytest.approx(1.0)
    assert anytime.decision_path(frame).shape == (150, anytime.tree_.n_nodes)
    assert anytime.predict_proba(frame[["job", "income", "age"]]).shape == (150, 2)
    assert anytime.apply(frame).max() < anytime.tree_.n_nodes
    assert "age" in anytime.tree_.to_text() or "job" in anytime.tree_.to_text()
