"""Bad input to linked tables is refused in one line that says what, where and what to do."""

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from hornbeam import RelationalTreeClassifier, RelationalTreeRegressor
from hornbeam.errors import DataError, HornbeamError, UsageError
from hornbeam.relational.bias import Bias, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.data import RelationalData

LOAN = {"id": [1, 2, 3], "status": ["a", "b", "a"]}
PAY = {"loan": [1, 2, 2], "amount": [1.0, 2.0, 3.0]}


def load(loan: object = LOAN, pay: object = PAY, **options: object) -> RelationalData:
    options.setdefault("keys", {"loan": "id"})
    options.setdefault("references", {"pay": {"loan": "loan"}})
    options.setdefault("target", "loan.status")
    return RelationalData.from_frames({"loan": loan, "pay": pay}, **options)  # type: ignore[arg-type]


def fitted() -> RelationalTreeClassifier:
    return RelationalTreeClassifier().fit(load())


def mode(predicate: str, *signs: str) -> Mode:
    return Mode((Pattern(predicate, tuple(Placemarker(Sign(sign)) for sign in signs)),))


CASES: dict[str, tuple[Callable[[], object], str]] = {
    "dangling references": (
        lambda: load(pay={"loan": [1, 7, 9, 7], "amount": [1, 2, 3, 4]}),
        r"table 'pay': loan = 7 in row 1 refers to no row of 'loan', as do 3 of 4 rows \(2 values\)",
    ),
    "duplicate keys": (
        lambda: load({"id": [1, 2, 2], "status": list("aba")}),
        r"table 'loan': key 'id' is not unique: 2 stands in several rows, 1 of 2 values do",
    ),
    "duplicate text keys": (
        lambda: load({"id": ["u", "v", "v"], "status": list("aba")}, {"loan": ["u"], "amount": [1]}),
        r"table 'loan': key 'id' is not unique: 'v' stands in several rows",
    ),
    "NULL keys": (
        lambda: load({"id": [1, None, 3], "status": list("aba")}),
        r"table 'loan': key 'id' is NULL in 1 of 3 rows \(first in row 1\)",
    ),
    "a reference to no table": (
        lambda: load(references={"pay": {"loan": "lone"}}),
        r"references: pay.loan refers to 'lone', which is no table; tables are 'loan', 'pay'",
    ),
    "a reference to a table without key": (
        lambda: load(keys={}),
        r"references: pay.loan refers to 'loan', which has no key; name its key column",
    ),
    "references of no table": (
        lambda: load(references={"buy": {"loan": "loan"}}),
        r"references names table 'buy'; tables are 'loan', 'pay'",
    ),
    "a reference column that is not there": (
        lambda: load(references={"pay": {"lone": "loan"}}),
        r"references names column 'lone' of table 'pay'; its columns are 'loan', 'amount'",
    ),
    "a key column that is not there": (
        lambda: load(keys={"loan": "key"}),
        r"keys names column 'key' of table 'loan'",
    ),
    "a reference of another type": (
        lambda: load(pay={"loan": ["1", "2"], "amount": [1, 2]}),
        r"pay.loan holds text and loan.id holds numbers, both of type 'loan'; give the columns one type",
    ),
    "a target table that is not there": (
        lambda: load(target="lone.status"),
        r"target 'lone.status': there is no table 'lone'; write table.column",
    ),
    "a target column that is not there": (
        lambda: load(target="loan.state"),
        r"target 'loan.state': table 'loan' has no column 'state'; its columns are 'id', 'status'",
    ),
    "a target without a column": (
        lambda: load(target="loan"),
        r"target 'loan': table 'loan' has no column ''",
    ),
    "a target whose table has no key": (
        lambda: load(target="pay.amount"),
        r"target 'pay.amount': table 'pay' has no key, and its rows are the examples",
    ),
    "no target": (lambda: load(target=None).coded(), r"no target: give target='table.column'"),
    "an excluded column that is not there": (
        lambda: load(exclude=["loan.x"]),
        r"exclude 'loan.x': table 'loan' has no column 'x'",
    ),
    "exclude as one text": (lambda: load(exclude="loan.id"), r"exclude='loan.id'; give a list"),
    "an unsupported type": (
        lambda: load(pay=pa.table({"loan": [1], "tags": [[1, 2]]})).coded(),
        r"table 'pay': attribute 'tags': type list<.*> is not supported; split it into columns",
    ),
    "cells of no type": (
        lambda: load(pay={"loan": [1], "x": [object()]}).coded(),
        r"table 'pay': attribute 'x': a cell of type object in row 0 is not supported",
    ),
    "columns of different lengths": (
        lambda: load(pay={"loan": [1, 2], "x": [1]}),
        r"table 'pay': columns have 1 to 2 cells",
    ),
    "a table without names": (
        lambda: load(pay=np.zeros((2, 2))),
        r"table 'pay' has no column names",
    ),
    "no tables": (lambda: RelationalData.from_frames({}), r"needs at least one table"),
    "no mapping": (lambda: RelationalData.from_frames([1]), r"given as \{table: frame\}, not as list"),
    "no examples": (
        lambda: load(
            {"id": np.array([], int), "status": np.array([], str)}, {"loan": [], "amount": []}
        ).coded(),
        r"table 'loan' has no rows, and its rows are the examples",
    ),
    "text for regression": (
        lambda: load().coded(task="regression"),
        r"target 'loan.status' holds text where numbers are needed",
    ),
    "an unknown task": (lambda: load().coded(task="rank"), r"task='rank'; allowed are"),  # type: ignore[arg-type]
    "a bias for other tables": (
        lambda: load().coded(Bias("loan", {"buy": ("loan",)}, ())),
        r"the bias names 'buy', which is no table of this data; there are 'loan', 'pay', 'count_pay'",
    ),
    "a bias with other columns": (
        lambda: load().coded(Bias("loan", {"pay": ("loan",)}, ())),
        r"the bias gives 'pay' 1 columns and the data has 2: loan, amount",
    ),
    "a bias with another type of key": (
        lambda: load().coded(Bias("loan", {"pay": ("money", "money")}, ())),
        r"pay.loan holds the keys of the examples and has type 'money'",
    ),
    "a mode of no table": (
        lambda: load().coded(Bias("loan", {"pay": ("loan", "money")}, (mode("buy", "+"),))),
        r"mode 1 of the bias: 'buy' is no table and has no type; there are 'pay'",
    ),
    "a mode of another arity": (
        lambda: load().coded(Bias("loan", {"pay": ("loan", "money")}, (mode("pay", "+"),))),
        r"mode 1 of the bias: 'pay' has 2 columns \(loan, money\) and is given 1",
    ),
    "a fresh variable at the key": (
        lambda: load().coded(Bias("loan", {"pay": ("loan", "money")}, (mode("pay", "-", "-"),))),
        r"mode 1 of the bias has - at pay.loan, which holds the example's key; write \+Key there",
    ),
    "anything at the key": (
        lambda: load().coded(Bias("loan", {"pay": ("loan", "money")}, (mode("pay", "_", "-"),))),
        r"mode 1 of the bias has _ at pay.loan, which holds the example's key; write \+Key there",
    ),
    "a threshold of labels": (
        lambda: load(pay={"loan": [1], "kind": ["a"]}).coded(
            Bias.from_text("key(loan). type(pay(loan, kind)). rmode((pay(+K, -X), X <= #)).")
        ),
        r"mode 1 of the bias: X is of type 'kind' and has no order, for pay.kind holds text; ask with =",
    ),
    "groups by no table": (lambda: load().groups("x"), r"groups: there is no table 'x'"),
    "groups by rows of one example": (
        lambda: load().groups("pay"),
        r"groups: each row of 'pay' belongs to one",
    ),
    "nominal columns of no table": (lambda: load(nominal={"x": ["y"]}), r"nominal names tables 'x'"),
    "nominal columns that are not there": (
        lambda: load(nominal={"pay": ["y"]}),
        r"nominal of table 'pay' names 'y'; columns are",
    ),
    "the key as target": (
        lambda: load(target="loan.id"),
        r"target 'loan.id' is the key of 'loan'; name another column to predict",
    ),
    "a negative number of hops": (
        lambda: load().default_bias(max_hops=-1),
        r"max_hops=-1; a number of at least 0",
    ),
    "a list as target": (
        lambda: load(target=["loan.status"]),
        r"target=\['loan.status'\]: a column to predict is allowed, as text: 'loan.status'",
    ),
    "a list as target of a fit": (
        lambda: RelationalTreeRegressor().fit(load(), ["loan.n"]),
        r"target=\['loan.n'\]: a column to predict",
    ),
    "a number as target of a fit": (
        lambda: RelationalTreeClassifier().fit(load(), 3),
        r"target=3: a column to predict",
    ),
    "a list as target of a bias": (lambda: load().default_bias(["loan.status"]), r"target=\['loan.status'\]"),
    "a list as target of codes": (lambda: load().coded(target=["loan.status"]), r"target=\['loan.status'\]"),
    "a list as bias": (
        lambda: RelationalTreeClassifier(["loan.n"]).fit(load()),
        r"bias=\['loan.n'\]: a Bias, its text, or None",
    ),
    "text as bias of codes": (
        lambda: load().coded("rmode(a)."),
        r"bias is a str, and a Bias, such as Bias.from_text makes, is needed",
    ),
    "text as bias of files": (lambda: load().to_ace("app.s", "rmode(a)."), r"bias is a str, and a Bias"),
    "a bias of no text": (lambda: Bias.from_text(3), r"text=3: a text is allowed"),
    "a frame as data": (
        lambda: RelationalTreeClassifier().fit(pa.table(LOAN)),
        r"given is a Table, and RelationalData is needed",
    ),
    "frames as data": (
        lambda: RelationalTreeClassifier().fit({"loan": LOAN}),
        r"given is a dict, and RelationalData is needed",
    ),
    "frames for the constructor": (
        lambda: RelationalData({"loan": LOAN}),
        r"RelationalData is not made of dict; use from_frames",
    ),
    "a list of keys": (lambda: load(keys=["id"]), r"keys=\['id'\]: \{table: column\} is allowed"),
    "a list as key": (lambda: load(keys={"loan": ["id"]}), r"keys=.*: \{table: column\} is allowed"),
    "a list of references": (
        lambda: load(references=["loan"]),
        r"references=\['loan'\]: \{table: \{column: table it refers to\}\} is allowed",
    ),
    "references without columns": (
        lambda: load(references={"pay": "loan"}),
        r"references=\{'pay': 'loan'\}: \{table: \{column",
    ),
    "a list of types": (lambda: load(types=["x"]), r"types=\['x'\]: \{'table.column': type\} is allowed"),
    "a number as type": (lambda: load(types={"pay.loan": 3}), r"types=\{'pay.loan': 3\}: "),
    "a number as column": (lambda: load(types={3: "x"}), r"types 3: write table.column, as text"),
    "a list of time columns": (
        lambda: load(time_columns=["x"]),
        r"time_columns=\['x'\]: \{table: column",
    ),
    "a number to exclude": (lambda: load(exclude=3), r"exclude=3; give a list, for instance exclude=\['3'\]"),
    "a pair to exclude": (
        lambda: load(exclude=[["pay", "amount"]]),
        r"exclude \['pay', 'amount'\]: write table.column, as text",
    ),
    "a number of nominal columns": (
        lambda: load(nominal={"pay": 3}),
        r"nominal of table 'pay' is 3; give a list of columns",
    ),
    "groups by a list": (lambda: load().groups(["pay"]), r"table=\['pay'\]: a text is allowed"),
    "a number as SQLite file": (
        lambda: RelationalData.from_sqlite(3),
        r"database=3: a path is allowed",
    ),
    "a number as folder": (
        lambda: RelationalData.from_csv_folder(3),
        r"folder=3: a path is allowed",
    ),
    "a number as settings": (
        lambda: RelationalData.from_ace(3),
        r"file=3: a path is allowed",
    ),
    "a number to write to": (lambda: load().to_ace(3), r"settings=3: a path is allowed"),
    "the example of a list": (
        lambda: fitted().explain([1, 2]),
        r"no example has the key \[1, 2\]; keys are 1, 2, 3",
    ),
    "a text as depth": (
        lambda: fitted().to_text(max_depth="x"),
        r"max_depth='x': a whole number from 0 is allowed, or None",
    ),
    "a number as table of SQL": (
        lambda: fitted().to_sql(table=3),
        r"table=3: a text is allowed",
    ),
    "nothing to ask": (
        lambda: load(exclude=["pay.loan"]).default_bias(),
        r"no column of 'loan' and no table linked to it can be asked about",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_in_one_line(case: str) -> None:
    make, message = CASES[case]
    with pytest.raises(HornbeamError) as caught:
        make()
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, DataError | UsageError)
