"""Validation: every fold's tree grown beside the tree of all rows, and judged by the rows it never saw.

What follows scikit-learn's signatures is in modules of its own: the command works without importing it.
"""

from hornbeam.validation.estimate import Estimate, estimate_by_folds, grow_folds, small_fold
from hornbeam.validation.folds import deal_classes, deal_folds, deal_rows
from hornbeam.validation.paired import PairedTest, corrected_mean, corrected_t_test

__all__ = [
    "Estimate",
    "PairedTest",
    "corrected_mean",
    "corrected_t_test",
    "deal_classes",
    "deal_folds",
    "deal_rows",
    "estimate_by_folds",
    "grow_folds",
    "small_fold",
]
