"""A bias as text that people edit: mode declarations in ACE's notation, written and read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.ace.modes import ModeReader
from hornbeam.relational.ace.reader import Clause, Fact, read_clauses
from hornbeam.relational.ace.terms import Atom, Compound, Number, Term, quoted, show, show_value
from hornbeam.relational.ace.tokens import PrologText
from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.bias_checks import check_lookahead, check_mode
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


def _lookahead(lookahead: LookaheadDeclaration) -> str:
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


def place_text(place: Placemarker, names: set[str]) -> str:
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


_ALLOWED = "allowed are target, key, type, rmode, lookahead and max_lookahead"


def read_declarations(text: str, shown: str = "the bias") -> Bias:
    """The bias that `Bias.to_text` printed, perhaps edited since."""
    return _Declarations(PrologText(shown, text)).bias()


class _Declarations:
    """What the declarations said so far; types are complete before modes are checked."""

    def __init__(self, source: PrologText) -> None:
        self._source = source
        self._reader = ModeReader(source)
        self._target: str | None = None
        self._key: str | None = None
        self._types: dict[str, tuple[str, ...]] = {}
        self._modes: list[tuple[Mode, int]] = []
        self._lookaheads: list[tuple[LookaheadDeclaration, int]] = []
        self._depth = 1
        self._readers: dict[tuple[str, int], Callable[..., None]] = {
            ("target", 1): self._read_target,
            ("key", 1): self._read_key,
            ("type", 1): self._read_type,
            ("rmode", 1): self._read_mode,
            ("lookahead", 2): self._read_lookahead,
            ("max_lookahead", 1): self._read_depth,
        }

    def bias(self) -> Bias:
        for clause in read_clauses(self._source):
            term = _term(clause)
            found = self._readers.get((term.name, len(term.args))) if isinstance(term, Compound) else None
            if found is None or not isinstance(term, Compound):
                raise self._source.refuse(term.at, f"{show(term)[:60]} is no declaration; {_ALLOWED}")
            found(*term.args)
        if self._key is None:
            raise DataError(f"{self._source.shown} has no key(type); it says the type of the examples' keys")
        for mode, at in self._modes:
            check_mode(mode, self._types, self._refusing(at))
        for lookahead, at in self._lookaheads:
            check_lookahead(lookahead, self._types, self._refusing(at))
        return Bias(
            self._key,
            self._types,
            tuple(mode for mode, _ in self._modes),
            tuple(lookahead for lookahead, _ in self._lookaheads),
            self._depth,
            self._target,
        )

    def _refusing(self, at: int) -> Callable[[str], DataError]:
        return lambda what: self._source.refuse(at, what)

    def _name(self, term: Term) -> str:
        if not isinstance(term, Atom):
            raise self._source.refuse(term.at, f"{show(term)[:60]} is no name")
        return term.name

    def _read_target(self, term: Term) -> None:
        self._target = self._name(term)

    def _read_key(self, term: Term) -> None:
        self._key = self._name(term)

    def _read_type(self, term: Term) -> None:
        name, args = (term.name, term.args) if isinstance(term, Compound) else (self._name(term), ())
        if name in self._types:
            raise self._source.refuse(term.at, f"{name!r} has a type already; a predicate has one")
        self._types[name] = tuple(self._name(arg) for arg in args)

    def _read_mode(self, term: Term) -> None:
        self._modes += [(mode, term.at) for mode in self._reader.modes(term)]

    def _read_lookahead(self, after: Term, then: Term) -> None:
        self._lookaheads += [(found, after.at) for found in self._reader.lookahead(after, then)]

    def _read_depth(self, term: Term) -> None:
        if not isinstance(term, Number) or not isinstance(term.value, int) or term.value < 0:
            raise self._source.refuse(term.at, f"{show(term)[:60]}: max_lookahead is a count of at least 0")
        self._depth = term.value


def _term(clause: Fact | Clause) -> Term:
    if isinstance(clause, Clause):
        return clause.term
    terms = tuple(
        Atom(value, clause.at) if isinstance(value, str) else Number(value, clause.at)
        for value in clause.values
    )
    return Compound(clause.name, terms, clause.at)
