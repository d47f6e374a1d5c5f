"""Arrow data whose indices, offsets or bitmaps point elsewhere: refused in one line that names the column."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbeam as hb
from hornbeam.errors import DataError
from hornbeam.table import conform, encode_classes, encode_targets, encode_weights, from_data
from hornbeam.table.sources import ColumnLabels, fold_of
from hornbeam.table.sources.draws import row_words

WORDS = pa.array(["a", "b", "c"])
DICTIONARIES: dict[str, pa.Array] = {
    "text": WORDS,
    "large text": WORDS.cast(pa.large_string()),
    "text views": WORDS.cast(pa.string_view()),
    "numbers": pa.array([7, 8, 9]),
    "text by dictionary": pa.array(["a", "b", "c"]).dictionary_encode(),
}
INDICES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()]


def coded(indices: pa.Array, dictionary: pa.Array = WORDS) -> pa.Array:
    """A dictionary array that nobody checks."""
    return pa.DictionaryArray.from_arrays(indices, dictionary, safe=False)


def by_offsets(type_: pa.DataType, offsets: list[int], content: bytes = b"abcdefgh") -> pa.Array:
    wide = pa.types.is_large_string(type_) or pa.types.is_large_binary(type_)
    places = pa.array(offsets, pa.int64() if wide else pa.int32()).buffers()[1]
    return pa.Array.from_buffers(type_, len(offsets) - 1, [None, places, pa.py_buffer(content)])


def by_views(length: int, buffer: int, offset: int) -> pa.Array:
    """Two long texts of which the second is described so."""
    prefix = int.from_bytes(b"xxxx", "little")
    views = np.array([[20, prefix, 0, 0], [length, prefix, buffer, offset]], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string_view(), 2, [None, pa.py_buffer(views.tobytes()), pa.py_buffer(b"x" * 40)]
    )


class Stream:
    """Whoever speaks the Arrow C stream and is no class of pyarrow's."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def scan(data: Any) -> None:
    source = hb.source(data)
    categories = ColumnLabels(source.schema)
    for chunk in source.scan():
        categories.add(chunk)
        conform(chunk, categories.schema())


def frame(table: pa.Table) -> pd.DataFrame:
    return pd.DataFrame(
        {name: pd.Series(pd.arrays.ArrowExtensionArray(table[name])) for name in table.column_names}
    )


def linked(table: pa.Table) -> None:
    """A table whose rows refer to those of another one."""
    rows = pa.table({"t": np.arange(len(table))} | {name: table[name] for name in table.column_names})
    examples = {"id": list(range(len(table))), "y": [f"c{i % 2}" for i in range(len(table))]}
    data = hb.RelationalData.from_frames(
        {"t": examples, "u": rows}, {"t": "id"}, {"u": {"t": "t"}}, target="t.y"
    )
    hb.RelationalTreeClassifier().fit(data)


DOORS: dict[str, Callable[[pa.Table], object]] = {
    "table": from_data,
    "batch": lambda table: [from_data(batch) for batch in table.to_batches()],
    "C stream": lambda table: from_data(Stream(table)),
    "pandas": lambda table: from_data(frame(table)),
    "source": scan,
    "source of a stream": lambda table: scan(Stream(table)),
    "source of a function": lambda table: scan(table.to_batches),
    "sample": lambda table: hb.source(table).sample(1),
}
VECTORS: dict[str, Callable[[pa.ChunkedArray], object]] = {
    "classes": encode_classes,
    "classes of a series": lambda column: encode_classes(pd.Series(pd.arrays.ArrowExtensionArray(column))),
    "targets": encode_targets,
    "targets of a table": lambda column: encode_targets(pa.table({"y": column})),
    "weights": lambda column: encode_weights(column, len(column)),
    "folds": lambda column: fold_of(column, 2),
    "draws": row_words,
}


def refuse(door: Callable[[Any], object], data: Any, name: str) -> None:
    with pytest.raises(DataError) as caught:
        door(data)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 400
    assert name in line
    assert (
        "not valid" in line or "dictionary<" in line
    )  # sources have no place for dictionaries of dictionaries


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", DICTIONARIES)
def test_indices_outside_a_dictionary_are_refused_at_every_door(kind: str, door: str) -> None:
    for wrong in (-1, -2, 3, 100, -128):
        column = coded(pa.array([0, wrong, 1], pa.int8()), DICTIONARIES[kind])
        refuse(DOORS[door], pa.table({"fine": [1, 2, 3], "colour": column}), "'colour'")


@pytest.mark.parametrize("door", VECTORS)
def test_indices_outside_a_dictionary_are_refused_in_single_columns(door: str) -> None:
    numbers, words = pa.array([7, 8, 9]), pa.array(["a", "b", "c"])
    for wrong in (-1, 3):
        for values in (numbers, words):
            column = pa.chunked_array(
                [coded(pa.array([0, 1], pa.int32()), values), coded(pa.array([2, wrong], pa.int32()), values)]
            )
            refuse(VECTORS[door], column, {"weights": "sample_weight"}.get(door, "y"))


