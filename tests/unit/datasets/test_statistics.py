"""Shares, ranges and noise against exact values; every tolerance is at least four standard deviations."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import hornbeam
from hornbeam.datasets import (
    Dataset,
    make_agrawal,
    make_instability,
    make_led,
    make_multiplex_xor,
    make_multiplexer,
    make_numeric_xor,
    make_xor,
)

from .plain import SEGMENTS

ROWS = 200_000
SALARIES, COMMISSIONS, LOANS = 130_001, 65_001, 500_001
# How many of the 61 ages are in each band, and how many of 5 levels of education count as such there.
AGES, EDUCATED = (20, 20, 21), (2, 3, 3)
PAGE = Path(__file__).resolve().parents[3] / "docs" / "datasets.md"


def numbers(dataset: Dataset, name: str) -> NDArray[np.float64]:
    return dataset.rows.column(name).to_numpy().astype(np.float64)


def share(dataset: Dataset, label: object) -> float:
    return Counter(dataset.y.to_pylist())[label] / dataset.rows.num_rows


def tolerance(expected: float, rows: int = ROWS) -> float:
    return 4.5 * math.sqrt(expected * (1 - expected) / rows) + 1e-9


def income_shares() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every sum of salary and commission with its exact probability."""
    sums = np.arange(20_000, 150_001)
    chances = np.zeros(len(sums))
    chances[sums >= 75_000] = 1 / SALARIES
    # Low salaries are 20000 .. 74999: count those that leave a commission of 10000 .. 75000.
    count = np.minimum(74_999, sums - 10_000) - np.maximum(20_000, sums - 75_000) + 1
    chances += np.maximum(count, 0) / SALARIES / COMMISSIONS
    return sums.astype(np.float64), chances


def by_bands(share_in_band: Callable[[int], float]) -> float:
    return sum(ages / 61 * share_in_band(band) for band, ages in enumerate(AGES))


def exact_share(function: int) -> float:
    """The probability of group A under the profile ais93."""
    fifty, loans = 50_001 / SALARIES, 200_001 / LOANS
    if function == 1:
        return by_bands(lambda band: float(band != 1))
    if function in (2, 4):  # every range of salaries is as wide as any other
        return fifty
    if function == 3:
        return by_bands(lambda band: EDUCATED[band] / 5)
    if function == 5:
        return loans
    sums, chances = income_shares()
    if function == 6:
        lows = (50_000, 75_000, 25_000)
        return by_bands(
            lambda band: float(chances[(sums >= lows[band]) & (sums <= lows[band] + 50_000)].sum())
        )
    return sum(exact_disposable(function, level, 67 * sums, chances) for level in range(5)) / 5


def exact_disposable(
    function: int, level: int, hundredths: NDArray[np.float64], chances: NDArray[np.float64]
) -> float:
    """Of those with this level of education; `hundredths` are hundredths of what counts of the income."""
    left = hundredths - (2_000_000 if function in (7, 8) else 1_000_000)
    if function >= 8:
        left = left - 500_000 * level
    if function == 8:
        return float(chances[left > 0].sum())
    if function in (7, 9):  # loans below left / 20
        below = np.clip(np.ceil(left / 20), 0, LOANS)
        return float((chances * below / LOANS).sum())
    total = 20 / 30 * float(chances[left > 0].sum())  # no equity before the 21st year
    for worth, years in itertools.product(range(1, 10), range(1, 11)):
        low, high = 50_000 * worth, 150_000 * worth  # 2 * hvalue * years > -left
        least = np.maximum(np.floor(-left / (2 * years)) + 1, low)
        total += float((chances * np.clip(high - least + 1, 0, None) / (high - low + 1)).sum()) / 9 / 30
    return total


@pytest.mark.parametrize("function", range(1, 11))
def test_agrawal_groups_have_their_exact_shares(function: int) -> None:
    expected = exact_share(function)
    line = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {function} | "))
    assert float(line.split("|")[-2].strip(" %")) == pytest.approx(100 * expected, abs=0.0051)
    found = share(make_agrawal(ROWS, function=function, seed=11), "A")
    assert found == pytest.approx(expected, abs=tolerance(expected))


