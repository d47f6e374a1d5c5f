"""Linked tables become codes: domains by type, owners along references, NULL, counts, groups."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hornbeam.relational.bias import Bias, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.data import RelationalData
from hornbeam.relational.database import Coded

BANK = {
    "loan": {
        "id": [30, 10, 20],
        "amount": [5.5, 1.0, None],
        "account": ["x", "y", "y"],
        "status": ["g", "b", "g"],
    },
    "account": {"id": ["z", "y", "x"], "city": ["Ulm", "Bonn", "Ulm"]},
    "orders": {
        "id": [1, 2, 3, 4],
        "loan": [10, 30, None, 10],
        "state": ["late", None, "paid", "late"],
        "price": [3, 1, 2, 3],
    },
    "item": {"order": [4, 1, 3, 1], "weight": [1.5, 2.5, 9.0, 0.5]},
}
KEYS = {"loan": "id", "account": "id", "orders": "id"}
REFERENCES = {"loan": {"account": "account"}, "orders": {"loan": "loan"}, "item": {"order": "orders"}}


def bank(frames: dict = BANK, **options: object) -> RelationalData:
    options.setdefault("target", "loan.status")
    return RelationalData.from_frames(frames, KEYS, REFERENCES, **options)


def rows_of(coded: Coded, name: str) -> list[tuple[object, ...]]:
    """A relation decoded: the key of the owner (None: shared), then the values, None for NULL."""
    relation = coded.relations[name]
    columns = [
        [None if code < 0 else coded.domains[type_].values[code] for code in codes.tolist()]
        for type_, codes in zip(relation.types, relation.data, strict=True)
    ]
    keys = coded.examples.keys
    owners = (
        [None] * relation.n_rows if relation.owner is None else [keys[e] for e in relation.owner.tolist()]
    )
    return list(zip(owners, *columns, strict=True))


def test_the_examples_stand_in_the_order_of_their_table() -> None:
    examples = bank().coded().examples
    assert examples.keys.tolist() == [30, 10, 20]
    assert examples.classes == ("b", "g")
    assert examples.target is not None
    assert examples.target.tolist() == [1, 0, 1]
    assert (examples.target_name, examples.task, examples.ties_to_last) == (
        "loan.status",
        "classification",
        False,
    )


def test_rows_belong_to_the_example_that_their_references_lead_to() -> None:
    coded = bank().coded()
    assert rows_of(coded, "orders") == [(10, 1, 10, "late", 3), (30, 2, 30, None, 1), (10, 4, 10, "late", 3)]
    assert coded.relations["orders"].key == 1
    assert rows_of(coded, "item") == [(10, 4, 1.5), (10, 1, 2.5), (10, 1, 0.5)]
    assert coded.relations["item"].key is None
    assert rows_of(coded, "loan") == [(30, 30, 5.5, "x"), (10, 10, 1.0, "y"), (20, 20, None, "y")]
    assert coded.relations["loan"].key == 0
    assert rows_of(coded, "account") == [(None, "z", "Ulm"), (None, "y", "Bonn"), (None, "x", "Ulm")]


def test_the_target_is_in_no_relation() -> None:
    assert all("status" not in relation.columns for relation in bank().coded().relations.values())


def test_excluded_columns_are_in_no_relation() -> None:
    coded = bank(exclude=["orders.price", "item.weight"]).coded()
    assert coded.relations["orders"].columns == ("id", "loan", "state")
    assert coded.relations["item"].columns == ("order",)


def test_a_reference_has_the_type_of_the_key_and_other_columns_their_own() -> None:
    coded = bank().coded()
    assert coded.relations["orders"].types == ("orders", "loan", "orders_state", "orders_price")
    assert coded.relations["item"].types == ("orders", "item_weight")
    assert coded.relations["loan"].types == ("loan", "loan_amount", "account")


def test_columns_whose_names_run_together_have_types_of_their_own() -> None:
    frames = {
        "a": {"id": [1], "b_c": ["text"], "b": [2]},
        "a_b": {"a": [1], "c": [0.5]},
        "count": {"a": [1], "a_b": ["x"]},
    }
    references = {"a_b": {"a": "a"}, "count": {"a": "a"}}
    coded = RelationalData.from_frames(frames, {"a": "id"}, references).coded(target="a.none")
    assert coded.relations["a"].types == ("a", "a_b_c", "a_b_2")
    assert coded.relations["a_b"].types == ("a", "a_b_c_2")
    assert coded.relations["count"].types == ("a", "count_a_b_2")
    assert coded.relations["count_a_b"].types == ("a", "count_a_b")


def test_domains_ascend_and_labels_are_sorted_by_their_bytes() -> None:
    frames = {"t": {"id": [1, 2, 3, 4], "label": ["é", "z", "a", "Z"], "number": [2.5, -1.0, 1e300, 0.0]}}
    coded = RelationalData.from_frames(frames, {"t": "id"}).coded(target="t.missing")
    assert coded.domains["t_label"].values.tolist() == ["Z", "a", "z", "é"]
    assert coded.domains["t_number"].values.tolist() == [-1.0, 0.0, 2.5, 1e300]
    assert coded.domains["t_label"].kind == "nominal"
    assert coded.domains["t_number"].kind == "numeric"


def test_counts_include_rows_that_nothing_refers_to() -> None:
    coded = bank().coded()
    assert rows_of(coded, "count_orders") == [(30, 30, 1), (10, 10, 2), (20, 20, 0)]
    assert rows_of(coded, "count_item") == [(10, 1, 2), (30, 2, 0), (10, 4, 1)]
    assert coded.relations["count_item"].counts == ("item", "order")
    assert coded.relations["count_orders"].key == 0
    assert coded.relations["count_item"].key is None


def same_codes(one: Coded, other: Coded) -> bool:
    for name, relation in one.relations.items():
        twin = other.relations[name]
        if not all(np.array_equal(a, b) for a, b in zip(relation.data, twin.data, strict=True)):
            return False
    return one.examples.keys.tolist() == other.examples.keys.tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_frames_of_any_library_are_coded_alike(make: object) -> None:
    frames = {name: make(columns) for name, columns in BANK.items()}  # type: ignore[operator]
    assert same_codes(bank().coded(), bank(frames).coded())


def test_pandas_references_beside_NULL_are_floats_and_still_keys() -> None:
    frames = {name: pd.DataFrame(columns) for name, columns in BANK.items()}
    assert frames["orders"]["loan"].dtype == np.float64
    assert bank(frames).coded().domains["loan"].values.dtype == np.int64


def test_a_bias_chooses_relations_and_its_types_win() -> None:
    types = {"orders": ("orders", "loan", "state", "money"), "loan": ("loan", "money", "account")}
    mode = Mode(
        (
            Pattern(
                "orders", (Placemarker(Sign.NEW), Placemarker(Sign.OLD), *[Placemarker(Sign.ANYTHING)] * 2)
            ),
        )
    )
    coded = bank().coded(Bias("loan", types, (mode,)))
    assert set(coded.relations) == {"orders", "loan"}
    assert coded.domains["money"].values.tolist() == [1.0, 2.0, 3.0, 5.5]
    assert rows_of(coded, "loan")[0] == (30, 30, 5.5, "x")


def test_data_without_the_target_column_can_be_coded_to_predict() -> None:
    frames = {**BANK, "loan": {name: column for name, column in BANK["loan"].items() if name != "status"}}
    data = bank(frames, target=None)
    coded = data.coded(bank().default_bias())
    assert coded.examples.target is None
    assert coded.examples.keys.tolist() == [30, 10, 20]


def test_missing_labels_are_unlabelled_examples() -> None:
    frames = {**BANK, "loan": {**BANK["loan"], "status": ["g", None, "b"]}}
    target = bank(frames).coded().examples.target
    assert target is not None
    assert target.tolist() == [1, -1, 0]


def test_a_numeric_target_is_for_regression_unless_classes_are_asked_for() -> None:
    frames = {**BANK, "loan": {**BANK["loan"], "status": [3, None, 1]}}
    numbers = bank(frames).coded().examples
    assert numbers.task == "regression"
    np.testing.assert_array_equal(numbers.target, [3.0, np.nan, 1.0])
    classes = bank(frames).coded(task="classification").examples
    assert classes.classes == (1, 3)
    assert classes.target is not None
    assert classes.target.tolist() == [1, -1, 0]


def test_truth_values_are_labels_and_dates_are_codes() -> None:
    frames = {
        "t": pd.DataFrame({"id": [1, 2], "fine": [True, False], "day": pd.to_datetime(["2020-01-02", None])})
    }
    coded = RelationalData.from_frames(frames, {"t": "id"}).coded(target="t.none")
    assert coded.domains["t_fine"].values.tolist() == ["false", "true"]
    assert coded.domains["t_fine"].storage == "boolean"
    assert coded.domains["t_day"].kind == "numeric"
    assert coded.domains["t_day"].storage.startswith("timestamp:")
    assert rows_of(coded, "t")[1][-1] is None


def test_numbers_declared_nominal_are_labels() -> None:
    coded = bank(nominal={"orders": ["price"]}).coded()
    assert coded.domains["orders_price"].values.tolist() == ["1", "2", "3"]


def test_columns_given_one_type_are_coded_by_one_domain() -> None:
    coded = bank(types={"account.city": "place", "orders.state": "place"}).coded()
    assert coded.domains["place"].values.tolist() == ["Bonn", "Ulm", "late", "paid"]
    assert coded.relations["account"].types == ("account", "place")


FRIENDS = {
    "person": {"id": [1, 2, 3, 4], "happy": ["y", "n", "y", "n"]},
    "friend": {"one": [1, 2], "other": [2, 1]},
    "club": {"id": ["a", "b"], "size": [2, 9]},
    "member": {"person": [1, 3, 4], "club": ["a", "a", "b"]},
}


def friends() -> RelationalData:
    references = {
        "friend": {"one": "person", "other": "person"},
        "member": {"person": "person", "club": "club"},
    }
    return RelationalData.from_frames(
        FRIENDS, {"person": "id", "club": "id"}, references, target="person.happy"
    )


def test_rows_between_two_examples_are_shared_and_warned_of_once_used() -> None:
    with pytest.warns(UserWarning, match=r"'friend' refer to several examples.*groups\('friend'\)"):
        coded = friends().coded()
    assert coded.relations["friend"].owner is None
    assert coded.relations["friend"].types == ("person", "person")
    assert coded.relations["member"].owner is not None


def test_groups_keep_together_what_shared_rows_connect() -> None:
    assert friends().groups("friend").tolist() == [0, 0, 1, 2]
    assert friends().groups("club").tolist() == [0, 1, 0, 2]


def test_rows_of_a_parent_that_examples_share_are_warned_of_and_make_groups() -> None:
    data = RelationalData.from_frames(
        {
            "loan": {"id": [1, 2, 3, 4], "account": [7, 7, 8, 8], "bad": list("ynyn")},
            "account": {"id": [7, 8], "city": ["u", "u"]},
            "payment": {"account": [7], "amount": [3]},
        },
        {"loan": "id", "account": "id"},
        {"loan": {"account": "account"}, "payment": {"account": "account"}},
        target="loan.bad",
    )
    with pytest.warns(UserWarning, match=r"rows of 'payment' are seen by several examples, so folds share"):
        data.coded(data.default_bias())
    assert data.groups("payment").tolist() == [0, 0, 1, 2]
    assert data.groups("account").tolist() == [0, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.coded(data.default_bias(max_hops=1))


def test_two_references_that_agree_make_owners() -> None:
    frames = {
        "mol": {"id": [1, 2], "c": ["a", "b"]},
        "atom": {"id": [11, 12, 21], "mol": [1, 1, 2]},
        "bond": {"a": [11, 12], "b": [12, 11]},
    }
    references = {"atom": {"mol": "mol"}, "bond": {"a": "atom", "b": "atom"}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coded = RelationalData.from_frames(
            frames, {"mol": "id", "atom": "id"}, references, target="mol.c"
        ).coded()
    assert coded.relations["bond"].owner is not None
    assert coded.relations["bond"].owner.tolist() == [0, 0]


def test_describe_says_rows_keys_references_and_whose_rows_are_whose() -> None:
    assert bank().describe().splitlines() == [
        "target loan.status",
        "loan              3 rows  key id  the examples",
        "         account -> account.id",
        "account           3 rows  key id  shared by all examples",
        "orders            4 rows  key id  of one example each, 1 reference away, 3 of its rows",
        "         loan -> loan.id",
        "item              4 rows  no key  of one example each, 2 references away, 3 of its rows",
        "         order -> orders.id",
    ]
