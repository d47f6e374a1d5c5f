"""C4.5 on tables with known answers and on real ones: the package is the oracle, on every path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hornbeam
from hornbeam import C45Classifier, Tree, TreeClassifier
from hornbeam.growth import Parameters
from tests.laws.engine_tables import generated
from tests.laws.reading import fields, form_of, numbers
from tests.laws.test_engine import (
    TARGETS,
    assert_each_is_the_lone_tree,
    assert_every_path_agrees,
    bags,
    folds,
    table_of,
)
from tests.laws.test_oracle_c45 import C45, GOLF, size_with_empty_leaves, table
from tests.oracle.canonical import canonical_form
from tests.oracle.growth import Growth, TreeNode
from tests.oracle.prune import collapse, error_based
from tests.oracle.table import Classes, Column
from tests.real_data import RealSet

CLASSES = [kind for kind, target in TARGETS.items() if "classes" in target]


def oracle_columns(real: RealSet) -> list[Column]:
    def cells(name: str) -> list[Any]:
        return [None if pd.isna(value) else value for value in real.table[name].tolist()]

    return [
        Column(name, "float" if name in real.numeric else "nominal", tuple(cells(name)))
        for name in real.table.columns
    ]


def assert_tree(tree: Tree, nodes: Sequence[TreeNode], columns: Sequence[Column], target: Classes) -> None:
    found = fields(tree)
    assert form_of(found) == canonical_form(nodes, columns, target)
    assert numbers(found) == [(node.stats.n, node.impurity, node.gain) for node in nodes]


def assert_oracle(real: RealSet) -> tuple[C45Classifier, list[TreeNode], list[Column]]:
    """C45Classifier grows, collapses and prunes as the oracle does; the model and what is left."""
    columns, target = oracle_columns(real), Classes(tuple(real.target))
    growth = Growth.of(columns, target, C45)
    grown = collapse(growth, growth.grow())
    pruned = error_based(growth, grown)
    model = C45Classifier().fit(real.table, real.target)
    assert_tree(model.unpruned_tree_, grown, columns, target)
    assert_tree(model.tree_, pruned, columns, target)
    return model, pruned, columns


def test_golf_is_quinlans_tree() -> None:
    columns, target = table(GOLF, "outlook temperature humidity windy", ("temperature", "humidity"))
    frame = pd.DataFrame({column.name: list(column.values) for column in columns})
    model = C45Classifier().fit(frame, list(target.labels))
    assert_tree(model.tree_, Growth.of(columns, target, C45).grow(), columns, target)
    assert (int(model.tree_.arrays["n_children"][0]), model.tree_.n_nodes) == (3, 8)
    assert model.unpruned_tree_ == model.tree_


# The sizes once pruned, counted as C4.5 counts them: of Monk-2 C4.5 itself prints 31 nodes.
@pytest.mark.parametrize(
    ("name", "size"),
    [("monks1_train", 18), ("monks2_train", 31), ("monks3_train", 12), ("tictactoe", 142), ("car", 182)],
)
def test_nominal_tables_have_the_trees_of_c45(
    real_set: Callable[[str], RealSet], name: str, size: int
) -> None:
    model, pruned, columns = assert_oracle(real_set(name))
    assert size_with_empty_leaves(pruned, columns)[1] == size
    assert model.tree_.n_nodes == len(pruned)


@pytest.mark.parametrize("name", ["iris", "glass", "credit_approval", "breast_cancer_wisconsin"])
def test_tables_with_numbers_and_gaps_have_the_oracles_tree(
    real_set: Callable[[str], RealSet], name: str, tmp_path: Path
) -> None:
    real = real_set(name)
    model, _, columns = assert_oracle(real)
    hornbeam.save(model, tmp_path / "c45.hornbeam")
    other = hornbeam.load(tmp_path / "c45.hornbeam").pruned(real.table, real.target, confidence=0.05)
    target = Classes(tuple(real.target))
    growth = Growth.of(columns, target, C45)
    assert_tree(other.tree_, error_based(growth, collapse(growth, growth.grow()), 0.05), columns, target)


def rules(leaf: int = 1) -> list[Parameters]:
    """c45 with and without its sizes, and its sizes with the other criteria."""
    sizes: list[tuple[str, float | None]] = [("c45", None), ("c45", 2.0)]
    sizes += [(criterion, 3.0) for criterion in ("gini", "entropy", "gain_ratio")]
    return [
        Parameters(criterion, nominal, min_samples_leaf=leaf, min_objs=min_objs)
        for criterion, min_objs in sizes
        for nominal in ("subset", "value", "multiway")
    ]


@pytest.mark.parametrize("leaf", [1, 7])
@pytest.mark.parametrize("kind", CLASSES)
def test_every_path_gives_the_same_tree(kind: str, leaf: int) -> None:
    table, target = generated(1000, **TARGETS[kind])
    for parameters in rules(leaf):
        assert_every_path_agrees(table, target, parameters, threads=(2,))


@pytest.mark.parametrize("kind", ["1 number", "3 numbers"])
def test_every_path_gives_the_same_tree_of_numbers(kind: str) -> None:
    table, target = generated(1000, **TARGETS[kind])
    for nominal in ("subset", "value", "multiway"):
        parameters = Parameters("variance", nominal, min_objs=5.0)
        assert_every_path_agrees(table, target, parameters, threads=(2,))


@pytest.mark.parametrize("kind", CLASSES)
def test_every_path_gives_the_same_tree_of_a_large_table(kind: str) -> None:
    table, target = generated(40000, **TARGETS[kind])
    for parameters in (
        Parameters("c45", "value", max_depth=7, min_objs=2.0),
        Parameters("gini", max_depth=7, min_objs=9.0),
    ):
        assert_every_path_agrees(table, target, parameters, threads=(2,), plain=kind != "26 classes")


@pytest.mark.parametrize("draw", [lambda n: folds(n, 5), lambda n: bags(n, 3)], ids=["folds", "bags"])
@pytest.mark.parametrize("kind", [*CLASSES, "1 number"])
def test_each_tree_of_a_forest_is_the_lone_tree_of_its_rows(kind: str, draw: Any) -> None:
    table, target = generated(600, **TARGETS[kind])
    for parameters in [Parameters("variance", min_objs=3.0)] if kind == "1 number" else rules():
        assert_each_is_the_lone_tree(table, target, parameters, draw(600))


@pytest.mark.parametrize("name", ["letter", "spambase", "mushroom", "nursery"])
def test_every_path_gives_the_same_tree_of_a_real_set(real_set: Callable[[str], RealSet], name: str) -> None:
    table, target = table_of(real_set(name))
    assert_every_path_agrees(table, target, Parameters("c45", "multiway", min_objs=2.0), threads=(2,))


def test_a_split_that_tells_nothing_is_not_taken() -> None:
    """One row of 30000 on its own: the split has 0.0005 bits, and C4.5 asks for more than 0.001."""
    frame = pd.DataFrame({"x": np.where(np.arange(30000) == 7, "a", "b")})
    labels = np.arange(30000) == 7
    grown = partial(C45Classifier, min_objs=1, prune=None)
    assert grown().fit(frame, labels).get_n_leaves() == 1
    assert TreeClassifier(criterion="gain_ratio").fit(frame, labels).get_n_leaves() == 2
    assert grown().fit(frame[:10000], labels[:10000]).get_n_leaves() == 2
