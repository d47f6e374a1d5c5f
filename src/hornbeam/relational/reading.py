"""Declarations read back as a bias; what cannot be is refused with its line and column."""

from __future__ import annotations

from collections.abc import Callable

from hornbeam.errors import DataError
from hornbeam.relational.ace.checks import check_lookahead, check_mode
from hornbeam.relational.ace.modes import Reader
from hornbeam.relational.ace.reader import Clause, Fact, read_clauses
from hornbeam.relational.ace.terms import Atom, Compound, Number, Term, show
from hornbeam.relational.ace.tokens import Source
from hornbeam.relational.bias import Bias, Lookahead, Mode

_ALLOWED = "allowed are target, key, type, rmode, lookahead and max_lookahead"


def read_declarations(text: str, shown: str = "the bias") -> Bias:
    """The bias that `Bias.to_text` printed, perhaps edited since."""
    return _Declarations(Source(shown, text)).bias()


class _Declarations:
    """What the declarations said so far; types are complete before modes are checked."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._reader = Reader(source)
        self._target: str | None = None
        self._key: str | None = None
        self._types: dict[str, tuple[str, ...]] = {}
        self._modes: list[tuple[Mode, int]] = []
        self._lookaheads: list[tuple[Lookahead, int]] = []
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
