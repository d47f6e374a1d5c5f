"""The text of a tree: one line a node, readable names, bounded length."""

from __future__ import annotations

import numpy as np

from hornbeam.model import Tree
from hornbeam.model.text import Style, share_text, shortened
from hornbeam.table import Attribute, Schema
from tests.unit.model.builder import chain, float_schema, mixed_schema, plain_arrays, random_tree
from tests.unit.model.test_canonical import stump


def test_a_stump_reads_as_expected() -> None:
    assert stump(["no", "yes"]).to_text() == (
        "Tree with 2 leaves, depth 1. "
        "Each line: condition  examples  prediction (class shares); * is a leaf.\n"
        "root  n=5  yes (yes 60.0%, no 40.0%)\n"
        "|   age <= 30  n=2  no (no 100%) *\n"
        "|   age > 30  n=3  yes (yes 100%) *\n"
    )


def test_the_default_branch_is_shown_on_request() -> None:
    text = stump(["no", "yes"]).to_text(missing=True)
    assert "age <= 30  n=2" in text
    assert "age > 30 or missing  n=3" in text


def test_every_node_has_its_line_and_no_name_breaks_it() -> None:
    for seed in range(6):
        tree = random_tree(np.random.default_rng(seed), mixed_schema(), n_tests=30, n_targets=seed % 3)
        text = tree.to_text()
        assert len(text.splitlines()) == tree.n_nodes + 1
        assert text.count(" *\n") == tree.n_leaves
        assert text.isascii() or "Gr" in text


def test_max_depth_says_what_is_left_out() -> None:
    tree = random_tree(np.random.default_rng(0), float_schema(2), n_tests=15)
    text = tree.to_text(max_depth=1)
    lines = text.splitlines()
    assert len(lines) == 6
    assert (
        sum(int(line.split("... ")[1].split()[0]) for line in lines if "leaves below" in line)
        == tree.n_leaves
    )
    assert tree.to_text(max_depth=0).splitlines()[2] == f"|   ... {tree.n_leaves} leaves below"
    assert tree.to_text(max_depth=99) == tree.to_text()


def test_many_labels_are_counted() -> None:
    labels = tuple(f"{i:02d}" for i in range(30))
    schema = Schema((Attribute("code", "nominal", "nominal", labels),))
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["kind"][0] = 2
    arrays["branch_start"] = np.array([0, 30, 30, 30])
    arrays["branch_code"] = np.arange(30, dtype=np.int32)
    arrays["branch_child"] = np.array([0] * 20 + [1] * 10, dtype=np.int32)
    tree = Tree(schema, arrays, classes=["no", "yes"])
    assert tree.test_text(0) == "code in {00, 01, 02, 03, 04, and 15 more}"
    assert tree.branch_text(0, 1, max_labels=2) == "code in {20, 21, and 8 more}"
    assert tree.branch_text(0, 1, max_labels=10).endswith("28, 29}")
    assert tree.test_text(1) == ""


def test_value_and_multiway_tests_read_naturally() -> None:
    schema = Schema((Attribute("c", "nominal", "nominal", ("red", "tan")),))
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["branch_start"] = np.array([0, 2, 2, 2])
    arrays["branch_code"] = np.array([0, 1], dtype=np.int32)
    for kind, child, test, branches in (
        (3, [1, 0], "c == tan", ["c == tan", "c != tan"]),
        (4, [0, 1], "c", ["c == red", "c == tan"]),
    ):
        arrays["kind"][0] = kind
        arrays["branch_child"] = np.array(child, dtype=np.int32)
        tree = Tree(schema, arrays, classes=["no", "yes"])
        assert tree.test_text(0) == test
        assert [tree.branch_text(0, k) for k in (0, 1)] == branches


def test_thresholds_of_dates_read_as_dates() -> None:
    schema = Schema((Attribute("day", "numeric", "date"),))
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["threshold_integer"][0] = 20_000
    assert Tree(schema, arrays, classes=["no", "yes"]).test_text(0) == "day <= 2024-10-04"


def test_digits_shorten_or_keep_a_threshold() -> None:
    tree = stump(["no", "yes"], 2.449999988079071)
    assert tree.test_text(0) == "age <= 2.45"
    assert tree.test_text(0, digits=None) == "age <= 2.449999988079071"
    assert stump(["no", "yes"], float("-inf")).test_text(0) == "age <= -inf"


def test_weights_that_are_not_rows_are_shown() -> None:
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["weight"] *= 0.5
    assert "n=5 weight=2.5  " in Tree(float_schema(1), arrays, classes=["no", "yes"]).to_text()


def test_shares_never_claim_all_or_nothing_wrongly() -> None:
    assert [share_text(x) for x in (0.0, 1e-9, 0.5, 0.99999, 1.0)] == ["0%", "0.1%", "50.0%", "99.9%", "100%"]


def test_lists_are_shortened_only_beyond_the_limit() -> None:
    assert shortened(["a", "b"], 2) == "a, b"
    assert shortened(["a", "b", "c"], 2) == "a, b, and 1 more"
    assert Style().max_labels == 5


def test_the_text_of_a_chain_grows_linearly() -> None:
    text = chain(20_000, float_schema(1)).to_text()
    assert len(text) < 40_001 * 260
    assert "[depth 20000] x0 > 19999" in text
