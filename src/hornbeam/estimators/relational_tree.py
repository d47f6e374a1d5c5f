"""One first-order tree over linked tables: for classes, and for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.data import RelationalData
from hornbeam.relational.database import Examples
from hornbeam.relational.explain import Explanation, explain
from hornbeam.relational.growth import learn
from hornbeam.relational.tree import RelationalTree
from hornbeam.validation import Estimate
from hornbeam.validation.scores import accuracy, r2

from .model_parameters import class_array
from .relational import (
    RelationalEstimator,
    Report,
    check_groups,
    clean,
    codes_of,
    labelled_rows,
    node_answers,
    node_codes,
    sets_of,
    warn_of_dropped,
)

_OF_FOLDS = ("cv_results_", "estimate_")


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalTreeEstimator(RelationalEstimator):
    """One tree. Subclasses add what it predicts: a class or a number."""

    cv: Any = None

    def fit(self, db: RelationalData, target: str | None = None, *, groups: Any = None) -> Self:
        """Grow the tree of all examples of the database, and with `cv` those of the folds beside it.

        `target` is the column to predict (`loan.status`) where neither the data nor the bias name one.
        `groups` are for splitters that keep examples together, one for each example (`db.groups(table)`).
        """
        return self._fit(db, target, groups, None)

    def _fit(self, db: RelationalData, target: str | None, groups: Any, report: Report) -> Self:
        settings = self._settings(self._task)
        bias, coded, signature = self._read(db, target, self._task)
        examples, rows = coded.examples, labelled_rows(coded.examples)
        check_groups(groups, examples.n)
        if groups is not None and self.cv is None:
            raise UsageError("groups are for folds; give cv too, for instance cv=GroupKFold(10)")
        results: dict[str, Any] = {}
        if self.cv is None:
            forest = learn(coded, bias, signature, settings, report=report)
        else:
            sets, tests = sets_of(self.cv, examples, rows, groups)
            scores = np.zeros(len(tests))

            def judge(i: int, tree: RelationalTree, outside: Any, leaves: Any) -> None:
                if i > 0:
                    reached = np.full(examples.n, -1, dtype=np.int64)
                    reached[outside] = leaves
                    scores[i - 1] = self._score(tree, examples, tests[i - 1], reached[tests[i - 1]])

            forest = learn(coded, bias, signature, settings, sets, judge=judge, report=report)
            per_fold = np.full(len(tests), forest.seconds / len(tests))
            results = {"test_score": scores, "fit_time": per_fold, "score_time": np.zeros(len(tests))}
        warn_of_dropped(forest, self.budget)
        clean(self, _OF_FOLDS)
        self._remember(db, bias, coded)
        self.forest_, self.tree_, self.unpruned_tree_ = forest, forest.tree(0), forest.unpruned_tree(0)
        if results:
            self.cv_results_ = results
            measure = "accuracy" if self._task == "classification" else "r2"
            self.estimate_ = Estimate(measure, tuple(results["test_score"].tolist()))
        self._keep_classes()
        return self

    def _keep_classes(self) -> None:
        """What the tree's classes are called."""

    def _score(self, tree: RelationalTree, examples: Examples, rows: Any, leaves: Any) -> float:
        raise TypeError(f"{type(self).__name__} predicts nothing; use RelationalTreeClassifier")

    def _tree(self, asked: str) -> RelationalTree:
        if "tree_" not in self.__dict__:
            self._not_fitted(asked)
        return self.tree_

    def apply(self, db: RelationalData) -> NDArray[np.int64]:
        """The leaf of each example, as a number of a node of `tree_`."""
        tree = self._tree("apply")
        return self._leaves(self._coded_of(db, tree), tree)

    def _scored(self, db: RelationalData) -> float:
        tree = self._tree("score")
        coded = self._coded_of(db, tree)
        examples = coded.examples
        if examples.target is None:
            raise DataError(f"target {self.target_!r} is not in the data, so nothing can be scored")
        rows = labelled_rows(examples)
        return self._score(tree, examples, rows, self._leaves(coded, tree)[rows])

    def explain(self, key: Any, db: RelationalData | None = None) -> Explanation:
        """Why the example with this key is predicted as it is: the path, the rows that were found, and what
        was not. Without `db` of the data that was fitted."""
        tree = self._tree("explain")
        if db is None and "_coded" not in self.__dict__:
            raise UsageError("a saved model has no data; give it, explain(key, db)")
        return explain(tree, self._coded if db is None else self._coded_of(db, tree), key)

    def get_depth(self) -> int:
        """The most tests on the way from the root to a leaf."""
        return self._tree("get_depth").depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return self._tree("get_n_leaves").n_leaves

    def to_text(self, layout: str = "words", max_depth: int | None = None) -> str:
        """The tree as indented lines: in words, or as ACE prints it (`layout="ace"`)."""
        return self._tree("to_text").to_text(layout, max_depth)

    def to_sql(
        self, dialect: str = "duckdb", output: str = "prediction", of: Any = None, table: str | None = None
    ) -> str:
        """A query that says of every example what `predict` says (see `RelationalTree.to_sql`)."""
        return self._tree("to_sql").to_sql(dialect, output, of, table)

    def to_prolog(self) -> str:
        """A decision list: clauses with cuts, of which the first that succeeds decides."""
        return self._tree("to_prolog").to_prolog()

    def to_json(self) -> str:
        """The tree with every number exact; `RelationalTree.from_json` reads it."""
        return self._tree("to_json").to_json()

    def to_svg(self, max_depth: int | None = None) -> str:
        """A picture of the tree."""
        return self._tree("to_svg").to_svg(max_depth)


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalTreeClassifier(ClassifierMixin, RelationalTreeEstimator):  # type: ignore[misc]
    """One first-order tree that predicts a class, grown exactly and deterministically from linked tables.

    Parameters
    ----------
    bias : Bias, str or None, default=None
        What tests may ask, as `Bias` or its text; None is that of the data's own settings, or the one that
        keys and references suggest (`db.default_bias()`).
    criterion : {"gain_ratio", "entropy"}, default="gain_ratio"
        What a test is chosen by; "gain" and "log_loss" are other names of "entropy".
    min_samples_leaf : int, default=2
        Examples that both branches of a test need.
    lookahead : int, default=1
        How many of the bias's lookaheads a test may take in a row. 1 leaves that to the bias itself.
    max_depth : int or None, default=None
        The most tests on a path.
    prune : {"error_based", "safe"} or None, default="error_based"
        C4.5's pruning by expected errors; "safe" only merges leaves that say the same.
    confidence : float, default=0.25
        Of error_based, above 0 up to 1: the smaller, the smaller the tree.
    cv : int, splitter, iterable of splits or None, default=None
        Cross-validate in the same growth: `cv_results_`, `estimate_`, and the folds' trees in `forest_`.
    algorithm : {"auto", "serial", "overlapping", "folds"}, default="auto"
        How the trees of folds share work; they are the same.
    budget : int or None, default=100000
        Join steps that a test may take for one example; tests that take more are left out and told.
    cache_bytes : int, default=268435456
        What is kept of answered queries while growing; 0 keeps nothing. The tree never depends on it.
    random_state : int, RandomState or None, default=None
        Has no use: growing makes no random choice.
    n_jobs : int or None, default=None
        Threads; the tree never depends on them.

    Attributes
    ----------
    tree_, unpruned_tree_ : hornbeam.relational.tree.RelationalTree
        The tree after and before pruning.
    classes_ : ndarray
        The class labels; of data read from ACE's files in the order given there.
    forest_ : hornbeam.relational.growth.RelationalForest
        The trees of all examples (0) and of the folds (from 1); `forest_.stability()`.
    cv_results_ : dict
        With `cv`: `test_score` (accuracy), `fit_time` and `score_time` of each fold.
    estimate_ : hornbeam.validation.Estimate
        With `cv`: the mean of the scores and their spread.
    bias_ : Bias
    target_ : str
        The column that is predicted, `table.column`.
    feature_names_in_ : ndarray of str
        The columns that tests may ask about, `table.column`.
    """

    _task = "classification"

    criterion: str | None = "gain_ratio"
    prune: str | None = "error_based"

    def _keep_classes(self) -> None:
        self.classes_ = class_array(self.tree_.classes)

    def _score(self, tree: RelationalTree, examples: Examples, rows: Any, leaves: Any) -> float:
        return accuracy(codes_of(examples, tree.classes)[rows], node_codes(tree)[leaves])

    def predict(self, db: RelationalData) -> NDArray[Any]:
        """The class of each example, in the order of the target's table."""
        self._tree("predict")
        leaves = self.apply(db)
        labels: NDArray[Any] = self.classes_[node_codes(self.tree_)[leaves]]
        return labels

    def score(self, db: RelationalData) -> float:
        """The accuracy on the examples of a database that holds the target."""
        return self._scored(db)

    def predict_proba(self, db: RelationalData) -> NDArray[np.float64]:
        """The share of each class in the leaf of each example, in the order of `classes_`."""
        self._tree("predict_proba")
        leaves = self.apply(db)
        return node_answers(self.tree_)[leaves]

    def predict_log_proba(self, db: RelationalData) -> NDArray[np.float64]:
        """The natural logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(db))


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalTreeRegressor(RegressorMixin, RelationalTreeEstimator):  # type: ignore[misc]
    """One first-order tree that predicts a number, grown exactly and deterministically from linked tables.

    Parameters
    ----------
    bias, min_samples_leaf, lookahead, max_depth, cv, algorithm, budget, cache_bytes, random_state, n_jobs
        As in `RelationalTreeClassifier`.
    criterion : {"variance"}, default="variance"
        What a test is chosen by; "squared_error" is another name of it.
    ftest : float or None, default=0.05
        A test must lower the variance significantly at this level; None asks for nothing.
    prune : None
        Pruning counts wrong classes, so there is none here.
    confidence : float, default=0.25
        Has no use here.

    Attributes
    ----------
    tree_, unpruned_tree_, forest_, cv_results_, estimate_, bias_, target_, feature_names_in_
        As in `RelationalTreeClassifier`, with R² for accuracy.
    """

    _task = "regression"

    criterion: str | None = "variance"
    ftest: float | None = 0.05
    prune: str | None = None

    def _score(self, tree: RelationalTree, examples: Examples, rows: Any, leaves: Any) -> float:
        actual = np.asarray(examples.target, dtype=np.float64)[rows]
        return r2(actual[:, None], node_answers(tree)[leaves])

    def predict(self, db: RelationalData) -> NDArray[np.float64]:
        """The number of each example, in the order of the target's table: the mean of its leaf."""
        numbers: NDArray[np.float64] = node_answers(self._tree("predict"))[self.apply(db), 0]
        return numbers

    def score(self, db: RelationalData) -> float:
        """R² on the examples of a database that holds the target."""
        return self._scored(db)
