"""Trees as bytes in the file of a maintained tree: the same tree comes back, anything else is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import DataError
from hornbeam.maintained.state import packed, unpacked
from hornbeam.model import Tree

RNG = np.random.default_rng(7)
X = np.column_stack([RNG.normal(size=300), RNG.integers(0, 9, 300)])


def classes(labels: Any, **parameters: Any) -> Tree:
    target = np.array(labels)[(X[:, 0] + RNG.normal(size=300) > 0).astype(int)]
    return TreeClassifier(**parameters).fit(X, target).tree_


TREES = {
    "text": classes(["no", "yes"]),
    "truths": classes([False, True]),
    "floats": classes([0.0, 2.0]),
    "one node": classes([4, 4]),
    "costs": classes([1, 2], class_weight={1: 0.1, 2: 3.0}, cost_matrix=[[0, 2], [1, 0]]),
    "numbers": TreeRegressor(max_depth=4).fit(X, X[:, 0] ** 2).tree_,
    "several numbers": TreeRegressor(max_depth=4).fit(X, X).tree_,
}


@pytest.mark.parametrize("name", TREES)
def test_the_same_tree_comes_back(name: str) -> None:
    tree = TREES[name]
    found = unpacked(packed(tree))
    assert found.to_json() == tree.to_json()
    assert found.digest == tree.digest


def test_it_is_smaller_than_json() -> None:
    tree = TREES["text"]
    assert len(packed(tree)) < len(tree.to_json()) / 2


def test_what_is_cut_off_is_refused_in_one_line() -> None:
    data = packed(TREES["costs"])
    for length in range(0, len(data), 7):
        with pytest.raises(DataError) as refused:
            unpacked(data[:length])
        assert "\n" not in str(refused.value)


def test_other_bytes_are_refused_or_a_valid_tree() -> None:
    data = packed(TREES["text"])
    refused = 0
    for place in range(0, len(data), 3):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        try:
            unpacked(bytes(changed))
        except DataError:
            refused += 1
    assert refused > len(data) / 10
