"""Sets by name: built in, of a directory, of OpenML (a stand-in for it: no test goes to the network)."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError, URLError

import pandas as pd
import pytest

import hornbeam
from hornbeam.datasets import load, load_openml, make_led, make_monks, make_tictactoe, names
from hornbeam.errors import DataError, HornbeamError, StorageError, UsageError
from tests import real_data

from .plain import SEGMENTS, monks_class

FRAME = pd.DataFrame(
    {
        "age": [20, 30, 40, 50],
        "job": pd.Categorical(["nurse", "smith", None, "nurse"]),
        "class": pd.Categorical(["bad", "good", "good", "bad"]),
        "worth": [0.5, 1.5, 2.5, 3.5],
    }
)


@pytest.fixture
def openml(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, Any]]]:
    """Puts a stand-in in the place of scikit-learn's fetch; returns what it was asked for."""

    def install(
        error: Exception | None = None, targets: tuple[str, ...] | None = ("class",)
    ) -> list[dict[str, Any]]:
        asked: list[dict[str, Any]] = []

        def fetch(**wanted: Any) -> Any:
            asked.append(wanted)
            if error is not None:
                raise error
            return SimpleNamespace(frame=FRAME, target_names=list(targets) if targets else None)

        monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
        return asked

    return install


def test_a_set_of_openml_has_the_shape_of_all_sets(openml: Callable[..., list[dict[str, Any]]]) -> None:
    asked = openml()
    credit = load_openml("credit-g", version=1)
    assert asked[0]["name"] == "credit-g"
    assert asked[0]["version"] == 1
    assert (credit.targets, credit.task) == (("class",), "classification")
    assert credit.y.to_pylist() == ["bad", "good", "good", "bad"]
    assert credit.X.column_names == ["age", "job", "worth"]
    assert credit.X.column("job").to_pylist() == ["nurse", "smith", None, "nurse"]
    assert len(credit.hash) == 64
    model = hornbeam.TreeClassifier(nominal_features=credit.nominal).fit(credit.X, credit.y)
    assert model.tree_.schema.attributes[1].kind == "nominal"


def test_openml_is_asked_by_number_and_by_load(openml: Callable[..., list[dict[str, Any]]]) -> None:
    asked = openml()
    assert load("openml:31").name == "31"
    assert load("openml:credit-g").name == "credit-g"
    assert [wanted.get("data_id") for wanted in asked] == [31, None]
    assert asked[1]["name"] == "credit-g"


def test_a_numeric_target_is_regression(openml: Callable[..., list[dict[str, Any]]]) -> None:
    openml(targets=("worth",))
    assert load_openml("credit-g", target="worth").task == "regression"


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (URLError("Name or service not known"), StorageError, "cannot be reached"),
        (TimeoutError("timed out"), StorageError, "cannot be reached"),
        (HTTPError("https://x", 503, "busy", None, None), StorageError, "busy"),  # type: ignore[arg-type]
        (HTTPError("https://x", 404, "no", None, None), StorageError, "has no set 'credit'"),  # type: ignore[arg-type]
        (ValueError("Dataset credit with version 9\nnot found."), DataError, "credit with version 9"),
        (KeyError("Could not find target_column='z'"), UsageError, "no column 'z'"),
        (ImportError("pandas"), UsageError, "install"),
    ],
)
def test_what_openml_does_not_give_is_one_line(
    error: Exception, kind: type[HornbeamError], says: str, openml: Callable[..., list[dict[str, Any]]]
) -> None:
    openml(error)
    with pytest.raises(kind) as raised:
        load_openml("credit", target="z")
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_set_without_a_target_asks_for_one(openml: Callable[..., list[dict[str, Any]]]) -> None:
    openml(targets=None)
    with pytest.raises(DataError, match="target="):
        load_openml("credit-g")


def test_a_set_of_a_directory_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gzip.open(tmp_path / "tiny.csv.gz", "wt") as file:
        file.write("code,size,class\n1,2,7\n2,,8\n")
    (tmp_path / "schema.csv").write_text(
        "file,position,column,kind,role\ntiny.csv.gz,1,code,nominal,attribute\n"
        "tiny.csv.gz,2,size,numeric,attribute\ntiny.csv.gz,3,class,nominal,target\n"
    )
    monkeypatch.setenv("HORNBEAM_DATA", str(tmp_path))
    tiny = load("tiny")
    assert "tiny" in names()
    assert (tiny.nominal, tiny.task, tiny.y.to_pylist()) == (("code",), "classification", ["7", "8"])
    with pytest.raises(UsageError, match="tiny"):
        load("tny")


def test_an_unknown_name_says_where_sets_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HORNBEAM_DATA", raising=False)
    with pytest.raises(UsageError, match=r"iris.*HORNBEAM_DATA.*openml:NAME"):
        load("nothing")


def test_several_targets_are_a_table() -> None:
    linnerud = load("linnerud")
    assert linnerud.y.column_names == list(linnerud.targets)
    assert linnerud.X.num_columns == 3


# The published sets, where this machine has them.

RealSets = Callable[[str], real_data.RealSet]


def test_tictactoe_is_the_published_set(real_set: RealSets) -> None:
    published = real_set("tictactoe")
    rows = published.table.assign(**{"class": published.target}).itertuples(index=False, name=None)
    assert sorted(rows) == sorted(tuple(row.values()) for row in make_tictactoe().rows.to_pylist())


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_monks_are_the_published_sets(problem: int, real_set: RealSets) -> None:
    published = real_set(f"monks{problem}_test")
    labels = [
        plan for plan in ("round square octagon", "round square octagon", "yes no", "sword balloon flag")
    ]
    labels += ["red yellow green blue", "yes no"]

    def robots(real: real_data.RealSet) -> list[tuple[str, ...]]:
        return [
            (*(kinds.split()[int(value) - 1] for kinds, value in zip(labels, row, strict=True)), label)
            for row, label in zip(real.table.itertuples(index=False, name=None), real.target, strict=True)
        ]

    ours = [(*row.values(),) for row in make_monks(problem=problem).rows.to_pylist()]
    assert sorted(robots(published)) == sorted((*row[:-1], str(row[-1])) for row in ours)
    attributes = list(make_monks(problem=problem).X.column_names)
    training = [
        dict(zip([*attributes, "class"], row, strict=True))
        for row in robots(real_set(f"monks{problem}_train"))
    ]
    wrong = sum(int(row["class"]) != monks_class(problem, row) for row in training)
    assert (len(training), wrong) == {1: (124, 0), 2: (169, 0), 3: (122, 6)}[problem]


def test_led_segments_are_those_of_the_published_display(real_set: RealSets) -> None:
    published = real_set("led7")
    lit = published.table.astype(int).groupby(published.target).mean() > 0.5
    for digit, segments in SEGMENTS.items():
        assert {place + 1 for place, on in enumerate(lit.loc[str(digit)]) if on} == segments
    assert len(make_led(1).X.column_names) == published.table.shape[1]
