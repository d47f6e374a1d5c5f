"""Rows at or after the time of their example are left out before anything is learned."""

import datetime

import numpy as np
import pandas as pd
import pytest

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.data import RelationalData
from tests.unit.relational.test_bias_default import ACCOUNTS, accounts
from tests.unit.relational.test_data import rows_of

DAYS = ["2020-01-05", "2020-01-09"]
FRAMES = {
    "loan": {"id": [1, 2], "since": DAYS, "city": ["u", "v"], "bad": ["y", "n"]},
    "orders": {
        "id": [11, 12, 13, 21],
        "loan": [1, 1, 1, 2],
        "day": ["2020-01-04", "2020-01-05", None, "2020-01-08"],
    },
    "item": {"order": [11, 12, 13, 21], "size": [1, 2, 3, 4]},
    "city": {"id": ["u", "v"], "counted": ["2020-01-06", "2020-01-01"], "people": [7, 8]},
}


def data(frames: dict = FRAMES, **options: object) -> RelationalData:
    options.setdefault("time_columns", {"loan": "since", "orders": "day"})
    return RelationalData.from_frames(
        frames,
        {"loan": "id", "orders": "id", "city": "id"},
        {"orders": {"loan": "loan"}, "item": {"order": "orders"}, "loan": {"city": "city"}},
        target="loan.bad",
        **options,  # type: ignore[arg-type]
    )


def as_times(unit: str) -> dict:
    frames = {name: pd.DataFrame(columns) for name, columns in FRAMES.items()}
    for table, column in (("loan", "since"), ("orders", "day"), ("city", "counted")):
        frames[table][column] = pd.to_datetime(frames[table][column]).astype(f"datetime64[{unit}]")
    return frames


@pytest.mark.parametrize("frames", [FRAMES, as_times("s"), as_times("ns")], ids=["text", "s", "ns"])
def test_later_rows_and_what_refers_to_them_are_left_out(frames: dict) -> None:
    coded = data(frames).coded()
    assert [row[1] for row in rows_of(coded, "orders")] == [11, 21]
    assert [row[1:] for row in rows_of(coded, "item")] == [(11, 1), (21, 4)]
    assert rows_of(coded, "count_orders") == [(1, 1, 1), (2, 2, 1)]


def test_dates_and_timestamps_are_compared_as_moments() -> None:
    frames = as_times("us")
    frames["loan"]["since"] = [datetime.date(2020, 1, 5), datetime.date(2020, 1, 9)]
    assert [row[1] for row in rows_of(data(frames).coded(), "orders")] == [11, 21]


def test_the_time_may_be_one_moment_for_all_examples() -> None:
    coded = data(time_columns={"orders": "day"}, example_time="2020-01-06").coded()
    assert [row[1] for row in rows_of(coded, "orders")] == [11, 12]
    moment = np.datetime64("2020-01-06")
    coded = data(as_times("s"), time_columns={"orders": "day"}, example_time=moment).coded()
    assert [row[1] for row in rows_of(coded, "orders")] == [11, 12]


def test_a_moment_as_text_is_compared_as_the_times_are() -> None:
    for frames in (FRAMES, as_times("s")):
        coded = data(frames, time_columns={"orders": "day"}, example_time="2020-01-06").coded()
        assert [row[1] for row in rows_of(coded, "orders")] == [11, 12]
    numbers = {**FRAMES, "orders": {**FRAMES["orders"], "day": [1, 5, None, 9]}}
    coded = data(numbers, time_columns={"orders": "day"}, example_time="5.5").coded()
    assert [row[1] for row in rows_of(coded, "orders")] == [11, 12]


def test_a_misspelt_column_is_no_moment() -> None:
    for frames in (FRAMES, as_times("s")):
        with pytest.raises(UsageError, match=r"example_time='sicne' is neither a column of 'loan' nor a mom"):
            data(frames, time_columns={"orders": "day"}, example_time="sicne").coded()


def test_a_shared_table_with_a_time_is_divided_among_the_examples() -> None:
    coded = data(time_columns={"loan": "since", "city": "counted"}).coded()
    assert rows_of(coded, "city") == [(2, "v", "2020-01-01", 8)]


@pytest.mark.filterwarnings("ignore:rows of 'payment' are seen by several examples")
def test_rows_of_a_parent_with_a_time_are_divided_among_the_examples() -> None:
    some = accounts(time_columns={"loan": "since", "payment": "day"})
    coded = some.coded(some.default_bias())
    assert [row[:2] for row in rows_of(coded, "payment")] == [(2, 1), (3, 2)]
    assert [row[:2] for row in rows_of(coded, "account")] == [(1, 7), (2, 7), (3, 8)]
    assert "account           3 rows  key id  seen by some examples, 3 times" in some.describe()


@pytest.mark.filterwarnings("ignore:rows of 'payment' are seen by several examples")
def test_what_refers_to_a_row_that_is_left_out_is_left_out_too() -> None:
    frames = {**ACCOUNTS, "account": {**ACCOUNTS["account"], "opened": [15, 1, 1]}}
    some = accounts(frames, time_columns={"loan": "since", "account": "opened"})
    coded = some.coded(some.default_bias())
    assert [row[:2] for row in rows_of(coded, "account")] == [(2, 7), (3, 8)]
    assert [row[:2] for row in rows_of(coded, "payment")] == [(2, 1), (3, 2), (3, 3)]


def test_rows_between_examples_may_have_a_time() -> None:
    some = RelationalData.from_frames(
        {
            "person": {"id": [1, 2], "since": [5, 9], "happy": ["y", "n"]},
            "friend": {"one": [1, 1], "other": [2, 2], "met": [3, 7]},
        },
        {"person": "id"},
        {"friend": {"one": "person", "other": "person"}},
        target="person.happy",
        time_columns={"person": "since", "friend": "met"},
    )
    with pytest.warns(UserWarning, match=r"rows of 'friend' refer to several examples"):
        coded = some.coded(some.default_bias())
    assert [(row[0], row[3]) for row in rows_of(coded, "friend")] == [(1, 3), (2, 3), (2, 7)]


def test_a_time_of_a_table_that_nothing_links_is_refused() -> None:
    frames = {**FRAMES, "rate": {"day": ["2020-01-01"], "percent": [3]}}
    with pytest.raises(
        DataError, match=r"'rate' has a time column and no reference links it to the examples"
    ):
        data(frames, time_columns={"loan": "since", "rate": "day"}).coded()


def test_times_are_no_attributes_of_the_default_bias() -> None:
    text = str(data().default_bias())
    assert "since" not in "".join(line for line in text.splitlines() if line.startswith("rmode"))
    assert "rmode((orders(-Orders, +Key, -Value), Value" not in text


def test_times_without_a_time_of_the_examples_are_refused() -> None:
    with pytest.raises(UsageError, match=r"the examples have no time; give time_columns\['loan'\]"):
        data(time_columns={"orders": "day"}).coded()


def test_times_of_different_kinds_are_refused() -> None:
    frames = {**FRAMES, "orders": {**FRAMES["orders"], "day": [1, 2, 3, 4]}}
    with pytest.raises(DataError, match=r"orders.day holds numbers and loan.since holds text"):
        data(frames).coded()


def test_an_example_without_a_time_is_refused() -> None:
    frames = {**FRAMES, "loan": {**FRAMES["loan"], "since": ["2020-01-05", None]}}
    with pytest.raises(DataError, match=r"loan.since is NULL in 1 rows; every example needs its time"):
        data(frames).coded()


def test_a_time_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match=r"time_columns names orders.when, which is not there"):
        data(time_columns={"loan": "since", "orders": "when"}).coded()
