"""From cv, groups and metadata to training sets and the rows left out, read as scikit-learn reads them.

The folds of KFold and StratifiedKFold are dealt here, without the index arrays that scikit-learn gives: most
of a small cross-validation would be spent on them. Subclasses, other splitters and whatever is refused are
left to scikit-learn, and so is everything where its folds turn out not to be ours. A search can deal its
folds anew for each repetition, as C4.5's xval-prep does.
"""

from __future__ import annotations

import numbers
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from hornbeam.arguments import is_number, mapping, shown, texts
from hornbeam.errors import DataError, HornbeamError, UsageError
from hornbeam.growth import ClassTarget, Target, TrainingSet, TrainingSets
from hornbeam.validation.folds import FoldNumbers, Rows, rows_by_fold, spread_classes, spread_rows


@dataclass(frozen=True, eq=False)
class Metadata:
    """What goes to whom besides X and y."""

    split: Mapping[str, Any] = field(default_factory=dict)
    fit: Mapping[str, Any] = field(default_factory=dict)
    score: Mapping[str, Any] = field(default_factory=dict)


def metadata_of(
    caller: str, estimator: Any, cv: Any, scorer: Any, groups: Any, params: Mapping[str, Any] | None
) -> Metadata:
    """`params` sent where they are asked for; with metadata routing disabled all of them go to fit."""
    given = mapping("params", params, "{'sample_weight': weights}")
    texts("the names in params", list(given))
    if not get_config()["enable_metadata_routing"]:
        return Metadata(split={"groups": groups}, fit=given)
    if groups is not None:
        raise UsageError(
            "`groups` can only be passed if metadata routing is not enabled; give it in `params` instead"
        )
    router = MetadataRouter(owner=caller)
    for name, of, method in (("splitter", cv, "split"), ("estimator", estimator, "fit")):
        router.add(method_mapping=MethodMapping().add(caller="fit", callee=method), **{name: of})
    if scorer is not None:
        router.add(method_mapping=MethodMapping().add(caller="fit", callee="score"), scorer=scorer)
    try:
        routed = process_routing(router, "fit", **given)
    except UnsetMetadataPassedError as error:
        raise UnsetMetadataPassedError(
            message=str(error).replace(f"{caller}.fit", caller),
            unrequested_params=error.unrequested_params,
            routed_params=error.routed_params,
        ) from None
    score = routed.scorer.score if scorer is not None else {}
    return Metadata(routed.splitter.split, routed.estimator.fit, score)


def rows_of(X: Any, y: Any) -> tuple[Any, Any]:
    """X and y as something that has rows, as many of them."""
    try:
        X, y = indexable(X, y)
    except (TypeError, ValueError) as error:
        raise DataError(f"X and y: {error}") from None
    return X, y


def splitter_of(cv: Any, y: Any, target: Target | None) -> Any:
    """The splitter that scikit-learn takes `cv` for; a number of folds is stratified for classes."""
    of_classes = isinstance(target, ClassTarget)
    try:
        return check_cv(cv, [0, 1] if of_classes else y, classifier=of_classes)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{shown('cv', cv)}: {error}", parameter="cv") from None


@dataclass(frozen=True, eq=False)
class Splits:
    """Set 0 of all rows and one for each fold; the rows that judge each fold; both as given, if kept."""

    sets: TrainingSets
    tests: tuple[Rows, ...]
    given: tuple[tuple[Any, Any], ...] = ()


def splits_of(
    cv: Any, X: Any, y: Any, target: Target, params: Mapping[str, Any], *, keep: bool = False
) -> Splits:
    """What the splitter makes of the rows. Its training sets are packed as they come."""
    n_rows = target.n_rows
    dealt = None if keep else dealt_rows(cv, target, params)
    if dealt is not None:
        return Splits(TrainingSets.of_folds(n_rows, dealt), dealt)
    sets, tests, given = [TrainingSet(n_rows)], [], []
    for train, test in _pairs(cv, X, y, target, params):
        sets.append(TrainingSet.of_rows(n_rows, train))
        tests.append(TrainingSet.of_rows(n_rows, test).rows)
        if keep:
            given.append((train, test))
    if not tests:
        raise UsageError(
            f"{shown('cv', cv)} gives no splits; give a number of folds, a splitter or a list",
            parameter="cv",
        )
    return Splits(TrainingSets(n_rows, tuple(sets)), tuple(tests), tuple(given))


