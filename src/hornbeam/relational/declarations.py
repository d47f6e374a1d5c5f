"""A bias as text that people edit: mode declarations in ACE's notation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hornbeam.errors import UsageError
from hornbeam.relational.ace.terms import quoted, show_value
from hornbeam.relational.bias import Bias, Lookahead, Mode, Pattern, Place, Sign
from hornbeam.relational.logic import COMPARISONS

_VARIABLE = re.compile(r"[A-Z_]\w*", re.ASCII)


def declare(bias: Bias) -> str:
    """The declarations of a bias, one a line; `Bias.from_text` reads them back as an equal one."""
    lines = [] if bias.target is None else [f"target({show_value(bias.target)})."]
    lines.append(f"key({show_value(bias.key_type)}).")
    for predicate, types in bias.types.items():
        lines.append(f"type({call(predicate, [show_value(type_) for type_ in types])}).")
    lines += [_mode(mode) for mode in bias.modes]
    lines += [_lookahead(lookahead) for lookahead in bias.lookaheads]
    lines.append(f"max_lookahead({bias.max_lookahead}).")
    return "\n".join(lines) + "\n"


def _mode(mode: Mode) -> str:
    count = "" if mode.most is None else f"{mode.most}: "
    return f"rmode({count}{_conjunction(mode.patterns, set())})."


def _lookahead(lookahead: Lookahead) -> str:
    names: set[str] = {place.name for place in lookahead.after.places if place.name is not None}
    return f"lookahead({_pattern(lookahead.after, names)}, {_conjunction(lookahead.then, names)})."


def _conjunction(patterns: Sequence[Pattern], names: set[str]) -> str:
    shown = ", ".join([_pattern(pattern, names) for pattern in patterns])
    return shown if len(patterns) == 1 else f"({shown})"


def _pattern(pattern: Pattern, names: set[str]) -> str:
    places = [place_text(place, names) for place in pattern.places]
    if pattern.predicate in COMPARISONS and len(places) == 2:
        return f"{places[0]} {pattern.predicate} {places[1]}"
    return call(pattern.predicate, places)


def call(name: str, arguments: Sequence[str]) -> str:
    """A name with its arguments, which are text already."""
    return f"{show_value(name)}({', '.join(arguments)})" if arguments else show_value(name)


def place_text(place: Place, names: set[str]) -> str:
    """A place; variables in `names`, which it adds to, need no sign again."""
    if place.sign is Sign.ANYTHING:
        return "_"
    constants = None if place.constants is None else [show_value(value) for value in place.constants]
    if place.sign is Sign.CONSTANT:
        return "#" if constants is None else f"#[{', '.join(constants)}]"
    if place.sign is Sign.FIXED:
        if constants is None or len(constants) != 1:
            raise UsageError("a fixed place of a mode needs exactly one constant")
        return constants[0]
    if place.name is None:
        return f"{place.sign.value}_"
    if not _VARIABLE.fullmatch(place.name) or place.name == "_":
        return f"{place.sign.value}{quoted(place.name)}"
    if place.sign is Sign.OLD and place.name in names:
        return place.name
    names.add(place.name)
    return f"{place.sign.value}{place.name}"
