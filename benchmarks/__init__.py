"""Measurements against the peers: each asserts its answer before it prints a ratio."""

import os

# One thread each unless a benchmark says otherwise; set before NumPy and the peers are loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
