"""The picture and the page of a stability: complete, safe, within their boxes, true to the records."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from hornbeam.drawing.stability import (
    Agreement,
    Alternative,
    StabilityPicture,
    ThresholdRange,
    draw_folds,
    draw_stability,
)
from hornbeam.errors import StorageError, UsageError
from hornbeam.growth import ClassTarget, NumericTarget, Parameters, Stability, stability_of
from hornbeam.table import encode_classes, from_data
from tests.forests import grow_forest
from tests.unit.model.test_docs import DOCS, outputs
from tests.unit.report.test_report import outline

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "</text><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a\nb",
    "数据" * 30,
    "]]>&amp;<!--",
]


def stability(name: str = "size", k: int = 5, label: str = "yes", **parameters: Any) -> Stability:
    """Noisy enough that folds part."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {name: rng.normal(size=200), "b": rng.normal(size=200), "c": rng.choice(list("xyz"), 200)}
    )
    y = np.where(frame[name] + 0.7 * rng.normal(size=200) > 0, label, "no")
    codes, labels = encode_classes(y)
    sets = np.ones((200, k + 1), dtype=np.uint8)
    sets[np.arange(200), 1 + np.arange(200) % k] = 0
    given = {"min_samples_leaf": 8, **parameters}
    return stability_of(grow_forest(from_data(frame), ClassTarget(codes, labels), Parameters(**given), sets))


