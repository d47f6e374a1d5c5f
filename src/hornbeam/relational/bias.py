"""The language bias: which literals a test may be made of, how they may be joined, how far to look ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from hornbeam import arguments
from hornbeam.relational.logic import ABOVE, AT_MOST, COMPARISONS, Value
from hornbeam.table.schema import list_names


class Sign(StrEnum):
    """What may stand in a place of a mode."""

    OLD = "+"  # a variable of the path with the place's type; the key where the type is the key's
    NEW = "-"  # a fresh variable
    EITHER = "+-"  # a fresh variable first, then those of the path by number
    CONSTANT = "#"  # each of some constants; in a comparison of numbers every threshold
    FIXED = "="  # one constant
    ANYTHING = "_"


@dataclass(frozen=True)
class Placemarker:
    """One argument of a mode. Places with one name within a mode, and within a lookahead, are one variable.

    `constants` are those of `#` and `=`, in their order; None of `#`: those seen in the data, in the order
    of the domain.
    """

    sign: Sign
    name: str | None = None
    constants: tuple[Value, ...] | None = None


@dataclass(frozen=True)
class Pattern:
    """A relation, or a comparison, with a place for each of its columns."""

    predicate: str
    places: tuple[Placemarker, ...]

    @property
    def is_open(self) -> bool:
        """Whether it is a comparison with every threshold, rather than with listed ones."""
        open_place = any(place.sign is Sign.CONSTANT and place.constants is None for place in self.places)
        return self.predicate in (AT_MOST, ABOVE) and open_place


@dataclass(frozen=True)
class Mode:
    """One kind of test: patterns that are added together, at most `most` times on a path."""

    patterns: tuple[Pattern, ...]
    most: int | None = None


@dataclass(frozen=True)
class LookaheadDeclaration:
    """Whenever a literal that fits `after` ends a test, also the test with `then` behind it."""

    after: Pattern
    then: tuple[Pattern, ...]

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        return (self.after, *self.then)


@dataclass(frozen=True)
class Bias:
    """Modes in the order that breaks ties, the types of the columns of every predicate, and lookaheads.

    `target` is the column that is predicted, as `table.column`, where the bias was made for one.
    """

    key_type: str
    types: Mapping[str, tuple[str, ...]]
    modes: tuple[Mode, ...]
    lookaheads: tuple[LookaheadDeclaration, ...] = field(default=())
    max_lookahead: int = 1
    target: str | None = None

    def to_text(self) -> str:
        """Mode declarations that `from_text` reads back as an equal bias."""
        from hornbeam.relational.declarations import declare

        return declare(self)

    def __str__(self) -> str:
        return self.to_text()

    @classmethod
    def from_text(cls, text: str) -> Bias:
        """The bias that declarations say; what cannot be is refused with its line and column."""
        from hornbeam.relational.declarations import read_declarations

        return read_declarations(arguments.text("text", text))


def fault_of(patterns: Sequence[Pattern], types: Mapping[str, tuple[str, ...]]) -> str | None:
    """Why patterns cannot be: they name what is not there, or a variable of two types; None if they can."""
    known: dict[str, str] = {}
    for pattern in patterns:
        if pattern.predicate in COMPARISONS:
            continue
        if pattern.predicate not in types:
            return f"{pattern.predicate!r} is no table and has no type; there are {list_names(list(types))}"
        declared = types[pattern.predicate]
        if len(pattern.places) != len(declared):
            return (
                f"{pattern.predicate!r} has {len(declared)} columns ({', '.join(declared)}) "
                f"and is given {len(pattern.places)}"
            )
        for place, type_ in zip(pattern.places, declared, strict=True):
            if place.name is None or place.sign in (Sign.CONSTANT, Sign.FIXED, Sign.ANYTHING):
                continue
            before = known.setdefault(place.name, type_)
            if before != type_:
                return f"{place.name} is of type {before!r} and of type {type_!r}; give it one type"
    return None
