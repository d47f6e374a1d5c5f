"""A bias as text that people edit: mode declarations in ACE's notation, written and read back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.ace.modes import ModeReader
from hornbeam.relational.ace.reader import read_clauses
from hornbeam.relational.ace.terms import Atom, Compound, Number, Term, quoted, show, show_value
from hornbeam.relational.ace.tokens import PrologText
from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Placemarker, Sign, fault_of
from hornbeam.relational.logic import COMPARISONS

_ALLOWED = "allowed are target, key, type, rmode, lookahead and max_lookahead"
_VARIABLE = re.compile(r"[A-Z_]\w*", re.ASCII)


def declare(bias: Bias) -> str:
    """The declarations of a bias, one a line; `Bias.from_text` reads them back as an equal one."""
    lines = [] if bias.target is None else [f"target({show_value(bias.target)})."]
    lines += [f"key({show_value(bias.key_type)}).", *DeclarationWriter().declarations(bias)]
    return "\n".join(lines) + "\n"


class DeclarationWriter:
    """Types, modes and lookaheads as text. Subclasses say what another system writes otherwise."""

    def declarations(self, bias: Bias) -> Iterator[str]:
        """The declarations of types, modes and lookaheads, each a line."""
        for name, types in bias.types.items():
            yield f"type({call(name, [show_value(type_) for type_ in self.types_of(name, types)])})."
        for mode in bias.modes:
            count = "" if mode.most is None else f"{mode.most}: "
            yield f"rmode({count}{self.conjunction(mode.patterns, set())})."
        for ahead in bias.lookaheads:
            names = {place.name for place in ahead.after.places if place.name is not None}
            after = self.pattern(ahead.after, names, Sign.ANYTHING)
            yield f"lookahead({after}, {self.conjunction(ahead.then, names, (ahead.after,))})."
        yield f"max_lookahead({bias.max_lookahead})."

    def types_of(self, name: str, types: tuple[str, ...]) -> tuple[str, ...]:
        """The types of the columns that are written."""
        return types

    def conjunction(
        self, patterns: Sequence[Pattern], names: set[str], before: tuple[Pattern, ...] = ()
    ) -> str:
        """Literals behind others, in brackets where they are several; `names` are the variables bound."""
        shown = [self.pattern(pattern, names) for pattern in patterns]
        return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"

    def pattern(self, pattern: Pattern, names: set[str], key: Sign = Sign.OLD) -> str:
        """A literal; `key` is the sign of a key that the pattern itself leaves out."""
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


def read_declarations(text: str, shown: str = "the bias") -> Bias:
    """The bias that `Bias.to_text` printed, perhaps edited since; types may stand behind modes."""
    source = PrologText(shown, text)
    reader = ModeReader(source)
    target: str | None = None
    key: str | None = None
    depth = 1
    types: dict[str, tuple[str, ...]] = {}
    modes: list[tuple[Mode, int]] = []
    lookaheads: list[tuple[LookaheadDeclaration, int]] = []
    for clause in read_clauses(source):
        match clause.term:
            case Compound("target", (name,)):
                target = _name(source, name)
            case Compound("key", (name,)):
                key = _name(source, name)
            case Compound("type", (head,)):
                of, columns = (
                    (head.name, head.args) if isinstance(head, Compound) else (_name(source, head), ())
                )
                if of in types:
                    raise source.refuse(head.at, f"{of!r} has a type already; a predicate has one")
                types[of] = tuple(_name(source, column) for column in columns)
            case Compound("rmode", (term,)):
                modes += [(mode, term.at) for mode in reader.modes(term)]
            case Compound("lookahead", (after, then)):
                lookaheads += [(found, after.at) for found in reader.lookahead(after, then)]
            case Compound("max_lookahead", (count,)):
                if not isinstance(count, Number) or not isinstance(count.value, int) or count.value < 0:
                    given = show(count)[:60]
                    raise source.refuse(count.at, f"{given}: max_lookahead is a count of at least 0")
                depth = count.value
            case term:
                raise source.refuse(term.at, f"{show(term)[:60]} is no declaration; {_ALLOWED}")
    if key is None:
        raise DataError(f"{source.shown} has no key(type); it says the type of the examples' keys")
    for mode, at in modes:
        source.check(fault_of(mode.patterns, types), at)
    for lookahead, at in lookaheads:
        source.check(fault_of(lookahead.patterns, types), at)
    return Bias(key, types, tuple(of for of, _ in modes), tuple(of for of, _ in lookaheads), depth, target)


def _name(source: PrologText, term: Term) -> str:
    if not isinstance(term, Atom):
        raise source.refuse(term.at, f"{show(term)[:60]} is no name")
    return term.name
