"""The cost model of a cluster: bytes that scans ship, seconds that they take, clusters simulated by it."""

from hornbeam_experiments.scale.plan import Plan
from hornbeam_experiments.scale.run import run

__all__ = ["Plan", "run"]