def boxes(svg: str) -> dict[int, ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return {int(g.attrib["data-node"]): g for g in root.iter(f"{SVG}g") if "data-node" in g.attrib}


def texts(box: ElementTree.Element) -> list[str]:
    """What is written in a box; the tooltip of a shortened line comes before its text."""
    return [list(line.itertext())[-1] for line in box.iter(f"{SVG}text")]


def test_every_node_has_a_box_with_the_folds_that_agree() -> None:
    given = stability()
    found = boxes(given.show().svg(max_depth=None))
    assert set(found) == set(range(len(given)))
    for record in given:
        assert f"{record.same} of 5 folds" in texts(found[record.node])
        title = found[record.node].find(f"{SVG}title")
        assert title is not None
        assert f"{record.gone} fold" in (title.text or "") or record.gone == 0


def test_a_cell_is_drawn_for_each_fold_while_there_are_few() -> None:
    bar = draw_folds(Agreement(same=6, others=2, leaves=1, gone=1, astray=2), 0, 0, 100)
    fills = re.findall(r'style="fill:([^"]*)"', bar)
    assert fills == ["var(--hb-c0)"] * 4 + ["var(--hb-c3)"] * 2 + ["var(--hb-c1)"] * 2 + ["var(--hb-other)"]
    assert bar.count("<rect") == 10
    assert draw_folds(Agreement(same=300, others=99, leaves=0, gone=1), 0, 0, 100).count("<rect") == 3


def test_bars_and_texts_stay_within_the_picture() -> None:
    svg = stability("a name that is much longer than any box could ever be wide").show().svg(max_depth=None)
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for rect in root.iter(f"{SVG}rect"):
        if "x" not in rect.attrib:  # the ground, and the parts of patterns
            continue
        x, y, w, h = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height


def test_a_threshold_is_never_cut_off_an_alternative() -> None:
    given = stability("a name that is much longer than any box could ever be wide")
    found = boxes(given.show().svg(max_depth=None))
    checked = 0
    for node, box in found.items():
        ways = given.show().picture.agreements[node].alternatives
        if len(ways) in (1, 2):
            for way in ways:
                if way.condition.startswith("≤"):
                    assert any(text.strip().endswith(way.condition) for text in texts(box))
                    checked += 1
    assert checked


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_and_labels_stay_text(name: str) -> None:
    view = stability(name, label=name).show()
    root = ElementTree.fromstring(view.svg())
    assert not list(root.iter(f"{SVG}script")) + list(root.iter(f"{SVG}img"))
    seen = outline(view.html()).seen
    assert sum(tag == "script" for tag, _ in seen) == 1
    assert not any(tag in ("img", "link", "iframe", "object", "base") for tag, _ in seen)


def test_the_page_lists_every_node_and_needs_no_network() -> None:
    given = stability()
    page = given.show().html()
    outline(page)
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page
    listed = page.split('class="outline"')[1]
    assert listed.count('class="count"') == len(given)
    for arm in (arm for place in given.bifurcations for arm in place.arms):
        assert arm.attribute in page


def test_a_large_tree_is_collapsed_and_says_so() -> None:
    given = stability(min_samples_leaf=1)
    assert len(given) > 40
    svg = given.show().svg()
    drawn = len(boxes(svg))
    assert drawn < len(given)
    assert f"{drawn} of {len(given)} nodes are drawn" in svg
    assert re.search(r"… \d+ leaves", svg)
    assert given.show().html().count('class="count"') == len(given)


def test_regressions_and_single_leaves_are_drawn() -> None:
    frame = pd.DataFrame({"a": np.arange(40.0)})
    sets = np.ones((40, 4), dtype=np.uint8)
    sets[::2, 1] = 0
    target = NumericTarget(np.arange(40.0)[:, None] ** 2, ("y",))
    for depth, n_nodes in ((3, 15), (1, 3)):
        given = stability_of(
            grow_forest(from_data(frame), target, Parameters(criterion="variance", max_depth=depth), sets)
        )
        assert len(boxes(given.show().svg(None))) == n_nodes
        outline(given.show().html())
    flat = NumericTarget(np.zeros((40, 1)), ("y",))
    single = stability_of(grow_forest(from_data(frame), flat, Parameters(criterion="variance"), sets))
    assert single.agreement == 1.0
    assert "This tree is a single leaf" in single.show().html()
    assert len(boxes(single.show().svg())) == 1


def test_thresholds_lie_on_the_scale_of_their_attribute() -> None:
    given = stability()
    found = [a.thresholds for a in given.show().picture.agreements if a.thresholds is not None]
    assert any(drawn.low < drawn.high for drawn in found)
    for drawn in found:
        assert 0 <= drawn.low <= drawn.own <= drawn.high <= 1
        assert all(drawn.low - 1e-4 <= tick <= drawn.high + 1e-4 for tick in drawn.ticks)


def test_the_sentence_of_a_node_counts_every_fold() -> None:
    agreement = Agreement(
        same=6,
        others=2,
        leaves=1,
        gone=1,
        thresholds=ThresholdRange(0.5, 0.4, 0.6, (0.4, 0.6), "4 to 6"),
        alternatives=(Alternative(2, "age", "≤ 3"), Alternative(1, "leaf: no")),
    )
    assert agreement.sentence(False) == (
        "6 of 10 folds ask the same; 2 folds: age ≤ 3; 1 fold: leaf: no; 1 fold parted above; "
        "thresholds 4 to 6"
    )
    assert Agreement(9, 1, 0, 0, 3, None, (Alternative(1, "age", "≤ 3"),)).sentence(True) == (
        "9 of 10 folds end here too; 3 of them with another answer; 1 fold asks age ≤ 3"
    )


def test_notebooks_get_the_picture() -> None:
    given = stability()
    view = given.show()
    assert view._repr_svg_() == view.svg()
    assert view.svg() in given._repr_html_()
    assert "Stability: 5 folds" in repr(view)


def test_files_are_written_by_their_suffix(tmp_path: Path) -> None:
    view = stability().show()
    assert view.save(tmp_path / "s.svg", title="Ours").read_text("utf-8") == view.svg(title="Ours")
    assert view.save(str(tmp_path / "s.HTML")).read_text("utf-8") == view.html()
    with pytest.raises(UsageError, match=r"'s\.png': a name that ends in \.svg or \.html is allowed"):
        view.save("s.png")
    with pytest.raises(StorageError, match="cannot write"):
        view.save(tmp_path / "absent" / "s.svg")


def test_depth_zero_hides_everything_but_the_root() -> None:
    picture: StabilityPicture = stability().show().picture
    assert set(boxes(draw_stability(picture, 0))) == {0}


def test_the_outputs_and_the_picture_of_the_page_are_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "stability.md").read_text("utf-8")
    pairs = outputs(page)
    assert len([shown for _, shown in pairs if shown]) == 2
    for printed, shown in pairs:
        assert printed.rstrip() == shown.rstrip()
    drawn = (
        (tmp_path / "stability.svg")
        .read_text("utf-8")
        .replace("<title>Stability of the tree</title>", "<title>The stability of the iris tree</title>")
    )
    assert (DOCS / "pictures" / "stability.svg").read_text("utf-8") == drawn
