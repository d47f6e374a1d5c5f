"""Rules: one a leaf, each readable on its own, conditions merged, the way of missing values stated."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from hornbeam.model import Tree
from hornbeam.model.rules import NominalCondition, NumericCondition
from hornbeam.table import Attribute, Schema
from tests.unit.model.builder import chain, float_schema, mixed_schema, plain_arrays, random_tree
from tests.unit.model.test_canonical import stump

COLOURS = ("blue", "green", "red", "tan")


def value_chain(default: int) -> Tree:
    """colour == red? else colour == tan?: two value tests below each other."""
    schema = Schema((Attribute("colour", "nominal", "nominal", COLOURS),))
    arrays = plain_arrays(chain(2, float_schema(1)))
    arrays["kind"][[0, 2]] = 3
    arrays["threshold"][:] = 0
    arrays["default_child"][:] = (default, -1, default, -1, -1)
    arrays["branch_start"] = np.array([0, 4, 4, 7, 7, 7])
    arrays["branch_code"] = np.array([0, 1, 2, 3, 0, 1, 3], dtype=np.int32)
    arrays["branch_child"] = np.array([1, 1, 0, 1, 1, 1, 0], dtype=np.int32)
    return Tree(schema, arrays, classes=["no", "yes"])


def test_a_stump_reads_as_two_rules() -> None:
    assert str(stump(["no", "yes"]).rules()) == (
        "if   age <= 30\nthen no  (2 rows, 100%; covers 40.0%)\n\n"
        "if   age > 30 or missing\nthen yes  (3 rows, 100%; covers 60.0%)\n"
    )
    assert "missing" not in stump(["no", "yes"]).rules().to_text(missing=False)


def test_a_leaf_alone_is_a_rule_without_conditions() -> None:
    tree = random_tree(np.random.default_rng(0), float_schema(1), 0)
    (rule,) = tree.rules()
    assert rule.conditions == ()
    assert rule.coverage == 1
    assert str(rule).startswith("if   any row\nthen class ")


def test_bounds_of_one_attribute_become_an_interval() -> None:
    rules = chain(4, float_schema(1)).rules()
    assert [rule.conditions for rule in rules] == [
        (NumericCondition("x0", None, 0.0, True, True),),
        (NumericCondition("x0", 0.0, 1.0, True, False),),
        (NumericCondition("x0", 1.0, 2.0, True, False),),
        (NumericCondition("x0", 2.0, 3.0, True, False),),
        (NumericCondition("x0", 3.0, None, True, False),),
    ]
    assert "1 < x0 <= 2" in str(rules[2])
    assert rules[2:] == rules[2:5]


def test_labels_are_intersected_and_the_shorter_list_is_shown() -> None:
    red, tan, others = value_chain(default=1).rules()
    assert red.conditions == (NominalCondition("colour", ("red",), False, False),)
    assert tan.conditions == (NominalCondition("colour", ("tan",), False, False),)
    assert others.conditions == (NominalCondition("colour", ("red", "tan"), True, True),)
    assert "colour not in {red, tan} or missing" in str(others)
    red, tan, others = value_chain(default=0).rules()
    assert red.conditions == (NominalCondition("colour", ("red",), False, True),)
    assert "colour == red, unseen or missing" in str(red)
    assert others.conditions == (NominalCondition("colour", ("blue", "green"), False, False),)


def test_what_no_value_meets_is_said() -> None:
    arrays = plain_arrays(chain(2, float_schema(1)))
    arrays["threshold"][:] = (5.0, 0, 3.0, 0, 0)
    arrays["default_child"][:] = (0, -1, 0, -1, -1)
    rules = Tree(float_schema(1), arrays, classes=["only"]).rules()
    assert rules[1].conditions == (NumericCondition("x0", None, None, False, False),)
    assert "no value of x0" in str(rules[1])
    arrays["default_child"][:] = (1, -1, 0, -1, -1)
    assert "x0 is missing" in str(Tree(float_schema(1), arrays, classes=["only"]).rules()[1])


def test_infinite_bounds_say_known_and_survive_json() -> None:
    arrays = plain_arrays(stump(["no", "yes"], math.inf))
    rules = Tree(float_schema(1), arrays, classes=["no", "yes"]).rules()
    assert "x0 is known" in str(rules[0])
    assert "x0 is missing" in str(rules[1])
    low = Tree(float_schema(1), plain_arrays(stump(["no", "yes"], -math.inf)), classes=["no", "yes"]).rules()
    assert json.loads(low.to_json())[1]["conditions"][0]["above"] == "-inf"


def test_dates_and_large_integers_stay_exact() -> None:
    schema = Schema((Attribute("day", "numeric", "date"),))
    arrays = plain_arrays(stump(["no", "yes"]))
    arrays["threshold_integer"][0] = 20_000
    assert Tree(schema, arrays, classes=["no", "yes"]).rules()[0].conditions[0].at_most == "2024-10-04"  # type: ignore[union-attr]
    schema = Schema((Attribute("id", "numeric", "uint64"),))
    arrays["threshold_integer"][0] = 2**63 - 2
    assert Tree(schema, arrays, classes=["no", "yes"]).rules()[1].conditions[0].above == 2**64 - 2  # type: ignore[union-attr]


@pytest.mark.parametrize("n_targets", [0, 1, 2])
def test_rules_are_plain_json_and_account_for_every_row(n_targets: int) -> None:
    tree = random_tree(
        np.random.default_rng(n_targets), mixed_schema(), 20, n_targets=n_targets, weighted=True
    )
    rules = tree.rules()
    assert len(rules) == tree.n_leaves
    assert sum(rule.coverage for rule in rules) == pytest.approx(1)
    plain = json.loads(rules.to_json())
    assert plain == rules.to_record()
    for rule, record in zip(rules, plain, strict=True):
        if n_targets:
            assert record["prediction"] == tree.means[rule.leaf].tolist()
            assert (rule.spread is None) == (n_targets == 2)
        else:
            assert rule.prediction == tree.classes[tree.leaf_class[rule.leaf]]  # type: ignore[index]
            assert rule.share == pytest.approx(max(count for _, count in rule.counts) / rule.weight)
        assert "\n".join(str(rule).splitlines()) == str(rule)


def test_the_rules_of_a_deep_chain_are_found() -> None:
    assert len(chain(5000, float_schema(1)).rules()) == 5001
