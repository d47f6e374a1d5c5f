"""Cross-validation by the names and signatures of sklearn.model_selection; all folds grow together."""

from hornbeam.validation.cross import cross_val_score, cross_validate
from hornbeam.validation.predict import cross_val_predict
from hornbeam.validation.records import CrossValidation, Timing

__all__ = ["CrossValidation", "Timing", "cross_val_predict", "cross_val_score", "cross_validate"]
