"""Wrong values of every kind, and every public call that a user can make, with arguments that are right."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse
from sklearn.base import BaseEstimator

import hornbeam
from hornbeam import RelationalData, TreeClassifier, datasets, model_selection
from hornbeam.growth import Forest
from hornbeam.relational.bias import Bias
from hornbeam.table import from_data
from hornbeam.table.sources import Source

KINDS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "1.5": lambda: 1.5,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "a huge number": lambda: 2**70,
    "a huge negative number": lambda: -(2**70),
    "a complex number": lambda: 1j,
    "empty text": lambda: "",
    "nonsense": lambda: "nonsense",
    "text of two lines": lambda: "two\nlines\x00\ud800",
    "a megabyte of text": lambda: "x" * 2**20,
    "bytes": lambda: b"bytes",
    "an empty list": lambda: [],
    "a list": lambda: [1, "a", [None]],
    "a list of texts": lambda: ["nonsense", "b"],
    "a tuple": lambda: (1, 2),
    "a dict": lambda: {"a": [1, 2], 3: None},
    "a set": lambda: {1, "a"},
    "an object": object,
    "a class": lambda: TreeClassifier,
    "a function": lambda: len,
    "a generator": lambda: (i for i in range(3)),
    "an unfitted estimator": TreeClassifier,
    "an array without dimensions": lambda: np.array(1.0),
    "an array of another length": lambda: np.arange(5),
    "an array of three dimensions": lambda: np.zeros((2, 2, 2)),
    "an array of objects": lambda: np.array([object(), None], dtype=object),
    "an array of NaN": lambda: np.full(24, np.nan),
    "a structured array": lambda: np.zeros(24, dtype=[("a", "f8")]),
    "a sparse matrix": lambda: scipy.sparse.csr_matrix(np.eye(24)),
    "a frame": lambda: pd.DataFrame({"nonsense": np.arange(24)}),
    "a frame without columns": pd.DataFrame,
    "a frame whose columns share a name": lambda: pd.DataFrame(np.zeros((24, 2)), columns=["a", "a"]),
    "an Arrow table": lambda: pa.table({"nonsense": [1, 2]}),
}


@dataclass
class World:
    """What is right: small tables, and models that were fitted to them."""

    folder: Path
    _numbers: Iterator[int] = field(default_factory=count)

    @cached_property
    def frame(self) -> pd.DataFrame:
        rows = np.arange(24)
        return pd.DataFrame({"a": rows % 7, "b": (rows * 5 % 11).astype(float), "y": (rows % 3 == 0) * 1})

    @property
    def X(self) -> pd.DataFrame:
        return self.frame[["a", "b"]]

    @property
    def y(self) -> Any:
        return self.frame["y"].to_numpy()

    @property
    def source(self) -> Source:
        return hornbeam.source(pa.Table.from_pandas(self.frame, preserve_index=False))

    @cached_property
    def frames(self) -> dict[str, pd.DataFrame]:
        keys = np.arange(12)
        people = pd.DataFrame({"id": keys, "age": keys * 7 % 5, "y": np.where(keys % 2, "no", "yes")})
        return {"people": people, "calls": pd.DataFrame({"person": keys // 2, "length": keys % 4})}

    @cached_property
    def db(self) -> RelationalData:
        keys, references = {"people": "id"}, {"calls": {"person": "people"}}
        return RelationalData.from_frames(self.frames, keys, references, target="people.y")

    @property
    def fresh(self) -> str:
        """A path where nothing is yet."""
        return str(self.folder / f"file{next(self._numbers)}")

    @cached_property
    def models(self) -> dict[str, Any]:
        """Every estimator, fitted."""
        return {name: self.fitted(kind) for name, kind in ESTIMATORS.items()}

    def fitted(self, kind: type) -> Any:
        model = kind(**required(kind, self) | CHEAP.get(kind.__name__, {}))
        return model.fit(**self.to_fit(kind))

    def to_fit(self, kind: type) -> dict[str, Any]:
        """What a fit of an estimator is given."""
        others = {"target": "people.age"} if kind is hornbeam.RelationalTreeRegressor else {}
        return required(kind.fit, self) | others  # type: ignore[attr-defined]

    @cached_property
    def maintained(self) -> Any:
        return hornbeam.MaintainedTree.create(self.fresh, self.source, target="y", key="a", cv=2, max_depth=2)


def public_estimators() -> dict[str, type]:
    named = {name: getattr(hornbeam, name) for name in hornbeam.__all__}
    named["TreeSearchCV"] = model_selection.TreeSearchCV
    return {
        name: kind
        for name, kind in named.items()
        if isinstance(kind, type) and issubclass(kind, BaseEstimator)
    }


ESTIMATORS = public_estimators()
CHEAP: dict[str, dict[str, Any]] = {
    "AnytimeTreeClassifier": {"max_iter": 1, "max_time": 0.05},
    "LookaheadTreeClassifier": {"r": 1},
    "BaggedTreesClassifier": {"n_estimators": 2},
    "BaggedTreesRegressor": {"n_estimators": 2},
    "RelationalBagging": {"n_estimators": 2},
    "CrossValidatedC45": {"min_objs": (1, 2), "cv": 2, "repeats": 1},
    "TreeSearchCV": {"cv": 2},
}
"""Parameters that keep a fit short; each of them is given wrongly too."""

RIGHT: dict[str, Callable[[World], Any]] = {
    "X": lambda w: w.X,
    "y": lambda w: w.y,
    "db": lambda w: w.db,
    "src": lambda w: w.source,
    "target": lambda w: "y",
    "path": lambda w: w.fresh,
    "table": lambda w: from_data(w.X),
    "node": lambda w: 0,
    "child": lambda w: 1,
    "nodes": lambda w: np.array([0]),
    "i": lambda w: 0,
    "n": lambda w: 3,
    "rows": lambda w: w.frame,
    "keys": lambda w: [1],
    "key": lambda w: 1,
    "estimator": lambda w: TreeClassifier(),
    "param_grid": lambda w: {"max_depth": [1, 2]},
    "frames": lambda w: w.frames,
    "text": lambda w: w.db.default_bias().to_text(),
    "coded": lambda w: w.db.coded(),
    "settings": lambda w: w.fresh,
    "database": lambda w: w.fresh,
    "folder": lambda w: w.fresh,
    "data": lambda w: w.frame,
    "model": lambda w: w.models["TreeClassifier"],
    "name": lambda w: "iris",
    "source": lambda w: w.models["TreeClassifier"].tree_.to_json(),
    "record": lambda w: w.models["TreeClassifier"].tree_.to_record(),
}
"""Arguments by the names of parameters that have no default."""

OF_CALL: dict[str, dict[str, Callable[[World], Any]]] = {
    "RelationalData.groups": {"table": lambda w: "people"},
    "RelationalTree.from_json": {"source": lambda w: w.models["RelationalTreeClassifier"].to_json()},
    "generate": {"name": lambda w: "xor"},
    "RelationalTree.with_signature": {"signature": lambda w: None},
}
NOT_FOR_USERS = {
    "Tree.trusted": "wraps what the core has grown, unchecked",
    "Tree.native": "",
    "Forest.of": "wraps trees that are there already",
    "Forest.settled": "is called by who grew the forest",
    "Source.close_scan": "is called by who scanned",
    "load_openml": "asks the network",
}


def required(function: Callable[..., Any], world: World, name: str = "") -> dict[str, Any]:
    """Right arguments for the parameters of a function that have no default, and for X and y."""
    right, entries = RIGHT | OF_CALL.get(name, {}), parameters_of(function)
    needed = [entry.name for entry in entries if entry.default is entry.empty or entry.name in ("X", "y")]
    return {entry: right[entry](world) for entry in needed}


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What can be given by name."""
    every = inspect.signature(function).parameters.values()
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [entry for entry in every if entry.name != "self" and entry.kind not in variable]


