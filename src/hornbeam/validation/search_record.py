"""What a search found: a result for each setting, which was chosen and why, and an honest outer estimate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hornbeam import arguments


@dataclass(frozen=True)
class SettingResult:
    """How one setting did in cross-validation, and the size of the tree that it gives of all rows."""

    params: Mapping[str, Any]
    score: float
    """What settings are compared by: the mean, or trimmed mean, of `scores`."""
    error: float
    """The standard error of the score, over folds."""
    scores: tuple[float, ...]
    """Of each fold, repetition after repetition."""
    leaves: int
    depth: int


@dataclass(frozen=True)
class NestedRecord:
    """The whole choice, judged by rows that had no part in it: one score for each outer fold."""

    scores: tuple[float, ...]
    params: tuple[Mapping[str, Any], ...]
    """What was chosen inside each outer fold."""
    score: float
    error: float


@dataclass(frozen=True)
class SearchRecord:
    """All settings in the order of the grid, and the choice among them."""

    measure: str
    """"accuracy", "r2", "cost" or the name of a scorer; more is better."""
    results: tuple[SettingResult, ...]
    chosen: int
    best: int
    """The setting of the highest score."""
    select: str
    mean: str
    folds: int
    repeats: int
    reason: str
    """Why the chosen one was chosen, in a sentence."""
    nested: NestedRecord | None = None

    def to_text(self, most: int | None = 20) -> str:
        """Sizes against errors in a table, the choice and why; at most `most` rows, all of them for None."""
        from hornbeam.validation.search_text import to_text

        return to_text(self, arguments.whole_or_none("most", most, 1, also="all of them"))

    def to_svg(self, *, title: str = "Error by size") -> str:
        """The curve with its band of one standard error, and the chosen setting on it."""
        from hornbeam.drawing.curve import draw_curve
        from hornbeam.validation.search_curve import curve_of

        return draw_curve(curve_of(self), title=arguments.text("title", title)) + "\n"

    def to_record(self) -> dict[str, Any]:
        """Everything as plain values for JSON; a score that is not a number is None."""
        return plain_values(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """The picture, and the table below it, in a notebook."""
        from hornbeam.drawing.text import escape

        return f"{self.to_svg()}<pre>{'<br>'.join(map(escape, self.to_text().splitlines()))}</pre>"


def plain_values(record: SearchRecord) -> dict[str, Any]:
    """All of it; the places `chosen` and `best` are those in `results`."""
    return {
        "measure": record.measure,
        "select": record.select,
        "mean": record.mean,
        "folds": record.folds,
        "repeats": record.repeats,
        "chosen": record.chosen,
        "best": record.best,
        "reason": record.reason,
        "results": [_result(result) for result in record.results],
        "nested": None if record.nested is None else _nested(record.nested),
    }


def _result(result: SettingResult) -> dict[str, Any]:
    return {
        "params": _params(result.params),
        "score": _number(result.score),
        "standard_error": _number(result.error),
        "scores": [_number(score) for score in result.scores],
        "leaves": int(result.leaves),
        "depth": int(result.depth),
    }


def _nested(nested: NestedRecord) -> dict[str, Any]:
    return {
        "score": _number(nested.score),
        "standard_error": _number(nested.error),
        "scores": [_number(score) for score in nested.scores],
        "params": [_params(params) for params in nested.params],
    }


def _params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in params.items()}


def _plain(value: Any) -> Any:
    """A value of NumPy as the one of Python that it is."""
    return value.item() if hasattr(value, "item") else value


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
