"""Settings are grown together wherever one growth serves them all."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam import C45Classifier, TreeClassifier
from hornbeam.growth import Cut
from hornbeam.validation.families import SettingFamily, families_of
from hornbeam.validation.grid import Grid


def families(grid: Any, estimator: Any = None) -> list[SettingFamily]:
    return families_of(Grid(estimator or TreeClassifier(), grid).candidates().settings)


def test_limits_and_alphas_need_one_tree() -> None:
    grid = {"max_depth": [2, 5, None], "min_samples_split": [2, 10], "ccp_alpha": [0.0, 0.01, 0.1]}
    (family,) = families(grid | {"min_impurity_decrease": [0.0, 0.1]})
    (shared,) = family.trees
    assert sorted(shared.settings.tolist()) == list(range(36))
    assert Cut.of(shared.parameters) == Cut()
    assert len(shared.cuts) == 12
    assert len(shared.branches) == 12


def test_a_tree_is_grown_as_large_as_the_laxest_setting_needs_it() -> None:
    (family,) = families({"max_depth": [2, 5], "min_samples_split": [8, 10]})
    assert Cut.of(family.trees[0].parameters) == Cut(max_depth=5, min_samples_split=8)
    (mixed,) = families({"min_samples_split": [0.5, 10]})  # a share may be less than ten rows
    assert Cut.of(mixed.trees[0].parameters) == Cut()


def test_what_admits_a_test_makes_shared_trees_and_what_chooses_it_families() -> None:
    found = families({"min_samples_leaf": [1, 2, 0.1], "criterion": ["gini", "entropy"], "max_depth": [1, 2]})
    assert [len(family.trees) for family in found] == [3, 3]
    assert all(len(shared.settings) == 2 for family in found for shared in family.trees)


def test_limits_of_gain_make_families_where_they_cannot_be_read_off() -> None:
    settings = Grid(TreeClassifier(), {"min_impurity_decrease": [0.0, 0.1], "max_depth": [1, 2]}).candidates()
    found = families_of(settings.settings, reads_gains=False)
    decreases = [family.trees[0].parameters.min_impurity_decrease for family in found]
    assert sorted(decreases) == [0.0, 0.1]
    assert all(len(family.trees[0].settings) == 2 for family in found)


def test_rows_kept_out_make_a_family() -> None:
    found = families({"prune": [None, "reduced_error", "error_based"], "confidence": [0.1, 0.5]})
    assert [family.holds_out is not None for family in found] == [False, True]
    everyone = np.concatenate([shared.settings for family in found for shared in family.trees])
    assert sorted(everyone.tolist()) == list(range(6))


def test_c45_collapses_what_a_cut_leaves() -> None:
    (family,) = families({"max_depth": [1, 2], "prune": [None, "error_based"]}, C45Classifier())
    (shared,) = family.trees
    assert shared.cuts == ()
    assert len(shared.branches) == 2
