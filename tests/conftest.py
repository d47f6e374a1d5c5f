"""What every test may use: the real tables, and one way of drawing random ones."""

import os
from collections.abc import Callable

import pytest
from hypothesis import settings

from tests import real_data

# The same draws on every machine, so that a red run is red again; HYPOTHESIS_PROFILE=deep looks further. A
# deadline would make a busy machine fail.
settings.register_profile("fast", deadline=None, derandomize=True)
settings.register_profile("deep", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture(scope="session")
def real_set() -> Callable[[str], real_data.RealSet]:
    """Loads a real table by name; the test is skipped, with the reason, where there are none."""
    if real_data.find_folder() is None:
        pytest.skip(real_data.ABSENT)
    return real_data.load
