"""Errors know the parameter they are about, and the command words them by its options."""

from __future__ import annotations

import copy
import pickle

import pytest

import hornbeam as hb
from hornbeam.arguments import one_of, refuse
from hornbeam.errors import DataError, HornbeamError, UsageError
from hornbeam.growth import Parameters, Pruning
from tests.unit.cli.test_command import run


def error_of(action: object) -> HornbeamError:
    with pytest.raises(HornbeamError) as caught:
        action()  # type: ignore[operator]
    return caught.value


def test_an_error_about_a_parameter_is_worded_once_and_called_by_its_option_in_the_command() -> None:
    error = error_of(lambda: Parameters(max_depth=-1).checked(task="classification"))
    assert error.parameter == "max_depth"
    assert str(error).startswith("max_depth=-1: ")
    assert error.worded(lambda _: "--max-depth") == "--max-depth" + str(error).removeprefix(
        "max_depth"
    ).replace("=", " ", 1)
    told = run("fit", "-", "--target", "y", "--max-depth", "-1").stderr
    assert "--max-depth" in told
    assert "max_depth" not in told


def test_parameters_survive_copies_and_other_processes() -> None:
    error = error_of(lambda: refuse("cv", 1, "no"))
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(other), other.parameter, type(other)) == (str(error), "cv", UsageError)
    assert DataError("what was read").parameter is None
    assert error_of(lambda: one_of("how", 3, ("a", "b"))).parameter == "how"


@pytest.mark.parametrize("estimator", [hb.TreeClassifier, hb.C45Classifier, hb.AnytimeTreeClassifier])
def test_lines_that_begin_with_a_parameter_carry_it(estimator: type) -> None:
    named = 0
    for parameter in set(estimator().get_params()) - {"random_state"}:  # numpy's own
        error = error_of(lambda name=parameter: estimator(**{name: "so"}).fit([[1], [2]], [0, 1]))
        if str(error).startswith(f"{parameter}=") and parameter != "nominal_features":
            assert error.parameter == parameter
            named += 1
    assert named >= 5


def test_pruning_names_its_parameter() -> None:
    assert error_of(lambda: Pruning(prune="so").checked("classification")).parameter == "prune"
