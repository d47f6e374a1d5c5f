"""The model file of bagged trees (docs/model-file.md): many trees, what they share written once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import hornbeam
from hornbeam.ensemble import MAX_BAGS, VOTING, Bags, Committee, SourceBags
from hornbeam.growth import Forest, Pair
from hornbeam.model import Tree, refused
from hornbeam.table.sources.draws import MOST_RATE

from .model_parameters import (
    CLASS_PARAMETERS,
    TREE_PARAMETERS,
    Path,
    check_parameters,
    class_array,
    finite,
    given_parameters,
)

BAGGED_CLASSIFIER, BAGGED_REGRESSOR = "BaggedTreesClassifier", "BaggedTreesRegressor"
BAGGED = (BAGGED_CLASSIFIER, BAGGED_REGRESSOR)
_SHARED = ("schema", "classes", "targets")
_KEYS = {"estimator", "parameters", "bags", "trees", "notes", *_SHARED}
_PARAMETERS = TREE_PARAMETERS | {"n_estimators", "algorithm", "max_samples", "bootstrap", "oob_score"}
_BAGS = {"rows": int, "draws": int, "replace": bool, "weighted": bool, "seeds": list}
_DEALT = {"rate": float, "keyed": bool}  # of bags over a source


@dataclass(frozen=True)
class StoredBag:
    """What the file of a bagged model holds. Reading one needs no scikit-learn."""

    estimator: str
    parameters: dict[str, Any]
    bags: Bags
    pairs: tuple[Pair, ...]
    notes: dict[str, Any]
    """What else the writer wanted to keep: plain JSON, shown and never interpreted."""

    @property
    def is_classifier(self) -> bool:
        return self.estimator == BAGGED_CLASSIFIER

    @property
    def trees(self) -> tuple[Tree, ...]:
        return tuple(pair.tree for pair in self.pairs)

    @property
    def committee(self) -> Committee:
        return Committee(self.trees, self.parameters.get("voting", VOTING[0]))

    @classmethod
    def of(cls, name: str, parameters: dict[str, Any], bags: Bags, members: list[Any]) -> StoredBag:
        """That of a fitted estimator and its trees."""
        pairs = tuple(Pair(member.tree_, member.unpruned_tree_) for member in members)
        return cls(name, parameters, bags, pairs, {})

    def payload(self) -> dict[str, Any]:
        """The plain document."""
        first, bags = self.pairs[0].tree.to_record(), self.bags
        payload = {
            "estimator": self.estimator,
            "parameters": {name: finite(value) for name, value in self.parameters.items()},
            "bags": bags_record(bags),
            **{name: first[name] for name in _SHARED},
            "trees": [_alone(pair.tree) for pair in self.pairs],
            "notes": self.notes,
        }
        if all(pair.tree is pair.unpruned for pair in self.pairs):
            return payload
        unpruned = [None if pair.tree is pair.unpruned else _alone(pair.unpruned) for pair in self.pairs]
        return payload | {"unpruned": unpruned}

    @classmethod
    def read(cls, path: Path, payload: dict[str, Any]) -> StoredBag:
        """That of a document; DataError in one line where it is not one."""
        name = payload["estimator"]
        if set(payload) - {"unpruned"} != _KEYS:
            raise refused(path, f"it has the entries {', '.join(sorted(map(str, payload))[:12])}")
        own = CLASS_PARAMETERS | {"voting"} if name == BAGGED_CLASSIFIER else set()
        check_parameters(path, payload, _PARAMETERS | own)
        if payload["parameters"].get("voting", "soft") not in VOTING:
            raise refused(path, "its voting is neither soft nor hard")
        bags, trees = read_bags(path, payload["bags"]), payload["trees"]
        unpruned = payload.get("unpruned", [None] * len(bags))
        if any(not isinstance(some, list) or len(some) != len(bags) for some in (trees, unpruned)):
            raise refused(path, "it has not a tree for each of its bags")
        shared = {key: payload[key] for key in _SHARED}
        if (shared["classes"] is not None) != (name == BAGGED_CLASSIFIER):
            raise refused(path, f"its trees are not those of a {name}")
        pairs = []
        for record, before in zip(trees, unpruned, strict=True):
            tree = _read_tree(path, record, shared)
            pairs.append(Pair(tree, tree if before is None else _read_tree(path, before, shared)))
        return cls(name, payload["parameters"], bags, tuple(pairs), payload["notes"])

    def estimate(self) -> Any:
        """The fitted estimator."""
        model: Any = getattr(hornbeam, self.estimator)(**given_parameters(self.parameters))
        classes = self.trees[0].classes
        model._keep(Forest.of(self.pairs), self.bags, None if classes is None else class_array(classes))
        return model


def _alone(tree: Tree) -> dict[str, Any]:
    """What the file says of one tree and not of all."""
    return {name: value for name, value in tree.to_record().items() if name not in _SHARED}


def _read_tree(path: Path, record: object, shared: dict[str, Any]) -> Tree:
    if not isinstance(record, dict) or set(record) & set(shared):
        raise refused(path, "one of its trees is not an object of its own")
    return Tree.from_record({**record, **shared})


def bags_record(bags: Bags) -> dict[str, Any]:
    """What the file says of bags; of those over a source also their rule."""
    record = {
        "rows": bags.n_rows,
        "draws": bags.draws,
        "replace": bags.replace,
        "weighted": bags.weights is not None or bags.lost,
        "seeds": bags.seeds.tolist(),
    }
    if isinstance(bags, SourceBags):
        return record | {"rate": bags.rate, "keyed": bags.keyed}
    return record


def read_bags(path: Path, record: object) -> Bags:
    types = {name: type(value) for name, value in record.items()} if isinstance(record, dict) else {}
    if not isinstance(record, dict) or types not in (_BAGS, _BAGS | _DEALT):
        raise refused(path, f"its bags are not an object with exactly the keys {', '.join(_BAGS)}")
    seeds = record["seeds"]
    if not 1 <= len(seeds) <= MAX_BAGS or not all(type(seed) is int and 0 <= seed < 2**32 for seed in seeds):
        raise refused(path, "the seeds of its bags are not whole numbers from 0 to 2**32 - 1")
    if not 1 <= record["rows"] < 2**63 or not 1 <= record["draws"] < 2**63:
        raise refused(path, "its bags have no rows")
    kept = record["rows"], record["draws"], np.array(seeds, dtype=np.int64), record["replace"]
    if "rate" not in record:
        return Bags(*kept, lost=record["weighted"])
    if not 0 < record["rate"] <= MOST_RATE:
        raise refused(path, f"the rate of its bags is not above 0 up to {MOST_RATE:g}")
    return SourceBags(*kept, rate=record["rate"], keyed=record["keyed"])
