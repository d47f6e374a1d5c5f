"""SQL equals predict whatever tables refer to each other, in circles too, and whatever times they have."""

import warnings
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from hornbeam import RelationalData, RelationalTreeClassifier
from hornbeam.errors import UsageError
from tests.unit.relational.test_bias_default import ACCOUNTS, accounts

Frames = dict[str, dict[str, list[Any]]]


def sometimes(rng: np.random.Generator, values: Any) -> list[Any]:
    """The values, one in ten of them missing."""
    return [None if rng.random() < 0.1 else value for value in values.tolist()]


def schema(rng: np.random.Generator) -> tuple[Frames, dict[str, dict[str, str]]]:
    """Two to five tables, each row of which refers to rows of about half of them."""
    names = ["t", "a", "b", "c", "d"][: rng.integers(2, 6)]
    sizes = {name: 40 if name == "t" else int(rng.integers(1, 60)) for name in names}
    frames: Frames = {}
    references: dict[str, dict[str, str]] = {}
    for name, n in sizes.items():
        frames[name] = {
            "id": list(range(n)),
            "kind": sometimes(rng, rng.choice(["u", "v", "w"], n)),
            "size": sometimes(rng, rng.integers(0, 9, n).astype(float)),
            "day": rng.integers(0, 20, n).tolist(),
        }
        references[name] = {f"to_{other}": other for other in names if rng.random() < 0.4}
        for column, other in references[name].items():
            frames[name][column] = sometimes(rng, rng.integers(0, sizes[other], n))
    frames["t"]["y"] = rng.choice(["p", "q"], 40).tolist()
    return frames, references


def unlinked_modes(data: RelationalData) -> list[str]:
    """A mode for each table that asks for a kind and says nothing of whose row it is."""
    relations = data.coded(data.default_bias()).relations.values()
    modes = []
    for relation in relations:
        if relation.counts is None:
            signs = ["#" if column == "kind" else "_" for column in relation.columns]
            if relation.key is not None:
                signs[relation.key] = "+Key"
            modes.append(f"rmode({relation.name}({', '.join(signs)})).")
    return modes


def differing(data: RelationalData, frames: Frames, model: RelationalTreeClassifier) -> list[Any]:
    with duckdb.connect() as connection:
        for name, columns in frames.items():
            connection.register("given", pa.table(columns))
            connection.execute(f'create table "{name}" as select * from given')
        told = dict(connection.execute(model.to_sql()).fetchall())
    keys = next(iter(frames.values()))["id"]
    return [key for key, said in zip(keys, model.predict(data), strict=True) if told[key] != said]


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_sql_says_what_predict_says(seed: int, linked: bool, timed: bool) -> None:
    rng = np.random.default_rng(seed)
    frames, references = schema(rng)
    reached = {"t", *(name for name, to in references.items() if "t" in to.values())}
    times = {name: "day" for name in frames if name in reached} if timed else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that examples share
        keys = {name: "id" for name in frames}
        data = RelationalData.from_frames(frames, keys, references, target="t.y", time_columns=times)
        text = str(data.default_bias(max_hops=2 + seed % 2))
        if not linked:
            text += "\n".join(unlinked_modes(data))
        model = RelationalTreeClassifier(text, min_samples_leaf=1, max_depth=4, prune=None).fit(data)
        if not linked and is_refused(model):
            return
        assert differing(data, frames, model) == []


def is_refused(model: RelationalTreeClassifier) -> bool:
    """Whether rows are asked about that several ways lead to, without naming one."""
    try:
        model.to_sql()
    except UsageError:
        with pytest.raises(UsageError, match=r"let its mode name the row that leads there"):
            model.to_sql()
        return True
    return False


UNLINKED = """
    target('loan.bad'). key(loan).
    type(loan(loan, account, since)). type(account(account, city)). type(payment(payment, account, a, d)).
    rmode(payment(_, _, #, _)).
"""


@pytest.mark.filterwarnings("ignore:rows of 'payment' are seen by several examples")
def test_whose_rows_of_a_divided_table_are_is_said_by_the_way_to_them() -> None:
    data = accounts(time_columns={"loan": "since", "payment": "day"})
    model = RelationalTreeClassifier(UNLINKED, min_samples_leaf=1, prune=None).fit(data)
    assert differing(data, ACCOUNTS, model) == []
    assert 'FROM "payment" AS t1, "account" AS t2, "loan" AS t3' in model.to_sql()


def test_rows_that_examples_see_by_several_ways_need_one_that_is_named() -> None:
    frames = {
        "loan": {"id": [1, 2], "since": [5, 5], "from": [7, 8], "to": [9, 10], "bad": ["y", "n"]},
        "account": {"id": [7, 8, 9, 10], "city": list("uvuv"), "opened": [1, 1, 1, 1]},
    }
    data = RelationalData.from_frames(
        frames,
        {"loan": "id", "account": "id"},
        {"loan": {"from": "account", "to": "account"}},
        target="loan.bad",
        time_columns={"loan": "since", "account": "opened"},
    )
    model = RelationalTreeClassifier(min_samples_leaf=1, prune=None).fit(data)
    assert differing(data, frames, model) == []
    text = str(data.default_bias()).split("rmode")[0] + "rmode(account(_, #, _))."
    alone = RelationalTreeClassifier(text, min_samples_leaf=1, prune=None).fit(data)
    with pytest.raises(UsageError, match=r"asks about 'account' alone, whose rows examples see by loan; let"):
        alone.to_sql()


def test_rows_that_belong_to_examples_by_an_excluded_column_have_no_sql() -> None:
    frames = {
        "loan": {"id": [1, 2], "bad": ["y", "n"]},
        "orders": {"id": [1, 2], "loan": [1, 2], "state": ["late", "paid"]},
    }
    data = RelationalData.from_frames(
        frames,
        {"loan": "id", "orders": "id"},
        {"orders": {"loan": "loan"}},
        target="loan.bad",
        exclude=["orders.loan"],
    )
    text = "target('loan.bad'). key(loan). type(orders(orders, state)). rmode(orders(_, #))."
    model = RelationalTreeClassifier(text, min_samples_leaf=1, prune=None).fit(data)
    assert model.predict(data).tolist() == ["y", "n"]
    for write in (model.to_sql, model.to_prolog):
        with pytest.raises(UsageError, match=r"rows of 'orders' belong to examples by columns that are excl"):
            write()
