"""Competitors of a tree: what is shown, stored, read back and refused."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hornbeam
from hornbeam import C45Classifier, Tree, TreeClassifier
from hornbeam.errors import DataError
from tests.laws.test_oracle_c45 import GOLF


def golf() -> tuple[pd.DataFrame, list[str]]:
    cells = [line.split() for line in GOLF.splitlines()]
    frame = pd.DataFrame(cells, columns=["outlook", "temperature", "humidity", "windy", "class"])
    frame = frame.astype({"temperature": int, "humidity": float})
    return frame.drop(columns="class"), frame["class"].tolist()


@pytest.fixture
def model() -> TreeClassifier:
    return TreeClassifier(criterion="gini", nominal="value", competitors=5).fit(*golf())


def test_quinlans_golf() -> None:
    """The tree of the C4.5 distribution, cut between 75 and 78."""
    tree = C45Classifier().fit(*golf()).tree_
    assert [tree.test_text(node) for node in range(tree.n_nodes)] == [
        "outlook", "", "windy", "humidity <= 77.5", "", "", "", "",
    ]  # fmt: skip
    assert tree.n_leaves == 5


def test_they_are_other_attributes_best_first(model: TreeClassifier) -> None:
    tree = model.tree_
    for node in range(tree.n_nodes):
        found = tree.competitors(node)
        if tree.is_leaf(node):
            assert found == ()
            continue
        names = [competitor.attribute for competitor in found]
        own = tree.schema.attributes[tree.arrays["attribute"][node]].name
        assert own not in names
        assert len(set(names)) == len(names)
        qualities = [tree.arrays["gain"][node], *(competitor.quality for competitor in found)]
        assert qualities == sorted(qualities, reverse=True)


def test_they_say_what_they_ask(model: TreeClassifier) -> None:
    by_attribute = {competitor.attribute: competitor for competitor in model.tree_.competitors(0)}
    assert set(by_attribute) == {"temperature", "humidity", "windy"}
    humidity, windy = by_attribute["humidity"], by_attribute["windy"]
    assert humidity.text == f"humidity <= {humidity.threshold:g}"
    assert (humidity.kind, humidity.branches) == ("numeric", ())
    assert (windy.kind, windy.threshold) == ("value", None)
    assert windy.branches == (("false", 0), ("true", 1))
    assert type(by_attribute["temperature"].threshold) is int


def test_text_shows_them_on_request(model: TreeClassifier) -> None:
    plain, shown = model.tree_.to_text(), model.tree_.to_text(competitors=True)
    extra = [line for line in shown.splitlines() if "(next: " in line]
    assert [line for line in shown.splitlines() if line not in extra] == plain.splitlines()
    assert extra[0].startswith(f"|   (next: {model.tree_.competitors(0)[0].text}  gain ")
    without = TreeClassifier(nominal="value").fit(*golf()).tree_
    assert without.to_text(competitors=True) == without.to_text()


def test_the_tree_is_the_same_without_them(model: TreeClassifier) -> None:
    without = TreeClassifier(criterion="gini", nominal="value").fit(*golf()).tree_
    assert without == model.tree_
    assert "competitors" not in json.loads(without.to_json())
    assert without.competitors(0) == ()


def all_of(tree: Tree) -> list[Any]:
    return [tree.competitors(node) for node in range(tree.n_nodes)]


@pytest.mark.parametrize("criterion", ["gini", "c45"])
@pytest.mark.parametrize("nominal", ["subset", "value", "multiway"])
def test_they_survive_json_pickle_and_a_file(tmp_path: Path, criterion: str, nominal: str) -> None:
    model = C45Classifier(criterion=criterion, nominal=nominal, min_objs=1, competitors=3).fit(*golf())
    tree = model.tree_
    path = tmp_path / "m.hornbeam"
    hornbeam.save(model, path)
    loaded = hornbeam.load(path)
    assert type(loaded) is C45Classifier
    assert loaded.get_params() == model.get_params()
    for other in (Tree.from_json(tree.to_json()), pickle.loads(pickle.dumps(tree)), loaded.tree_):
        assert all_of(other) == all_of(tree)
        assert other.to_json() == tree.to_json()
        assert other == tree


def test_an_infinite_quality_survives_json(model: TreeClassifier) -> None:
    record = model.tree_.to_record()
    record["competitors"]["quality"][0] = "inf"
    again = Tree.from_record(record)
    assert again.competitors(0)[0].quality == float("inf")
    assert again.to_record() == record


def test_those_of_some_nodes(model: TreeClassifier) -> None:
    """What pruning needs: the tests of kept nodes in another order, and leaves."""
    tree = model.tree_
    kept = tree.kept_competitors
    assert kept is not None
    everything = kept.take(range(tree.n_nodes))
    assert all(np.array_equal(everything.arrays[name], kept.arrays[name]) for name in kept.arrays)
    inner = [node for node in range(tree.n_nodes) if not tree.is_leaf(node)]
    some = kept.take([inner[-1], -1, inner[0]])
    sizes = [len(kept.of(inner[-1])), 0, len(kept.of(inner[0]))]
    assert [len(some.of(node)) for node in range(3)] == sizes
    begin = kept.of(inner[0])[0]
    assert some.arrays["threshold"][some.of(2)[0]] == kept.arrays["threshold"][begin]
    assert len(kept.take([-1]).arrays["kind"]) == 0


BROKEN: dict[str, Any] = {
    "start": [0],
    "kind": ["leaf"],
    "attribute": [99],
    "default_child": [2],
    "threshold": [None],
    "quality": ["nan"],
    "gain": [None],
    "branch_start": [1],
    "branch_code": [7],
    "branch_child": [5],
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_forged_list_is_refused(model: TreeClassifier, name: str) -> None:
    record = model.tree_.to_record()
    for make in (
        lambda values: [*BROKEN[name], *values[1:]] if name != "threshold" else [None] * len(values),
        lambda values: values[:-1],
        lambda values: [*values, *BROKEN[name]],
        lambda values: "text",
        lambda values: None,
    ):
        forged = copy.deepcopy(record)
        forged["competitors"][name] = make(forged["competitors"][name])
        if forged == record:
            continue
        with pytest.raises(DataError) as caught:
            Tree.from_record(forged)
        assert "\n" not in str(caught.value)


def test_a_list_too_many_or_too_few_is_refused(model: TreeClassifier) -> None:
    record = model.tree_.to_record()
    del record["competitors"]["gain"]
    with pytest.raises(DataError, match="exactly the keys"):
        Tree.from_record(record)
    record["competitors"] = None
    with pytest.raises(DataError, match="exactly the keys"):
        Tree.from_record(record)


def test_a_leaf_has_none(model: TreeClassifier) -> None:
    record = model.tree_.to_record()
    start = record["competitors"]["start"]
    leaf = record["nodes"]["kind"].index("leaf")
    total = start[-1]
    record["competitors"]["start"] = [0] * (leaf + 1) + [total] * (len(start) - leaf - 1)
    with pytest.raises(DataError, match="a leaf has one"):
        Tree.from_record(record)


def test_places_whose_differences_wrap_around_are_refused() -> None:
    """Between neighbours 2**62 is added, modulo 2**64: each difference is positive, and the end is right."""
    X = np.array([[i // 4, i // 2 % 2, i % 2] for i in range(8)], dtype=np.float64)
    record = TreeClassifier(competitors=2).fit(X, np.arange(8)).tree_.to_record()
    assert record["nodes"]["kind"][:4] == ["numeric"] * 4
    record["competitors"]["start"][:5] = [0, 2**62, -(2**63), -(2**62), 0]
    with pytest.raises(DataError, match="'start' does not part them"):
        Tree.from_record(record)
