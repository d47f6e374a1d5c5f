"""What a scheduler takes for a task: Dask's, where it is installed."""

from __future__ import annotations

import importlib
import time
from typing import Any

ASSUMED = 0.001
_TASKS = 400


def _nothing(i: int) -> int:
    return i


def task_seconds() -> tuple[float, str]:
    """CPU seconds of Dask's client, scheduler and a worker for an empty task; and where that is from."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        return ASSUMED, "assumed: Dask is not installed"
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs="ERROR"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.gather(client.map(_nothing, range(_TASKS), pure=False))  # what is loaded once
        begin = time.process_time()
        client.gather(client.map(_nothing, range(_TASKS), pure=False))
        return (time.process_time() - begin) / _TASKS, f"measured: {_TASKS} empty tasks of Dask"
