"""Whether modes and lookaheads can be: known predicates, their arity, one type for each name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hornbeam.errors import DataError
from hornbeam.relational.bias import Lookahead, Mode, Pattern, Sign
from hornbeam.relational.logic import COMPARISONS
from hornbeam.table.schema import list_names

Types = Mapping[str, tuple[str, ...]]
Refuse = Callable[[str], DataError]


def check_mode(mode: Mode, types: Types, refuse: Refuse) -> None:
    """Refuse a mode that names what is not there, or a variable of two types."""
    _check(mode.patterns, types, {}, refuse)


def check_lookahead(lookahead: Lookahead, types: Types, refuse: Refuse) -> None:
    """Refuse a lookahead by the same rules."""
    _check((lookahead.after, *lookahead.then), types, {}, refuse)


def _check(patterns: Sequence[Pattern], types: Types, known: dict[str, str], refuse: Refuse) -> None:
    for pattern in patterns:
        if pattern.predicate in COMPARISONS:
            continue
        if pattern.predicate not in types:
            raise refuse(
                f"{pattern.predicate!r} is no table and has no type; there are {list_names(list(types))}"
            )
        declared = types[pattern.predicate]
        if len(pattern.places) != len(declared):
            raise refuse(
                f"{pattern.predicate!r} has {len(declared)} columns ({', '.join(declared)}) "
                f"and is given {len(pattern.places)}"
            )
        for place, type_ in zip(pattern.places, declared, strict=True):
            if place.name is None or place.sign in (Sign.CONSTANT, Sign.FIXED, Sign.ANYTHING):
                continue
            before = known.setdefault(place.name, type_)
            if before != type_:
                raise refuse(f"{place.name} is of type {before!r} and of type {type_!r}; give it one type")
