"""Which algorithm is chosen and why; memory where it is sure to be enough, and one line where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import C45Classifier, TreeClassifier
from hornbeam.boat import growth, meter, task
from hornbeam.boat.growth import choose
from hornbeam.boat.memory import memory_for
from hornbeam.boat.reading import Reading
from hornbeam.boat.task import LEAST_MEMORY, SourceTask
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import ClassCosts, Parameters, Pruning
from tests.unit.boat.scanner import grow_by_chunks
from tests.unit.table.sources.rows import people

SCANNING = ("boat", "rf_hybrid")


def asked(data: Any, **given: Any) -> SourceTask:
    reading = Reading(hb.source(data), ("y",), True)
    return SourceTask(reading, **{"parameters": Parameters()} | given)


def unknown(rows: pa.Table) -> Any:
    """Rows that nobody counted."""
    return lambda: rows.to_batches(max_chunksize=100)


def needed(rows: int = 20_000) -> int:
    return memory_for(asked(people(20)), rows)


def test_memory_is_chosen_where_all_rows_are_sure_to_fit() -> None:
    rows = people(20_000)
    fits = choose(asked(rows, memory_limit=needed()), SCANNING)
    assert fits.algorithm == "memory"
    assert fits.reason.startswith("20,000 rows need at most ")
    assert fits.reason.endswith("which fits the limit of " + fits.reason.split("at most ")[1].split(",")[0])
    beyond = choose(asked(rows, memory_limit=needed() - 1), SCANNING)
    assert beyond.algorithm == "boat"
    assert "20,000 rows in memory may need" in beyond.reason
    assert "more than the limit of" in beyond.reason


def test_without_a_limit_half_of_the_free_memory_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = people(20_000)
    for free, chosen in ((2 * needed(), "memory"), (2 * needed() - 2, "boat")):
        monkeypatch.setattr(task, "available_memory", lambda free=free: free)
        found = choose(asked(rows), SCANNING)
        assert found.algorithm == chosen
        assert "half of the memory that is free" in found.reason


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        (Parameters(criterion="c45"), "criterion='c45' has no bounds"),
        (Parameters(nominal="multiway"), "nominal='multiway' has no bounds"),
    ],
)
def test_what_has_no_bounds_is_counted(parameters: Parameters, says: str) -> None:
    found = choose(asked(people(60_000), parameters=parameters, memory_limit=LEAST_MEMORY), SCANNING)
    assert found.algorithm == "rf_hybrid"
    assert says in found.reason


def test_folds_grow_together_where_they_do_not_fit() -> None:
    many = asked(people(60_000), folds=3, memory_limit=LEAST_MEMORY)
    found = choose(many, SCANNING)
    assert found.algorithm == "rf_hybrid"
    assert "folds have a tree each, so every level is counted exactly" in found.reason


def test_numbers_weights_and_costs_are_guessed_as_well() -> None:
    rows = people(60_000).append_column("w", pa.array([0.5, 1.5] * 30_000))
    costs = lambda labels: ClassCosts.checked("balanced", None, labels)  # noqa: E731
    weighted = SourceTask(
        Reading(hb.source(rows, weight="w"), ("y",), True), Parameters(), memory_limit=LEAST_MEMORY
    )
    numbers = SourceTask(
        Reading(hb.source(rows), ("size",), False),
        Parameters(criterion="variance"),
        memory_limit=LEAST_MEMORY,
    )
    for many in (weighted, replace(weighted, costs=costs), numbers):
        assert choose(many, SCANNING).algorithm == "boat"
        for name in SCANNING:
            assert choose(replace(many, algorithm=name), SCANNING).reason == "it was asked for"


def test_quest_is_verified_without_bounds() -> None:
    quest = Parameters(criterion="quest")
    found = choose(asked(people(60_000), parameters=quest, memory_limit=LEAST_MEMORY), SCANNING)
    assert found.algorithm == "boat"


def test_multiway_tests_need_a_nominal_attribute_to_matter() -> None:
    rows = people(60_000).select(["age", "size", "y"])
    found = choose(
        asked(rows, parameters=Parameters(nominal="multiway"), memory_limit=LEAST_MEMORY), SCANNING
    )
    assert found.algorithm == "boat"
    labelled = asked(rows, parameters=Parameters(nominal="multiway"), memory_limit=LEAST_MEMORY)
    labelled = replace(labelled, reading=replace(labelled.reading, nominal=("age",)))
    assert choose(labelled, SCANNING).algorithm == "rf_hybrid"


def test_options_that_need_rows_stay_in_memory_or_are_refused() -> None:
    given: list[dict[str, Any]] = [
        {"pruning": Pruning("error_based")},
        {"pruning": Pruning("reduced_error")},
        {"parameters": Parameters(competitors=3)},
    ]
    for options in given:
        many = asked(people(60_000), memory_limit=LEAST_MEMORY, **options)
        found = choose(many, SCANNING)
        assert found.algorithm == "memory"
        assert found.reason.endswith("asks for all rows in memory")
        with pytest.raises(UsageError, match=r"use algorithm='memory', or "):
            choose(replace(many, algorithm="boat"), SCANNING)
    alone = asked(people(20_000), pruning=Pruning("cost_complexity"), memory_limit=LEAST_MEMORY)
    assert choose(replace(alone, algorithm="boat"), SCANNING).algorithm == "boat"


def test_what_can_be_read_once_is_read_into_memory() -> None:
    rows = people(50)
    once = asked(pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches()))
    assert choose(once, SCANNING).reason == "the source can be read once only"
    with pytest.raises(UsageError, match=r"can be read once only; write it to a file by \.spool"):
        choose(replace(once, algorithm="boat"), SCANNING)


def test_rows_that_outgrow_the_limit_are_read_again_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(growth.SCANNING, "boat", grow_by_chunks)
    rows = people(150_000)
    whole = TreeClassifier(max_depth=3).fit(rows.drop_columns("y"), rows["y"])
    source = hb.source(unknown(rows))
    model = TreeClassifier(max_depth=3).fit_source(source, target="y", memory_limit="32MB")
    found = model.scan_stats_
    assert model.tree_.digest == whole.tree_.digest
    assert found.algorithm == "boat"
    assert found.reason.startswith("the first ")
    assert found.reason.endswith("rows already may need more than 32 MB; they were read again")
    assert found.scans == 3  # the first was given up
    assert 300_000 < found.rows < 450_000
    few = TreeClassifier(max_depth=3).fit_source(
        hb.source(unknown(people(100))), target="y", memory_limit="32MB"
    )
    assert few.scan_stats_.algorithm == "memory"
    assert few.scan_stats_.reason == "all rows fit the limit of 32 MB"


def test_memory_that_was_asked_for_is_refused_in_one_line_where_it_is_too_little() -> None:
    known, counted = hb.source(people(40_000)), hb.source(unknown(people(40_000)))
    with pytest.raises(
        DataError, match=r"memory_limit=32 MB: the 40,000 rows of .* may need .* in memory; allow"
    ):
        TreeClassifier().fit_source(known, target="y", memory_limit="32MB", algorithm="memory")
    assert known.stats.scans == 0
    with pytest.raises(DataError, match=r"memory_limit=32 MB: the first [\d,]+ rows of .* may need"):
        TreeClassifier().fit_source(counted, target="y", memory_limit="32MB", algorithm="memory")
    assert 0 < counted.stats.rows < 40_000
    with pytest.raises(DataError, match="limit the tree by min_samples_leaf or max_depth"):
        C45Classifier().fit_source(known, target="y", memory_limit="32MB")


def test_32_megabytes_are_always_accepted() -> None:
    for limit in ("32MB", 32_000_000, 3.2e7):
        model = TreeClassifier().fit_source(hb.source(people(300)), target="y", memory_limit=limit)
        assert model.scan_stats_.memory_limit == 32_000_000


def test_the_free_memory_is_a_number_of_bytes() -> None:
    assert 2**20 < meter.available_memory() < 2**60


@pytest.fixture(autouse=True)
def _only_memory() -> Iterator[None]:
    """What other tests register is gone."""
    before = dict(growth.SCANNING)
    yield
    assert before == growth.SCANNING
