"""Schema, attributes and storage types: exact text, exact JSON, strict refusal."""

import copy
import datetime
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import DataError, HornbeamError, StorageError, UsageError
from hornbeam.table import Attribute, Schema
from hornbeam.table.storage import format_float, parse_type

HOSTILE = [
    "",
    " ",
    "a\nb",
    "<script>alert(1)</script>",
    "caf\u00e9",
    "cafe\u0301",
    "日本",
    "\u0000",
    "x" * 500,
    "'\"",
    "\U0001d4b3",
]
TYPES = ["float64", "int64", "uint64", "decimal:2", "decimal:0", "decimal:-3", "date", "timestamp:ns"]
TYPES += ["timestamp:us:Europe/Paris", "timestamp:s:+01:00", "time:us", "duration:ms"]

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
label_tuples = st.sets(names, max_size=6).map(lambda labels: tuple(sorted(labels)))
attributes = st.one_of(
    st.builds(Attribute, names, st.just("numeric"), st.sampled_from(TYPES)),
    st.builds(Attribute, names, st.just("nominal"), st.just("nominal"), label_tuples),
)
schemas = st.builds(
    Schema, st.lists(attributes, max_size=6, unique_by=lambda a: a.name).map(tuple), st.booleans()
)


@given(schemas)
def test_a_schema_survives_json(schema: Schema) -> None:
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


@given(schemas)
def test_a_schema_survives_pickle_and_copy(schema: Schema) -> None:
    assert pickle.loads(pickle.dumps(schema)) == schema == copy.deepcopy(schema)


def test_hostile_names_and_labels_survive_json() -> None:
    schema = Schema(tuple(Attribute(n, "nominal", "nominal", tuple(sorted(HOSTILE))) for n in HOSTILE))
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    assert schema.names == tuple(HOSTILE)
    assert [schema.index(name) for name in HOSTILE] == list(range(len(HOSTILE)))


GOOD = {
    "named": True,
    "attributes": [{"name": "a", "kind": "nominal", "type": "nominal", "labels": ["x", "y"]}],
}
AGE = {"name": "age", "kind": "numeric", "type": "int64"}


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        {},
        {"attributes": []},
        {"named": 1, "attributes": []},
        {"named": True, "attributes": {}},
        {"named": True, "attributes": [], "more": 1},
        {"named": True, "attributes": [1]},
        {"named": True, "attributes": [AGE, AGE]},
        {"named": True, "attributes": [AGE | {"labels": []}]},
        {"named": True, "attributes": [AGE | {"name": 3}]},
        {"named": True, "attributes": [AGE | {"name": "\ud800"}]},
        {"named": True, "attributes": [AGE | {"kind": "odd"}]},
        {"named": True, "attributes": [AGE | {"kind": []}]},
        {"named": True, "attributes": [AGE | {"type": "int32"}]},
        {"named": True, "attributes": [AGE | {"type": 64}]},
        {"named": True, "attributes": [AGE | {"type": "nominal"}]},
        {"named": True, "attributes": [AGE | {"kind": "nominal", "labels": []}]},
        {"named": True, "attributes": [AGE | {"kind": "nominal", "type": "nominal"}]},
        *(
            {"named": True, "attributes": [GOOD["attributes"][0] | {"labels": labels}]}  # type: ignore[index]
            for labels in (["y", "x"], ["x", "x"], [1], "xy", None, ["\ud800"])
        ),
    ],
)
def test_anything_but_a_stored_schema_is_refused_on_one_line(bad: object) -> None:
    with pytest.raises(DataError) as caught:
        Schema.from_json(bad)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "int32",
        "decimal",
        "decimal:",
        "decimal:x",
        "decimal:+1",
        "decimal:01",
        "decimal:9999",
        "decimal:-0",
        "timestamp",
        "timestamp:m",
        "timestamp:us:",
        "time:us:UTC",
        "duration:s:UTC",
        "date:s",
        "float64:1",
        "decimal:\u00b2",
    ],
)
def test_an_unknown_storage_type_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="storage type"):
        parse_type(text)


def test_duplicate_names_are_refused_by_name() -> None:
    with pytest.raises(DataError, match="'a'"):
        Schema((Attribute("a", "numeric", "int64"), Attribute("a", "numeric", "int64")))


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DataError, match="'b' is not in the schema; known are 'a'"):
        Schema((Attribute("a", "numeric", "int64"),)).index("b")


FORMATS = [
    ("int64", -5, "-5"),
    ("uint64", -(2**63), "0"),
    ("uint64", 2**63 - 1, str(2**64 - 1)),
    ("decimal:2", 150, "1.50"),
    ("decimal:2", -5, "-0.05"),
    ("decimal:0", 7, "7"),
    ("decimal:-2", 3, "300"),
    ("date", 18262, "2020-01-01"),
    ("date", -1, "1969-12-31"),
    ("timestamp:s", 1577836800, "2020-01-01T00:00:00"),
    ("timestamp:us", -1, "1969-12-31T23:59:59.999999"),
    ("timestamp:ns:Europe/Paris", 1, "1970-01-01T00:00:00.000000001Z"),
    ("time:ms", 3_661_001, "01:01:01.001"),
    ("duration:s", 93_784, "P1DT2H3M4S"),
    ("duration:ms", -1500, "-PT1.5S"),
    ("duration:s", 0, "PT0S"),
]


@pytest.mark.parametrize(("type_", "code", "text"), FORMATS)
def test_codes_read_as_exact_text(type_: str, code: int, text: str) -> None:
    attribute = Attribute("a", "numeric", type_)
    assert attribute.is_integer
    assert attribute.format(code) == text
    assert attribute.encode(attribute.decode(code)) == code


@pytest.mark.parametrize("type_", [t for t in TYPES if t != "float64"])
@given(code=st.integers(-(2**63), 2**63 - 1))
def test_every_code_has_a_text_and_survives_decode(type_: str, code: int) -> None:
    attribute = Attribute("a", "numeric", type_)
    assert attribute.encode(attribute.decode(code)) == code
    assert attribute.format(code)


@given(st.datetimes())
def test_timestamps_read_as_python_writes_them(moment: datetime.datetime) -> None:
    code = int(np.datetime64(moment, "us").astype(np.int64))
    assert Attribute("a", "numeric", "timestamp:us").format(code) == moment.isoformat()


def test_uint64_decodes_to_the_value_itself() -> None:
    attribute = Attribute("a", "numeric", "uint64")
    assert attribute.decode(-(2**63)) == 0
    with pytest.raises(DataError, match="outside the range"):
        attribute.encode(-1)


def test_floats_and_labels_have_no_integer_codes() -> None:
    attribute = Attribute("a", "numeric", "float64")
    assert not attribute.is_integer
    assert attribute.format(0.1) == "0.1"
    assert Attribute("a", "nominal", "nominal", ("x", "y")).format(1) == "y"
    for call in (attribute.decode, attribute.encode):
        with pytest.raises(DataError):
            call(1)


@given(st.floats(allow_nan=False))
def test_float_text_reads_back_as_the_same_double(value: float) -> None:
    assert float(format_float(value)) == value


def test_errors_carry_the_exit_codes_of_the_command() -> None:
    assert [e.exit_code for e in (HornbeamError, UsageError, DataError, StorageError)] == [1, 2, 3, 4]
    assert issubclass(HornbeamError, ValueError)
