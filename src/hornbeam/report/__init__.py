"""Reports: frozen records of a study turned into scores, text and one-file HTML."""

from hornbeam.model.picture import picture_of

from .describe import describe_columns
from .page import render_page
from .questions import questions_of
from .records import ColumnSummary, Errors, Points, Score, Study
from .scores import count_errors, sample_points, score_classes, score_numbers

__all__ = [
    "ColumnSummary",
    "Errors",
    "Points",
    "Score",
    "Study",
    "count_errors",
    "describe_columns",
    "picture_of",
    "questions_of",
    "render_page",
    "sample_points",
    "score_classes",
    "score_numbers",
]
