"""John's experiment on C4.5 with a cross-validated m (paper 004), run again and set beside his table."""

from hornbeam_experiments.cvc45.plan import Plan
from hornbeam_experiments.cvc45.run import run

__all__ = ["Plan", "run"]
