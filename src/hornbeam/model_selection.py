"""Cross-validation and search by the names of sklearn.model_selection; all folds grow together."""

from hornbeam.validation.cross import cross_val_predict, cross_val_score, cross_validate
from hornbeam.validation.fold_scores import CrossValidation, Timing
from hornbeam.validation.search_record import NestedRecord, SearchRecord, SettingResult
from hornbeam.validation.tree_search import TreeSearchCV

__all__ = [
    "CrossValidation",
    "NestedRecord",
    "SearchRecord",
    "SettingResult",
    "Timing",
    "TreeSearchCV",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
]