def _pairs(cv: Any, X: Any, y: Any, target: Target, params: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    # scikit-learn's splitters only ask which labels are equal, and sort codes much faster than text: the
    # shorter, the faster.
    if isinstance(target, ClassTarget) and type(cv).__module__.startswith("sklearn.model_selection"):
        few = len(target.labels) <= 2**15
        X, y = np.zeros(target.n_rows), target.codes.astype(np.int16) if few else target.codes
    try:
        for pair in cv.split(X, y, **params):
            train, test = pair
            yield train, test
    except HornbeamError:
        raise
    except (ValueError, TypeError, IndexError) as error:
        raise DataError(f"{shown('cv', cv)}: {error}", parameter="cv") from None


def dealt_rows(cv: Any, target: Target, params: Mapping[str, Any]) -> tuple[Rows, ...] | None:
    """The rows that each fold leaves out, ascending; None where scikit-learn has to be asked."""
    if type(cv) not in (KFold, StratifiedKFold) or any(given is not None for given in params.values()):
        return None
    if type(cv.n_splits) is not int or not 2 <= cv.n_splits <= target.n_rows or not _deals_as_we_do():
        return None
    try:
        if type(cv) is KFold:
            return _of_rows(cv, target.n_rows)
        return _of_classes(cv, target.codes, target.counts) if isinstance(target, ClassTarget) else None
    except ValueError:  # a wrong random_state: nothing was drawn yet
        return None


def _of_rows(cv: Any, n_rows: int) -> tuple[Rows, ...]:
    random = _generator(cv.random_state) if cv.shuffle else None
    return rows_by_fold(spread_rows(n_rows, cv.n_splits, random), cv.n_splits)


def _of_classes(cv: Any, codes: Any, counts: Any) -> tuple[Rows, ...] | None:
    k, present = cv.n_splits, counts[counts > 0]
    if k > int(present.max()) or 2 * len(present) > len(codes):
        return None  # an error, or a warning about y
    random = _generator(cv.random_state) if cv.shuffle else None
    rows = rows_by_fold(spread_classes(codes, counts, k, random), k)
    if k > int(present.min()):  # at last: whoever hears it may draw too
        warnings.warn(_few(int(present.min()), k), UserWarning, stacklevel=2)
    return rows


_kept = threading.local()


def _generator(state: Any) -> np.random.RandomState:
    """As check_random_state. To seed a generator once more takes a fiftieth of the time of a new one."""
    generator: np.random.RandomState
    if type(state) is not int:
        generator = check_random_state(state)
        return generator
    if not hasattr(_kept, "generator"):
        _kept.generator = np.random.RandomState(0)
    generator = _kept.generator
    generator.seed(state)
    return generator


def _few(rows: int, k: int) -> str:
    return f"The least populated class in y has only {rows} members, which is less than n_splits={k}."


@cache
def _deals_as_we_do() -> bool:
    """Whether the scikit-learn that is installed deals a small example as we do, and warns as we do."""
    codes = np.array([2, 0, 0, 2, 1, 0, 2, 2, 1, 0, 2, 0, 0, 2, 2, 0, 2, 1, 0, 0, 2], dtype=np.int32)
    counts, k = np.bincount(codes), 4
    for shuffled in ({}, {"shuffle": True, "random_state": 5}):
        rows, classes = KFold(k, **shuffled), StratifiedKFold(k, **shuffled)
        pairs = [(list(rows.split(codes)), _of_rows(rows, len(codes)))]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            pairs.append((list(classes.split(codes, codes)), _of_classes(classes, codes, counts) or ()))
        if [(w.category, str(w.message)) for w in warned] != [(UserWarning, _few(3, k))] * 2:
            return False
        for theirs, ours in pairs:
            if len(theirs) != len(ours) or not all(
                np.array_equal(test, out) and np.array_equal(train, np.delete(np.arange(len(codes)), out))
                for (train, test), out in zip(theirs, ours, strict=True)
            ):
                return False
    return True


FOLDS = 5  # scikit-learn's, where `cv` is None


def folds_of(
    cv: Any,
    repeats: int,
    X: Any,
    y: Any,
    target: Target,
    params: Mapping[str, Any],
    random: np.random.RandomState,
) -> Splits:
    """The training set of all rows, those of the folds, and the rows that judge these."""
    if is_number(cv, numbers.Integral):
        check_folds(int(cv), target.n_rows)
    if repeats == 1:
        return splits_of(splitter_of(cv, y, target), X, y, target, params)
    if cv is not None and not (is_number(cv, numbers.Integral) and cv >= 2):
        raise UsageError(
            f"{shown('cv', cv)} with repeats={repeats}: each repetition deals its own folds; give a number "
            "from 2, or repeats=1",
            parameter="cv",
        )
    folds = deal_repeatedly(target, FOLDS if cv is None else int(cv), repeats, random)
    return Splits(TrainingSets.of_folds(target.n_rows, folds), folds)


def deal_in_turn(target: Target, k: int, random: np.random.RandomState) -> FoldNumbers:
    """The fold of each row: shuffled, ordered by class, and dealt one to each fold in turn. Sizes, and the
    rows of each class, differ by one at most between folds."""
    order = random.permutation(target.n_rows)
    if isinstance(target, ClassTarget):
        order = order[np.argsort(target.codes[order], kind="stable")]
    folds = np.empty(target.n_rows, dtype=np.int64)
    folds[order] = np.arange(target.n_rows) % k
    return folds


def deal_repeatedly(target: Target, k: int, repeats: int, random: np.random.RandomState) -> tuple[Rows, ...]:
    """The rows of each fold, repetition after repetition."""
    check_folds(k, target.n_rows)
    return tuple(rows for _ in range(repeats) for rows in rows_by_fold(deal_in_turn(target, k, random), k))


def check_folds(k: int, n_rows: int) -> None:
    if k > n_rows:
        raise DataError(
            f"{k} folds of n_samples={n_rows} rows; use at most {n_rows} folds, or give more rows",
            parameter="n_samples",
        )
