"""How many examples the laws try: HYPOTHESIS_PROFILE=fast (the default) or deep."""

import os

from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
# fast: the same examples every time, so that a failure is about the change at hand; deep: always new ones.
settings.register_profile(
    "fast", max_examples=200, deadline=None, derandomize=True, suppress_health_check=SLOW
)
settings.register_profile(
    "deep", max_examples=20000, deadline=None, suppress_health_check=SLOW, print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
