"""Esmeir and Markovitch's experiments on anytime induction (paper 001), run again and set beside theirs."""

from hornbeam_experiments.anytime.plan import Plan
from hornbeam_experiments.anytime.run import run

__all__ = ["Plan", "run"]