def assert_uniform(values: NDArray[np.float64], low: float, high: float) -> None:
    """Within the range, both ends nearly reached, and twenty equal parts equally full."""
    width = high - low
    assert values.min() >= low
    assert values.max() <= high
    assert values.min() <= low + 0.001 * width + 1
    assert values.max() >= high - 0.001 * width - 1
    counts, _ = np.histogram(values, bins=20, range=(low, high))
    if width > 1000:
        expected = len(values) / 20
        assert ((counts - expected) ** 2 / expected).sum() < 60  # 19 degrees of freedom: 1 in 10^5


@pytest.mark.parametrize("profile", ["ais93", "moa", "quest-c"])
def test_agrawal_attributes_are_uniform_over_their_ranges(profile: str) -> None:
    people = make_agrawal(ROWS, profile=profile, seed=4)
    salary, commission = numbers(people, "salary"), numbers(people, "commission")
    assert_uniform(salary, 20_000, 150_000)
    assert_uniform(numbers(people, "loan"), 0, 500_000)
    assert (commission[salary >= 75_000] == 0).all()
    paid = commission[commission > 0]
    assert_uniform(paid, 10_000, 75_000)
    low = (salary < 75_000).sum()
    expected = 0.5 if profile == "quest-c" else 1.0
    assert len(paid) / low == pytest.approx(expected, abs=tolerance(expected, int(low)))
    for name, values in (("age", range(20, 81)), ("hyears", range(1, 31))):
        assert_even(people, name, tuple(values))
    for name, count in (("elevel", 5), ("car", 20), ("zipcode", 9)):
        assert_even(people, name, tuple(people.rows.column(name).chunk(0).dictionary.to_pylist()), count)
    zipcode = np.array([int(label[-1]) for label in people.rows.column("zipcode").to_pylist()])
    for number in range(1, 10):
        worth = 100_000 * (10 - number)
        assert_uniform(numbers(people, "hvalue")[zipcode == number], 0.5 * worth, 1.5 * worth)


def assert_even(dataset: Dataset, name: str, values: tuple[object, ...], count: int | None = None) -> None:
    found = Counter(dataset.rows.column(name).to_pylist())
    assert set(found) == set(values)
    assert count is None or len(values) == count
    expected = dataset.rows.num_rows / len(values)
    statistic = sum((found[value] - expected) ** 2 / expected for value in values)
    freedom = len(values) - 1
    assert statistic < freedom + 5 * math.sqrt(2 * freedom) + 8


def test_only_moa_has_reals() -> None:
    for profile, kind in (("ais93", "int32"), ("quest-c", "int32"), ("moa", "double")):
        types = make_agrawal(1, profile=profile).rows.schema
        assert {str(types.field(name).type) for name in ("salary", "commission", "hvalue", "loan")} == {kind}
        assert str(types.field("age").type) == "int32"


def test_perturbation_reaches_as_far_as_the_profile_says() -> None:
    for profile, reach, clamped in (("ais93", 0.5, False), ("moa", 1.0, True), ("quest-c", 1.0, True)):
        plain = make_agrawal(50_000, profile=profile)
        moved = make_agrawal(50_000, profile=profile, perturbation=0.1)
        step = numbers(moved, "loan") - numbers(plain, "loan")
        assert np.abs(step).max() == pytest.approx(reach * 0.1 * 500_000, rel=0.01)
        assert (numbers(moved, "loan").min() < 0) != clamped
        assert (numbers(moved, "age").max() > 80) != clamped
        inner = (numbers(plain, "loan") > 60_000) & (numbers(plain, "loan") < 440_000)
        assert_uniform(step[inner], -reach * 50_000, reach * 50_000)
    assert numbers(make_agrawal(5000, profile="moa", perturbation=0.01), "hvalue").max() == 135_000


@pytest.mark.parametrize(
    ("make", "noise"),
    [
        (lambda noise: make_agrawal(ROWS, function=3, noise=noise), 0.02),
        (lambda noise: make_agrawal(ROWS, function=3, noise=noise), 0.1),
        (lambda noise: make_xor(ROWS, noise=noise), 0.1),
        (lambda noise: make_numeric_xor(ROWS, noise=noise), 0.2),
        (lambda noise: make_multiplexer(ROWS, address=2, noise=noise), 0.05),
        (lambda noise: make_multiplex_xor(ROWS, noise=noise), 0.05),
        (lambda noise: make_instability(ROWS, noise=noise), 0.3),
    ],
)
def test_noise_changes_its_share_of_the_labels(make: Callable[[float], Dataset], noise: float) -> None:
    quiet, noisy = make(0.0).y.to_pylist(), make(noise).y.to_pylist()
    wrong = sum(a != b for a, b in zip(quiet, noisy, strict=True)) / ROWS
    assert wrong == pytest.approx(noise, abs=tolerance(noise))


