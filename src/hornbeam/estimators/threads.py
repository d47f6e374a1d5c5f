"""scikit-learn's n_jobs as a number of threads."""

from __future__ import annotations

import os

import numpy as np

from hornbeam.arguments import shown
from hornbeam.errors import UsageError
from hornbeam.growth import MAX_THREADS


def threads_of(n_jobs: int | None) -> int:
    """Threads for scikit-learn's n_jobs: None is one, -1 all processors, -2 all but one."""
    if n_jobs is None:
        return 1
    whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if not whole or n_jobs == 0 or n_jobs > MAX_THREADS:
        raise UsageError(
            f"{shown('n_jobs', n_jobs)}: None (one thread), 1 to {MAX_THREADS} or -1 (all processors) is "
            "allowed",
            parameter="n_jobs",
        )
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
