"""`hornbeam maintain` with files that have columns and no rows."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from tests.unit.cli.test_command import place, refused
from tests.unit.cli.test_maintain import rows, told

__all__ = ["place", "rows"]


def test_files_without_rows_are_empty_batches_but_not_for_sync(rows: pa.Table) -> None:
    pc.write_csv(rows.slice(0, 0), "none.csv")
    pq.write_table(rows.slice(0, 0), "none.parquet")
    for i, name in enumerate(("none.csv", "none.parquet")):
        assert told("insert", "t.tree", name, "--id", name)["inserted"] == 0
        assert told("delete", "t.tree", name, "--id", name)["repeated"]
        refused(3, "maintain", "sync", "t.tree", name, says="has no rows; at least one is needed")
        assert told("status", "t.tree")["batch"] == i + 1
