"""Tables with a column of every type, their names and values unkind to whoever writes SQL or pictures."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from hornbeam.model import Tree
from hornbeam.table import Table, conform, from_data
from tests.strategies import FLOATS, HUGE, INT64, UINT64
from tests.unit.model.builder import random_tree

LABELS = [
    "",
    " ",
    *"'\"`\\%;é",
    "''",
    "a'b",
    "\\'",
    "a\nb",
    "a\r\nb",
    "\t",
    "\x1b[0m",
    "NULL",
    "null",
    "1",
    "--",
]
LABELS += ["e\u0301", "日本", "\U0001f600", "\u200b", "a\u2028b", "%s", "/*", "$$", "{}", "<b>", "]]>"]
NAMES = {
    "float": 'quote " in it',
    "float32": "apostrophe ' in it",
    "int64": "back`tick",
    "uint64": "Größe 日本",
    "decimal": "new\nline",
    "date": "back\\slash",
    "timestamp s": "select",
    "timestamp us": "a.b",
    "timestamp ns": " ",
    "timestamp tz": "{x}",
    "timestamp ns tz": "%s",
    "time": "--",
    "time ns": "/* x",
    "duration": ";",
    "bool": "<b>&amp;",
    "text": "]]>",
    "category": "\U0001f600",
}
# What each database has no type for.
ABSENT = {"sqlite": ("duration",), "postgresql": (), "duckdb": ()}
SECONDS = [0, 1, -1, 86_399, 86_400, 1_700_000_000, -62_135_596_800, 253_402_300_799, 59, 60]
NANOSECONDS = [0, 1, -1, 999, 1000, 1001, 999_999_999, 10**9, 1_700_000_000_123_456_789, -(10**18) - 1]
CLOCK = [0, 1, 999_999, 10**6, 43_200 * 10**6, 86_399_999_999]


def columns(rng: np.random.Generator, n: int, dialect: str) -> dict[str, pa.Array]:
    """A column for each type, a fifth of its cells missing."""

    def array(values: list[Any], kind: pa.DataType) -> pa.Array:
        cells = [None if rng.random() < 0.2 else values[int(rng.integers(len(values)))] for _ in range(n)]
        return pa.array(cells, kind)

    # PostgreSQL's times end at microseconds, some of DuckDB's did before 2.0; SQLite's integers end at 2^63.
    step = 1000 if dialect == "postgresql" or (dialect == "duckdb" and duckdb.__version__ < "2") else 1
    unsigned = [x for x in UINT64 if x < 2**63] if dialect == "sqlite" else UINT64
    floats = [*FLOATS, float("nan"), HUGE, 2.45, 0.1 + 0.2, 1 / 3, 123456.789]
    labels = [*LABELS, "\0", "a\0b"] if dialect != "postgresql" else LABELS
    return {
        "float": array(floats, pa.float64()),
        "float32": array(
            [float(np.float32(x)) for x in (0.1, 0.2, 2.45, 1e-40, 3e38, 16777217, -0.0)], pa.float32()
        ),
        "int64": array(INT64, pa.int64()),
        "uint64": array(unsigned, pa.uint64()),
        "decimal": array(
            [Decimal(k).scaleb(-3) for k in (-1500, 0, 1, 2, 450, 1450, 99999)], pa.decimal128(18, 3)
        ),
        "date": array([0, 1, -1, 19_000, -719_162, 2_932_896], pa.date32()),
        "timestamp s": array(SECONDS, pa.timestamp("s")),
        "timestamp us": array(
            [s * 10**6 + d for s in SECONDS[:6] for d in (0, 1, 500_000)], pa.timestamp("us")
        ),
        "timestamp ns": array([x * step for x in NANOSECONDS[: 8 if step > 1 else None]], pa.timestamp("ns")),
        "timestamp tz": array([s * 1000 + 5 for s in SECONDS[:6]], pa.timestamp("ms", "Europe/Berlin")),
        "timestamp ns tz": array([x * step for x in NANOSECONDS[:8]], pa.timestamp("ns", "UTC")),
        "time": array(CLOCK, pa.time64("us")),
        "time ns": array([x * 1000 + 1000 // step - 1 for x in CLOCK[:5]], pa.time64("ns")),
        "duration": array([0, 1, -1, 86_400 * 10**6, 10**15, -(10**15) - 1], pa.duration("us")),
        "bool": array([False, True], pa.bool_()),
        "text": array(labels, pa.string()),
        "category": array([*LABELS[:6], *(f"k{i}" for i in range(20))], pa.string()).dictionary_encode(),
    }


def typed_rows(rng: np.random.Generator, n: int, dialect: str = "duckdb") -> pa.Table:
    """All types that the database has, under hostile names, in a random order."""
    made = columns(rng, n, dialect)
    kinds = [kind for kind in rng.permutation(list(made)).tolist() if kind not in ABSENT[dialect]]
    return pa.table({NAMES[kind]: made[kind] for kind in kinds})


def tree_over(rng: np.random.Generator, rows: pa.Table, n_tests: int, **shape: Any) -> tuple[Tree, Table]:
    """A random tree over the columns of a table, thresholds at and between its values, and the table encoded.

    The tree knows the labels of the first half of the rows only.
    """
    fitted = from_data(rows.slice(0, max(1, rows.num_rows // 2)))
    bounds = []
    for column in fitted.columns:
        known = column.values if column.missing is None else column.values[column.missing == 0]
        known = known[~np.isnan(known)] if column.kind == "float" else known
        bounds.append([value for value in known.tolist() if value != np.inf] or [0])
    usable = [i for i, a in enumerate(fitted.schema.attributes) if a.kind == "numeric" or len(a.labels) > 1]
    names = [fitted.schema.names[i] for i in usable]
    schema = from_data(rows.select(names).slice(0, max(1, rows.num_rows // 2))).schema
    tree = random_tree(rng, schema, n_tests, bounds=[bounds[i] for i in usable], **shape)
    return tree, conform(rows.select(names), schema)