def takes_others(function: Callable[..., Any]) -> bool:
    return any(
        entry.kind is inspect.Parameter.VAR_KEYWORD
        for entry in inspect.signature(function).parameters.values()
    )


def methods_of(kind: type) -> dict[str, Any]:
    """The public methods of a class, as they stand there."""
    found = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
    return {
        name: method
        for name, method in found.items()
        if inspect.isfunction(getattr(method, "__func__", method))
        and name not in ("get_params", "get_metadata_routing")
        and not name.endswith("_request")
    }


@dataclass(frozen=True)
class Call:
    """A call that a user can make: right arguments, of which one at a time is replaced."""

    name: str
    parameters: tuple[str, ...]
    make: Callable[[World, Mapping[str, Any]], Any]
    """Does the call, with some arguments in place of right ones."""
    others: bool = False
    """Whether further names reach our code."""


def every_call() -> dict[str, Call]:
    """Every public call, by its name."""
    calls = [*_fits(), *_methods(), *_functions()]
    return {call.name: call for call in calls if call.name not in NOT_FOR_USERS}


def _fits() -> Iterator[Call]:
    for name, kind in ESTIMATORS.items():

        def fit(world: World, wrong: Mapping[str, Any], kind: type = kind) -> Any:
            own = required(kind, world) | CHEAP.get(kind.__name__, {}) | wrong
            return kind(**own).fit(**world.to_fit(kind))  # type: ignore[attr-defined]

        yield Call(name, tuple(entry.name for entry in parameters_of(kind)), fit, True)


