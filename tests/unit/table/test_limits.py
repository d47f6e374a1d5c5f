"""The limits of a table, and what the table room does not load."""

import subprocess
import sys

import numpy as np
import pytest

from hornbeam.errors import DataError
from hornbeam.table import MAX_CATEGORIES, conform, from_data


def test_two_to_the_31_rows_are_refused() -> None:
    X = np.broadcast_to(np.zeros((1, 1)), (2**31, 1))
    with pytest.raises(DataError, match="2147483648 rows; fewer than 2147483648 are allowed"):
        from_data(X)
    with pytest.raises(DataError, match="rows"):
        conform(X, from_data(np.zeros((1, 1))).schema)


def test_more_than_two_to_the_16_columns_are_refused() -> None:
    assert len(from_data(np.zeros((1, 2**16))).columns) == 2**16
    with pytest.raises(DataError, match="65537 columns; at most 65536 are allowed"):
        from_data(np.zeros((1, 2**16 + 1)))


@pytest.mark.parametrize("as_text", [True, False])
def test_more_than_a_million_categories_are_refused_and_a_million_are_not(as_text: bool) -> None:
    numbers = np.arange(MAX_CATEGORIES + 1)
    X = numbers.astype(str).astype(object)[:, None] if as_text else numbers[:, None]
    with pytest.raises(DataError, match="attribute 'x0': 1000001 categories; at most 1000000 are allowed"):
        from_data(X, nominal_features=[0])
    assert len(from_data(X[1:], nominal_features=[0]).schema.attributes[0].labels) == MAX_CATEGORIES


def test_a_float_array_loads_no_other_library() -> None:
    code = (
        "import sys, numpy as np\n"
        "from hornbeam.table import from_data, conform, encode_classes, encode_targets\n"
        "table = from_data(np.eye(3)); table.native(); conform(np.eye(3), table.schema)\n"
        "encode_classes(np.arange(3)); encode_targets(np.arange(3.0))\n"
        "loaded = {'pyarrow', 'pandas', 'polars', 'duckdb', 'sklearn', 'narwhals'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
