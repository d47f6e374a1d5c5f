"""The BOAT paper's experiments on growing from scans (paper 002), run again and set beside what it says."""

from hornbeam_experiments.boat.plan import Plan
from hornbeam_experiments.boat.run import run

__all__ = ["Plan", "run"]
