"""What is shown of a search: rows by size, plain words, at most 80 columns, JSON that says all."""

from __future__ import annotations

import json
import math

import pytest

from hornbeam.validation.search_rows import rows_of, value_text, values_text, words_of
from tests.unit.validation.searches import grid_search, nested, path_search, result, search


def test_the_table_is_by_size_with_errors_and_remarks() -> None:
    rows = rows_of(path_search()).rows
    assert [row.leaves for row in rows] == [1, 2, 4, 7, 13, 40, 77]
    assert [row.remark for row in rows] == ["", "", "chosen", "", "best", "", ""]
    assert [round(row.value, 6) for row in rows][:3] == [0.34, 0.28, 0.23]
    close = rows_of(search([result({"max_depth": d}, 0.8, 2**d) for d in (1, 2, 3)])).rows
    assert [row.remark for row in close] == ["chosen, the best", "about as good", "about as good"]


def test_settings_that_did_the_same_are_one_row() -> None:
    rows = rows_of(grid_search()).rows
    assert [row.setting for row in rows if row.leaves == 16] == [
        (("criterion", "gini"), ("max_depth", "4 to none")),
        (("criterion", "entropy"), ("max_depth", "4 to none")),
    ]
    assert sorted(place for row in rows for place in row.results) == list(range(10))


def test_ranges_are_of_neighbours_in_the_grid() -> None:
    assert values_text([1, 2, 3], [1, 2, 3, 5]) == "1 to 3"
    assert values_text([3, 1], [1, 2, 3]) == "1, 3"
    assert values_text([5, None], [2, 5, None]) == "5 to none"
    assert values_text([0.00193111, 0.00193222], [0.00193111, 0.00193222]) == "0.00193"
    assert values_text(["gini", "entropy"], ["gini", "entropy"]) == "gini, entropy"
    assert [value_text(v) for v in (None, True, 3, 0.00123456, "x")] == ["none", "True", "3", "0.00123", "x"]


def test_what_all_settings_have_is_told_once() -> None:
    settings = [
        result({"max_depth": d, "prune": "error_based", "confidence": 0.1}, 0.7 + d / 50, 2**d)
        for d in (1, 2)
    ]
    table = rows_of(search(settings))
    assert table.names == ("max_depth",)
    assert table.fixed == (("prune", "error_based"), ("confidence", "0.1"))
    assert "in all of them: prune error_based, confidence 0.1" in search(settings).to_text()


@pytest.mark.parametrize(
    ("measure", "score", "name", "value"),
    [
        ("accuracy", 0.75, "error", 0.25),
        ("r2", 0.4, "unexplained", 0.6),
        ("cost", -3.5, "cost", 3.5),
        ("neg_mean_absolute_error", -2.0, "mean absolute error", 2.0),
        ("roc_auc", 0.8, "roc auc", 0.8),
    ],
)
def test_measures_have_plain_words(measure: str, score: float, name: str, value: float) -> None:
    words = words_of(measure)
    assert (words.name, words.value(score)) == (name, pytest.approx(value))
    assert words.more_is_better == (measure == "roc_auc")


def test_decimals_follow_the_standard_error() -> None:
    percent, number = words_of("accuracy"), words_of("roc_auc")
    assert [percent.digits([e]) for e in (0.05, 0.01, 0.0014, 0.0001)] == [1, 1, 2, 3]
    assert [number.digits([e]) for e in (30.0, 0.5, 0.02, 0.002)] == [0, 2, 3, 4]
    assert percent.digits([math.nan, 0.0]) == 1


def test_the_text_says_which_and_why() -> None:
    text = path_search(nested=nested()).to_text()
    lines = text.splitlines()
    assert lines[0] == "10-fold cross-validation of 7 settings"
    assert lines[1] == "error: the share of rows answered wrongly, ± one standard error"
    chosen = next(line for line in lines if line.endswith(" chosen"))
    assert chosen.split()[:6] == ["4", "2", "23.0", "%", "±", "2.0"]
    assert "chosen: ccp_alpha 0.008 (4 leaves, depth 2)" in text
    said = " ".join(text.split())
    assert (
        "why: it is the smallest tree of 2 settings within one standard error of the best "
        "(13 leaves, depth 4, 22.0 % ± 2.0)." in said
    )
    assert "should be near 30.0 % ± 3.0" in said
    assert "they made 2 different choices." in said
    assert str(path_search()) == path_search().to_text()


