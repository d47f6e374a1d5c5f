"""What an experiment was run with: versions and the kind of machine, never its name."""

from __future__ import annotations

import platform
from pathlib import Path

import hornbeam


def machine() -> dict[str, str]:
    return {
        "hornbeam": hornbeam.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpu": cpu_model(),
    }


def cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
