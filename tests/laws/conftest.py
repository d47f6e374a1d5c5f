"""Where the laws find the oracle, and how many examples they try (HYPOTHESIS_PROFILE=fast or deep)."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
# fast: the same examples every time, so that a failure is about the change at hand; deep: new ones every time.
settings.register_profile(
    "fast", max_examples=200, deadline=None, derandomize=True, suppress_health_check=SLOW
)
settings.register_profile(
    "deep", max_examples=20000, deadline=None, suppress_health_check=SLOW, print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
