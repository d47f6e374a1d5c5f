"""The contestants of the tree benchmarks: how each is given a table, fitted and asked."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import pandas as pd

# A table is a float64 matrix, or a frame whose nominal columns are text.
Table = Any
Labels = Any


class Peer(Protocol):
    """One contestant. `prepare` is not timed: it gives the table the form that this peer takes."""

    name: str

    def prepare(self, table: Table) -> Any: ...
    def fit(self, table: Any, labels: Labels, min_leaf: int) -> Any: ...
    def predict(self, model: Any, table: Any) -> Labels: ...


class Hornbeam:
    name = "hornbeam"

    def __init__(self, n_jobs: int = 1, max_depth: int | None = None) -> None:
        self._class = import_module("hornbeam").TreeClassifier
        self._n_jobs, self._max_depth = n_jobs, max_depth

    def estimator(self, min_leaf: int) -> Any:
        return self._class(min_samples_leaf=min_leaf, max_depth=self._max_depth, n_jobs=self._n_jobs)

    def prepare(self, table: Table) -> Any:
        return table

    def fit(self, table: Any, labels: Labels, min_leaf: int) -> Any:
        return self.estimator(min_leaf).fit(table, labels)

    def predict(self, model: Any, table: Any) -> Labels:
        return model.predict(table)


class ScikitLearn:
    """Takes numbers only: with text its users put a one-hot encoder in front, which is part of the work."""

    name = "scikit-learn"

    def __init__(self, max_depth: int | None = None) -> None:
        self._class = import_module("sklearn.tree").DecisionTreeClassifier
        self._max_depth = max_depth

    def prepare(self, table: Table) -> Any:
        return table

    def estimator(self, table: Any, min_leaf: int) -> Any:
        tree = self._class(min_samples_leaf=min_leaf, max_depth=self._max_depth, random_state=0)
        if isinstance(table, np.ndarray):
            return tree
        text = [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])]
        one_hot = import_module("sklearn.preprocessing").OneHotEncoder(
            handle_unknown="ignore", sparse_output=False, dtype=np.float32
        )
        encoder = import_module("sklearn.compose").ColumnTransformer(
            [("text", one_hot, text)], remainder="passthrough"
        )
        return import_module("sklearn.pipeline").make_pipeline(encoder, tree)

    def fit(self, table: Any, labels: Labels, min_leaf: int) -> Any:
        return self.estimator(table, min_leaf).fit(table, labels)

    def predict(self, model: Any, table: Any) -> Labels:
        return model.predict(table)


class LightGBM:
    """One boosting round, binned: one tree for two classes, one a class for more.

    It reserves room for as many leaves as it is allowed, so it is allowed no more than a tree can need.
    """

    name = "LightGBM"
    most_leaves = 131072  # its own limit

    def __init__(self, max_depth: int | None = None) -> None:
        self._library = import_module("lightgbm")
        self._max_depth = max_depth

    def prepare(self, table: Table) -> Any:
        if isinstance(table, np.ndarray):
            return table
        text = {name: "category" for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])}
        return table.astype(text)

    def fit(self, table: Any, labels: Labels, min_leaf: int) -> Any:
        classes, codes = np.unique(labels, return_inverse=True)
        several = {"objective": "multiclass", "num_class": len(classes)}
        settings = {
            **(several if len(classes) > 2 else {"objective": "binary"}),
            "num_leaves": int(min(self.most_leaves, max(2, len(codes) // max(min_leaf, 10)))),
            "min_data_in_leaf": min_leaf,
            "min_sum_hessian_in_leaf": 0.0,
            "max_depth": -1 if self._max_depth is None else self._max_depth,
            "learning_rate": 1.0,
            "histogram_pool_size": 1024,
            "num_threads": 1,
            "verbose": -1,
        }
        booster = self._library.train(settings, self._library.Dataset(table, codes), num_boost_round=1)
        return booster, classes

    def predict(self, model: Any, table: Any) -> Labels:
        booster, classes = model
        scores = booster.predict(table, num_threads=1)
        return classes[scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.5).astype(int)]


class YdfCart:
    """Yggdrasil's CART, exact splits, without the pruning that would need held-out rows."""

    name = "YDF CART"

    def __init__(self, max_depth: int | None = None) -> None:
        self._library = import_module("ydf")
        self._library.verbose(0)
        self._max_depth = -1 if max_depth is None else max_depth + 1  # a root alone has depth 1 there

    def prepare(self, table: Table) -> Any:
        if isinstance(table, np.ndarray):
            return {f"x{i}": np.ascontiguousarray(table[:, i]) for i in range(table.shape[1])}
        return {
            name: table[name].to_numpy()
            if pd.api.types.is_numeric_dtype(table[name])
            else table[name].fillna("").to_numpy(dtype=str)
            for name in table.columns
        }

    def fit(self, table: Any, labels: Labels, min_leaf: int) -> Any:
        learner = self._library.CartLearner(
            label="label to learn",
            max_depth=self._max_depth,
            min_examples=min_leaf,
            validation_ratio=0.0,
            num_threads=1,
        )
        return learner.train({**table, "label to learn": labels})

    def predict(self, model: Any, table: Any) -> Labels:
        classes = np.array(model.label_classes())
        scores = model.predict(table, num_threads=1)
        return classes[scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.5).astype(int)]


@dataclass(frozen=True)
class Absent:
    """A contestant that this machine does not have."""

    name: str
    reason: str


def find_peers(max_depth: int | None = None) -> tuple[list[Peer], list[Absent]]:
    """Everybody but rpart, which runs in a process of its own (see `find_rpart`). Hornbeam comes first."""
    found: list[Peer] = []
    absent: list[Absent] = []
    makers: list[Callable[..., Peer]] = [Hornbeam, ScikitLearn, LightGBM, YdfCart]
    for make in makers:
        try:
            found.append(make(max_depth=max_depth))
        except (ImportError, OSError, AttributeError) as error:
            absent.append(Absent(make.name, f"cannot be loaded ({error}); `make bench` installs it"))  # type: ignore[attr-defined]
    return found, absent


def find_rpart() -> str | Absent:
    """The path of Rscript where R has the package rpart."""
    script = shutil.which("Rscript")
    if script is None:
        return Absent("rpart", "no Rscript on the path; install R, which brings rpart")
    done = subprocess.run([script, "-e", "library(rpart)"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return Absent(
            "rpart", f"R has no package rpart: {(done.stderr.splitlines() or ['no reason given'])[0]}"
        )
    return script
