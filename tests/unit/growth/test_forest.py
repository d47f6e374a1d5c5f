"""The forest of many sets: chunks, memory limits, what is kept and what is grown again, progress."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from hornbeam.errors import DataError, UsageError
from hornbeam.growth import (
    ClassTarget,
    Engine,
    Forest,
    Parameters,
    Pruning,
    TrainingSets,
    bytes_of,
    grow_in_order,
    grow_sets,
    memory,
)
from hornbeam.growth.grow import leaf_places
from hornbeam.table import from_data

N, K = 200, 90
RANDOM = np.random.default_rng(2)
TABLE = from_data(RANDOM.normal(size=(N, 3)).round(1))
TARGET = ClassTarget(RANDOM.integers(0, 3, N).astype(np.int32), np.array(["a", "b", "c"], dtype=object))
SETS = TrainingSets.of_rows(N, (RANDOM.integers(0, N, N) for _ in range(K - 1)), all_rows_first=True)
BY_ERRORS = Pruning("error_based")


def grown(**options: Any) -> Forest:
    return grow_sets(TABLE, TARGET, Parameters(min_samples_leaf=2), SETS, pruning=BY_ERRORS, **options)


def digests(forest: Forest) -> list[str]:
    return [tree.digest for tree in forest.trees()]


def test_more_sets_than_grow_together_make_one_forest() -> None:
    forest = grown()
    assert (len(forest), forest.n_sets) == (K, K)
    assert len(set(digests(forest))) > K // 2
    assert forest.tree(0) is forest.tree(0)
    assert forest.tree(5).n_leaves < forest.unpruned_tree(5).n_leaves
    assert digests(grown(engine=Engine(algorithm="serial"))) == digests(forest)
    assert digests(grown(engine=Engine(algorithm="overlapping"))) == digests(forest)
    for i in (-1, K):
        with pytest.raises(IndexError, match=f"tree {i} of a forest of {K}"):
            forest.tree(i)


def test_a_tree_that_is_kept_leaves_the_forest_that_grew_it() -> None:
    forest = grown(engine=Engine(algorithm="overlapping"))
    homes = forest._homes
    native, place = homes[3]
    kept = forest.tree(3)
    assert 3 not in homes
    with pytest.raises(ValueError, match="the tree of this training set was released"):
        native.tree(place)
    assert forest.tree(3) is kept
    expected = digests(grown(engine=Engine(algorithm="serial")))
    assert digests(forest) == expected
    assert not homes


def test_sets_of_another_table_are_refused() -> None:
    with pytest.raises(UsageError, match="training sets of 3 rows for a table of 200"):
        grow_sets(TABLE, TARGET, Parameters(), TrainingSets.of_rows(3, [[1, 2]]))


def test_what_does_not_fit_the_memory_is_grown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = digests(grown())
    least = int(str(_refusal(1)).split("may need ")[1].split(" ")[0].split(".")[0]) * 1000 + 1000
    seen: dict[int, str] = {}
    forest = grown(memory_limit=least, visit=lambda i, pair: seen.update({i: pair.tree.digest}))
    assert [seen[i] for i in range(K)] == expected
    assert len(forest._pairs) < K
    assert digests(forest) == expected
    monkeypatch.setattr(memory, "KEPT_TREES", 20_000)
    forest = grown(visit=lambda i, pair: None)
    assert len(forest._pairs) < K
    assert digests(forest) == expected
    assert digests(pickle.loads(pickle.dumps(forest))) == expected


def _refusal(limit: int) -> DataError:
    with pytest.raises(
        DataError, match=r"a tree of this table may need .* KB; allow as much, or limit"
    ) as error:
        grown(memory_limit=limit)
    return error.value


def test_a_smaller_tree_needs_less_memory() -> None:
    def least(**parameters: Any) -> float:
        with pytest.raises(DataError, match="may need") as error:
            grow_sets(TABLE, TARGET, Parameters(**parameters), SETS, memory_limit=1)
        return float(str(error.value).split("may need ")[1].split(" ")[0])

    assert least(max_depth=2) < least(min_samples_leaf=10) < least(min_samples_leaf=0.01) <= least()


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (None, None),
        (10**6, 10**6),
        (2.5e6, 2_500_000),
        ("500MB", 5 * 10**8),
        (" 1.5 gib ", 3 * 2**29),
        ("7", 7),
    ],
)
def test_limits_are_numbers_or_texts(given: Any, size: int | None) -> None:
    assert bytes_of(given) == size


@pytest.mark.parametrize("given", ["", "MB", "-1MB", "0", "5 parsecs", 0, -5, True, float("nan"), [1]])
def test_other_limits_are_refused(given: Any) -> None:
    with pytest.raises(UsageError, match=r"memory_limit=.*: give a number of bytes, or a text such as"):
        bytes_of(given)


def test_levels_add_up_over_chunks() -> None:
    levels = grown(engine=Engine(algorithm="overlapping")).levels
    assert levels.seconds.shape == (len(levels.nodes), 4)
    assert levels.seconds.sum() > 0
    assert levels.nodes[0] == 2  # a root for each chunk
    assert (levels.own_entries[0] >= levels.entries[0] > 0).all()
    alone = grown(engine=Engine(algorithm="serial")).levels
    assert alone.nodes[0] == K


@pytest.mark.parametrize(("algorithm", "chunks"), [("serial", 4), ("overlapping", 1)])
def test_progress_goes_over_all_chunks(algorithm: str, chunks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    grow = Forest._grow

    def telling(forest: Forest, chunk: Any, *, last: bool, report: Any) -> None:
        report(0.5)  # the core tells ten times a second, which small growths do not last
        grow(forest, chunk, last=last)
        report(1.0)

    monkeypatch.setattr(Forest, "_grow", telling)
    heard: list[float] = []
    sets = TrainingSets.of_rows(N, (RANDOM.integers(0, N, N) for _ in range(4)))
    engine = Engine(algorithm=algorithm)
    grow_sets(TABLE, TARGET, Parameters(), sets, report=heard.append, engine=engine)
    assert heard == [(i + share) / chunks for i in range(chunks) for share in (0.5, 1.0)]


@pytest.mark.parametrize("criterion", ["gini", "c45"])
def test_rows_by_leaf_are_in_the_order_that_the_grower_leaves(criterion: str) -> None:
    codes = (TABLE.columns[0].values * 3).astype(np.int32) % 3
    tree, order = grow_in_order(TABLE, ClassTarget(codes, TARGET.labels), Parameters(criterion))
    places = leaf_places(tree)[tree.apply(TABLE)][order]
    assert tree.n_leaves > 8
    assert (np.diff(places) >= 0).all()
    assert np.array_equal(np.unique(places), np.arange(tree.n_leaves))


def test_the_forest_tells_how_stable_its_first_tree_is() -> None:
    folds = TrainingSets.of_rows(N, (np.arange(N) % 5 != i for i in range(5)), all_rows_first=True)
    forest = grow_sets(TABLE, TARGET, Parameters(max_depth=3), folds)
    stability = forest.stability()
    assert stability.n_folds == 5
    assert stability.tree is forest.tree(0)
    assert forest.stability() is stability
    assert len(forest.bifurcations) > 0
    assert forest.tests_by_level.min() >= 1
    assert forest.levels.f is forest.tests_by_level
    assert len(forest.levels.f) <= len(forest.levels.nodes)
    assert "<svg" in forest.show().svg()
    again = pickle.loads(pickle.dumps(forest))
    assert again.stability().to_text() == stability.to_text()
    assert pickle.loads(pickle.dumps(forest.levels)).f.tolist() == forest.levels.f.tolist()
    assert len(Forest.of([forest.pair(0)]).levels.nodes) == 0
