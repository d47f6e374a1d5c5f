"""Dense ARFF files."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import DataError
from hornbeam.table import from_data, read_path
from hornbeam.table.arff import read_arff

IRIS = r"""% a comment
@RELATION 'iris data'

@ATTRIBUTE width   REAL   % in cm
@attribute 'petal length' numeric
@Attribute count integer
@attribute "na\"me" string
@attribute class {Iris-setosa, 'Iris versicolor', "it's", '?'}

@DATA
% another comment
5.1, 3.5 ,1,free text,Iris-setosa
?,1e3,?,'quoted, text','Iris versicolor'   % trailing
-0.5,?,3,?,'?'
1,2,3,"a\'b\n",it's
"""
IRIS = IRIS.replace(",it's\n", ',"it\'s"\n')


def arff(header: str, *rows: str) -> Any:
    return read_arff([*header.splitlines(), "@data", *rows], "a.arff")


def test_the_dense_format_is_read(tmp_path: Path) -> None:
    for name, content in (("a.arff", IRIS.encode()), ("a.arff.gz", gzip.compress(IRIS.encode()))):
        (tmp_path / name).write_bytes(content)
        table = read_path(tmp_path / name)
        assert table.column_names == ["width", "petal length", "count", 'na"me', "class"]
        assert table.to_pydict() == {
            "width": [5.1, None, -0.5, 1.0],
            "petal length": [3.5, 1000.0, None, 2.0],
            "count": [1, None, 3, 3],
            'na"me': ["free text", "quoted, text", None, "a'b\n"],
            "class": ["Iris-setosa", "Iris versicolor", "?", "it's"],
        }
        kinds = [a.type for a in from_data(table).schema.attributes]
        assert kinds == ["float64", "float64", "int64", "nominal", "nominal"]


def test_integers_with_fractions_are_floats() -> None:
    assert arff("@attribute a integer", "1", "1.5").column("a").to_pylist() == [1.0, 1.5]
    assert arff("@attribute a integer", "1", str(2**70)).column("a").to_pylist() == [1.0, 2.0**70]


def test_cells_may_be_separated_by_blanks() -> None:
    assert arff("@attribute a real\n@attribute b real", "1\t2", "3 4").to_pydict() == {
        "a": [1, 3],
        "b": [2, 4],
    }


def test_a_file_without_rows_is_an_empty_table() -> None:
    table = arff("@attribute a real\n@attribute b {x}")
    assert table.num_rows == 0
    assert table.column_names == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@attribute a real\n@data\n{0 1.5}\n", "line 3: sparse ARFF is not read"),
        ("@attribute a date yyyy-MM-dd\n@data\n", "line 1: attribute 'a' has type 'date', which is not read"),
        ("@attribute a relational\n@data\n", "'relational'"),
        ("@attribute a\n@data\n", "is not '@attribute name type'"),
        ("@attribute a {x, y\n@data\n", "not closed by }"),
        ("@attribute a {x, 'y}\n@data\n", "not closed"),
        ("@attribute a real\n@data\n1,2\n", "line 3: 2 cells for 1 attributes"),
        ("@attribute a {x}\n@attribute b {x}\n@data\nx,x,{5}\n", "3 cells for 2 attributes"),
        ("@attribute a real\n@data\nabc\n", "'a' is real and has 'abc'"),
        ("@attribute a real\n@data\n1_0\n", "'a' is real and has '1_0'"),
        ("@attribute a {x}\n@data\nz\n", "attribute 'a' has 'z', which its header does not declare"),
        ("@attribute a string\n@data\n'open\n", "a quote is not closed"),
        ("@attribute a string\n@data\n'a' b\n", "after a closed quote"),
        ("@attribute a string\n@data\nit's\n", "inside a cell that is not quoted as a whole"),
        ("@data\n1\n", "@data before any @attribute"),
        ("@attribute a real\n", "has no @data line"),
        ("", "has no @data line"),
        ("hello\n", "'hello' in the header"),
        ("@attribute a real\n@attribute a real\n@data\n1,2\n", "more than once: 'a'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.arff").write_text(text)
    with pytest.raises(DataError, match=words) as caught:
        read_path(tmp_path / "a.arff")
    assert "\n" not in str(caught.value)
    assert "a.arff" in str(caught.value)


def quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029\x0b\x0c\x1c\x1d\x1e")
)


@given(st.lists(st.tuples(texts, st.floats(allow_nan=False)), min_size=1))
def test_quoted_text_and_numbers_survive(rows: list[tuple[str, float]]) -> None:
    labels = ", ".join(quote(text) for text, _ in rows)
    lines = [f"{quote(text)},{number!r},{quote(text)}" for text, number in rows]
    table = arff(f"@attribute a string\n@attribute b real\n@attribute c {{{labels}}}", *lines)
    assert table.column("a").to_pylist() == table.column("c").to_pylist() == [text for text, _ in rows]
    assert table.column("b").to_pylist() == [number for _, number in rows]
