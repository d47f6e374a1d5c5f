"""Reports: frozen records of a study turned into scores, text and one-file HTML."""

from hornbeam.model.picture import picture_of

from .describe import describe_columns, describe_source
from .page import render_page
from .questions import questions_of
from .records import ColumnSummary, Errors, Points, Score, Study
from .scores import (
    accuracy_error,
    count_errors,
    r2_error,
    sample_points,
    score_classes,
    score_numbers,
)
from .tree_scores import errors_of_leaves, score_leaves

__all__ = [
    "ColumnSummary",
    "Errors",
    "Points",
    "Score",
    "Study",
    "accuracy_error",
    "count_errors",
    "describe_columns",
    "describe_source",
    "errors_of_leaves",
    "picture_of",
    "questions_of",
    "r2_error",
    "render_page",
    "sample_points",
    "score_classes",
    "score_leaves",
    "score_numbers",
]
