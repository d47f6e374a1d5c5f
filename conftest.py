"""What every test may use: the real tables, and one way of drawing random ones."""

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests import databases, real_data

pytest_plugins = ["tests.recorded", "tests.recorded_answers", "tests.scheduling", "pytester"]

COMMON: dict[str, Any] = {
    "deadline": None,  # a busy machine must not fail a test
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
    # explaining takes longer than finding
    "phases": [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
}
# HYPOTHESIS_PROFILE=fast (the default): the same examples every time, so that a failure is about the change
# at hand; light: fewer of them; sanitize: fewer still, for they are slow there; deep: always new ones.
settings.register_profile("fast", max_examples=100, derandomize=True, **COMMON)
settings.register_profile("light", max_examples=40, derandomize=True, **COMMON)
settings.register_profile("sanitize", max_examples=12, derandomize=True, **COMMON)
settings.register_profile("deep", max_examples=20000, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


def pytest_configure() -> None:
    """A shell lets what it starts in the background ignore Ctrl-C; commands that tests start must hear it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real_set() -> Callable[[str], real_data.RealSet]:
    """Loads a real table by name; the test is skipped, with the reason, where there are none."""
    if real_data.find_folder() is None:
        pytest.skip(real_data.ABSENT)
    return real_data.load


@pytest.fixture(scope="session")
def postgresql() -> Iterator[databases.PostgreSQL]:
    """A running server; the test is skipped, with the reason, where there is none."""
    reason = databases.why_no_postgresql()
    if reason:
        pytest.skip(reason)
    server = databases.PostgreSQL()
    yield server
    server.stop()
