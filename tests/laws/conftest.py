"""How many examples the laws try: HYPOTHESIS_PROFILE=fast (the default) or deep."""

import os
from typing import Any

from hypothesis import HealthCheck, Phase, settings

COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
    "phases": [
        Phase.explicit,
        Phase.reuse,
        Phase.generate,
        Phase.shrink,
    ],  # explaining takes longer than finding
}
# fast: the same examples every time, so that a failure is about the change at hand; deep: always new ones.
settings.register_profile("fast", max_examples=200, derandomize=True, **COMMON)
settings.register_profile("deep", max_examples=20000, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
