"""IIDT: a tree that gets better for as long as it is let, and is there at every moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.anytime import OBJECTIVES, Budget, Improvement, Lookahead, SearchState, Stop, extended_by
from hornbeam.anytime.course import SearchCourse
from hornbeam.anytime.states import STOPPED
from hornbeam.anytime.stored import from_record, to_record
from hornbeam.arguments import number, one_of, refuse, threads_of
from hornbeam.errors import UsageError
from hornbeam.growth import ClassTarget
from hornbeam.model import Tree
from hornbeam.table import check_same_length, encode_classes

from .lookahead import LookaheadEstimator, prunes_of, refuse_weights
from .table_estimator import one_column

Callback = Callable[[SearchState], Any]


@dataclass(kw_only=True, eq=False, repr=False)
class AnytimeTreeClassifier(LookaheadEstimator):
    """One tree that is improved until time, work or you say stop: IIDT (docs/anytime.md).

    It begins with a greedy tree. Again and again it rebuilds the subtree that promises most for its cost, by
    looking ahead, with more samples each time, and keeps what is better. Ctrl-C, `stop()` and the end of a
    budget leave the best tree so far; `improve` goes on from there, also after saving and loading.

    Parameters
    ----------
    objective : {"error", "size"}, default="error"
        "error" lowers the errors that C4.5 expects and prunes by them (IIDT-EE), for data with noise. "size"
        seeks the smallest consistent tree (IIDT-TS), and may end with a proof that there is none smaller.
    granularity : float, default=0.1
        From 0 to 1: a subtree is rebuilt only if that costs at least this share of a rebuild of all. 1
        rebuilds the whole tree each time.
    nominal : {"value", "subset", "multiway"}, default="value"
        Tests on nominal attributes: one value, one of a set, or a branch for each value.
    nominal_features : "from_dtype" or list of names or positions, default="from_dtype"
        Columns whose values are labels besides those whose type says so.
    max_time : float or None, default=10
        Seconds of wall time that `fit` takes, or what the first tree takes if that is more; None: no limit.
    max_iter : int or None, default=None
        Rebuilds that `fit` tries.
    max_work : int or None, default=None
        Counted work that `fit` spends: a limit that gives the same tree on every machine.
    referee : {"cv"} or None, default=None
        "cv" takes a rebuilt subtree only if inner folds agree, by two standard errors, that it is better on
        rows left out. For few rows with noise.
    prune : {"error_based"} or None, default=None
        With "size": what is handed out is pruned; the search goes on from the whole tree.
    callback : callable or None, default=None
        Is told each state; a true answer stops.
    random_state : int, RandomState or None, default=None
        The seed of the search. The same seed, and the same `max_iter` or `max_work`, give the same tree,
        whatever `n_jobs` is and however often the search was interrupted.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all processors.

    Attributes
    ----------
    tree_ : hornbeam.Tree
        The best tree so far.
    unpruned_tree_ : hornbeam.Tree
        The tree that is searched from.
    profile_ : tuple of SearchState
        The anytime curve: the first tree, and a state for each improvement.
    course_ : SearchCourse
        The same with the present state: `to_svg()` draws it, `to_record()` is for JSON.
    status_ : str
        Why the search ended: "time", "iterations", "work", "stopped", "exhausted" or "proved"; "claimed" if a
        file says that it was proved and `improve` has not shown it again.
    n_iter_ : int
        Rebuilds that were tried; 1 also where there was nothing to try.
    classes_ : ndarray
        The class labels, sorted.
    n_classes_, n_features_in_, n_outputs_ : int
    feature_names_in_ : ndarray of str
        Only if X has column names.
    feature_importances_ : ndarray
    schema_ : Schema
        Names, kinds and categories of the attributes.
    """

    objective: str = "error"
    granularity: float = 0.1
    nominal: str = "value"
    nominal_features: Any = "from_dtype"
    max_time: float | None = 10
    max_iter: int | None = None
    max_work: int | None = None
    referee: str | None = None
    prune: str | None = None
    callback: Callback | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, **others: Any) -> Self:
        """Grow a first tree from X and y, and improve it until a limit is reached or somebody stops it."""
        budget = Budget.checked(
            self.max_time, self.max_iter, self.max_work, ("max_time", "max_iter", "max_work")
        )
        self._checked_search()
        began = perf_counter()
        self._begin(lambda: self._lookahead(X, y, others))
        try:
            for _ in self._states(budget.spent(perf_counter() - began)):
                pass
        except KeyboardInterrupt:  # between two iterations, or while somebody was told
            self._search.status = STOPPED
        return self

    def improve(
        self, seconds: float | None = None, iterations: int | None = None, work: int | None = None
    ) -> Iterator[SearchState]:
        """Go on: the present state, and one after each iteration, until a limit is reached.

        The limits count from here; without any it goes on until nothing is left to try. The tree is whole
        whenever a state is handed out, so the loop may be left at any time.
        """
        search = self._searched()
        budget = Budget.checked(seconds, iterations, work, ("seconds", "iterations", "work"))
        search.stop.clear()
        return self._states(budget.after(search.now.iterations, search.now.work))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, **others: Any) -> Self:
        """Take in further rows (I-IIDT); `improve` goes on with them. The first call makes the first tree.

        Categories and values that were not seen before are welcome; classes only where the first call named
        them in `classes`. Nothing is searched here, so that rows can come between iterations.
        """
        if "_search" not in self.__dict__:
            self._checked_search()
            self._begin(lambda: self._naming(self._lookahead(X, y, others), classes))
            return self
        refuse_weights(self, others)
        search = self._searched()
        codes = self._codes(y, ", or begin anew with classes that name it")
        self._check_classes(classes)
        known = search.lookahead.target.codes
        table, moved = extended_by(search.lookahead.table, X, type(self).__name__)
        check_same_length(table.n_rows - len(known), len(codes))
        codes = np.concatenate((known, codes))
        search.take_in(self._over(table, ClassTarget(codes, self.classes_)), moved)
        return self

    def _naming(self, lookahead: Lookahead, classes: Any) -> Lookahead:
        """The table with classes that its rows need not have, where they are named."""
        if classes is None:
            return lookahead
        named, target = self._named(classes), lookahead.target
        places = {label: place for place, label in enumerate(named.tolist())}
        unknown = [label for label in target.labels.tolist() if label not in places]
        if unknown:
            raise UsageError(f"y has the class {unknown[0]!r}, which classes does not name; name all of them")
        known = np.array([places[label] for label in target.labels.tolist()], dtype=np.int32)
        return self._over(lookahead.table, ClassTarget(known[target.codes], named))

    def _named(self, classes: Any) -> NDArray[Any]:
        return encode_classes(one_column(classes, type(self).__name__))[1]

    def _check_classes(self, classes: Any) -> None:
        """Later calls may name the classes again, but no others."""
        if classes is not None and self._named(classes).tolist() != self.classes_.tolist():
            raise UsageError("classes are not those of the first call to partial_fit; leave them out")

    def stop(self) -> None:
        """Ask a `fit` or `improve` that runs in another thread to end with the best tree so far."""
        stop = self.__dict__.get("_stop")
        if stop is None:
            raise UsageError("there is nothing to stop: neither fit nor improve was called")
        stop.request()

    def _checked_search(self) -> None:
        """Refuse parameters that mean nothing before anything is read."""
        one_of("objective", self.objective, tuple(OBJECTIVES))
        number("granularity", self.granularity, lambda x: 0.0 <= x <= 1.0, "a number from 0 to 1")
        if self.referee is not None:
            one_of("referee", self.referee, ("cv",), also=", or None")
        if prunes_of(self.prune) and self.objective == "error":
            raise UsageError(
                "prune='error_based' with objective='error': its trees are pruned as they are",
                parameter="prune",
            )
        if self.callback is not None and not callable(self.callback):
            refuse("callback", self.callback, "a function of a state is allowed, or None")

    def _begin(self, read: Callable[[], Lookahead]) -> None:
        """The rows and the first tree; what was learned before stays until it is there."""
        self._stop = stop = Stop()
        try:
            with stop.listening():
                lookahead = read()
                search = Improvement.begin(
                    lookahead,
                    OBJECTIVES[self.objective],
                    granularity=float(self.granularity),
                    seed=self._seed(),
                    referee=self.referee == "cv",
                    stop=stop,
                )
        except KeyboardInterrupt:
            if not stop.requested:
                raise
            raise UsageError(
                "stop() came before the first tree, so there is none to keep; fit again, and stop later"
            ) from None
        self._search = search
        self._remember(lookahead.table.schema, lookahead.target.labels)

    def _states(self, budget: Budget) -> Iterator[SearchState]:
        search = self._search
        for state in search.run(budget):
            if self.callback is not None and self.callback(state):
                search.stop.request()
            yield state

    def _search_record(self) -> dict[str, Any]:
        """How to go on, for a model file."""
        return to_record(self._searched())

    def _resume(self, record: dict[str, Any], tree: Tree) -> None:
        """Go on with the search of a model file."""
        self._search = from_record(record, tree, threads_of(self.n_jobs))
        self._stop = self._search.stop

    def _searched(self) -> Improvement:
        search = self.__dict__.get("_search")
        if search is None:
            self._not_fitted()
        assert isinstance(search, Improvement)
        return search

    def _fitted(self) -> Tree:
        return self._searched().handed_out(prunes_of(self.prune))

    @property
    def tree_(self) -> Tree:  # type: ignore[override]
        """The best tree so far."""
        return self._fitted()

    @property
    def unpruned_tree_(self) -> Tree:  # type: ignore[override]
        """The tree that is searched from."""
        return self._searched().handed_out(False)

    @property
    def profile_(self) -> tuple[SearchState, ...]:
        """The anytime curve: the first tree, and a state for each improvement."""
        return tuple(self._searched().profile)

    @property
    def course_(self) -> SearchCourse:
        """The profile and the present state: `to_svg()` draws them, `to_record()` is for JSON."""
        return SearchCourse.of(self._searched())

    @property
    def status_(self) -> str:
        """Why the search ended, or "running"."""
        return self._searched().status

    @property
    def n_iter_(self) -> int:
        """Rebuilds that were tried; 1 also where there was nothing to try."""
        return max(1, self._searched().now.iterations)
