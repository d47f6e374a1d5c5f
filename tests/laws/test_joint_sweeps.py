"""One pass through a list or through counts finds for each training set the cut that it finds by itself."""

import itertools

import numpy as np
import pytest

from hornbeam import _core
from hornbeam.growth import ClassTarget, Engine, Forest, Parameters, TrainingSets, grow_sets
from hornbeam.table import Table, from_data

CRITERIA = ("gini", "entropy", "gain_ratio", "c45")
PLAIN = Engine(algorithm="serial", accelerate=False)


def folds_of(rows: int, folds: int, repeats: int, random: np.random.Generator) -> TrainingSets:
    """All rows, then those that each fold leaves, once for every repeat."""
    drawn = [random.permutation(rows) % folds for _ in range(repeats)]
    kept = (fold != f for fold, f in itertools.product(drawn, range(folds)))
    return TrainingSets.of_rows(rows, kept, all_rows_first=True)


def drawn(
    rows: int, columns: int, classes: int, *, values: int = 0, missing: float = 0.0, seed: int = 0
) -> tuple[Table, ClassTarget]:
    """Numbers that say something of the class; of a few `values`, or of many; some cells missing."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(rows, columns))
    signal = numbers[:, 0] + numbers[:, 1] * numbers[:, 2] + random.normal(size=rows)
    codes = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))
    if values:
        numbers = np.digitize(numbers, np.linspace(-2, 2, values - 1)).astype(np.float64)
    numbers[random.random(numbers.shape) < missing] = np.nan
    return from_data(numbers), ClassTarget(codes.astype(np.int32), np.arange(classes))


def digests(forest: Forest) -> list[str]:
    return [tree.digest for tree in forest.trees()]


CASES: dict[str, dict[str, float]] = {
    "two classes": {"classes": 2},
    "many classes": {"classes": 12},
    "two classes, missing cells": {"classes": 2, "missing": 0.1},
    "many classes, missing cells": {"classes": 5, "missing": 0.1},
    "few values": {"classes": 4, "values": 9},
    "few values, missing cells": {"classes": 3, "values": 9, "missing": 0.1},
}


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("case", CASES)
def test_every_set_has_the_tree_that_it_grows_by_plain_scans(case: str, criterion: str) -> None:
    table, target = drawn(900, 4, **CASES[case])  # type: ignore[arg-type]
    sets = folds_of(table.n_rows, 10, 1, np.random.default_rng(1))
    parameters = Parameters(criterion=criterion, min_samples_leaf=4).checked("classification")
    expected = digests(grow_sets(table, target, parameters, sets, engine=PLAIN))
    for kernels, joint in itertools.product(_core.kernels(), (True, False)):
        forest = grow_sets(table, target, parameters, sets, engine=Engine(kernels, joint=joint))
        assert digests(forest) == expected, (kernels, joint)


def passes(engine: Engine, criterion: str, sets: TrainingSets, table: Table, target: ClassTarget) -> int:
    parameters = Parameters(criterion=criterion, min_samples_leaf=4).checked("classification")
    return int(grow_sets(table, target, parameters, sets, engine=engine).levels.joint.sum())


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("values", [0, 9])
def test_folds_reach_the_joint_passes_and_a_switch_turns_them_off(criterion: str, values: int) -> None:
    table, target = drawn(3000, 4, 4, values=values)
    sets = folds_of(table.n_rows, 10, 1, np.random.default_rng(1))
    assert passes(Engine(), criterion, sets, table, target) > 0
    assert passes(Engine(joint=False), criterion, sets, table, target) == 0
    assert passes(Engine(), criterion, TrainingSets(sets.n_rows, sets.sets[:1]), table, target) == 0


@pytest.mark.parametrize("criterion", CRITERIA[1:])
def test_missing_cells_and_many_sets_reach_the_joint_passes(criterion: str) -> None:
    table, target = drawn(3000, 3, 3, missing=0.05)
    for folds, repeats in ((10, 1), (20, 1), (10, 4)):
        sets = folds_of(table.n_rows, folds, repeats, np.random.default_rng(1))
        assert passes(Engine(), criterion, sets, table, target) > 0, (folds, repeats)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("folds", "repeats"), [(20, 1), (50, 1), (10, 4)])
def test_many_sets_have_the_trees_that_each_of_them_grows_alone(
    folds: int, repeats: int, criterion: str
) -> None:
    table, target = drawn(1500, 3, 3, missing=0.03, seed=folds)
    sets = folds_of(table.n_rows, folds, repeats, np.random.default_rng(2))
    parameters = Parameters(criterion=criterion, min_samples_leaf=6).checked("classification")
    expected = digests(grow_sets(table, target, parameters, sets, engine=PLAIN))
    for joint in (True, False):
        assert digests(grow_sets(table, target, parameters, sets, engine=Engine(joint=joint))) == expected


@pytest.mark.parametrize("criterion", CRITERIA)
def test_lists_beyond_a_narrow_frame_are_gone_through_at_once(criterion: str) -> None:
    table, target = drawn(34000, 3, 3)
    sets = folds_of(table.n_rows, 5, 1, np.random.default_rng(3))
    parameters = Parameters(criterion=criterion, max_depth=3).checked("classification")
    alone = grow_sets(table, target, parameters, sets, engine=Engine(algorithm="serial"))
    together = grow_sets(table, target, parameters, sets)
    assert digests(together) == digests(alone)
    assert criterion == "gini" or together.levels.joint[0] > 0


def test_tests_kept_beside_those_of_nodes_are_the_same_from_joint_passes() -> None:
    table, target = drawn(1200, 4, 4)
    sets = folds_of(table.n_rows, 10, 1, np.random.default_rng(4))
    for criterion in ("gini", "entropy", "gain_ratio"):
        parameters = Parameters(criterion=criterion, min_samples_leaf=5, competitors=2)
        forests = []
        for joint in (True, False):
            engine = Engine(joint=joint)
            forest = grow_sets(table, target, parameters.checked("classification"), sets, engine=engine)
            assert (forest.levels.joint.sum() > 0) == joint
            forests.append([tree.kept_competitors for tree in forest.trees()])
        for one, other in zip(*forests, strict=True):
            assert one is not None
            assert other is not None
            assert all(np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays), criterion
