"""Deadlines and stops: what interrupts a search, and what is said where there is no tree yet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hornbeam import AnytimeTreeClassifier, TreeClassifier
from hornbeam.anytime import Improvement
from hornbeam.anytime.budget import Budget, Deadline, Stop, TimeIsUp
from hornbeam.errors import UsageError

random = np.random.default_rng(0)
TABLE = random.integers(0, 2, (120, 8)).astype(float)
CLASSES = TABLE[:, :4].sum(axis=1) % 2


def test_a_deadline_interrupts_native_work_that_knows_nothing_of_time() -> None:
    table, stop = random.normal(size=(20_000, 10)), Stop()
    classes, deadline = random.integers(0, 2, 20_000), Deadline(0.05, stop)

    def grow_for_ever() -> None:
        while True:
            TreeClassifier().fit(table, classes)

    with deadline.guarding(), pytest.raises(KeyboardInterrupt), stop.listening(deadline):
        grow_for_ever()
    assert deadline.is_over
    assert not stop.requested


def trees_grown(until: Deadline) -> int:
    """Trees that are grown, one after the other, until well after a deadline."""
    grown = 0
    while not until.is_over or grown < 5:
        TreeClassifier().fit(random.normal(size=(20_000, 4)), random.integers(0, 2, 20_000))
        grown += 1
    return grown


def test_a_deadline_that_was_left_interrupts_nothing() -> None:
    stop = Stop()
    left = Deadline(0.01, stop)
    with left.guarding():
        pass
    with stop.listening():
        assert trees_grown(left) >= 5
    assert not stop.requested


def test_a_deadline_interrupts_no_other_work() -> None:
    stop = Stop()
    other, own = Deadline(0.01, stop), Deadline(60.0, stop)
    with other.guarding(), stop.listening(own):
        assert trees_grown(other) >= 5
    assert not stop.requested


def test_a_deadline_is_looked_at_between_nodes() -> None:
    stop = Stop()
    Deadline(None, stop).look()
    with pytest.raises(TimeIsUp):
        Deadline(0.0, stop).look()
    stop.request()
    with pytest.raises(KeyboardInterrupt):
        Deadline(0.0, stop).look()


def test_what_was_spent_is_taken_off_the_seconds_alone() -> None:
    assert Budget(2.0, 3, 4).spent(0.5) == Budget(1.5, 3, 4)
    assert Budget(2.0).spent(5.0) == Budget(0.0)
    assert Budget(None, 3).spent(5.0) == Budget(None, 3)


@pytest.mark.parametrize("referee", [None, "cv"])
@pytest.mark.parametrize("objective", ["size", "error"])
def test_time_that_is_over_with_the_first_tree_leaves_that(objective: str, referee: str | None) -> None:
    model = AnytimeTreeClassifier(objective=objective, max_time=1e-6, referee=referee, random_state=0)
    model.fit(TABLE, CLASSES)
    assert (model.status_, model.profile_[0].iteration, len(model.profile_)) == ("time", 0, 1)
    assert model.tree_.arrays["rows"][0] == 120


def test_a_stop_before_the_first_tree_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    model = AnytimeTreeClassifier(max_iter=2, random_state=0).fit(TABLE, CLASSES)
    tree = model.tree_

    def begin(*_: object, **__: object) -> Improvement:
        model.stop()
        raise KeyboardInterrupt

    monkeypatch.setattr(Improvement, "begin", begin)
    with pytest.raises(UsageError, match=r"^stop\(\) came before the first tree, .* fit again"):
        model.fit(TABLE, CLASSES)
    assert model.tree_ is tree  # what was learned before is still there


def test_an_interrupt_before_the_first_tree_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(*_: object, **__: object) -> Improvement:
        raise KeyboardInterrupt

    monkeypatch.setattr(Improvement, "begin", begin)
    with pytest.raises(KeyboardInterrupt):
        AnytimeTreeClassifier().fit(TABLE, CLASSES)


def test_a_stop_while_rows_are_read_is_heard() -> None:
    class Stopped(AnytimeTreeClassifier):
        def _read(self, X: Any, y: Any) -> Any:  # type: ignore[override]
            self.stop()
            return super()._read(X, y)

    table, classes = random.normal(size=(100_000, 20)), random.integers(0, 2, 100_000)
    with pytest.raises(UsageError, match="before the first tree"):
        Stopped(random_state=0).fit(table, classes)
