"""A language bias in the numbers of the native engine, checked against the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hornbeam import _core
from hornbeam.errors import UsageError
from hornbeam.relational.bias import Bias, Pattern, Placemarker, Sign
from hornbeam.relational.engine import NOWHERE, PREDICATES, NativeDatabase
from hornbeam.relational.logic import COMPARISONS, EQUALS, Value

SIGNS = (Sign.OLD, Sign.NEW, Sign.EITHER, Sign.CONSTANT, Sign.FIXED, Sign.ANYTHING)


class BiasCodes:
    """The bias for the engine. `thresholds` are the values of thresholds that it lists, by their numbers;
    `domain_of` names the domain that codes each type."""

    def __init__(self, bias: Bias, database: NativeDatabase) -> None:
        self.bias, self.database = bias, database
        self.thresholds: list[Value] = []
        self.domain_of = _domains_of_types(bias, database)
        self._types = {name: number for number, name in enumerate(self.domain_of)}
        self._names: dict[str, int] = {}
        for mode in bias.modes:
            _check_mode(mode.patterns)
        modes = [
            ([self._pattern(pattern) for pattern in mode.patterns], -1 if mode.most is None else mode.most)
            for mode in bias.modes
        ]
        lookaheads = [
            (self._pattern(ahead.after), [self._pattern(pattern) for pattern in ahead.then])
            for ahead in bias.lookaheads
        ]
        numbers = [-1 if name is None else database.domains[name] for name in self.domain_of.values()]
        self.core = _core.LanguageBias(
            database.core,
            self._types[bias.key_type],
            numbers,
            modes,
            lookaheads,
            bias.max_lookahead,
            len(self._names),
        )

    def _pattern(self, pattern: Pattern) -> tuple[int, list[tuple[Any, ...]]]:
        name, places = pattern.predicate, pattern.places
        if name in COMPARISONS:
            kinds: Sequence[str | None] = self.bias.types.get(name, (None, None))
            _check_comparison(pattern)
            number = PREDICATES[name]
        else:
            if name not in self.database.relations:
                known = ", ".join(sorted(self.database.relations)) or "none"
                raise UsageError(f"a mode names '{name}', which is no relation; there are: {known}")
            kinds = self.bias.types.get(name, self.database.types[name])
            number = self.database.relations[name]
        if len(places) != len(kinds):
            raise UsageError(f"a mode gives '{name}' {len(places)} places; it has {len(kinds)} columns")
        return number, [self._place(name, place, kind) for place, kind in zip(places, kinds, strict=True)]

    def _place(self, predicate: str, place: Placemarker, kind: str | None) -> tuple[Any, ...]:
        number = -1 if kind is None else self._types[kind]
        name = -1 if place.name is None else self._names.setdefault(place.name, len(self._names))
        given = place.constants is not None
        constants = [] if place.constants is None else self._constants(predicate, place.constants, kind)
        if place.sign == Sign.FIXED and not (given and len(place.constants or ()) == 1):
            raise UsageError(f"a place '=' of '{predicate}' needs its one constant")
        return SIGNS.index(place.sign), name, number, given, constants

    def _constants(
        self, predicate: str, values: tuple[Value, ...], kind: str | None
    ) -> list[list[tuple[int, int]]]:
        """One list where the type is known, else one for each type: that of the comparison's variable."""
        kinds: Iterable[str] = self.domain_of if kind is None else (kind,)
        return [self._codes(predicate, values, self.domain_of[one]) for one in kinds]

    def _codes(self, predicate: str, values: tuple[Value, ...], domain: str | None) -> list[tuple[int, int]]:
        if domain is None:
            return []
        if predicate in COMPARISONS and predicate != EQUALS:
            if self.database.domain(domain).kind != "numeric":
                return []
            cuts = ((self.database.cut(domain, value), self._threshold(value)) for value in values)
            return list(dict.fromkeys(cuts))
        codes = dict.fromkeys(self.database.code(domain, value) for value in values)  # each but once
        return [(code, -1) for code in codes if code != NOWHERE]

    def _threshold(self, value: Value) -> int:
        if value not in self.thresholds:
            self.thresholds.append(value)
        return self.thresholds.index(value)


def _domains_of_types(bias: Bias, database: NativeDatabase) -> dict[str, str | None]:
    """The domain of each type: that of the columns it stands for. None: it stands for no column."""
    found: dict[str, str | None] = {bias.key_type: None}
    used = {pattern.predicate for mode in bias.modes for pattern in mode.patterns}
    used |= {pattern.predicate for ahead in bias.lookaheads for pattern in (ahead.after, *ahead.then)}
    for name in [*bias.types, *sorted(used - set(bias.types))]:
        if name not in database.relations:
            continue
        kinds = bias.types.get(name, database.types[name])
        if len(kinds) != len(database.types[name]):
            raise UsageError(f"'{name}' has {len(database.types[name])} columns, its types are {len(kinds)}")
        for kind, domain in zip(kinds, database.types[name], strict=True):
            if found.setdefault(kind, domain) is None:
                found[kind] = domain
            if found[kind] != domain:
                raise UsageError(
                    f"type '{kind}' stands for columns of '{found[kind]}' and of '{domain}'; "
                    "values of one type are coded alike: name two types"
                )
    for name in COMPARISONS:
        for kind in bias.types.get(name, ()):
            found.setdefault(kind, kind if kind in database.domains else None)
    return found


def _check_comparison(pattern: Pattern) -> None:
    signs = [place.sign for place in pattern.places]
    allowed = (Sign.OLD, Sign.CONSTANT, Sign.FIXED)
    if len(signs) != 2 or signs[0] != Sign.OLD or signs[1] not in allowed:
        raise UsageError(
            f"a comparison '{pattern.predicate}' with places {' '.join(signs)}; "
            "the first is '+', the second '+', '#' or '='"
        )


def _check_mode(patterns: tuple[Pattern, ...]) -> None:
    if not patterns:
        raise UsageError("a mode without literals; give it one at least")
    if sum(map(_is_open, patterns)) > 1:
        raise UsageError(
            "a mode with two thresholds left open; a test has one at most: list the constants of one"
        )


def _is_open(pattern: Pattern) -> bool:
    compares = pattern.predicate in COMPARISONS and pattern.predicate != EQUALS
    return compares and any(p.sign == Sign.CONSTANT and p.constants is None for p in pattern.places)