def test_each_way_to_choose_has_its_reason() -> None:
    assert "why: it has the lowest error of all." in path_search(select="best").to_text()
    tied = search([result({"max_depth": d}, 0.8, 2**d) for d in (1, 2)], select="best")
    assert "why: it is the smallest tree of 2 settings that share the lowest error." in tied.to_text()
    alone = search([result({"max_depth": d}, 0.5 + d / 10, 2**d) for d in (1, 2)])
    assert "why: it is the best, and no other is within one standard error of it." in alone.to_text()
    first = search([result({"max_depth": d}, 0.8 - d / 999, 2**d) for d in (1, 2)]).to_text()
    assert "it is the best, and the smallest tree of 2 settings" in first
    repeated = path_search(select="smallest", repeats=5, mean="trimmed").to_text()
    assert "of 7 settings, 5 times, trimmed mean" in repeated
    assert "the trees that 5 repetitions chose" in " ".join(repeated.split())
    auc = search([result({"max_depth": d}, 0.8 + d / 50, 2**d) for d in (1, 2)], "roc_auc", "best").to_text()
    assert "why: it has the highest roc auc of all." in auc
    assert "all of them chose max_depth 2." in path_search(nested=nested([{"max_depth": 2}] * 3)).to_text()


def test_a_long_path_is_thinned_and_says_so() -> None:
    long = search([result({"ccp_alpha": i * 1e-5}, 0.8 + i / 1e4, 1500 - i) for i in range(1500)])
    table = rows_of(long)
    shown = table.thinned(20)
    assert len(shown.rows) <= 20
    assert len(shown.rows) >= 15
    assert (shown.rows[0], shown.rows[-1]) == (table.rows[0], table.rows[-1])
    assert table.chosen in shown.rows
    assert table.best in shown.rows
    text = long.to_text()
    assert f"{len(shown.rows)} of 1500 rows are shown" in text
    assert len(long.to_text(most=None).splitlines()) > 1500
    assert table.thinned(2).chosen == table.chosen


def test_no_line_is_wider_than_a_terminal() -> None:
    names = ("min_samples_split", "min_samples_leaf", "min_impurity_decrease", "max_depth", "criterion")
    wide = search([result(dict.fromkeys(names, 10 + i) | {"n": i}, 0.7 + i / 99, 20 + i) for i in range(6)])
    for record in (path_search(nested=nested()), grid_search(), wide):
        assert max(map(len, record.to_text().splitlines())) <= 80
    assert "min_" in wide.to_text()


def test_a_failed_setting_and_a_lone_one_are_told() -> None:
    failed = search([result({"max_depth": 1}, math.nan, 2, math.nan), result({"max_depth": 2}, 0.8, 4)])
    assert "none ± ?" in failed.to_text()
    assert failed.to_record()["results"][0]["score"] is None
    lone = search([result({"max_depth": 2}, 0.8, 4)])
    assert "cross-validation of 1 setting\n" in lone.to_text()
    assert "chosen: 4 leaves, depth 2" in lone.to_text()


def test_the_record_is_plain_json() -> None:
    record = path_search(nested=nested())
    said = json.loads(json.dumps(record.to_record(), allow_nan=False))
    assert [entry["leaves"] for entry in said["results"]] == [77, 40, 13, 7, 4, 2, 1]
    assert said["results"][said["chosen"]]["leaves"] == 4
    assert len(said["results"][0]["scores"]) == 10
    assert said["nested"]["params"] == [{"ccp_alpha": 0.1}, {"ccp_alpha": 0.2}]
    assert (said["select"], said["folds"], said["reason"]) == ("1se", 10, "It is the smallest.")


def test_a_notebook_shows_the_picture_and_the_table() -> None:
    shown = path_search()._repr_html_()
    assert shown.startswith("<svg")
    assert "<br>why: it is the smallest tree" in shown
