"""The curve of a search: which axis it has, and that marks stand where their settings are."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from sklearn.model_selection import StratifiedKFold

from hornbeam import TreeClassifier
from hornbeam.datasets import load
from hornbeam.model_selection import TreeSearchCV
from hornbeam.validation.search_curve import curve_of
from hornbeam.validation.search_record import SearchRecord
from tests.unit.validation.searches import grid_search, path_search, result, search

DOCS = Path(__file__).parents[3] / "docs"


def by(name: str, values: list[Any]) -> SearchRecord:
    return search([result({name: v}, 0.7 + i / 50, 20 - i) for i, v in enumerate(values)])


def test_a_path_is_drawn_by_size() -> None:
    curve = curve_of(path_search())
    assert curve.by_leaves
    assert [point.x for point in curve.points] == [1, 2, 4, 7, 13, 40, 77]
    assert [text for _, text in curve.tops][-1] == "0"
    assert [(mark.chosen, mark.point.leaves) for mark in curve.marks] == [(True, 4), (False, 13)]
    assert curve.level == pytest.approx(0.24)
    assert curve.percent


def test_one_number_is_the_axis_and_sizes_stand_above() -> None:
    curve = curve_of(by("min_samples_leaf", [1, 5, 50]))
    assert (curve.x_name, [point.x for point in curve.points]) == ("min_samples_leaf", [1, 5, 50])
    assert curve.tops == ((1, "20"), (5, "19"), (50, "18"))
    assert curve_of(by("max_depth", [1, 2, None])).points[-1].x == math.inf


def test_names_and_mixed_counts_stand_side_by_side() -> None:
    assert curve_of(by("criterion", ["gini", "entropy"])).names == ("gini", "entropy")
    assert curve_of(by("min_samples_leaf", [0.01, 5])).names == ("0.01", "5")


def test_a_second_parameter_makes_lines_and_many_make_dots() -> None:
    curve = curve_of(grid_search())
    assert [name for name, _ in curve.lines] == ["criterion gini", "criterion entropy"]
    assert [point.x for point in curve.lines[0][1]] == [1, 2, 4, 8, math.inf]
    many = [
        result(
            {"max_depth": d, "min_samples_leaf": m, "min_samples_split": s}, 0.7 + d / 99 + m / 999, d * 9 - m
        )
        for d in (1, 2, 3)
        for m in (1, 2, 3)
        for s in (2, 9, 20)
    ]
    dots = curve_of(search(many))
    assert dots.loose
    assert dots.by_leaves


@pytest.mark.parametrize("measure", ["accuracy", "roc_auc", "r2", "neg_log_loss"])
def test_every_kind_is_a_well_formed_picture(measure: str) -> None:
    for record in (
        path_search(measure=measure),
        grid_search(measure=measure),
        by("criterion", ["gini", "<entropy>"]),
        by("ccp_alpha", [0.1]),
        search([result({"max_depth": 1}, 0.5, 2, 0.0), result({"max_depth": 2}, 0.5, 2, 0.0)], measure),
    ):
        picture = record.to_svg(title="<T>")
        ElementTree.fromstring(picture)
        assert "chosen" in picture
        assert "nan" not in picture


def test_the_table_and_the_picture_of_the_guide_are_true() -> None:
    data = load("breast_cancer")
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    search = TreeSearchCV(TreeClassifier(), {"ccp_alpha": "path"}, cv=folds, select="1se")
    found = search.fit(data.X, data.y).search_
    assert f"```text\n{found.to_text()}```" in (DOCS / "tuning.md").read_text("utf-8")
    title = "Error by size, breast cancer data"
    assert (DOCS / "pictures" / "tuning.svg").read_text("utf-8") == found.to_svg(title=title)
