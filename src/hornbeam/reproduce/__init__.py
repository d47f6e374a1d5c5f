"""The experiments of Blockeel and Struyf on cross-validation and bagging, run again and set beside theirs."""

from hornbeam.reproduce.plan import Plan
from hornbeam.reproduce.records import Results, Sheet
from hornbeam.reproduce.run import EXPERIMENTS, run
from hornbeam.reproduce.sets import TABLE_1, PaperSet
from hornbeam.reproduce.write import files_of

__all__ = ["EXPERIMENTS", "TABLE_1", "PaperSet", "Plan", "Results", "Sheet", "files_of", "run"]
