"""Where results may go: never over the input, a device or a pipe; and what a new user is told."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from .test_command import ROWS, files, refused, run
from .test_command import place as place


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_pipe_or_device_is_never_replaced(option: str, place: Path) -> None:
    os.mkfifo(place / "pipe")
    refused(4, "fit", "data.csv", "--target", "class", option, "pipe", says="device or a pipe")
    assert stat.S_ISFIFO((place / "pipe").stat().st_mode)
    refused(4, "demo", "--report", "pipe", says="device or a pipe")
    assert files(place) == {"data.csv", "pipe"}


def test_the_input_is_never_overwritten(place: Path) -> None:
    assert run("fit", "data.csv", "--target", "class", "-o", "m").exit_code == 0
    model = (place / "m").read_bytes()
    (place / "link").symlink_to("data.csv")
    for target in ("data.csv", "./data.csv", "link"):
        refused(2, "fit", "data.csv", "--target", "class", "-o", target, says="would be overwritten")
        refused(2, "fit", "data.csv", "--target", "class", "--report", target, says="would be overwritten")
        refused(2, "predict", "m", "data.csv", "-o", target, says="would be overwritten")
    refused(2, "predict", "m", "data.csv", "-o", "m", says="would be overwritten")
    refused(2, "show", "m", "-o", "m", says="would be overwritten")
    assert (place / "data.csv").read_text() == ROWS
    assert (place / "m").read_bytes() == model


def test_a_directory_is_refused_as_one(place: Path) -> None:
    assert "is a directory" in refused(4, "fit", ".", "--target", "class")


def test_other_separators_are_named(place: Path) -> None:
    (place / "semicolons.csv").write_text("a;b;y\n1;2;3\n")
    assert "separated by commas" in refused(2, "fit", "semicolons.csv", "--target", "y")


def test_text_is_no_target_of_regression(place: Path) -> None:
    assert "'class' holds text" in refused(3, "fit", "data.csv", "--target", "class", "--task", "regression")


def test_no_command_shows_the_help() -> None:
    result = run()
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "\n  demo " in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_standard_output_is_a_storage_error(place: Path) -> None:
    import subprocess

    from .test_command import COMMAND

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "fit", "data.csv", "--target", "class"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert "standard output" in done.stderr
