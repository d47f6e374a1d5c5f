"""Reports: frozen records of a study turned into scores, text and one-file HTML."""

from .page import render_page
from .records import Errors, Points, Score, Study
from .scores import (
    Judged,
    accuracy_error,
    judge,
    judge_leaves,
    r2_error,
    score_classes,
    score_numbers,
)

__all__ = [
    "Errors",
    "Judged",
    "Points",
    "Score",
    "Study",
    "accuracy_error",
    "judge",
    "judge_leaves",
    "r2_error",
    "render_page",
    "score_classes",
    "score_numbers",
]
