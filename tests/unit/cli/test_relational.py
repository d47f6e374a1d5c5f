"""`hornbeam relational`: databases, folders and files of ACE in; trees, answers and pages out."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest
from sklearn.model_selection import StratifiedGroupKFold

import hornbeam
from hornbeam import RelationalBagging, RelationalData, RelationalTree, RelationalTreeClassifier
from tests.relational_shop import shop, shop_frames, write_duckdb, write_folder, write_sqlite
from tests.unit.cli.test_command import files, place, refused, run

__all__ = ["place"]

FIT = ("relational", "fit")
TARGET = ("--target", "customers.churn")

SETTINGS = """load(key).
predict(machine(+machine,-class)).
classes([fix,ok,sendback]).
typed_language(yes).
type(not_replaceable(comp)).
type(worn(machine,comp)).
rmode(not_replaceable(+X)).
rmode(worn(+Key,+-X)).
"""
FACTS = """machine(1,sendback). worn(1,gear). worn(1,engine).
machine(2,ok). machine(3,fix). worn(3,gear). machine(4,sendback). worn(4,engine).
machine(5,fix). worn(5,gear). machine(6,ok).
not_replaceable(engine).
"""


@pytest.fixture
def shops(place: Path) -> Path:
    frames = shop_frames()
    write_duckdb(Path("shop.duckdb"), frames)
    write_sqlite(Path("shop.sqlite"), frames)
    write_folder(Path("shop"), frames)
    Path("mach.s").write_text(SETTINGS)
    Path("mach.kb").write_text(FACTS)
    return place


@pytest.mark.parametrize("data", ["shop.duckdb", "shop.sqlite", "shop"])
def test_every_kind_of_data_gives_the_tree_of_the_estimator(shops: Path, data: str) -> None:
    found = json.loads(run(*FIT, data, *TARGET, "--json", "--cv", "4").output)
    model = RelationalTreeClassifier().fit(shop())
    assert found["digest"] == model.tree_.digest
    assert found["examples"] == 200
    assert found["cross_validation"]["folds"] == 4
    assert len(found["cross_validation"]["stability"]["nodes"]) == model.tree_.n_nodes
    assert found["score"]["value"] == model.score(shop())
    assert (found["tests"], found["literals"]) == model.tree_.complexity


def test_the_result_is_told_and_the_tree_shown(shops: Path) -> None:
    told = run(*FIT, "shop.duckdb", *TARGET, "--cv", "4")
    assert told.exit_code == 0
    for part in ("cross-validated", "stable", "has an order with status = 'late'", "otherwise"):
        assert part in told.output


def test_the_bias_is_printed_edited_and_read(shops: Path) -> None:
    printed = run(*FIT, "shop.duckdb", *TARGET, "--print-bias")
    assert printed.exit_code == 0
    assert "rmode(orders(" in printed.output
    few = "\n".join(line for line in printed.output.splitlines() if not line.startswith("lookahead"))
    Path("few.bias").write_text(few)
    found = json.loads(run(*FIT, "shop.duckdb", *TARGET, "--bias", "few.bias", "--json").output)
    assert found["digest"] == RelationalTreeClassifier(few).fit(shop()).tree_.digest
    assert "lookahead" not in found["bias"].replace("max_lookahead", "")
    hops = run(*FIT, "shop.duckdb", *TARGET, "--print-bias", "--max-hops", "1")
    assert "items(" not in hops.output


def test_options_are_the_parameters_of_the_estimator(shops: Path) -> None:
    line = "--criterion entropy --min-samples-leaf 5 --lookahead 0 --max-depth 3 --prune none"
    found = json.loads(run(*FIT, "shop.sqlite", *TARGET, *line.split(), "--json").output)
    model = RelationalTreeClassifier(
        criterion="entropy", min_samples_leaf=5, lookahead=0, max_depth=3, prune=None
    ).fit(shop())
    assert found["digest"] == model.tree_.digest


def test_examples_that_share_rows_stay_in_one_fold(place: Path) -> None:
    Path("bank").mkdir()
    loans = [f"{i},{i // 4},{'bad' if i % 8 < 4 else 'good'}" for i in range(80)]
    Path("bank/loan.csv").write_text("\n".join(["id,account_id,status", *loans]))
    Path("bank/account.csv").write_text("\n".join(["id,city", *(f"{i},u" for i in range(20))]))
    payments = [f"{i},{i},{100 if i % 2 else 5}" for i in range(20)]
    Path("bank/payment.csv").write_text("\n".join(["id,account_id,amount", *payments]))
    line = (*FIT, "bank", "--target", "loan.status", "--cv", "4", "--json")
    alone = run(*line)
    assert "rows of 'payment' are seen by several examples, so folds share them" in alone.stderr
    grouped = run(*line, "--groups", "payment")
    assert grouped.exit_code == 0
    data = RelationalData.from_csv_folder("bank", target="loan.status")
    folds = StratifiedGroupKFold(4, shuffle=True, random_state=0)
    with pytest.warns(UserWarning, match="are seen by several examples"):
        model = RelationalTreeClassifier(cv=folds).fit(data, groups=data.groups("payment"))
    found = json.loads(grouped.stdout)["cross_validation"]["scores"]
    assert found == list(model.estimate_.scores)
    refused(2, *FIT, "bank", "--target", "loan.status", "--groups", "payment", says="add --cv K")
    refused(2, *line, "--groups", "loan", says="each row of 'loan' belongs to one example")


def test_numbers_are_predicted_too(shops: Path) -> None:
    found = json.loads(run(*FIT, "shop.duckdb", "--target", "customers.age", "--cv", "3", "--json").output)
    assert found["task"] == "regression"
    assert found["cross_validation"]["measure"] == "r2"
    loose = run(*FIT, "shop.duckdb", "--target", "customers.age", "--ftest", "1", "--json")
    assert json.loads(loose.output)["leaves"] > found["leaves"]


def test_a_settings_file_of_ace_brings_its_own_everything(shops: Path) -> None:
    assert run(*FIT, "mach.s", "-o", "model").exit_code == 0
    assert run("relational", "show", "model", "--format", "ace").output == (
        "machine(-A,-B)\n"
        "worn(A,C) ?\n"
        "+--yes: not_replaceable(C) ?\n"
        "|       +--yes: [sendback] 2.0 [[fix:0.0,ok:0.0,sendback:2.0]]\n"
        "|       +--no:  [fix] 2.0 [[fix:2.0,ok:0.0,sendback:0.0]]\n"
        "+--no:  [ok] 2.0 [[fix:0.0,ok:2.0,sendback:0.0]]\n"
    )
    answers = list(csv.reader(io.StringIO(run("relational", "predict", "model", "mach.s").output)))
    assert answers[:3] == [["key", "prediction"], ["1", "sendback"], ["2", "ok"]]


def test_a_saved_model_answers_explains_and_is_shown(shops: Path) -> None:
    assert run(*FIT, "shop.duckdb", *TARGET, "-o", "model").exit_code == 0
    model = hornbeam.load("model")
    assert isinstance(model, RelationalTreeClassifier)
    said = model.predict(RelationalData.from_sqlite("shop.sqlite")).tolist()
    answers = run("relational", "predict", "model", "shop.sqlite", "--proba", "--json")
    found = json.loads(answers.output)
    assert found["prediction"] == said
    assert found["key"] == list(range(1, 201))
    assert list(found) == ["key", "prediction", "probability:no", "probability:yes"]
    told = run("relational", "predict", "model", "shop.sqlite", "--explain", "3", "--explain", "4")
    assert told.output == f"{model.explain(3, shop())}\n{model.explain(4, shop())}"
    refused(
        3, "relational", "predict", "model", "shop", says="has no column 'customer', which the model knows"
    )
    assert run("relational", "predict", "model", "shop.sqlite", "-o", "answers.csv").exit_code == 0
    assert Path("answers.csv").read_text().splitlines()[1] == f'1,"{said[0]}"'
    forms = {
        form: run("relational", "show", "model", "--format", form).output
        for form in ("text", "ace", "rules", "prolog", "sql", "svg", "json", "bias")
    }
    assert forms["text"] == model.to_text()
    assert forms["prolog"] == model.to_prolog()
    assert RelationalTree.from_json(forms["json"]) == model.tree_
    assert forms["svg"].startswith("<svg")
    assert forms["bias"] == model.bias_.to_text()
    lite = run("relational", "show", "model", "--format", "sql", "--dialect", "sqlite").output
    with sqlite3.connect("shop.sqlite") as connection:
        assert [row[1] for row in connection.execute(lite).fetchall()] == said


def test_a_report_is_one_page(shops: Path) -> None:
    assert run(*FIT, "shop.duckdb", *TARGET, "--cv", "3", "--report", "page.html").exit_code == 0
    page = Path("page.html").read_text()
    for part in ("How stable it is", "As rules", "The bias", "The tables", "has an order"):
        assert part in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_bagged_trees_are_shown_one_by_one(shops: Path) -> None:
    hornbeam.save(RelationalBagging(n_estimators=3, random_state=0).fit(shop()), "bag")
    assert run("relational", "show", "bag", "--tree", "2").exit_code == 0
    refused(2, "relational", "show", "bag", says="the model has 3 trees; name one with --tree, 0 to 2")
    refused(
        2,
        "relational",
        "predict",
        "bag",
        "shop",
        "--explain",
        "1",
        says="--explain tells the path of one tree",
    )


@pytest.mark.parametrize(
    ("code", "line", "said"),
    [
        (2, "fit shop.duckdb", "--target is missing"),
        (2, "fit shop.duckdb --target customers.churm", "has no column 'churm'"),
        (4, "fit nowhere --target a.b", "there is no such file or directory"),
        (2, "fit mach.kb --target a.b", "is no kind of linked tables"),
        (2, "fit shop.duckdb --target customers.churn --criterion gini", "--criterion 'gini'"),
        (2, "fit shop.duckdb --target customers.churn --prune other", "--prune 'other' is unknown"),
        (4, "fit shop.duckdb --target customers.churn --bias nowhere", "cannot read 'nowhere'"),
        (2, "fit shop --target customers.churn --key orders", "--key 'orders': write TABLE.COLUMN"),
        (2, "fit shop --target customers.churn --reference a.b", "write TABLE.COLUMN=TABLE"),
        (2, "fit mach.s --exclude a.b", "names its own tables"),
        (
            2,
            "fit shop --target customers.churn --prolog-seconds 5",
            "--prolog-seconds is for a settings file",
        ),
        (2, "fit mach.s --prolog-seconds 0", "0.0 is not in the range x>0"),
        (2, "fit shop --target customers.churn --ftest 0.1", "--ftest judges tests of numbers"),
        (2, "fit shop --target customers.churn --time orders.x", "--time names orders.x, which is not there"),
        (
            2,
            "fit shop --target customers.churn --time orders.id",
            "give --time customers.COLUMN, or --exam",
        ),
        (
            2,
            "fit shop --target customers.churn --time orders.id --example-time sicne",
            "--example-time 'sicne' is neither a column of 'customers' nor a moment",
        ),
        (
            3,
            "fit shop --target customers.churn --cv 999",
            "999 folds, but no class has as many examples",
        ),
        (3, "fit shop --target customers.churn --bias mach.kb", "'mach.kb': the bias, line 1, column"),
        (4, "show nowhere", "cannot read 'nowhere'"),
        (3, "show mach.kb", "not a Hornbeam model file"),
    ],
)
def test_refusals_are_one_line_with_the_code_of_their_kind(
    shops: Path, code: int, line: str, said: str
) -> None:
    before = files(shops)
    refused(code, "relational", *line.split(), says=said)
    assert files(shops) == before


def test_models_of_one_table_and_of_several_are_told_apart(shops: Path) -> None:
    assert run(*FIT, "shop.duckdb", *TARGET, "-o", "model").exit_code == 0
    refused(2, "show", "model", says="holds a model of linked tables")
    assert run("fit", "shop/customers.csv", "--target", "churn", "-o", "flat").exit_code == 0
    refused(2, "relational", "show", "flat", says="holds a model of one table")
    refused(2, "relational", "show", "model", "--dialect", "sqlite", says="--dialect is for SQL only")
