"""Every tree of a forest is the oracle's tree of its training set: many sets, any kernels, any threads."""

from __future__ import annotations

import importlib.util
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.agreement import agree
from tests.laws.random_cases import random_cases
from tests.laws.reading import FormAndNumbers, form_and_numbers, oracles_form_and_numbers
from tests.oracle.grow import grow
from tests.oracle.table import Classes, Column, Parameters
from tests.strategies import Case

COUNTING = ["auto", "always", "never"]
ANY = st.one_of(strategies.cases(), random_cases, random_cases)


def core() -> Any:
    if importlib.util.find_spec("hornbeam._core") is None:
        pytest.skip("hornbeam._core is not there: build the package")
    from hornbeam import _core

    if not hasattr(_core, "encode") or not hasattr(_core, "grow"):
        pytest.skip("hornbeam._core does not encode and grow yet")
    return _core


def kernels_of(number: int) -> str:
    names = [*core().kernels(), "auto"]
    return str(names[number % len(names)])


# A number for each, so that the other draws of an example are the same on machines with other kernels.
KERNELS = st.integers(0, 59).map(kernels_of)


def native_column(column: Column) -> tuple[tuple[Any, ...], SimpleNamespace]:
    """A column for the core, and what is needed to read its tests: name, type, labels."""
    values = [column.at(row) for row in range(len(column.values))]
    gaps = np.array([value is None for value in values], dtype=np.uint8)
    if column.kind == "float":
        numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return (0, numbers, None, 0), SimpleNamespace(name=column.name, type="float64")
    if column.kind == "nominal":
        labels = column.ascending({value for value in values if value is not None})
        codes = np.array([-1 if value is None else labels.index(value) for value in values], dtype=np.int32)
        attribute = SimpleNamespace(name=column.name, type="nominal", labels=labels)
        return (2, codes, None, len(labels)), attribute
    whole = [0 if value is None else int(value) for value in values]
    is_wide = max(whole) > 2**63 - 1
    codes = np.array([value - 2**63 if is_wide else value for value in whole], dtype=np.int64)
    attribute = SimpleNamespace(name=column.name, type="uint64" if is_wide else "int64")
    return (1, codes, gaps if gaps.any() else None, 0), attribute


def grow_forest(
    case: Case, times: list[list[int]] | None, *, min_objs: float | None = None, **how: Any
) -> list[SimpleNamespace]:
    """The trees of the sets that `times` gives for each row (one plain set without it)."""
    columns, attributes = zip(*map(native_column, case.columns), strict=True)
    encoded = core().encode(list(columns), case.n)
    if isinstance(case.target, Classes):
        order = case.target.order
        target: Any = np.array([order.index(label) for label in case.target.labels], dtype=np.uint16)
    else:
        order, target = (), np.array(case.target.rows, dtype=np.float64)
    p = case.parameters
    forest = core().grow(
        encoded,
        target,
        len(order),
        criterion=p.criterion,
        nominal=p.nominal,
        max_depth=-1 if p.max_depth is None else p.max_depth,
        min_samples_split=p.min_samples_split,
        settings=[(p.min_samples_leaf, min_objs)],
        min_impurity_decrease=p.min_impurity_decrease,
        multiplicity=None if times is None else np.array(times, dtype=np.uint8),
        **how,
    )
    schema = SimpleNamespace(attributes=attributes)
    trees = [forest.tree(i) for i in range(forest.n_sets)]
    return [SimpleNamespace(**tree, schema=schema, classes=order) for tree in trees]


def assert_identical(case: Case, tree: SimpleNamespace, times: list[int] | None) -> None:
    def expected() -> FormAndNumbers:
        return oracles_form_and_numbers(case, grow(case.columns, case.target, case.parameters, times))

    agree((case, times), form_and_numbers(tree), expected)


@pytest.mark.agreed
@settings(max_examples=3 * settings.default.max_examples)  # type: ignore[union-attr]
@given(ANY)
def test_a_lone_tree_is_the_oracles(case: Case) -> None:
    assert_identical(case, grow_forest(case, None)[0], None)


