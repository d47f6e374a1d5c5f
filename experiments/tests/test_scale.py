"""The cost model of a cluster, small: what is weighed, what the model says, what is simulated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hornbeam import TreeClassifier, source
from hornbeam.errors import UsageError
from hornbeam_experiments.records import Results
from hornbeam_experiments.run import prepare
from hornbeam_experiments.scale import Plan, run, tasks
from hornbeam_experiments.scale.constants import Constants
from hornbeam_experiments.scale.growths import DEPTH, weigh_growth
from hornbeam_experiments.scale.people import Shape
from hornbeam_experiments.scale.people import files_of as people_files
from hornbeam_experiments.scale.scans import weigh_scan
from hornbeam_experiments.scale.simulate import Assumed, Job, Phase, _mapped, simulate
from hornbeam_experiments.write import files_of

TINY = Plan(rows=16_000, growths=(8_000, 20_000), simulated_rows=(1e9, 1e10), workers=(10, 100))
FLAT = Constants(*[1.0, 0.1, 2.0, 10.0, 18.0, 100.0], *[1e-9] * 9, 0.001, *[1e-9] * 4)


@pytest.fixture(scope="module")
def results() -> Results:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "task_seconds", lambda: (0.001, "given"))
        return run(TINY)


def sheet_of(results: Results, name: str) -> list[dict[str, object]]:
    return [dict(r) for r in next(s for s in results.sheets if s.name == name).records()]


def test_every_part_has_numbers_and_figures(results: Results) -> None:
    files = files_of(results)
    sheets = {"bytes", "values", "constants", "growths", "clusters", "bottlenecks"}
    assert {f"{name}.csv" for name in sheets} <= set(files)
    assert {"bytes.svg", "wall.svg", "efficiency.svg", "time-1.svg", "time-2.svg"} <= set(files)
    assert json.loads(files["scale.json"])["experiment"] == "scale"
    assert b"32 bits" in files["scale.html"]
    assert "BOAT, one tree" in results.summary


def test_the_model_is_set_beside_parcels_that_kernels_made(results: Results) -> None:
    records = sheet_of(results, "bytes")
    assert {r["varied"] for r in records} == set(TINY.shapes)
    for record in records:
        assert 0.3 < float(str(record["model / measured"])) < 3
        if record["unsqueezed bytes"] is not None:
            counters = 4 * int(str(record["counters"]))
            assert 1 <= int(str(record["unsqueezed bytes"])) / counters < 1.2
            assert int(str(record["bytes measured"])) < counters


def test_a_growth_that_is_weighed_has_the_tree_of_fit_source(tmp_path: Path) -> None:
    shape = Shape(6_000, parts=3)
    weighed = weigh_growth(shape, tmp_path)
    here = TreeClassifier(max_depth=DEPTH).fit_source(source(people_files(shape, tmp_path)), target="class")
    assert weighed.digest == here.tree_.digest
    assert weighed.engine.shipped == sum(r.shipped_bytes for r in weighed.engine.reductions)


def test_counters_are_nodes_times_buckets_times_classes(tmp_path: Path) -> None:
    scan = weigh_scan(Shape(4_000, attributes=2, levels=3, classes=4, buckets=16, parts=2), tmp_path)
    each = scan.counted.counters / (scan.shape.nodes * scan.shape.classes)
    assert each == int(each)
    assert 2 * 16 <= each <= 2 * 2 * 16 + 4
    assert scan.counted.reached < scan.counted.counters
    assert len(scan.parts) == len(scan.shipped) == 2


def test_the_seconds_of_a_growth_add_up_to_its_wall_time(results: Results) -> None:
    for record in sheet_of(results, "clusters"):
        kinds = ("seconds of rows", "of the scheduler", "of merging", "of the client")
        spent = sum(float(str(record[name])) for name in kinds)
        assert spent == pytest.approx(float(str(record["wall seconds"])))
        assert 0 < float(str(record["efficiency"])) <= 1.0001


def test_ten_times_the_workers_are_at_most_ten_times_as_fast() -> None:
    few, many = (simulate(Job(1e10), n, FLAT, 0.0, (1.0,), Assumed()) for n in (10, 100))
    assert few.wall / 10 <= many.wall * 1.0001 < few.wall
    assert many.arrived == pytest.approx(few.arrived)
    assert simulate(Job(1e11), 10, FLAT, 0.0, (1.0,), Assumed()).wall > few.wall


def test_tasks_go_to_whoever_is_free_first() -> None:
    assert _mapped(Phase("", 4, 2.0), 2, 0.0, (1.0,)) == 4.0
    assert _mapped(Phase("", 4, 2.0), 2, 0.0, (1.0, 0.5, 0.5, 0.5)) == 3.0
    assert _mapped(Phase("", 3, 1.0), 3, 0.5, (1.0,)) == 2.0


def test_a_dear_task_makes_the_scheduler_what_is_waited_for() -> None:
    assert simulate(Job(1e9), 1000, FLAT, 1.0, (1.0,), Assumed()).waits_for == "scheduler"


def test_empty_tasks_are_timed_where_dask_is_installed() -> None:
    seconds, origin = tasks.task_seconds()
    assert seconds > 0
    assert origin.startswith(("measured", "assumed"))


def test_what_means_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="tables are generated"):
        prepare("scale", ["F1"])
    with pytest.raises(UsageError, match="--runs"):
        prepare("scale", runs=3)
    with pytest.raises(UsageError, match="scale has none"):
        prepare("scale", scale=0.5)
