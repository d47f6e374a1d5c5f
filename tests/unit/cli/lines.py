"""The command, said as a person types it."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.cli.test_command import refused, run


def say(line: str) -> Any:
    """What a line that must succeed gives."""
    done = run(*line.split())
    assert done.exit_code == 0, done.output
    return done


def found(line: str) -> Any:
    """The same as JSON."""
    return json.loads(say(f"{line} --json").stdout)


def deny(code: int, line: str, says: str) -> str:
    """What is said of a line that must fail."""
    return refused(code, *line.split(), says=says)
