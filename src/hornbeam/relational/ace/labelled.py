"""Constants of a bias as the data holds them: numbers of a type that also holds names are labels there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from hornbeam.relational.ace.factbase import label_of
from hornbeam.relational.bias import Bias, Lookahead, Mode, Pattern, Place


def with_labels(bias: Bias, numeric: Collection[str]) -> Bias:
    """The bias with the constants of nominal types as labels."""

    def convert(patterns: tuple[Pattern, ...], names: dict[str, str]) -> tuple[Pattern, ...]:
        return tuple(_pattern(pattern, bias.types, names, numeric) for pattern in patterns)

    modes = tuple(Mode(convert(mode.patterns, {}), mode.most) for mode in bias.modes)
    lookaheads: list[Lookahead] = []
    for lookahead in bias.lookaheads:
        names: dict[str, str] = {}
        (after,) = convert((lookahead.after,), names)
        lookaheads.append(Lookahead(after, convert(lookahead.then, names)))
    return replace(bias, modes=modes, lookaheads=tuple(lookaheads))


def _pattern(
    pattern: Pattern,
    types: Mapping[str, tuple[str, ...]],
    names: dict[str, str],
    numeric: Collection[str],
) -> Pattern:
    declared = types.get(pattern.predicate)
    if declared is None:  # a comparison: its constants are of its variable's type
        type_ = next((names[place.name] for place in pattern.places if place.name in names), None)
        columns: tuple[str | None, ...] = (type_,) * len(pattern.places)
    else:
        columns = declared
        for place, of in zip(pattern.places, declared, strict=True):
            if place.name is not None:
                names.setdefault(place.name, of)
    places = tuple(_place(place, of, numeric) for place, of in zip(pattern.places, columns, strict=True))
    return Pattern(pattern.predicate, places)


def _place(place: Place, type_: str | None, numeric: Collection[str]) -> Place:
    if place.constants is None or type_ is None or type_ in numeric:
        return place
    return replace(place, constants=tuple(label_of(value) for value in place.constants))
