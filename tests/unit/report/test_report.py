"""The report: one file, no outside links, safe against hostile names, honest about its rows."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.report import (
    Study,
    render_page,
    score_classes,
    score_numbers,
)
from hornbeam.report.page import embed_json
from hornbeam.report.questions import questions_of
from hornbeam.report.scores import count_errors, r2, sample_points
from hornbeam.table import from_data
from tests.unit.validation.searches import nested, path_search, result, search

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Outline(HTMLParser):
    """Collects the elements and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def study_of(data: pa.Table, y: Any, **changes: Any) -> Study:
    table = from_data(data)
    if isinstance(y[0], float):
        model: Any = TreeRegressor().fit(data, y)
        answered = model.tree_.predict_means(table)
        actual = np.array(y)[:, None]
        score = score_numbers(actual, answered, actual.mean(axis=0), False)
        changes |= {"points": sample_points(actual, answered, "price")}
    else:
        model = TreeClassifier().fit(data, y)
        codes = np.searchsorted(model.classes_, y).astype(np.int32)
        answered = model.tree_.predict_codes(table)
        score = score_classes(codes, answered, 0, True)
        errors = count_errors(codes, answered, tuple(map(str, model.classes_)))
        changes |= {"errors": errors}
    return Study(
        model.tree_,
        "y",
        score,
        table,
        title="A study",
        parameters={"max_depth": None},
        command="hornbeam fit data.csv --target y",
        seed=3,
        data_name="data.csv",
        data_hash="ab" * 32,
        **changes,
    )


def asked_of(study: Study) -> dict[str, Any] | None:
    assert study.table is not None
    return questions_of(study.tree, study.picture, study.table)


def mixed(name: str = "colour", label: str = "red") -> pa.Table:
    return pa.table(
        {"age": [1.0, 2.0, 3.0, None] * 6, name: [label, "blue", None, "green"] * 6, "n": list(range(24))}
    )


@pytest.mark.parametrize("y", [["a", "b", "a", "c"] * 6, [1.0, 2.0, 3.5, 4.0] * 6, ["same"] * 24])
def test_the_page_is_one_well_formed_file_without_outside_links(y: Any) -> None:
    study = study_of(mixed(), y)
    page = render_page(study)
    seen = outline(page).seen
    assert not any(tag in ("link", "img", "iframe", "object", "embed", "base") for tag, _ in seen)
    assert not any({"src", "href", "action"} & set(attributes) for _, attributes in seen)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in page.replace("url(#hb-stripe", "")
    assert "@import" not in page


@pytest.mark.parametrize(
    "name",
    [
        "</script><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "<!--<script>",
        "a\nb",
        "\u202e",
        "&lt;",
    ],
)
def test_hostile_names_and_labels_stay_text(name: str) -> None:
    study = study_of(mixed(name, name), [name, "b", "c", name] * 6, document={"name": name})
    study = replace(study, title=name, target=name, command=name, data_name=name)
    page = render_page(study)
    seen = outline(page).seen
    assert sum(tag == "script" for tag, _ in seen) == 2
    assert not any(tag == "img" for tag, _ in seen)
    assert not any(key.startswith("on") for _, attributes in seen for key in attributes)
    embedded = page.split('id="hornbeam-data">', 1)[1].split("</script>", 1)[0]
    assert json.loads(embedded)["model"] == {"name": name}


def test_embedded_json_has_no_angle_brackets() -> None:
    assert embed_json({"a": "</script><!--"}).count("<") == 2
    embedded = embed_json({"a": "</script>&"})
    assert json.loads(embedded[embedded.index(">") + 1 : -len("</script>")]) == {"a": "</script>&"}


def test_the_page_says_what_is_needed_to_repeat_it() -> None:
    study = study_of(mixed(), ["a", "b", "a", "c"] * 6)
    page = render_page(study)
    for fact in (
        "hornbeam fit data.csv --target y",
        "hornbeam 0.1.0",
        "ab" * 32,
        study.tree.digest,
        "max_depth=None",
    ):
        assert fact in page
    assert "held-out rows" in page
    assert "training rows" in render_page(replace(study, score=replace(study.score, held_out=False)))


