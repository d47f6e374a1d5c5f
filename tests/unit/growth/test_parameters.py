"""Parameters: plain types and own names come out, and every value that means nothing is one clear line."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hornbeam.errors import UsageError
from hornbeam.growth import CRITERIA, Engine, Parameters
from hornbeam.table import MAX_ROWS

NAN, INF = float("nan"), float("inf")
BAD: dict[str, list[Any]] = {
    "criterion": [None, "", "GINI", "variance", 3, ["gini"], np.array(["gini", "entropy"]), "x" * 500],
    "nominal": [None, "one-hot", 1, ["subset"], np.array([1, 2])],
    "max_depth": [0, -1, 1.5, np.float64(3), "3", True, np.True_, NAN, INF, [3], np.zeros((50, 50))],
    "min_samples_split": [1, 0, -3, 0.0, -0.5, 1.5, NAN, INF, "2", None, True, Decimal("0.5"), [2]],
    "min_samples_leaf": [0, -1, 0.0, 0.51, 1.0, NAN, INF, "1", None, False, Decimal("0.5"), [1]],
    "min_impurity_decrease": [-1, -1e-300, NAN, "0", None, True, [0.0], np.array([0.0, 1.0])],
    "min_objs": [0, -1, 0.0, NAN, INF, "2", True, [2], np.array([1.0, 2.0])],
    "competitors": [-1, 1.5, NAN, "5", None, True, [5]],
}
ALLOWED = {
    "criterion": "use 'gini', 'entropy', 'gain_ratio', 'correlation', 'c45' or 'quest'",
    "nominal": "use 'subset', 'value' or 'multiway'",
    "max_depth": "a whole number from 1 is allowed, or None for no limit",
    "min_samples_split": "a whole number from 2 (rows) or a fraction above 0 up to 1.0 is allowed",
    "min_samples_leaf": "a whole number from 1 (rows) or a fraction above 0 up to 0.5 is allowed",
    "min_impurity_decrease": "a number from 0 is allowed",
    "min_objs": "a number above 0 is allowed, or None for no such limit",
    "competitors": "a whole number from 0 is allowed, such as 5; 0 keeps none",
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in BAD for value in BAD[name]])
def test_a_bad_value_is_refused_with_what_was_given_and_what_is_allowed(name: str, value: Any) -> None:
    with pytest.raises(UsageError) as caught:
        Parameters(**{name: value}).checked(task="classification")
    line = str(caught.value)
    assert line.startswith(f"{name}=")
    assert line.endswith(ALLOWED[name])
    assert "\n" not in line
    assert len(line) < 250


def test_every_parameter_has_bad_values_here() -> None:
    assert set(BAD) == set(ALLOWED) == set(asdict(Parameters()))


def test_a_criterion_belongs_to_its_task() -> None:
    for task, other in (("classification", "regression"), ("regression", "classification")):
        for criterion in CRITERIA[task]:
            assert Parameters(criterion=criterion).checked(task=task).criterion == criterion
            with pytest.raises(UsageError, match=f"for {other}: use '{CRITERIA[other][0]}'"):
                Parameters(criterion=criterion).checked(task=other)


@pytest.mark.parametrize(
    ("task", "alias", "name"),
    [("classification", "log_loss", "entropy"), ("regression", "squared_error", "variance")],
)
def test_names_of_scikit_learn_become_our_own(task: str, alias: str, name: str) -> None:
    assert Parameters(criterion=alias).checked(task=task).criterion == name


def test_numbers_of_other_libraries_become_plain() -> None:
    given = Parameters(
        criterion=np.str_("entropy"),
        max_depth=np.int8(3),  # type: ignore[arg-type]
        min_samples_split=np.float32(0.5),  # type: ignore[arg-type]
        min_samples_leaf=Fraction(1, 4),  # type: ignore[arg-type]
        min_impurity_decrease=np.float64(0.25),
        min_objs=np.int64(2),
        competitors=np.int8(5),  # type: ignore[arg-type]
    )
    plain = asdict(given.checked(task="classification"))
    assert plain == asdict(Parameters("entropy", "subset", 3, 0.5, 0.25, 0.25, 2.0, 5))
    assert {type(value) for value in plain.values()} <= {str, int, float}


def test_numbers_beyond_every_table_say_no_more_than_its_largest() -> None:
    huge = Parameters(max_depth=2**70, min_samples_split=2**70, min_samples_leaf=2**70)
    checked = huge.checked(task="classification")
    assert checked.max_depth == MAX_ROWS
    assert checked.min_samples_split == checked.min_samples_leaf == MAX_ROWS + 1


def test_the_checked_are_checked_again_without_a_change() -> None:
    once = Parameters("log_loss", max_depth=2**70, min_samples_leaf=0.5).checked(task="classification")
    assert once.checked(task="classification") == once


def test_parameters_are_read_off_an_object_by_name() -> None:
    source = SimpleNamespace(**{**asdict(Parameters()), "max_depth": 7, "colour": "red"})
    assert Parameters.of(source) == Parameters(max_depth=7)


def test_the_kernels_of_a_process_come_from_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HORNBEAM_KERNELS", raising=False)
    assert Engine() == Engine("auto", accelerate=True)
    monkeypatch.setenv("HORNBEAM_KERNELS", "plain")
    assert Engine().kernels == "plain"
    assert Engine("avx2").kernels == "avx2"
