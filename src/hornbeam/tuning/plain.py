"""A search as plain values, for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .records import NestedRecord, SearchRecord, SettingResult


def record_of(record: SearchRecord) -> dict[str, Any]:
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
