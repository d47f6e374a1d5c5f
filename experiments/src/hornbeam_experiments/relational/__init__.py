"""The relational half of Blockeel and Struyf (papers 000 and 003): first-order trees, run again."""

from hornbeam_experiments.relational.plan import Plan
from hornbeam_experiments.relational.run import run

__all__ = ["Plan", "run"]
