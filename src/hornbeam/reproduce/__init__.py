"""The papers' experiments, run again and set beside their figures: Blockeel and Struyf's on cross-validation
and bagging, John's on C4.5 with a cross-validated m (`cvc45`), Gehrke's and others' on BOAT (`boat`), and
Esmeir and Markovitch's on anytime induction (`anytime`)."""

from hornbeam.reproduce.plan import Plan
from hornbeam.reproduce.records import Results, Sheet
from hornbeam.reproduce.run import EXPERIMENTS, prepare, run
from hornbeam.reproduce.sets import TABLE_1, PaperSet
from hornbeam.reproduce.write import files_of

__all__ = ["EXPERIMENTS", "TABLE_1", "PaperSet", "Plan", "Results", "Sheet", "files_of", "prepare", "run"]