@pytest.mark.agreed
@given(ANY)
def test_counting_every_value_gives_the_oracles_tree(case: Case) -> None:
    assert_identical(case, grow_forest(case, None, counting="always")[0], None)


@pytest.mark.agreed
@settings(max_examples=max(60, settings.default.max_examples // 2))  # type: ignore[union-attr]
@given(ANY, KERNELS, st.booleans(), st.booleans(), st.sampled_from([1, 2]), st.sampled_from(COUNTING))
def test_every_kernel_and_shortcut_gives_the_oracles_tree(
    case: Case, kernels: str, accelerate: bool, twigs: bool, threads: int, counting: str
) -> None:
    engine = {"kernels": kernels, "accelerate": accelerate, "twigs": twigs, "counting": counting}
    tree = grow_forest(case, None, threads=threads, **engine)[0]
    assert_identical(case, tree, None)


def test_a_set_with_multiplicities_is_not_confused_by_its_neighbour() -> None:
    column = Column("x", "float", (0.0, 1.0, 1.0))
    case = Case((column,), Classes((0, 1, 0)), Parameters())
    times = [[0, 2], [2, 0], [1, 2]]
    for i, tree in enumerate(grow_forest(case, times)):
        assert_identical(case, tree, [row[i] for row in times])


@pytest.mark.agreed
def test_categories_change_sides_as_often_as_the_law_allows() -> None:
    """Many categories, each leaning to a class of its own: the search would take more steps than it may."""
    source = random.Random(2)
    labels = [f"v{i:03d}" for i in range(300)]
    cells = [*labels, *source.choices(labels, k=2700)]
    lean = {label: source.choices(range(6), k=3) for label in labels}
    classes = [source.choice(lean[label]) for label in cells]
    column = Column("x", "nominal", tuple(cells))
    case = Case((column,), Classes(tuple(classes)), Parameters(max_depth=1))
    assert_identical(case, grow_forest(case, None)[0], None)


def folds(data: st.DataObject, n: int) -> list[list[int]]:
    """Cross-validation: set 0 is everything, set i everything but fold i; a fold may be empty."""
    k = data.draw(st.sampled_from([1, 2, 3, 5, 10]))
    fold = data.draw(strategies.positions(n, k))
    return [[1, *(0 if fold[row] == i else 1 for i in range(k))] for row in range(n)]


def bags(data: st.DataObject, n: int) -> list[list[int]]:
    k = data.draw(st.sampled_from([1, 2, 3, 7, 17]))
    counts = data.draw(strategies.positions(n * k, 4))
    return [[max(0, c - 1) for c in counts[row * k : (row + 1) * k]] for row in range(n)]


ALGORITHMS = ("auto", "serial", "overlapping", "folds")


@pytest.mark.agreed
@given(
    ANY,
    st.data(),
    st.sampled_from([folds, bags]),
    st.sampled_from(ALGORITHMS),
    st.sampled_from(COUNTING),
    st.booleans(),
)
def test_every_tree_of_a_forest_is_the_tree_of_its_set(
    case: Case, data: st.DataObject, draw: Any, algorithm: str, counting: str, twigs: bool
) -> None:
    times = draw(data, case.n)
    sets = [list(column) for column in zip(*times, strict=True)]
    kept = [i for i, members in enumerate(sets) if any(members)]  # a set without rows has no tree
    if not kept:
        return
    times = [[row[i] for i in kept] for row in times]
    forest = grow_forest(case, times, algorithm=algorithm, counting=counting, twigs=twigs)
    for i, tree in zip(kept, forest, strict=True):
        assert_identical(case, tree, sets[i])


def test_xlog_of_the_core_is_the_oracles() -> None:
    from tests.oracle.quality import xlog

    for m in [*range(3000), 2**31 - 1, 2**31, 10**9 + 7, *(3**i for i in range(1, 20))]:
        assert core().xlog(m) == xlog(m), m