def _methods() -> Iterator[Call]:
    objects: dict[type, Callable[[World], Any]] = {
        kind: (lambda w, name=name: deepcopy(w.models[name])) for name, kind in ESTIMATORS.items()
    }
    objects |= {
        hornbeam.Tree: lambda w: w.models["TreeClassifier"].tree_,
        hornbeam.RelationalTree: lambda w: w.models["RelationalTreeClassifier"].tree_,
        hornbeam.RelationalData: lambda w: w.db,
        hornbeam.MaintainedTree: lambda w: w.maintained,
        Bias: lambda w: w.db.default_bias(),
        Source: lambda w: w.source,
        Forest: lambda w: w.models["BaggedTreesClassifier"].forest_,
        model_selection.SearchRecord: lambda w: w.models["TreeSearchCV"].search_,
    }
    for kind, of in objects.items():
        for name, method in methods_of(kind).items():
            yield _method(kind, of, name, method)


def _method(kind: type, of: Callable[[World], Any], name: str, method: Any) -> Call:
    function = getattr(method, "__func__", method)
    whole = f"{kind.__name__}.{name}"
    names = [entry.name for entry in parameters_of(function) if entry.name != "cls"]

    def call(world: World, wrong: Mapping[str, Any]) -> Any:
        owner = kind if isinstance(method, classmethod) else of(world)
        bound = getattr(owner, name)
        return bound(**required(bound, world, whole) | wrong)

    ours = function.__module__.startswith("hornbeam.")
    return Call(whole, tuple(names), call, takes_others(function) and ours)


def _functions() -> Iterator[Call]:
    homes = ((hornbeam, hornbeam.__all__), (datasets, datasets.__all__))
    homes += ((model_selection, model_selection.__all__),)
    for home, names in homes:
        for name in names:
            function = getattr(home, name)
            if not inspect.isfunction(function):
                continue
            whole = f"datasets.{name}" if home is datasets else name

            def call(
                world: World, wrong: Mapping[str, Any], function: Any = function, name: str = name
            ) -> Any:
                return function(**required(function, world, name) | wrong)

            parameters = tuple(entry.name for entry in parameters_of(function))
            yield Call(whole, parameters, call, takes_others(function))


def misspelt(name: str) -> list[str]:
    """A name as people write it by mistake, where it is long enough to be recognised."""
    return [name[:-1], name[0] + name[2:], name.upper()[:1] + name[1:]] if len(name) > 4 else []
