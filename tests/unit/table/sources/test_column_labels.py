"""Labels gathered over chunks: the schema of a table of all rows, and chunks encoded by its codes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam.errors import DataError
from hornbeam.table import conform, from_data
from hornbeam.table.sources import ColumnLabels
from tests.unit.table.sources.rows import every_type, people


@pytest.mark.parametrize("nominal", [(), ("age", "id"), ("int8", "date32", "float32", "bool", "decimal")])
@pytest.mark.parametrize("make", [people, every_type])
def test_the_schema_and_the_codes_are_those_of_the_whole_table(
    make: object, nominal: tuple[str, ...]
) -> None:
    table = make(200)  # type: ignore[operator]
    nominal = tuple(name for name in nominal if name in table.column_names)
    source = hb.source(table)
    categories = ColumnLabels(source.schema, nominal)
    for chunk in source.scan(chunk_rows=17):
        categories.add(chunk)
    whole = from_data(table, nominal_features=list(nominal))
    assert categories.schema() == whole.schema
    start = 0
    for chunk in source.scan(chunk_rows=23):
        part = conform(chunk, categories.schema())
        for found, wanted in zip(part.columns, whole.columns, strict=True):
            np.testing.assert_array_equal(found.values, wanted.values[start : start + chunk.num_rows])
        start += chunk.num_rows


def test_parts_merge_in_any_order() -> None:
    parts = [pa.table({"a": list(text)}) for text in ("cab", "zé", "ab")]
    gathered = []
    for part in parts:
        source = hb.source(part)
        found = ColumnLabels(source.schema)
        for chunk in source.scan():
            found.add(chunk)
        gathered.append(found)
    for order in ((0, 1, 2), (2, 1, 0)):
        whole = ColumnLabels(hb.source(parts[0]).schema)
        for i in order:
            whole.merge(gathered[i])
        assert whole.labels("a") == ("a", "b", "c", "z", "é")


def test_more_than_a_million_labels_are_refused() -> None:
    def batches() -> object:
        for start in range(0, 1_100_000, 100_000):
            yield pa.record_batch({"a": [f"label {i}" for i in range(start, start + 100_000)]})

    source = hb.source(batches)
    categories = ColumnLabels(source.schema)

    def gather() -> None:
        for chunk in source.scan():
            categories.add(chunk)

    with pytest.raises(DataError, match=r"attribute 'a': .* categories; at most 1000000 are allowed"):
        gather()


def test_labels_beyond_a_memory_limit_are_refused() -> None:
    (chunk,) = hb.source(pa.table({"a": [f"label {i}" for i in range(1000)]})).scan()
    categories = ColumnLabels(chunk.schema, memory_limit=200_000)
    categories.add(chunk)
    categories.add(chunk)
    assert 100_000 < categories.bytes < 200_000
    with pytest.raises(
        DataError, match="attribute 'a': the labels of nominal columns take more than the 50,000"
    ):
        ColumnLabels(chunk.schema, memory_limit=50_000).add(chunk)
