"""Answers for the rows of a source are those of `predict` for the rows in memory, wherever they go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hornbeam as hb
from hornbeam import BaggedTreesClassifier, BaggedTreesRegressor, C45Classifier, TreeClassifier, TreeRegressor
from hornbeam.datasets import generate
from hornbeam.errors import DataError, DataTypeError, StorageError, UsageError

ROWS, PARTS = 3000, 3
COLUMNS = ["salary", "age", "elevel", "car", "loan"]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    made = generate("agrawal", ROWS, function=7, noise=0.05, seed=5).read_all()
    return made.append_column("id", pa.array(range(ROWS)))


@pytest.fixture
def files(table: pa.Table, tmp_path: Path) -> str:
    (tmp_path / "in").mkdir()
    for i in range(PARTS):
        pq.write_table(table.slice(i * 1000, 1000), tmp_path / "in" / f"{i}.parquet")
    return str(tmp_path / "in" / "*.parquet")


def models(table: pa.Table) -> list[Any]:
    given, known = table.select(COLUMNS), table["class"]
    numbers = table.select(["loan", "hvalue"])
    costs = [[0.0, 5.0], [1.0, 0.0]]
    return [
        TreeClassifier(max_depth=5).fit(given, known),
        TreeClassifier(max_depth=5, cv=3, cost_matrix=costs).fit(given, known),
        C45Classifier().fit(given, known),
        TreeRegressor(max_depth=4).fit(table.select(COLUMNS[:4]), table["loan"]),
        TreeRegressor(max_depth=4).fit(table.select(COLUMNS[:4]), numbers),
        BaggedTreesClassifier(n_estimators=4, max_depth=4, random_state=1).fit(given, known),
        BaggedTreesClassifier(n_estimators=5, max_depth=4, voting="hard", random_state=1).fit(given, known),
        BaggedTreesRegressor(n_estimators=3, max_depth=4, random_state=1).fit(
            table.select(COLUMNS[:4]), table["loan"]
        ),
    ]


def answers(found: pa.Table, model: Any) -> Any:
    """As `predict` gives them."""
    columns = [np.asarray(found[name].to_pylist()) for name in found.column_names if "prediction" in name]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


@pytest.mark.parametrize("place", ["batches", "out", "out/", "answers.parquet", "answers.csv"])
def test_answers_are_those_of_predict(place: str, table: pa.Table, files: str, tmp_path: Path) -> None:
    for i, model in enumerate(models(table)):
        if place == "batches":
            found = pa.Table.from_batches(list(model.predict_source(hb.source(files))))
        else:
            told = model.predict_source(hb.source(files), str(tmp_path / f"{i}{place}"), keep=["id"])
            assert told.rows == ROWS
            read = pyarrow.csv.read_csv if place.endswith("csv") else pq.read_table
            found = pa.concat_tables([read(path) for path in told.files])
            assert found["id"].to_pylist() == table["id"].to_pylist()
            assert len(told.files) == (PARTS if place.startswith("out") else 1)
        np.testing.assert_array_equal(answers(found, model), model.predict(table.select(_names(model))))


def _names(model: Any) -> list[str]:
    return list(model.feature_names_in_)


def test_shares_are_those_of_predict_proba(table: pa.Table, files: str) -> None:
    for model in models(table):
        if not hasattr(model, "predict_proba"):
            with pytest.raises(UsageError, match="has no classes"):
                model.predict_source(hb.source(files), proba=True)
            continue
        found = pa.Table.from_batches(list(model.predict_source(hb.source(files), proba=True)))
        shares = np.column_stack([found[f"probability:{c}"].to_numpy() for c in model.classes_])
        np.testing.assert_array_equal(shares, model.predict_proba(table.select(COLUMNS)))


@pytest.mark.parametrize("threads", [1, 3])
def test_files_of_a_folder_have_the_names_of_parts(
    table: pa.Table, files: str, tmp_path: Path, threads: int
) -> None:
    model = TreeClassifier(max_depth=3, n_jobs=threads).fit(table.select(COLUMNS), table["class"])
    told = model.predict_source(hb.source(files), tmp_path / "out", format="csv")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["part-00000.csv", "part-00001.csv", "part-00002.csv"]
    assert [Path(path).name for path in told.files] == names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_a_model_without_names_goes_by_position(table: pa.Table, tmp_path: Path) -> None:
    numbers = table.select(["salary", "age", "loan"])
    X = np.column_stack([numbers[name].to_numpy() for name in numbers.column_names]).astype(float)
    model = TreeClassifier(max_depth=3).fit(X, table["class"])
    pq.write_table(table.select(["salary", "id", "age", "loan"]), tmp_path / "rows.parquet")
    rows = hb.source(str(tmp_path / "rows.parquet"))
    found = pa.Table.from_batches(list(model.predict_source(rows, keep=["id"])))
    np.testing.assert_array_equal(answers(found, model), model.predict(X))


def test_what_is_missing_is_said_in_one_line_before_a_row_is_read(table: pa.Table, tmp_path: Path) -> None:
    model = TreeClassifier(max_depth=3).fit(table.select(COLUMNS), table["class"])
    pq.write_table(table.select(["salary", "age"]), tmp_path / "few.parquet")
    few = hb.source(str(tmp_path / "few.parquet"))
    with pytest.raises(DataError, match=r"elevel.* and 2 more: missing from .*few.parquet") as caught:
        model.predict_source(few, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert few.stats.rows == 0
    assert not (tmp_path / "out").exists()


def test_nothing_is_left_of_work_that_failed(table: pa.Table, tmp_path: Path) -> None:
    model = TreeClassifier(max_depth=3).fit(table.select(COLUMNS), table["class"])
    (tmp_path / "in").mkdir()
    for i in range(2):
        ages = table["age"] if i == 0 else table["age"].cast(pa.string())
        bad = table.set_column(table.schema.get_field_index("age"), "age", ages)
        pa.csv.write_csv(bad.slice(0, 10), tmp_path / "in" / f"{i}.csv")
    with open(tmp_path / "in" / "1.csv", "a") as file:
        file.write("oops\n")
    for place in ("out", "out.csv"):
        with pytest.raises(DataError):
            model.predict_source(hb.source(str(tmp_path / "in" / "*.csv")), tmp_path / place)
        assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_what_cannot_be_is_refused(table: pa.Table, files: str, tmp_path: Path) -> None:
    model = TreeClassifier(max_depth=2).fit(table.select(COLUMNS), table["class"])
    rows = hb.source(files)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    with pytest.raises(StorageError, match="not an empty folder"):
        model.predict_source(rows, tmp_path / "full")
    with pytest.raises(UsageError, match=r"\.parquet or \.csv, or to a folder"):
        model.predict_source(rows, tmp_path / "x.txt")
    with pytest.raises(UsageError, match="keep='nobody' is not a column"):
        model.predict_source(rows, keep=["nobody"])
    with pytest.raises(UsageError, match="format='xml'"):
        model.predict_source(rows, tmp_path / "out", format="xml")
    with pytest.raises(DataTypeError, match="predict_source takes a source"):
        model.predict_source(table)
    with pytest.raises(StorageError, match="cannot write"):
        model.predict_source(rows, tmp_path / "no" / "such" / "folder")
    named = hb.source(table.rename_columns([*table.column_names[:-1], "prediction"]))
    with pytest.raises(UsageError, match="answers have that name"):
        model.predict_source(named, keep=["prediction"])
    with pytest.raises(ValueError, match="not fitted"):
        TreeClassifier().predict_source(rows)
