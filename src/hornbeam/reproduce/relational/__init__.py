"""The relational half of Blockeel and Struyf (papers 000 and 003): first-order trees, run again."""

from hornbeam.reproduce.relational.plan import Plan
from hornbeam.reproduce.relational.run import run

__all__ = ["Plan", "run"]
