"""Nodes that stay open are looked into until they are settled."""

from pathlib import Path

import hornbeam as hb
from hornbeam.boat.growth import grow_source
from hornbeam.boat.task import Sampling, SourceTask, read_as
from hornbeam.growth import Parameters
from hornbeam_experiments.boat.people import people, write


def test_the_values_on_both_sides_of_a_cut_are_found_together(tmp_path: Path) -> None:
    """They lie in different buckets, and one was forgotten for the other, for ever."""
    path = tmp_path / "rows.parquet"
    write(people(10_000, function=7), path)
    parameters = Parameters(min_samples_split=1500)
    digests = set()
    for algorithm in ("boat", "memory"):
        task = SourceTask(
            read_as(hb.source(str(path)), ("class",), True, (), None, 32_000_000),
            parameters,
            memory_limit=32_000_000,
            algorithm=algorithm,
            family_rows=1500,
            sampling=Sampling(sample=200, rows=50),
        )
        digests.add(grow_source(task).trees[0].digest)
    assert len(digests) == 1
