"""Cross-validation and search by the names of sklearn.model_selection; all folds grow together."""

from hornbeam.tuning.records import NestedRecord, SearchRecord, SettingResult
from hornbeam.tuning.tree_search import TreeSearchCV
from hornbeam.validation.cross import cross_val_score, cross_validate
from hornbeam.validation.predict import cross_val_predict
from hornbeam.validation.records import CrossValidation, Timing

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