@given(data=st.data())
def test_dictionaries_are_read_as_their_indices_say_or_refused(data: st.DataObject) -> None:
    type_ = data.draw(st.sampled_from(INDICES))
    low = 0 if pa.types.is_unsigned_integer(type_) else -2
    index = st.one_of(st.none(), st.integers(0, 2), st.integers(0, 2), st.integers(low, 4))
    chunks = data.draw(st.lists(st.lists(index, max_size=6), min_size=1, max_size=3))
    dictionaries = [
        pa.array(data.draw(st.permutations(["a", "b", "c"])) + [None][: data.draw(st.integers(0, 1))])
        for _ in chunks
    ]
    cut = data.draw(st.integers(0, 2))
    column = pa.chunked_array(
        [
            coded(pa.array([0] * cut + chunk, type_), d)[cut:]
            for chunk, d in zip(chunks, dictionaries, strict=True)
        ]
    )
    table = pa.table({"colour": column})
    wrong = any(
        i is not None and not 0 <= i < len(d)
        for chunk, d in zip(chunks, dictionaries, strict=True)
        for i in chunk
    )
    if wrong:
        refuse(from_data, table, "'colour'")
        refuse(scan, table, "'colour'")
    elif len(table):
        read = from_data(table)
        labels = read.schema.attributes[0].labels
        expected = [
            None if i is None else d[i].as_py() for c, d in zip(chunks, dictionaries, strict=True) for i in c
        ]
        assert [None if code < 0 else labels[code] for code in read.columns[0].values.tolist()] == expected
        scan(table)


@given(
    offsets=st.lists(st.integers(0, 10), min_size=2, max_size=8),
    type_=st.sampled_from([pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]),
    door=st.sampled_from(sorted(DOORS)),
)
def test_texts_are_read_as_their_offsets_say_or_refused(
    offsets: list[int], type_: pa.DataType, door: str
) -> None:
    try:
        column = by_offsets(type_, offsets)
    except pa.ArrowInvalid:  # what pyarrow itself refuses to make
        return
    right = all(a <= b for a, b in pairwise(offsets)) and offsets[-1] <= 8
    table = pa.table({"fine": np.arange(len(column)), "colour": column})
    if not right:
        with pytest.raises(DataError, match="'colour'") as caught:
            DOORS[door](table)
        assert "\n" not in str(caught.value)
    elif "binary" not in str(type_):
        DOORS[door](table)


@pytest.mark.parametrize("door", DOORS)
def test_views_of_text_that_is_not_there_are_refused(door: str) -> None:
    DOORS["table"](pa.table({"colour": by_views(20, 0, 20)}))
    for length, buffer, offset in ((20, 1, 0), (20, 0, 21), (20, -1, 0), (2000, 0, 0), (-20, 0, 0)):
        refuse(DOORS[door], pa.table({"colour": by_views(length, buffer, offset)}), "'colour'")


@pytest.mark.parametrize("door", DOORS)
def test_lists_are_refused_whatever_their_offsets(door: str) -> None:
    for offsets in ([0, 1, 2], [0, 5, 2], [0, -1, 2]):
        places = pa.array(offsets, pa.int32())
        column = pa.Array.from_buffers(
            pa.list_(pa.int64()), 2, [None, places.buffers()[1]], children=[pa.array([1, 2])]
        )
        with pytest.raises(DataError, match="'colour'") as caught:
            DOORS[door](pa.table({"colour": column}))
        assert "\n" not in str(caught.value)


def test_what_lies_under_a_missing_cell_is_not_asked() -> None:
    indices = pa.Array.from_buffers(
        pa.int8(), 3, [pa.py_buffer(b"\x05"), pa.py_buffer(np.array([0, 99, 1], np.int8).tobytes())]
    )
    table = pa.table({"colour": coded(indices)})
    assert from_data(table).columns[0].values.tolist() == [0, -1, 1]
    scan(table)


def test_linked_tables_and_maintained_rows_are_checked_too(tmp_path: Path) -> None:
    column = coded(pa.array([0, 5, 1, 0], pa.int8()))
    refuse(linked, pa.table({"colour": column}), "'colour'")
    start = pa.table({"colour": coded(pa.array([0, 1, 2, 0] * 5, pa.int8())), "y": ["p", "q", "p", "q"] * 5})
    with hb.MaintainedTree.create(tmp_path / "rows.hbt", hb.source(start), target="y") as kept:
        refuse(kept.insert, pa.table({"colour": column, "y": ["p", "q", "p", "q"]}), "'colour'")
        refuse(kept.delete, pa.table({"colour": column, "y": ["p", "q", "p", "q"]}), "'colour'")
        assert kept.stats["rows"] == 20


def test_valid_frames_of_polars_are_read() -> None:
    table = pl.DataFrame(
        {"colour": pl.Series(["a", "b", None], dtype=pl.Categorical), "size": [1.0, 2.0, 3.0]}
    )
    assert from_data(table).schema.attributes[0].labels == ("a", "b")
    assert encode_weights(pl.Series([1, 2, None]).fill_null(3), 3).tolist() == [1.0, 2.0, 3.0]  # type: ignore[union-attr]


@pytest.mark.parametrize("weights", [np.ones(2) + 5j, [1 + 2j, 1], pd.Series([1j, 2])])
def test_complex_weights_are_refused_like_complex_cells(weights: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match="Complex data not supported: sample_weight has type complex128"):
            encode_weights(weights, 2)
        with pytest.raises(DataError, match="Complex data not supported"):
            hb.TreeClassifier().fit([[1], [2]], [0, 1], sample_weight=weights)
