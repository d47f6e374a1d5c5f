"""Terms, literals and queries: what the test of a first-order tree is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Value: TypeAlias = str | int | float | bool

EQUALS: Final = "="
AT_MOST: Final = "<="
ABOVE: Final = ">"
COMPARISONS: Final = (EQUALS, AT_MOST, ABOVE)
"""Literals of two terms that no relation holds: a variable, and a variable or a constant."""


@dataclass(frozen=True)
class Variable:
    """A variable of a path. Number 0 is the key of the example, bound before anything else; the others are
    numbered from 1 in the order in which the tests of the path (yes branches only) introduced them."""

    number: int


@dataclass(frozen=True)
class Constant:
    """A value of the column's domain; in a comparison the threshold, which need not be one."""

    value: Value


@dataclass(frozen=True)
class Anything:
    """`_`: any value, a missing one too, that no other literal can name."""


Term: TypeAlias = Variable | Constant | Anything
KEY: Final = Variable(0)


@dataclass(frozen=True)
class Literal:
    """A relation with a term for each of its columns, or a comparison of two terms."""

    predicate: str
    terms: tuple[Term, ...]

    @property
    def compares(self) -> bool:
        return self.predicate in COMPARISONS


Query: TypeAlias = tuple[Literal, ...]
"""Literals that must hold together under one binding of their variables."""


def variables_of(query: Query) -> tuple[Variable, ...]:
    """The variables of a query in the order of their first occurrence."""
    return tuple(dict.fromkeys(t for literal in query for t in literal.terms if isinstance(t, Variable)))


def plain_value(value: Any) -> Value:
    """A value of NumPy as one of Python."""
    result: Value = value.item() if hasattr(value, "item") else value
    return result
