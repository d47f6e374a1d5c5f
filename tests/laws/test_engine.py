"""No switch of the engine changes a tree: kernels, shortcuts, threads, row order, sets grown together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from hornbeam import _core
from hornbeam.growth import ClassTarget, Engine, NumericTarget, Parameters, grow_tree
from hornbeam.table import Table, encode_classes, from_data
from tests.forests import grow_forest
from tests.laws.engine_tables import Target, assert_same, generated, take
from tests.real_data import RealSet

KERNELS = _core.kernels()
NOMINAL = ("subset", "value", "multiway")
NARROW = 32768  # nodes of up to so many rows are kept in half the space
TARGETS: dict[str, dict[str, int]] = {
    "2 classes": {"classes": 2},
    "3 classes": {"classes": 3},
    "26 classes": {"classes": 26},
    "1 number": {"targets": 1},
    "3 numbers": {"targets": 3},
}


def rules(target: Target, *, nominal: tuple[str, ...] = NOMINAL, leaf: int = 1) -> Iterator[Parameters]:
    """Every criterion that fits the target with every nominal mode."""
    numeric = isinstance(target, NumericTarget)
    for criterion in ("variance",) if numeric else ("gini", "entropy", "gain_ratio"):
        for mode in nominal:
            yield Parameters(criterion, mode, min_samples_leaf=leaf)


def assert_every_path_agrees(
    table: Table,
    target: Target,
    parameters: Parameters,
    *,
    plain: bool = True,
    threads: tuple[int, ...] = (2, 3),
) -> None:
    expected = grow_tree(table, target, parameters, engine=Engine(KERNELS[0]))
    for kernels in KERNELS[1:]:
        tree = grow_tree(table, target, parameters, engine=Engine(kernels))
        assert_same(tree, expected, (parameters, kernels))
    for count in threads:
        tree = grow_tree(table, target, parameters, threads=count, engine=Engine("auto"))
        assert_same(tree, expected, (parameters, f"{count} threads"))
    for counting in ("always", "never"):
        tree = grow_tree(table, target, parameters, threads=2, engine=Engine("auto", counting=counting))
        assert_same(tree, expected, (parameters, f"values counted: {counting}"))
    for kernels in KERNELS if parameters.criterion in ("gini", "entropy", "gain_ratio") else ():
        tree = grow_tree(table, target, parameters, engine=Engine(kernels, twigs=False))
        assert_same(tree, expected, (parameters, kernels, "without twigs"))
    if plain:
        tree = grow_tree(table, target, parameters, engine=Engine("auto", accelerate=False))
        assert_same(tree, expected, (parameters, "no shortcuts"))


@pytest.mark.parametrize("leaf", [1, 7])
@pytest.mark.parametrize("kind", TARGETS)
def test_every_path_gives_the_same_tree(kind: str, leaf: int) -> None:
    table, target = generated(700 if kind == "26 classes" else 1500, **TARGETS[kind])
    for parameters in rules(target, leaf=leaf):
        assert_every_path_agrees(table, target, parameters)


WEIGHTS: dict[str, Callable[[np.random.Generator, int], npt.NDArray[np.float64]]] = {
    "of all bits": lambda rng, n: rng.random(n) + 0.01,
    "few": lambda rng, n: rng.choice([0.0, 0.5, 3.0], n),
    "wild": lambda rng, n: 2.0 ** rng.uniform(-30, 30, n),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", TARGETS)
def test_every_path_gives_the_same_weighted_tree(kind: str, weights: str) -> None:
    rng = np.random.default_rng(5)
    table, target = generated(700, **TARGETS[kind], nominal=False)
    target = replace(target, weights=WEIGHTS[weights](rng, 700))
    if isinstance(target, NumericTarget):
        far = replace(target, values=target.values + 1e9)
        cases = [(t, Parameters("variance", min_samples_leaf=leaf)) for t in (target, far) for leaf in (1, 7)]
    else:
        criteria = ("gini", "entropy", "gain_ratio", "c45")
        cases = [(target, Parameters(criterion, min_samples_leaf=3)) for criterion in criteria]
    for t, parameters in cases:
        expected = grow_tree(table, t, parameters, engine=Engine("auto", accelerate=False))
        assert expected.n_nodes > 4
        for kernels in KERNELS:
            tree = grow_tree(table, t, parameters, engine=Engine(kernels))
            assert_same(tree, expected, (parameters, kernels))


@pytest.mark.parametrize("leaf", [1, 7])
@pytest.mark.parametrize("kind", TARGETS)
def test_every_path_gives_the_same_tree_of_numeric_columns(kind: str, leaf: int) -> None:
    table, target = generated(1500 if kind == "26 classes" else 3000, **TARGETS[kind], nominal=False)
    for parameters in rules(target, nominal=("subset",), leaf=leaf):
        assert_every_path_agrees(table, target, parameters)


# A few rules at each size: together they are all criteria and all nominal modes.
AT_SIZE = {
    NARROW - 1: (("gini", "subset"), ("gain_ratio", "multiway")),
    NARROW: (("entropy", "value"),),
    NARROW + 1: (("gini", "value"), ("entropy", "subset"), ("gain_ratio", "subset")),
    70000: (("gini", "subset"), ("entropy", "multiway")),
}


@pytest.mark.parametrize("n", AT_SIZE)
@pytest.mark.parametrize("kind", TARGETS)
def test_every_path_gives_the_same_tree_at_the_size_where_entries_grow(kind: str, n: int) -> None:
    table, target = generated(n, **TARGETS[kind])
    numeric = isinstance(target, NumericTarget)
    for criterion, mode in AT_SIZE[n][:1] if numeric else AT_SIZE[n]:
        if numeric:
            criterion = "variance"
        # Gain ratio cuts off a few rows at a time where there are many classes, and so goes very deep. What
        # takes longest goes as deep in the smaller tables of the tests above.
        limit = 12 if criterion == "gain_ratio" or n == 70000 else None
        limit = 8 if numeric or kind == "26 classes" else limit
        parameters = Parameters(criterion, mode, limit, min_samples_leaf=7)
        plain = criterion == "gini" and mode == "value"
        assert_every_path_agrees(table, target, parameters, plain=plain, threads=(2 + n % 2,))


@pytest.mark.parametrize(("classes", "n"), [*((k, n) for k in (2, 3) for n in AT_SIZE), (26, NARROW + 1)])
def test_every_path_gives_the_same_tree_of_many_numbers(classes: int, n: int) -> None:
    table, target = generated(n, classes=classes, nominal=False)
    for criterion in ("gini", "entropy") if n == NARROW + 1 else ("gini",):
        assert_every_path_agrees(table, target, Parameters(criterion), plain=n == NARROW + 1)


REAL = [
    *("letter", "nursery", "mushroom", "spambase", "yeast", "led24", "adult_train", "electricity", "shuttle"),
    *("connect4", "internet_ads_first998", "credit_approval", "abalone"),
]


def table_of(real: RealSet) -> tuple[Table, Target]:
    if real.name == "abalone":
        values = np.ascontiguousarray(real.target.to_numpy(np.float64)[:, None])
        return from_data(real.table), NumericTarget(values, ("rings",))
    return from_data(real.table), ClassTarget(*encode_classes(real.target))


@pytest.mark.parametrize("name", REAL)
def test_every_path_gives_the_same_tree_of_a_real_set(real_set: Callable[[str], RealSet], name: str) -> None:
    table, target = table_of(real_set(name))
    if table.n_rows > 10000:
        assert_every_path_agrees(table, target, Parameters("gini"), plain=False, threads=(2,))
        return
    for parameters in rules(target, nominal=("subset",) if len(table.columns) > 20 else NOMINAL):
        assert_every_path_agrees(table, target, parameters, plain=len(table.columns) < 1000, threads=(2,))


# ---- sets grown together ----


def folds(n: int, k: int) -> npt.NDArray[np.uint8]:
    """Set 0 is everything, set i everything but fold i."""
    fold = np.random.default_rng(n).integers(0, k, n)
    times = np.ones((n, k + 1), dtype=np.uint8)
    times[np.arange(n), fold + 1] = 0
    return times


def bags(n: int, k: int) -> npt.NDArray[np.uint8]:
    """Rows drawn with replacement, as many as there are."""
    rng = np.random.default_rng(n)
    drawn = [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(k)]
    return np.ascontiguousarray(np.column_stack(drawn).astype(np.uint8))


def assert_each_is_the_lone_tree(
    table: Table, target: Target, parameters: Parameters, times: npt.NDArray[np.uint8], threads: int = 1
) -> None:
    trees = grow_forest(table, target, parameters, times, threads=threads)
    assert len(trees) == times.shape[1]
    for i, tree in enumerate(trees):
        rows = np.repeat(np.arange(table.n_rows), times[:, i])
        assert_same(tree, grow_tree(*take(table, target, rows), parameters), (parameters, f"set {i}"))


@pytest.mark.parametrize("draw", [lambda n: folds(n, 10), lambda n: bags(n, 5)], ids=["folds", "bags"])
@pytest.mark.parametrize("kind", TARGETS)
def test_each_tree_of_a_forest_is_the_lone_tree_of_its_rows(
    kind: str, draw: Callable[[int], npt.NDArray[np.uint8]]
) -> None:
    table, target = generated(600, **TARGETS[kind])
    for leaf in (1, 7):
        for parameters in rules(target, leaf=leaf):
            assert_each_is_the_lone_tree(table, target, parameters, draw(600))


@pytest.mark.parametrize("draw", [lambda n: folds(n, 10), lambda n: bags(n, 5)], ids=["folds", "bags"])
@pytest.mark.parametrize("kind", TARGETS)
def test_each_tree_of_a_large_forest_is_the_lone_tree_of_its_rows(
    kind: str, draw: Callable[[int], npt.NDArray[np.uint8]]
) -> None:
    n = 36500  # a fold less is just above the switch to half the space, a node deeper below it
    table, target = generated(n, **TARGETS[kind])
    criterion = "variance" if isinstance(target, NumericTarget) else "gini"
    parameters = Parameters(criterion, max_depth=8, min_samples_leaf=7)
    assert_each_is_the_lone_tree(table, target, parameters, draw(n), threads=2)


def test_a_forest_is_the_same_on_every_path() -> None:
    table, target = generated(600, classes=3)
    times = np.concatenate([folds(600, 4), bags(600, 3)], axis=1)
    for parameters in rules(target):
        expected = grow_forest(table, target, parameters, times, engine=Engine(KERNELS[0]))
        for engine in [*map(Engine, KERNELS), Engine("auto", accelerate=False)]:
            for threads in (1, 3):
                trees = grow_forest(table, target, parameters, times, threads=threads, engine=engine)
                for tree, other in zip(trees, expected, strict=True):
                    assert_same(tree, other, (parameters, engine, threads))


def assert_all_algorithms_agree(
    table: Table, target: Target, parameters: Parameters, times: npt.NDArray[np.uint8], threads: int = 1
) -> None:
    """Serial growth is a forest for each set: the tree of its rows alone, by the laws above."""
    serial = grow_forest(table, target, parameters, times, engine=Engine(algorithm="serial"))
    engines = [
        Engine("auto", algorithm="overlapping"),
        Engine("auto", algorithm="folds"),
        *map(Engine, KERNELS),
    ]
    if parameters.criterion == "gini":
        engines += [Engine(kernels, twigs=False) for kernels in KERNELS]
    for engine in engines:
        trees = grow_forest(table, target, parameters, times, threads=threads, engine=engine)
        for i, (tree, other) in enumerate(zip(trees, serial, strict=True)):
            assert_same(tree, other, (parameters, engine, f"set {i}"))


@pytest.mark.parametrize("leaf", [1, 7])
@pytest.mark.parametrize("nominal", [False, True], ids=["numbers", "all kinds"])
@pytest.mark.parametrize("kind", TARGETS)
def test_all_algorithms_give_the_same_trees(kind: str, nominal: bool, leaf: int) -> None:
    """Large enough for the scans that look at a list once for all sets, and for near thresholds."""
    n = 700 if nominal or kind == "26 classes" else 1500
    table, target = generated(n, **TARGETS[kind], nominal=nominal)
    for parameters in rules(target, nominal=("subset",), leaf=leaf):
        assert_all_algorithms_agree(table, target, parameters, folds(n, 10), threads=1 + leaf % 3)


@pytest.mark.parametrize(
    "name", ["yeast", "spambase", "mushroom", "abalone", "credit_approval", "iris", "glass"]
)
def test_all_algorithms_give_the_same_trees_of_a_real_set(
    real_set: Callable[[str], RealSet], name: str
) -> None:
    table, target = table_of(real_set(name))
    criterion = "variance" if isinstance(target, NumericTarget) else "gini"
    assert_all_algorithms_agree(table, target, Parameters(criterion), folds(table.n_rows, 10))


def test_near_thresholds_of_several_attributes_find_room() -> None:
    """A weak rule: at one node the sets cut several attributes, each at near values, and the examples between
    all of these cuts go both ways. Together they need more room than there is."""
    n = 60000
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, 6))
    codes = (values[:, 0] + 2 * rng.normal(size=n) > 0).astype(int)
    times = np.ones((n, 11), dtype=np.uint8)
    times[np.arange(n), 1 + np.arange(n) % 10] = 0
    target = ClassTarget(*encode_classes(codes))
    assert_all_algorithms_agree(from_data(values), target, Parameters(max_depth=6), times)


@pytest.mark.parametrize("classes", [2, 4])
def test_sets_of_two_thirds_of_the_rows_count_their_own_values(classes: int) -> None:
    """With room for guests such a frame is as large as the table, whose rows have other numbers."""
    table, target = generated(900, classes=classes)
    times = np.zeros((900, 3), dtype=np.uint8)
    times[300:, 0] = times[300:700, 1] = times[500:, 2] = 1
    for counting in ("always", "auto"):
        trees = grow_forest(table, target, Parameters(), times, engine=Engine(counting=counting))
        for i, tree in enumerate(trees):
            rows = np.flatnonzero(times[:, i])
            assert_same(tree, grow_tree(*take(table, target, rows), Parameters()), (counting, f"set {i}"))


@pytest.mark.parametrize("classes", [2, 5])
def test_lists_of_a_lone_set_leave_those_of_its_neighbours_alone(classes: int) -> None:
    """Values are missing, so that lists are shorter than their nodes; sets part where rows are listed, and
    are counted by value below."""
    rng = np.random.default_rng(classes)
    for n in (60, 90, 150, 400):
        values = np.column_stack([rng.integers(0, 5, n), rng.normal(size=n).round(1), rng.integers(0, 30, n)])
        values = np.where(rng.random(values.shape) < [0.0, 0.1, 0.3], np.nan, values)
        codes = np.where(rng.random(n) < 0.3, rng.integers(0, classes, n), values[:, 0] % classes)
        target = ClassTarget(*encode_classes(codes.astype(int)))
        for k in (3, 10):
            assert_all_algorithms_agree(from_data(values), target, Parameters(), folds(n, k))


# ---- the order of the rows ----


@pytest.mark.parametrize("kind", TARGETS)
def test_the_order_of_the_rows_changes_nothing(kind: str) -> None:
    table, target = generated(40000, **TARGETS[kind])
    order = np.random.default_rng(1).permutation(40000)
    criterion = "variance" if isinstance(target, NumericTarget) else "entropy"
    parameters = Parameters(criterion, max_depth=10, min_samples_leaf=3)
    shuffled = grow_tree(*take(table, target, order), parameters)
    assert shuffled.digest == grow_tree(table, target, parameters).digest
