"""Terms, literals and queries: what the tests of a first-order tree are made of."""

from __future__ import annotations

from collections.abc import Iterator
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


def variable_name(variable: Variable) -> str:
    """The key is A, B is what is predicted, and then C to Z, A1 to Z1 and so on."""
    number = variable.number if variable == KEY else variable.number + 1
    round_, letter = divmod(number, 26)
    return chr(ord("A") + letter) + (str(round_) if round_ else "")


def own_variables(literal: Literal) -> Iterator[Variable]:
    """The variables of a literal but the key, which is bound whatever happens."""
    return (term for term in literal.terms if isinstance(term, Variable) and term != KEY)


def connected(query: Query, test: Query) -> Query:
    """The literals of a query that a test has to do with: linked to it by variables, the key not counting.

    For an example that satisfies the query, the whole of it with the test has a solution iff this part has.
    """
    reached = {variable for literal in test for variable in own_variables(literal)}
    waiting, grown = list(query), True
    while grown:
        grown = False
        for literal in list(waiting):
            variables = set(own_variables(literal))
            if variables & reached:
                reached |= variables
                waiting.remove(literal)
                grown = True
    return tuple(literal for literal in query if literal not in waiting)
