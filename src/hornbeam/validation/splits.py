"""From cv, groups and metadata to training sets and the rows left out, read as scikit-learn reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from hornbeam.errors import DataError, HornbeamError, UsageError
from hornbeam.growth import ClassTarget, Target, TrainingSet, TrainingSets
from hornbeam.validation.dealing import dealt_rows

Rows = npt.NDArray[np.int64]


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
    given = dict(params or {})
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


def splitter_of(cv: Any, y: Any, target: Target | None) -> Any:
    """The splitter that scikit-learn takes `cv` for; a number of folds is stratified for classes."""
    of_classes = isinstance(target, ClassTarget)
    try:
        return check_cv(cv, [0, 1] if of_classes else y, classifier=of_classes)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{_shown(cv)}: {_one_line(error)}", parameter="cv") from None


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
        folds = (TrainingSet(n_rows, left_out=rows) for rows in dealt)
        return Splits(TrainingSets(n_rows, (TrainingSet(n_rows), *folds)), dealt)
    sets, tests, given = [TrainingSet(n_rows)], [], []
    for train, test in _pairs(cv, X, y, target, params):
        sets.append(TrainingSet.of_rows(n_rows, train))
        tests.append(TrainingSet.of_rows(n_rows, test).rows)
        if keep:
            given.append((train, test))
    if not tests:
        raise UsageError(
            f"{_shown(cv)} gives no splits; give a number of folds, a splitter or a list", parameter="cv"
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
    except (ValueError, TypeError) as error:
        raise DataError(f"{_shown(cv)}: {_one_line(error)}", parameter="cv") from None


def _shown(cv: Any) -> str:
    text = " ".join(repr(cv).split())
    return f"cv={text if len(text) <= 60 else text[:57] + '...'}"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
