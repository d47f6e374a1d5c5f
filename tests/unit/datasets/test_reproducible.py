"""The same rows for the same seed: whatever the pieces, wherever one begins, however many are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.datasets import generate
from hornbeam.datasets.generators import FAMILIES, find_family
from hornbeam.datasets.generators.family import RowsHash, batches
from hornbeam.datasets.generators.streams import Rows, draw_order

# The SHA-256 of the first 1,000 rows (or of all, where there are fewer) of each. A change of any of these
# breaks the sets that others have made: it needs a very good reason and a line in the changelog.
PINNED: dict[str, tuple[str, dict[str, Any], str]] = {
    "agrawal": ("agrawal", {}, "080573855ecf7a6ad340a586b7f4869e9749fd8d74bc40b87c38f22d77798cc7"),
    "agrawal 7, noisy": (
        "agrawal",
        {"function": 7, "noise": 0.1, "extra": 3},
        "dcaa26654be171f760e3d69b6c228616a012323552dcd568310a4531a7728241",
    ),
    "agrawal 10, perturbed": (
        "agrawal",
        {"function": 10, "perturbation": 0.2},
        "311e8544d41067b9c2a9e450049bd02bf65cabd49254fb0bcd008f77c6b45bca",
    ),
    "agrawal 1, changed": (
        "agrawal",
        {"function": 1, "changed": "age>=60 and elevel!=level2", "changed_to": 2},
        "1e2ad96f9449ebae6752d0f9ea6cb98fb8311e90c1fd03b116c35aa171909bf1",
    ),
    "agrawal 5, moa": (
        "agrawal",
        {"function": 5, "profile": "moa", "perturbation": 0.05},
        "ccf868c824cef04f042c8b03ff7eec381bdb6545f936b35b35ac433a84e97f38",
    ),
    "agrawal 9, quest-c": (
        "agrawal",
        {"function": 9, "profile": "quest-c", "perturbation": 0.05},
        "df9d12284516c984d82eca90a8ff9618c49df12f2bed4fc6d14157ee93e10684",
    ),
    "led": ("led", {}, "ea0789203f4e2c1d25163fd3bce13cbd977638c6db87dc0586a3889b8f092cac"),
    "led 24": ("led", {"attributes": 24}, "412c0ccf2641e5d4c9875ee422e5441863c3af0e7df2825761ade2c12db1831a"),
    "xor": ("xor", {}, "b887a7b299ccd60dd912aadb3d70e710a39cc058436d90d12023fb04b14b5f25"),
    "xor 10, noisy": (
        "xor",
        {"bits": 10, "noise": 0.1},
        "2dd850a9a98dbb9def5ce992888950e373616dcf0a4d8a7584f95eaf26d41430",
    ),
    "numeric-xor": ("numeric-xor", {}, "85de2f11fda84c2ff44ccf698a36b6f5f5e56c1adb11f96326fa858ca448be44"),
    "numeric-xor 4": (
        "numeric-xor",
        {"dimensions": 4, "irrelevant": 1},
        "8be1452316fdd2c868a604494b3a17db618b22e392cbf03fdd0d1c446d46f36e",
    ),
    "multiplexer": ("multiplexer", {}, "31aace0eac5a505ea3dadc9b05a26caf1f136fb9378430a0dd1381899dddbf35"),
    "multiplexer 11": (
        "multiplexer",
        {"address": 3, "irrelevant": 70, "noise": 0.05},
        "a8e67489409fab2095f1dab7b722d2a2696465843128ab3536ad07b8df18b28c",
    ),
    "multiplex-xor": (
        "multiplex-xor",
        {},
        "e35b1fc5d914fd1f00b0a6623af3b83e47b2ce2ef4f4df9085e53422c57ea281",
    ),
    "multiplex-xor, noisy": (
        "multiplex-xor",
        {"noise": 0.1},
        "4c369215d136b87c1a62cf3081e5583fd1a37d7d49f7f85986b4d17b09caf43d",
    ),
    "monks": ("monks", {}, "b9034b943f1cf367b5a4b4baaf041097f38bd0f6e37eeb6a8fea93dea8bf6c67"),
    "monks 2": (
        "monks",
        {"problem": 2, "subset": "training"},
        "b06d3f22c6d775a05de342a217efccb471dd4cd983cce2ffb5c91fb49b06c592",
    ),
    "monks 3": (
        "monks",
        {"problem": 3, "subset": "training"},
        "176777fa76af25bc7e19f804e68d629e2dfc9440b8ad61bf7e59178d077b5a9d",
    ),
    "tictactoe": ("tictactoe", {}, "61793606cf1f6495cd5f427ef5832efe39580885fe2c8a1555e6ba821b296aee"),
    "balance": ("balance", {}, "014a30e16d3730532491a40f618ff8fe3acb1cacce246625577736a5a41aba64"),
    "instability": ("instability", {}, "f6115a7da0c051d5f4e19d33d54735cf8fde2baa6245d3612c7d653f5bb2ae82"),
    "instability, tilted": (
        "instability",
        {"tilt": 0.02, "noise": 0.1, "extra": 1},
        "3a621bde8fb6ce459f85c271435017c60e1e4581224af816c6c179f26884dc19",
    ),
    "instability, balanced": (
        "instability",
        {"balanced": True},
        "25ce564d255468805e6355fb491882ccc7c4905be99b813e08e3516b0296d174",
    ),
}


def taken(name: str, rows: int | None, seed: int = 3, **options: Any) -> pa.Table:
    return generate(name, rows, seed=seed, **options).read_all()


def checksum(name: str, seed: int, options: dict[str, Any], chunk_rows: int = 100_000) -> str:
    family = find_family(name, **options)
    digest = RowsHash(family)
    rows = min(1000, family.size or 1000)
    for batch in batches(family, rows, seed=seed, chunk_rows=chunk_rows):
        digest.add(batch)
    return digest.hexdigest()


@pytest.mark.parametrize("case", PINNED)
def test_the_first_rows_never_change(case: str) -> None:
    name, options, expected = PINNED[case]
    assert checksum(name, 1, options) == expected


def test_every_family_and_every_profile_is_pinned() -> None:
    assert {name for name, _, _ in PINNED.values()} == set(FAMILIES)
    profiles = {options.get("profile", "ais93") for name, options, _ in PINNED.values() if name == "agrawal"}
    assert profiles == {"ais93", "moa", "quest-c"}


@pytest.mark.parametrize("case", PINNED)
def test_the_checksum_does_not_depend_on_the_batches(case: str) -> None:
    name, options, expected = PINNED[case]
    assert checksum(name, 1, options, chunk_rows=37) == expected


@pytest.mark.parametrize("case", PINNED)
@settings(max_examples=15)
@given(data=st.data())
def test_any_piece_is_cut_from_the_same_set(case: str, data: st.DataObject) -> None:
    name, options, _ = PINNED[case]
    most = find_family(name, **options).size or 300
    whole = taken(name, most, **options)
    start = data.draw(st.integers(0, most), "start")
    rows = data.draw(st.integers(0, most - start), "rows")
    chunk = data.draw(st.integers(1, most), "chunk_rows")
    piece = taken(name, rows, start=start, chunk_rows=chunk, **options)
    assert piece.equals(whole.slice(start, rows))
    assert all(batch.num_rows <= chunk for batch in piece.to_batches())


def test_pieces_far_away_are_reached_at_once() -> None:
    far = 2**61 + 3
    one = taken("agrawal", 5, start=far)
    assert one.slice(2).equals(taken("agrawal", 3, start=far + 2))


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"tictactoe", "balance", "monks"}))
def test_seeds_name_different_sets(name: str) -> None:
    tables = [taken(name, 100, seed=seed) for seed in (0, 1, 2, 2**64 - 1)]
    assert not any(tables[0].equals(table) for table in tables[1:])


def test_options_that_add_noise_leave_the_people_alone() -> None:
    plain = taken("agrawal", 500, function=1)
    other = taken("agrawal", 500, function=7, noise=0.3, extra=2)
    for name in plain.column_names[:-1]:
        assert plain.column(name).equals(other.column(name))


def test_streams_are_cut_anywhere() -> None:
    whole = Rows(9, 0, 50).unit("a")
    for first in range(9):
        assert np.array_equal(Rows(9, first, 20).unit("a"), whole[first : first + 20])
    assert not np.array_equal(whole, Rows(9, 0, 50).unit("b"))
    assert not np.array_equal(whole, Rows(8, 0, 50).unit("a"))


def test_an_order_holds_every_place_once() -> None:
    assert sorted(draw_order(4, "x", 100)) == list(range(100))
    firsts = [int(draw_order(seed, "x", 10)[0]) for seed in range(2000)]
    assert np.bincount(firsts, minlength=10).min() > 140  # 200 expected, standard deviation 13


def test_draws_are_uniform() -> None:
    rows = Rows(5, 10, 100_000)
    unit = rows.unit("u")
    assert unit.min() >= 0
    assert unit.max() < 1
    counts = np.bincount((unit * 100).astype(int), minlength=100)
    assert ((counts - 1000) ** 2 / 1000).sum() < 170  # chi-square, 99 degrees of freedom: 1 in 10^5
    dice = rows.between("d", 1, 6)
    assert set(dice.tolist()) == {1, 2, 3, 4, 5, 6}
    assert ((np.bincount(dice)[1:] - 100_000 / 6) ** 2).sum() / (100_000 / 6) < 30
    assert rows.chance("c", 0.25).mean() == pytest.approx(0.25, abs=0.007)
    assert not rows.chance("c", 0).any()
    assert rows.chance("c", 1).all()
    for column in rows.bits("b", 70):
        assert column.mean() == pytest.approx(0.5, abs=0.008)


def test_the_bits_of_a_word_are_independent() -> None:
    columns = np.array(Rows(5, 0, 100_000).bits("b", 70), dtype=np.float64) - 0.5
    agreement = columns @ columns.T / 100_000 * 4
    assert np.abs(agreement - np.eye(70)).max() < 0.018  # standard deviation 0.0032
