"""Model files of first-order trees: trees, bias and parameters as a plain document, verified when read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import hornbeam
from hornbeam.ensemble import Bags
from hornbeam.errors import DataError
from hornbeam.model import refused
from hornbeam.relational.bias import Bias
from hornbeam.relational.json_form import from_record, to_record
from hornbeam.relational.tree import RelationalTree

from .model_parameters import check_parameters, class_array, finite, plain
from .store import RELATIONAL
from .stored_bags import bags_record, read_bags

TREE_CLASSIFIER, TREE_REGRESSOR, BAGGING = RELATIONAL
_TREE: Final = {
    "criterion", "min_samples_leaf", "lookahead", "max_depth", "prune", "confidence", "algorithm", "budget",
    "cache_bytes", "random_state", "n_jobs",
}  # fmt: skip
_PARAMETERS: Final = {
    TREE_CLASSIFIER: _TREE,
    TREE_REGRESSOR: _TREE | {"ftest"},
    BAGGING: _TREE | {"n_estimators", "task", "max_samples", "bootstrap", "oob_score"},
}
_KEYS: Final = {
    "estimator",
    "parameters",
    "target",
    "bias",
    "given_bias",
    "features",
    "trees",
    "unpruned",
    "notes",
}
_NOT_KEPT: Final = ("bias", "cv")

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class StoredRelational:
    """What a model file holds of first-order trees; one of a bagging has a tree for each bag."""

    estimator: str
    parameters: dict[str, Any]
    target: str
    bias: Bias
    given_bias: bool
    """Whether the bias was given to the constructor, or found in the data."""
    features: tuple[str, ...]
    trees: tuple[RelationalTree, ...]
    unpruned: tuple[RelationalTree, ...]
    notes: dict[str, Any]
    bags: Bags | None = None

    @property
    def tree(self) -> RelationalTree:
        return self.trees[0]

    @classmethod
    def of(cls, model: Any, notes: dict[str, Any] | None = None) -> StoredRelational:
        """That of a fitted estimator."""
        forest = model._forest("save") if type(model).__name__ == BAGGING else None
        if forest is None:
            trees, unpruned = (model._tree("save"),), (model.unpruned_tree_,)
        else:
            trees, unpruned = forest.trees, forest.unpruned
        given = {name: value for name, value in model.get_params(deep=False).items() if name not in _NOT_KEPT}
        return cls(
            type(model).__name__,
            {name: plain(name, value) for name, value in given.items()},
            model.target_,
            model.bias_,
            model.bias is not None,
            tuple(model.feature_names_in_.tolist()),
            trees,
            unpruned,
            notes or {},
            None if forest is None else model.bags_,
        )

    def payload(self) -> dict[str, Any]:
        """The plain document."""
        payload = {
            "estimator": self.estimator,
            "parameters": {name: finite(value) for name, value in self.parameters.items()},
            "target": self.target,
            "bias": self.bias.to_text(),
            "given_bias": self.given_bias,
            "features": list(self.features),
            "trees": [to_record(tree) for tree in self.trees],
            "unpruned": [
                None if tree == whole else to_record(whole)
                for tree, whole in zip(self.trees, self.unpruned, strict=True)
            ],
            "notes": self.notes,
        }
        if self.bags is None:
            return payload
        return payload | {"bags": bags_record(self.bags)}

    @classmethod
    def read(cls, path: Path, payload: dict[str, Any]) -> StoredRelational:
        """That of a document; DataError in one line where it is not one."""
        name = payload["estimator"]
        if set(payload) != (_KEYS | {"bags"} if name == BAGGING else _KEYS):
            raise refused(path, f"it has the entries {', '.join(sorted(map(str, payload))[:12])}")
        check_parameters(path, payload, _PARAMETERS[name])
        if not isinstance(payload["target"], str) or not isinstance(payload["bias"], str):
            raise refused(path, "its target or its bias is no text")
        features, records, before = payload["features"], payload["trees"], payload["unpruned"]
        if not isinstance(features, list) or not all(isinstance(feature, str) for feature in features):
            raise refused(path, "its features are not a list of names")
        if not isinstance(records, list) or not records or not isinstance(before, list):
            raise refused(path, "its trees are not a list")
        if len(before) != len(records) or (name != BAGGING and len(records) > 1):
            raise refused(path, "it has not as many trees as it should")
        trees = tuple(map(from_record, records))
        unpruned = tuple(
            tree if whole is None else from_record(whole) for tree, whole in zip(trees, before, strict=True)
        )
        _check_tasks(path, name, (*trees, *unpruned))
        bags = read_bags(path, payload["bags"]) if name == BAGGING else None
        if bags is not None and len(bags) != len(trees):
            raise refused(path, "it has not a tree for each of its bags")
        return cls(
            name,
            payload["parameters"],
            payload["target"],
            _read_bias(path, payload["bias"]),
            payload["given_bias"] is True,
            tuple(features),
            trees,
            unpruned,
            payload["notes"],
            bags,
        )

    def estimate(self) -> Any:
        """The fitted estimator; it has no data, so explanations need some."""
        model: Any = getattr(hornbeam, self.estimator)(
            self.bias if self.given_bias else None, **self.parameters
        )
        model.bias_, model.target_ = self.bias, self.target
        model.feature_names_in_ = np.array(self.features, dtype=object)
        model.n_features_in_ = len(self.features)
        if self.tree.classes:
            model.classes_ = class_array(self.tree.classes)
        if self.estimator != BAGGING:
            model.tree_, model.unpruned_tree_ = self.tree, self.unpruned[0]
            return model
        from hornbeam.relational.growth import RelationalForest

        model.task_, model.bags_ = self.tree.task, self.bags
        model.forest_ = RelationalForest(self.trees, self.unpruned, "auto")
        return model


def _check_tasks(path: Path, name: str, trees: tuple[RelationalTree, ...]) -> None:
    tasks = {tree.task for tree in trees}
    allowed = {TREE_CLASSIFIER: {"classification"}, TREE_REGRESSOR: {"regression"}}.get(name, tasks)
    if tasks != allowed or len(tasks) > 1 or len({tree.classes for tree in trees}) > 1:
        raise refused(path, f"its trees are not those of a {name}")


def _read_bias(path: Path, text: str) -> Bias:
    try:
        return Bias.from_text(text)
    except DataError as error:
        raise refused(path, f"its bias is none ({error})") from None