def test_extra_attributes_are_uniform_and_say_nothing() -> None:
    people = make_agrawal(ROWS, extra=3)
    label = np.array(people.y.to_pylist()) == "A"
    for number in range(1, 4):
        values = numbers(people, f"extra{number}")
        assert_uniform(values, 0, 99_999)
        assert abs(np.corrcoef(values, label)[0, 1]) < 0.01


@pytest.mark.parametrize("make", [make_xor, make_numeric_xor, make_multiplexer, make_multiplex_xor])
def test_parities_and_multiplexers_are_fair(make: Callable[..., Dataset]) -> None:
    dataset = make(ROWS)
    assert share(dataset, 1) == pytest.approx(0.5, abs=tolerance(0.5))
    if make is not make_multiplexer:  # no single column says anything
        for name in dataset.relevant:
            assert abs(np.corrcoef(numbers(dataset, name), numbers(dataset, "class"))[0, 1]) < 0.01


def test_led_digits_are_even_and_the_best_answer_is_as_good_as_published() -> None:
    display = make_led(ROWS, attributes=24)
    assert_even(display, "class", tuple(range(10)))
    wrong = np.array(
        [
            [row[f"segment{n}"] != (n in SEGMENTS[row["class"]]) for n in range(1, 8)]
            for row in display.rows.slice(0, 50_000).to_pylist()
        ]
    )
    assert wrong.mean() == pytest.approx(0.1, abs=tolerance(0.1, 350_000))
    # The best answer to each of the 128 displays; 74 % is the published figure.
    shown: dict[tuple[int, ...], Counter[int]] = {}
    columns = [display.rows.column(f"segment{n}").to_pylist() for n in range(1, 8)]
    for *lights, digit in zip(*columns, display.y.to_pylist(), strict=True):
        shown.setdefault(tuple(lights), Counter())[digit] += 1
    best = sum(max(count.values()) for count in shown.values()) / ROWS
    exact = sum(
        max(0.1 ** (w := len(lit ^ SEGMENTS[digit])) * 0.9 ** (7 - w) for digit in range(10)) / 10
        for lit in map(
            set, itertools.chain.from_iterable(itertools.combinations(range(1, 8), k) for k in range(8))
        )
    )
    assert exact == pytest.approx(0.74, abs=0.0005)
    assert best == pytest.approx(exact, abs=0.005)
    for number in range(1, 18):
        assert numbers(display, f"idle{number}").mean() == pytest.approx(0.5, abs=tolerance(0.5))


def root_threshold(dataset: Dataset) -> float:
    tree = hornbeam.TreeClassifier(max_depth=1).fit(dataset.X, dataset.y).tree_
    return float(next(line for line in tree.to_text().splitlines() if "<=" in line).split("<=")[1].split()[0])


def test_instability_splits_at_20_about_as_often_as_at_60() -> None:
    found = Counter(root_threshold(make_instability(1000, seed=seed)) for seed in range(200))
    assert set(found) == {20, 60}
    assert 60 < found[20] < 140  # 100 expected, standard deviation 7


def test_a_tilt_decides_and_a_balance_is_tipped_by_one_row() -> None:
    assert {root_threshold(make_instability(20_000, tilt=0.02, seed=seed)) for seed in range(5)} == {20}
    assert {root_threshold(make_instability(20_000, tilt=-0.02, seed=seed)) for seed in range(5)} == {60}
    balanced = make_instability(4000, balanced=True)
    parts = np.histogram(numbers(balanced, "x"), bins=[0, 20.5, 40.5, 60.5, 81])[0]
    assert parts.tolist() == [1000] * 4
    assert root_threshold(balanced) == 20  # an exact tie: the smaller threshold
    without_first = make_instability(3999, balanced=True, start=1)
    assert root_threshold(without_first) == 60
