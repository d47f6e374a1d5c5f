"""What an option of a generator may be: one line that says what was given and what is allowed."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Collection

from hornbeam.errors import UsageError


def check_count(name: str, given: int, low: int, high: int) -> None:
    """Refuse what is no whole number of low .. high."""
    try:
        value = operator.index(given)
    except TypeError:
        value = low - 1
    if isinstance(given, bool) or not low <= value <= high:
        raise UsageError(f"{name} {given!r}: a whole number from {low} to {high} is allowed")


def check_share(name: str, given: float, low: float = 0.0, high: float = 1.0) -> None:
    """Refuse what is no number of low .. high."""
    if isinstance(given, bool) or not isinstance(given, numbers.Real) or not low <= float(given) <= high:
        raise UsageError(f"{name} {given!r}: a share from {low:g} to {high:g} is allowed, for instance 0.05")


def check_choice(name: str, given: object, allowed: Collection[object]) -> None:
    """Refuse what is not in the list."""
    if given not in allowed:
        raise UsageError(f"{name} {given!r}: allowed are {', '.join(map(str, allowed))}")
