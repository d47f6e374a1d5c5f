"""Generated databases: the same facts for the same seed, and classes that the stated theory gives."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.datasets import make_bongard, make_trains
from hornbeam.datasets.generators import LINKED, find_linked
from hornbeam.datasets.generators.family import PiecesHash
from hornbeam.datasets.generators.linked import LinkedSet, csv_bytes, pieces
from hornbeam.datasets.generators.streams import Rows
from hornbeam.errors import UsageError

# Of the usual number of examples. A change of any of these breaks the sets that others have made.
PINNED: dict[str, tuple[str, dict[str, Any], str]] = {
    "SB": ("bongard", {}, "ca8625412b0e460fb3dde184f453f8d9ea9af16b19a400155a654e7319517d52"),
    "CB": (
        "bongard",
        {"theory": "complex"},
        "a23a9a2ac830aa1bb12416efff62b9c00596ec3881ed54b6cd5fc9b2483a022b",
    ),
    "CB, noisy": (
        "bongard",
        {"theory": "complex", "objects": 5, "inside": 0.6, "noise": 0.1},
        "6eb2d9842783710f33fe6ab0bbb8a72c548bc079a3d036a1a7f9068b03025591",
    ),
    "trains": ("trains", {}, "9589a2cddef08b0b8cc0d09b32694e3aa455d7a1ec541c9c59d01d3c21be779a"),
    "trains 5, noisy": (
        "trains",
        {"rule": 5, "cars": 8, "noise": 0.05},
        "ddf2c4a396cf989430c9a191d6758d1f5ccce311467751175ab865cde6416e99",
    ),
}


def collected(name: str, count: int, seed: int, chunk: int, **options: Any) -> str:
    digest = PiecesHash()
    for tables in pieces(find_linked(name, **options), count, seed=seed, chunk=chunk):
        digest.update({table: csv_bytes(rows) for table, rows in tables.items()})
    return digest.hexdigest()


@pytest.mark.parametrize("case", PINNED)
def test_the_examples_never_change(case: str) -> None:
    name, options, expected = PINNED[case]
    family = find_linked(name, **options)
    assert collected(name, family.usual_examples, 7, 10_000, **options) == expected


@settings(max_examples=20)
@given(st.sampled_from(sorted(LINKED)), st.integers(0, 2**64 - 1), st.integers(1, 40), st.integers(1, 40))
def test_pieces_do_not_matter(name: str, seed: int, count: int, chunk: int) -> None:
    assert collected(name, count, seed, chunk) == collected(name, count, seed, 1000)


@pytest.mark.parametrize("name", LINKED)
def test_further_examples_are_those_that_more_would_have_had(name: str) -> None:
    family = find_linked(name)
    whole, later = family.draw(Rows(3, 0, 60)), family.draw(Rows(3, 40, 20))
    for table, rows in later.items():
        assert whole[table].to_pylist()[-rows.num_rows :] == rows.to_pylist()


def by(table: pa.Table, key: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in table.to_pylist():
        found[row[key]].append(row)
    return found


def is_simple(shape: dict[str, str], turn: dict[str, str], pairs: list[tuple[str, str]]) -> bool:
    return any(shape[a] == "triangle" and shape[b] == "circle" for a, b in pairs)


def is_complex(shape: dict[str, str], turn: dict[str, str], pairs: list[tuple[str, str]]) -> bool:
    first = any(turn[a] == "up" and shape[b] == "triangle" for a, b in pairs)
    second = any(
        b == c and (shape[a], shape[b], shape[d]) == ("circle", "square", "triangle")
        for a, b in pairs
        for c, d in pairs
    )
    third = any(turn[a] == "down" and shape[b] == "circle" for a, b in pairs)
    return first or second or (third and "square" not in shape.values())


@pytest.mark.parametrize(("theory", "is_meant"), [("simple", is_simple), ("complex", is_complex)])
@pytest.mark.parametrize("seed", [0, 7])
def test_pictures_are_of_the_class_that_the_theory_says(theory: str, is_meant: Any, seed: int) -> None:
    tables = make_bongard(theory=theory, seed=seed).tables
    objects, insides = by(tables["object"], "picture_id"), by(tables["inside"], "picture_id")
    for picture in tables["picture"].to_pylist():
        things = objects[picture["picture_id"]]
        shape = {thing["object_id"]: thing["shape"] for thing in things}
        turn = {thing["object_id"]: thing["orientation"] for thing in things}
        pairs = [(r["inner_object_id"], r["outer_object_id"]) for r in insides[picture["picture_id"]]]
        assert 2 <= len(shape) <= 6
        assert all((turn[t] is not None) == (shape[t] == "triangle") for t in shape)
        assert len({a for a, _ in pairs}) == len(pairs)  # nothing lies directly in two
        assert picture["class"] == ("pos" if is_meant(shape, turn, pairs) else "neg")


def goes_east(rule: int, cars: list[dict[str, Any]], load: dict[str, str]) -> bool:
    closed = [c["roof"] is not None for c in cars]
    if rule == 1:
        return any(c["length"] == "short" and c["roof"] for c in cars)
    if rule == 2:
        return any(
            cars[i]["wheels"] == 2 and load.get(cars[i]["car_id"]) == "triangle" and closed[i + 1]
            for i in range(len(cars) - 1)
        )
    if rule == 3:
        carried = {(c["length"], load.get(c["car_id"])) for c in cars}
        return {("long", "circle"), ("short", "triangle")} <= carried
    if rule == 4:
        return any(c["wheels"] == 3 for c in cars) and all(c["roof"] != "jagged" for c in cars)
    return any(c["roof"] and c["weight"] > 20 for c in cars)


@pytest.mark.parametrize("rule", [1, 2, 3, 4, 5])
def test_trains_go_where_the_rule_says(rule: int) -> None:
    tables = make_trains(rule=rule, seed=2).tables
    cars, behind = by(tables["car"], "train_id"), by(tables["behind"], "train_id")
    load = {row["car_id"]: row["shape"] for row in tables["load"].to_pylist()}
    for train in tables["train"].to_pylist():
        own = cars[train["train_id"]]
        assert [car["position"] for car in own] == list(range(1, len(own) + 1))
        couples = [(row["front_car_id"], row["back_car_id"]) for row in behind[train["train_id"]]]
        names = [car["car_id"] for car in own]
        assert couples == list(itertools.pairwise(names))
        assert train["direction"] == ("east" if goes_east(rule, own, load) else "west")


def test_the_sets_have_about_as_many_positive_pictures_as_expected() -> None:
    """15.5 % of pictures follow the simple theory: 1 - the mean of (17/18)^k, k = 1 .. 5 chances."""
    share = 1 - sum((17 / 18) ** k for k in range(1, 6)) / 5
    labels = make_bongard(100_000, seed=1).tables["picture"]["class"].to_pylist()
    assert labels.count("pos") / 100_000 == pytest.approx(share, abs=0.005)


def test_how_many_pictures_of_seed_7_are_positive() -> None:
    for theory, size, positive in (("simple", 1453, 214), ("complex", 1521, 160)):
        labels = make_bongard(theory=theory, seed=7).tables["picture"]["class"].to_pylist()
        assert (len(labels), labels.count("pos")) == (size, positive)


def test_names_and_order_do_not_tell_who_came_first() -> None:
    rows = make_bongard(20_000, seed=5).tables["inside"].to_pylist()
    earlier = [
        int(row["outer_object_id"].split("_o")[1]) < int(row["inner_object_id"].split("_o")[1])
        for row in rows
    ]
    assert sum(earlier) / len(earlier) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("make", [make_bongard, make_trains])
def test_noise_turns_labels_and_nothing_else(make: Any) -> None:
    plain, noisy = make(5000, seed=4), make(5000, seed=4, noise=0.1)
    target = next(iter(plain.tables))
    for table in plain.tables:
        if table != target:
            assert plain.tables[table].equals(noisy.tables[table])
    column = plain.target.split(".")[1]
    pairs = zip(
        plain.tables[target][column].to_pylist(), noisy.tables[target][column].to_pylist(), strict=True
    )
    assert sum(a != b for a, b in pairs) / 5000 == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("made", [make_bongard(50), make_trains(50)], ids=["bongard", "trains"])
def test_references_lead_to_keys(made: LinkedSet) -> None:
    for table, references in made.references.items():
        for column, to in references.items():
            known = set(made.tables[to][made.keys[to]].to_pylist())
            assert set(made.tables[table][column].to_pylist()) <= known
    for table, key in made.keys.items():
        values = made.tables[table][key].to_pylist()
        assert len(set(values)) == len(values)


def test_facts_say_what_the_tables_say() -> None:
    family = find_linked("bongard")
    tables = family.draw(Rows(1, 0, 200))
    facts = list(family.facts(tables))
    turned = sum(turn is not None for turn in tables["object"]["orientation"].to_pylist())
    assert len(facts) == len(set(facts)) == sum(t.num_rows for t in tables.values()) + turned
    first = tables["inside"].to_pylist()[0]
    assert f"in({','.join(first.values())})." in facts


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="simple, complex"):
        make_bongard(theory="hard")
    with pytest.raises(UsageError, match="1, 2, 3, 4, 5"):
        make_trains(rule=6)
    with pytest.raises(UsageError, match="there are bongard, trains"):
        find_linked("cars")
    with pytest.raises(UsageError, match="its options are: rule, cars, noise"):
        find_linked("trains", wheels=3)
