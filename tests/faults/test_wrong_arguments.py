"""Every public call with every kind of wrong argument: what it raises is ours, one short line, and soon."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from sklearn.exceptions import NotFittedError

import hornbeam
from hornbeam.errors import HornbeamError, UnknownName
from tests.wrong_arguments import ESTIMATORS, KINDS, Call, World, every_call, methods_of, misspelt, required

LONGEST = 1_000
SECONDS = 2.0
CALLS = every_call()
CALLED_BACK = {"callback", "progress", "scoring", "refit", "data", "inserted", "deleted", "rows", "cv"}
"""Parameters that take a function: what a function of the user raises is the user's."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield World(Path(folder))


def fault(call: Call, world: World, wrong: Mapping[str, Any]) -> str | None:
    """What is wrong with how a call refuses a wrong argument, if it does."""
    began = process_time()
    try:
        given = call.make(world, wrong)
        if isinstance(given, Iterator):
            list(islice(given, 2))
    except (HornbeamError, NotFittedError) as error:
        message = str(error)
        if len(message) > LONGEST or len(message.splitlines()) != 1:
            return f"says {len(message)} characters in {len(message.splitlines())} lines: {message[:60]!r}"
    except Exception as error:
        return f"raises {type(error).__name__}: {str(error)[:80]!r}"
    spent = process_time() - began
    return f"takes {spent:.1f} s" if spent > SECONDS else None


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments_are_refused_by_errors_of_ours(name: str, world: World) -> None:
    call, found = CALLS[name], []
    for parameter in call.parameters:
        for kind, make in KINDS.items():
            if parameter in CALLED_BACK and kind in ("a class", "a function"):
                continue
            what = fault(call, world, {parameter: make()})
            if what is not None:
                found.append(f"{name}({parameter}={kind}) {what}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.others])
@pytest.mark.filterwarnings("ignore")
def test_unknown_names_are_refused(name: str, world: World) -> None:
    with pytest.raises(UnknownName, match="nonsense"):
        CALLS[name].make(world, {"nonsense": 1})


@pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
def test_misspelt_parameters_are_answered_with_the_nearest_one(kind: Any, world: World) -> None:
    right = required(kind, world)
    for name in inspect.signature(kind).parameters:
        for wrong in misspelt(name):
            with pytest.raises(UnknownName, match=f"use '{name}'"):
                kind(**right, **{wrong: 1})
            with pytest.raises(UnknownName, match=f"use '{name}'"):
                kind(**right).set_params(**{wrong: 1})


@pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
def test_advice_names_no_parameter_that_the_class_refuses(kind: Any, world: World) -> None:
    every = {name for each in ESTIMATORS.values() for name in inspect.signature(each).parameters}
    own = set(inspect.signature(kind).parameters)
    foreign = ("splitter", "max_features", "max_leaf_nodes", "min_weight_fraction_leaf", "warm_start")
    for name in {*every, *foreign} - own:
        with pytest.raises(UnknownName) as caught:
            kind(**required(kind, world), **{name: 1})
        advice = str(caught.value).split(": ", 1)[1].partition("AnytimeTreeClassifier")[0]
        assert not (set(re.findall(r"\w+", advice)) & (every - own - {name, "weights"})), str(caught.value)


@pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_what_needs_a_fit_says_so(kind: Any, world: World) -> None:
    for name, method in methods_of(kind).items():
        if name in ("fit", "fit_source", "partial_fit", "set_params", "cost_complexity_pruning_path", "stop"):
            continue
        if not method.__module__.startswith("hornbeam."):
            continue  # scikit-learn's own
        bound = getattr(kind(**required(kind, world)), name)
        with pytest.raises(NotFittedError, match=rf"^This {kind.__name__} instance is not fitted yet"):
            bound(**required(method, world, f"{kind.__name__}.{name}"))


def test_every_public_name_is_called() -> None:
    functions = {name for name in hornbeam.__all__ if inspect.isfunction(getattr(hornbeam, name))}
    assert functions <= set(CALLS)
    assert len(CALLS) > 150
    assert all(call.parameters or call.name.partition(".")[2] for call in CALLS.values())


def test_a_batch_without_rows_leaves_a_maintained_tree_as_it_is(world: World) -> None:
    kept, empty = world.maintained, world.source.schema.empty_table()
    before = kept.tree.digest
    for nothing in (empty, empty.to_pandas(), []):
        changes = kept.insert(nothing)
        assert (changes.inserted, changes.deleted, changes.digest_after) == (0, 0, before)


def test_any_number_of_bytes_may_be_kept_of_answered_queries(world: World) -> None:
    huge = hornbeam.RelationalTreeClassifier(cache_bytes=2**70).fit(world.db)
    assert huge.tree_ == hornbeam.RelationalTreeClassifier(cache_bytes=0).fit(world.db).tree_