def test_the_page_answers_like_the_tree() -> None:
    data, y = mixed(), ["a", "b", "a", "c"] * 6
    asked = asked_of(study_of(data, y))
    assert asked is not None
    model = TreeClassifier().fit(data, y)
    for row in data.to_pylist():
        assert route(asked, row) == str(model.predict(pa.Table.from_pylist([row], schema=data.schema))[0])


def route(asked: dict[str, Any], row: dict[str, Any]) -> str:
    """The page's script, in Python."""
    node = asked["nodes"][0]
    while "c" in node:
        attribute = asked["attributes"][node["a"]]
        value = row[attribute["name"]]
        if value is None:
            place = node["d"]
        elif "labels" in attribute:
            place = node["m"].get(attribute["labels"].index(value), node["d"])
        else:
            place = 0 if value <= node["t"] else 1
        node = asked["nodes"][node["c"] + place]
    return str(node["p"])


def test_dates_are_drawn_but_not_asked() -> None:
    import datetime

    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(24)]
    study = study_of(pa.table({"day": days}), ["a"] * 12 + ["b"] * 12)
    assert asked_of(study) is None
    assert "day ≤ 2020-01-12" in render_page(study)


def test_columns_are_described() -> None:
    study = study_of(mixed(), ["a", "b", "a", "c"] * 6)
    age, colour, n = study.columns
    assert (age.kind, age.missing, age.values) == ("numeric", 6, "1 to 3")
    assert (colour.kind, colour.missing, colour.values) == ("nominal, 3 labels", 6, "blue, green, red")
    assert n.values == "0 to 23"


def test_scores_match_scikit_learn() -> None:
    from sklearn.metrics import accuracy_score, confusion_matrix, mean_absolute_error, r2_score

    rng = np.random.default_rng(0)
    actual, answered = rng.integers(0, 4, 50).astype(np.int32), rng.integers(0, 4, 50).astype(np.int32)
    assert score_classes(actual, answered, 1, True).value == accuracy_score(actual, answered)
    errors = count_errors(actual, answered, ("a", "b", "c", "d"))
    np.testing.assert_array_equal(errors.counts, confusion_matrix(actual, answered))
    left, right = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    score = score_numbers(left, right, left.mean(axis=0), False)
    assert score.value == pytest.approx(r2_score(left, right))
    assert score.baseline == pytest.approx(0.0)
    assert np.mean(score.mean_absolute_error) == pytest.approx(mean_absolute_error(left, right))
    assert r2(np.ones((3, 1)), np.ones((3, 1))) == 1.0
    assert r2(np.ones((3, 1)), np.zeros((3, 1))) == 0.0


def test_a_page_tells_what_the_tree_was_chosen_from() -> None:
    study = study_of(mixed(), ["a", "b", "a", "c"] * 6)
    assert "How this tree was chosen" not in render_page(study)
    record = path_search(nested=nested())
    page = render_page(replace(study, search=record))
    outline(page)
    headline = page[page.index("<h1") : page.index("</h1>")]
    assert "chosen among 7, is right on <em>70.0\u202f%</em>" in headline  # by the outer folds
    assert "accuracy ± 3.0, 2 outer folds" in page
    for text in ("<b>Chosen:</b> ccp_alpha 0.008", "<b>Why:</b> it is the smallest", "<b>On new rows:</b>"):
        assert text in page
    assert page.count('<tr class="chosen">') == 1
    plain = render_page(replace(study, search=path_search()))
    assert "is right on <em>77.0\u202f%</em>" in plain
    assert "the folds made the choice too, so expect a little less" in plain


def test_a_long_search_is_folded_away_in_its_page() -> None:
    study = study_of(mixed(), ["a", "b", "a", "c"] * 6)
    settings = [result({"ccp_alpha": i * 1e-4}, 0.6 + i / 1e4, 1300 - i) for i in range(1300)]
    page = render_page(replace(study, search=search(settings, "roc_auc")))
    outline(page)
    assert "of 1300 rows</summary>" in page
    assert "has roc auc <em>0.7" in page
    many = [result({"criterion": f"<i>{i}"}, 0.5, i + 1) for i in range(3)]
    page = render_page(replace(study, search=search(many, "r2")))
    outline(page)
    assert "<i>0" not in page
    assert "explains <em>50.0\u202f%</em> of the variance of y" in page
