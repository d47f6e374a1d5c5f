"""Every label follows from its row, by a second definition of each concept that shares no code."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hornbeam.datasets import (
    Dataset,
    make_agrawal,
    make_balance,
    make_instability,
    make_led,
    make_monks,
    make_multiplex_xor,
    make_multiplexer,
    make_numeric_xor,
    make_tictactoe,
    make_xor,
)
from hornbeam.datasets.generators.agrawal import LEVELS, in_group_a
from hornbeam.datasets.generators.hidden_columns import MultiplexXor
from hornbeam.errors import UsageError

from .plain import SEGMENTS, agrawal_class, monks_class

INCOME = {"ais93": Fraction(67, 100), "moa": Fraction(2, 3), "quest-c": Fraction(2, 3)}


def rows_of(dataset: Dataset) -> list[dict[str, Any]]:
    return dataset.rows.to_pylist()


def test_the_shape_is_the_one_of_loaded_sets() -> None:
    people = make_agrawal(50)
    assert (people.name, people.targets, people.task) == ("agrawal", ("class",), "classification")
    assert people.X.column_names == people.rows.column_names[:-1]
    assert people.y.equals(people.rows.column("class"))
    assert people.rows.num_rows == 50
    assert len(people.hash) == 64


@pytest.mark.parametrize("function", range(1, 11))
@pytest.mark.parametrize("profile", INCOME)
def test_agrawal_labels_follow_the_functions(function: int, profile: str) -> None:
    dataset = make_agrawal(3000, function=function, profile=profile, seed=function)
    for row in rows_of(dataset):
        # MOA's reals are multiples of a tiny fraction; no row lies within rounding of a boundary.
        assert row["class"] == agrawal_class(function, row, INCOME[profile])


def test_agrawal_boundaries_are_exact() -> None:
    cases = [
        {"salary": salary, "commission": commission, "age": age, "elevel": level, "loan": loan}
        | {"hvalue": hvalue, "hyears": hyears}
        for salary in (25000, 49999, 50000, 75000, 75001, 100000, 100001, 125000)
        for commission in (0, 25000)
        for age in (20, 39, 40, 59, 60)
        for level in (0, 1, 4)
        for loan in (99999, 100000, 300000, 300001)
        for hvalue, hyears in ((100000, 20), (250000, 21))
    ]
    columns = {name: np.array([case[name] for case in cases]) for name in cases[0]}
    for function in range(1, 11):
        found = in_group_a(function, columns, 201)
        for case, in_a in zip(cases, found, strict=True):
            row = case | {"elevel": LEVELS[case["elevel"]]}
            assert ("A" if in_a else "B") == agrawal_class(function, row, INCOME["ais93"])


def test_a_disposable_income_of_nothing_is_group_b() -> None:
    people = {
        "salary": np.array([30000, 30000]),
        "commission": np.array([0, 0]),
        "loan": np.array([500, 499]),
    }
    assert in_group_a(7, people, 201).tolist() == [False, True]  # 0.67 * 30000 - 0.2 * 500 - 20000 = 0


def test_agrawal_changes_only_the_region() -> None:
    before = rows_of(make_agrawal(4000, function=1))
    inverted = rows_of(make_agrawal(4000, function=1, changed="age>=60 and elevel==level2"))
    other = rows_of(make_agrawal(4000, function=1, changed="age>=60", changed_to=2))
    inside = 0
    for old, new, second in zip(before, inverted, other, strict=True):
        in_region = old["age"] >= 60 and old["elevel"] == "level2"
        inside += in_region
        assert (old["class"] != new["class"]) == in_region
        function = 2 if old["age"] >= 60 else 1
        assert second["class"] == agrawal_class(function, old, INCOME["ais93"])
    assert 200 < inside < 350
    assert make_agrawal(1, changed="age>=60", changed_to=2).relevant == ("age", "salary")


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_regions_compare_as_they_are_written(sign: str) -> None:
    compare = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}
    compare |= {"==": int.__eq__, "!=": int.__ne__}
    plain = rows_of(make_agrawal(500))
    changed = rows_of(make_agrawal(500, changed=f"hyears {sign} 15"))
    for old, new in zip(plain, changed, strict=True):
        assert (old["class"] != new["class"]) == compare[sign](old["hyears"], 15)


def test_perturbation_comes_after_the_labels() -> None:
    plain = rows_of(make_agrawal(2000, function=2))
    moved = rows_of(make_agrawal(2000, function=2, perturbation=0.4))
    assert [row["class"] for row in plain] == [row["class"] for row in moved]
    assert any(row["class"] != agrawal_class(2, row, INCOME["ais93"]) for row in moved)
    for old, new in zip(plain, moved, strict=True):
        assert [old[name] for name in ("elevel", "car", "zipcode")] == [
            new[name] for name in ("elevel", "car", "zipcode")
        ]
        assert abs(new["salary"] - old["salary"]) <= 0.5 * 0.4 * 130000 + 0.5
        assert abs(new["age"] - old["age"]) <= 0.5 * 0.4 * 60 + 0.5
        assert (new["commission"] == 0) == (old["commission"] == 0)


def test_led_segments_show_the_digit_when_nothing_fails() -> None:
    for row in rows_of(make_led(500, noise=0)):
        lit = {number for number in range(1, 8) if row[f"segment{number}"]}
        assert lit == SEGMENTS[row["class"]]
    assert len(make_led(5, attributes=24).X.column_names) == 24


@pytest.mark.parametrize(("bits", "irrelevant"), [(1, 0), (5, None), (10, 10), (3, 80)])
def test_xor_is_the_parity_of_the_relevant_bits(bits: int, irrelevant: int | None) -> None:
    dataset = make_xor(500, bits=bits, irrelevant=irrelevant, seed=2)
    assert len(dataset.relevant) == bits
    assert len(dataset.X.column_names) == bits + (bits if irrelevant is None else irrelevant)
    assert dataset.nominal == tuple(dataset.X.column_names)
    for row in rows_of(dataset):
        assert row["class"] == sum(row[name] for name in dataset.relevant) % 2


def test_numeric_xor_is_the_sign_of_the_product() -> None:
    dataset = make_numeric_xor(2000, dimensions=4, irrelevant=2)
    for row in rows_of(dataset):
        assert all(-1 <= row[name] < 1 for name in dataset.X.column_names)
        assert row["class"] == (math.prod(row[name] for name in dataset.relevant) > 0)


@pytest.mark.parametrize("address", [1, 2, 3, 4])
def test_the_multiplexer_gives_the_addressed_bit(address: int) -> None:
    dataset = make_multiplexer(1000, address=address, irrelevant=3, seed=5)
    assert len(dataset.relevant) == address + 2**address
    for row in rows_of(dataset):
        bits = [row[name] for name in dataset.relevant]
        place = int("".join(map(str, bits[:address])), 2)
        assert row["class"] == bits[address + place]


def test_multiplex_xor_is_the_parity_that_its_first_bit_selects() -> None:
    sizes = set()
    for seed in range(60):
        dataset = make_multiplex_xor(80, seed=seed)
        assert len(dataset.X.column_names) == 11
        assert dataset.nominal == tuple(dataset.X.column_names)
        select, *others = dataset.relevant
        terms = MultiplexXor().terms(seed)
        assert others == [*terms[0], *terms[1]]
        assert len(set(dataset.relevant)) == len(dataset.relevant)
        sizes.add(tuple(map(len, terms)))
        for row in rows_of(dataset):
            assert row["class"] == sum(row[name] for name in terms[row[select]]) % 2
    assert len(sizes) > 12  # of sixteen pairs of 2 to 5


@pytest.mark.parametrize("make", [make_xor, make_numeric_xor, make_multiplexer, make_multiplex_xor])
def test_the_columns_of_the_rule_are_permuted(make: Any) -> None:
    orders = {make(1, seed=seed).relevant for seed in range(200)}
    assert len(orders) > 90
    assert {order[0] for order in orders} == {f"x{n}" for n in range(1, make(1).X.num_columns + 1)}


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_monks_labels_follow_the_problems(problem: int) -> None:
    everything = rows_of(make_monks(problem=problem))
    assert len({tuple(row.values())[:-1] for row in everything}) == 432
    assert all(row["class"] == monks_class(problem, row) for row in everything)
    assert sum(row["class"] for row in everything) == {1: 216, 2: 142, 3: 228}[problem]


@pytest.mark.parametrize(("problem", "size"), [(1, 124), (2, 169), (3, 122)])
def test_training_sets_of_monks_are_samples_of_the_published_size(problem: int, size: int) -> None:
    wrong = []
    for seed in range(40):
        sample = rows_of(make_monks(problem=problem, subset="training", seed=seed))
        assert len({tuple(row.values())[:-1] for row in sample}) == len(sample) == size
        wrong.append(sum(row["class"] != monks_class(problem, row) for row in sample))
    if problem < 3:
        assert sum(wrong) == 0
    else:
        assert sum(wrong) / (40 * size) == pytest.approx(0.05, abs=0.0125)  # 4 standard deviations
    quiet = rows_of(make_monks(problem=problem, subset="training", noise=0))
    assert all(row["class"] == monks_class(problem, row) for row in quiet)


def test_tictactoe_has_all_endings() -> None:
    boards = [tuple(row.values()) for row in rows_of(make_tictactoe())]
    assert len(set(boards)) == len(boards) == 958
    assert sum(board[-1] == "positive" for board in boards) == 626
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    for board in boards:
        won = {mark: any(all(board[square] == mark for square in line) for line in lines) for mark in "xo"}
        assert (board[-1] == "positive") == won["x"]
        assert not (won["x"] and won["o"])
        assert won["x"] or won["o"] or "b" not in board
        difference = board.count("x") - board.count("o")
        assert difference == 1 if won["x"] or not won["o"] else difference == 0


def test_a_balance_tips_to_the_larger_product() -> None:
    loads = [tuple(row.values()) for row in rows_of(make_balance())]
    assert len(set(loads)) == len(loads) == 625
    assert Counter(load[-1] for load in loads) == {"L": 288, "R": 288, "B": 49}
    for left, far_left, right, far_right, tips in loads:
        assert {left, far_left, right, far_right} <= {1, 2, 3, 4, 5}
        lead = left * far_left - right * far_right
        assert tips == ("L" if lead > 0 else "R" if lead < 0 else "B")


def test_instability_has_its_classes_outside_and_inside() -> None:
    for row in rows_of(make_instability(3000)):
        assert row["class"] == ("B" if 20 < row["x"] <= 60 else "A")
        assert 0 <= row["x"] <= 80


@pytest.mark.parametrize(
    "call",
    [
        lambda: make_agrawal(function=0),
        lambda: make_agrawal(profile="river"),
        lambda: make_agrawal(noise=-0.1),
        lambda: make_agrawal(noise=float("nan")),
        lambda: make_agrawal(noise="half"),  # type: ignore[arg-type]
        lambda: make_agrawal(perturbation=2),
        lambda: make_agrawal(extra=-1),
        lambda: make_agrawal(extra=1.5),  # type: ignore[arg-type]
        lambda: make_agrawal(-1),
        lambda: make_agrawal(seed=-1),
        lambda: make_agrawal(seed=2**64),
        lambda: make_agrawal(start=-1),
        lambda: make_agrawal(changed_to=3),
        lambda: make_agrawal(changed="age>=60", changed_to=1),
        lambda: make_agrawal(changed="age"),
        lambda: make_agrawal(changed=""),
        lambda: make_agrawal(changed="height>=60"),
        lambda: make_agrawal(changed="age>=old"),
        lambda: make_agrawal(changed="age>=nan"),
        lambda: make_agrawal(changed="elevel>=level2"),
        lambda: make_agrawal(changed="elevel==level7"),
        lambda: make_led(attributes=8),
        lambda: make_xor(bits=0),
        lambda: make_xor(irrelevant=-1),
        lambda: make_numeric_xor(dimensions=0),
        lambda: make_multiplexer(address=10),
        lambda: make_multiplex_xor(noise=1.5),
        lambda: make_monks(problem=4),
        lambda: make_monks(subset="test"),
        lambda: make_monks(433),
        lambda: make_monks(400, start=33),
        lambda: make_tictactoe(959),
        lambda: make_balance(626),
        lambda: make_instability(tilt=0.3),
        lambda: make_instability(tilt=0.1, balanced=True),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(call: Any) -> None:
    with pytest.raises(UsageError) as error:
        call()
    assert "\n" not in str(error.value)


def test_zero_rows_are_an_empty_table() -> None:
    assert make_agrawal(0).rows.num_rows == 0
    assert make_agrawal(0).rows.schema.equals(make_agrawal(1).rows.schema)
