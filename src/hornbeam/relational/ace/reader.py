"""Clauses of Prolog text: facts, rules and directives, with operators; errors name line and column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hornbeam.errors import DataError
from hornbeam.relational.ace.terms import Atom, Compound, ListTerm, Number, Term, Var
from hornbeam.relational.ace.tokens import LARGEST, PrologText, Token, tokens
from hornbeam.relational.logic import Value

DEPTH = 150
"""How deep terms may be nested; each level takes a few frames of Python's stack."""

_INFIX: dict[str, tuple[int, str]] = {
    **dict.fromkeys((":-", "-->"), (1200, "xfx")),
    ";": (1100, "xfy"),
    "|": (1100, "xfy"),
    "->": (1050, "xfy"),
    ",": (1000, "xfy"),
    **dict.fromkeys(
        ("=", "\\=", "==", "\\==", "is", "=:=", "=\\=", "<", ">", "=<", "<=", ">="), (700, "xfx")
    ),
    **dict.fromkeys(("=..", "@<", "@>", "@=<", "@>="), (700, "xfx")),
    ":": (750, "xfy"),  # looser than comparisons, which modes count: 5: X = Y
    **dict.fromkeys(("+", "-"), (500, "yfx")),
    **dict.fromkeys(("*", "/", "//", "mod", "rem"), (400, "yfx")),
    "**": (200, "xfx"),
    "^": (200, "xfy"),
}
_PREFIX: dict[str, tuple[int, str]] = {
    **dict.fromkeys((":-", "?-"), (1200, "fx")),
    **dict.fromkeys(("dynamic", "discontiguous"), (1150, "fx")),
    **dict.fromkeys(("\\+", "not"), (900, "fy")),
    **dict.fromkeys(("+", "-", "+-", "-+", "#"), (200, "fy")),
}
_FACT = re.compile(r"\s*([a-z]\w*)\(([\w\-+., \t]*)\)[ \t]*\.(?=\s|%|\Z)", re.ASCII)
_CONSTANT = re.compile(
    r"\s*(?:([a-z]\w*)|(-?\d{1,18})|(-?\d{1,18}\.\d{1,40}(?:[eE][+-]?\d{1,2})?))\s*", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A clause without variables, its arguments as values."""

    name: str
    values: tuple[Value, ...]
    at: int

    @property
    def term(self) -> Term:
        """The clause as the term that it would be if it were no plain fact."""
        terms = (Atom(v, self.at) if isinstance(v, str) else Number(v, self.at) for v in self.values)
        return Compound(self.name, tuple(terms), self.at)


@dataclass(frozen=True, slots=True)
class Clause:
    """Anything else: a rule, a directive, a fact with variables or with structure."""

    term: Term
    at: int


def read_clauses(source: PrologText) -> Iterator[Fact | Clause]:
    """All clauses in their order. Plain facts, which are nearly everything, are cut out by one expression."""
    at = 0
    while True:
        match = _FACT.match(source.text, at)
        if match is not None and (values := _values(match.group(2))) is not None:
            yield Fact(match.group(1), values, match.start(1))
            at = match.end()
            continue
        parser = _Parser(source, at)
        try:
            term = parser.clause()
        except RecursionError:
            raise _too_deep(source, parser.here) from None
        if term is None:
            return
        yield Clause(term, term.at)
        at = parser.end


def _values(text: str) -> tuple[Value, ...] | None:
    values: list[Value] = []
    for part in text.split(","):
        match = _CONSTANT.fullmatch(part)
        if match is None:
            return None
        name, integer, _ = match.groups()
        values.append(name if name is not None else int(part) if integer is not None else float(part))
    return tuple(values)


def read_term(source: PrologText) -> Term:
    """The only term of a text."""
    parser = _Parser(source, 0)
    term = parser.clause()
    if term is None:
        raise source.refuse(0, "nothing stands here")
    return term


def _too_deep(source: PrologText, at: int) -> DataError:
    return source.refuse(at, f"terms are nested more than {DEPTH} deep here")


class _Parser:
    """Reads one clause; operators by their precedence, long chains of `,` and `;` without recursion."""

    def __init__(self, source: PrologText, start: int) -> None:
        self._source = source
        self._tokens = tokens(source, start)
        self._next: Token | None = next(self._tokens, None)
        self._depth = 0
        self.end = start

    @property
    def here(self) -> int:
        return len(self._source.text) if self._next is None else self._next.at

    def clause(self) -> Term | None:
        """The term up to the next full stop; None at the end of the text."""
        if self._next is None:
            return None
        term = self._term(1200)
        if self._next is None or self._next.kind != "end":
            raise self._unexpected("an operator or a full stop")
        # The stop is not taken by reading on: what follows may begin anew with a plain fact.
        self.end = self._next.at + 1
        return term

    def _take(self) -> Token:
        token = self._next
        if token is None:
            raise self._unexpected("a term")
        self._next = next(self._tokens, None)
        return token

    def _unexpected(self, wanted: str) -> DataError:
        found = "the file ends" if self._next is None else f"{self._next.text[:40]!r} stands"
        if self._next is not None and self._next.kind == "end":
            found = "the clause ends"
        return self._source.refuse(self.here, f"{found} where {wanted} is expected")

    def _expect(self, text: str) -> None:
        if self._next is None or self._next.kind != "punct" or self._next.text != text:
            raise self._unexpected(repr(text))
        self._take()

    def _is(self, text: str) -> bool:
        return self._next is not None and self._next.kind == "punct" and self._next.text == text

    def _term(self, most: int) -> Term:
        self._depth += 1
        if self._depth > DEPTH:
            raise _too_deep(self._source, self.here)
        left, precedence = self._primary(most)
        while (found := self._infix(most, precedence)) is not None:
            name, level, kind = found
            self._take()
            if name in (",", ";") and kind == "xfy":
                left = self._chain(left, name, level)
            else:
                right = self._term(level if kind == "xfy" else level - 1)
                left = Compound(name, (left, right), left.at)
            precedence = level
        self._depth -= 1
        return left

    def _chain(self, first: Term, name: str, level: int) -> Term:
        items = [first, self._term(level - 1)]
        while (found := self._infix(level, level - 1)) is not None and found[0] == name:
            self._take()
            items.append(self._term(level - 1))
        term = items.pop()
        while items:
            left = items.pop()
            term = Compound(name, (left, term), left.at)
        return term

    def _infix(self, most: int, left: int) -> tuple[str, int, str] | None:
        token = self._next
        if token is None or token.kind not in ("atom", "punct", "open") or token.text not in _INFIX:
            return None
        level, kind = _INFIX[token.text]
        if level > most or left > (level if kind == "yfx" else level - 1):
            return None
        return (";" if token.text == "|" else token.text), level, kind

    def _primary(self, most: int) -> tuple[Term, int]:
        token = self._take() if self._next is not None else None
        if token is None or token.kind == "end":
            self._next = token
            raise self._unexpected("a term")
        if token.kind == "number":
            return self._number(token), 0
        if token.kind == "var":
            return Var(token.text, token.at), 0
        if token.kind == "open":
            return self._compound(token), 0
        if token.kind == "punct":
            return self._bracketed(token), 0
        if token.kind == "atom" and token.text in _PREFIX and self._begins_term(token):
            return self._prefixed(token, most)
        return Atom(token.text, token.at, token.kind == "quoted"), 0

    def _number(self, token: Token) -> Number:
        if token.value == LARGEST and isinstance(token.value, int):  # 2^63 exists with a minus only
            raise self._source.refuse(token.at, f"number {token.text} does not fit 64 bits")
        return Number(token.value, token.at)

    def _compound(self, token: Token) -> Term:
        self._expect("(")
        args = self._listed()
        self._expect(")")
        return Compound(token.text, args, token.at, token.quoted)

    def _listed(self) -> tuple[Term, ...]:
        """One term or several, with commas between them."""
        terms = [self._term(999)]
        while self._is(","):
            self._take()
            terms.append(self._term(999))
        return tuple(terms)

    def _bracketed(self, token: Token) -> Term:
        if token.text == "(":
            term = self._term(1200)
            self._expect(")")
            return term
        if token.text != "[":
            self._next = token
            raise self._unexpected("a term")
        if self._is("]"):
            self._take()
            return Atom("[]", token.at)
        items = self._listed()
        tail = None
        if self._is("|"):
            self._take()
            tail = self._term(999)
        self._expect("]")
        return ListTerm(items, tail, token.at)

    def _begins_term(self, token: Token) -> bool:
        """Whether an operand follows, so that the name is an operator and no atom by itself."""
        following = self._next
        if following is None or following.kind == "end":
            return False
        if following.kind == "punct":
            return following.text in ("(", "[")
        return not (following.kind == "atom" and following.text in _INFIX and following.text not in _PREFIX)

    def _prefixed(self, token: Token, most: int) -> tuple[Term, int]:
        following = self._next
        near = following is not None and following.kind == "number" and following.at == token.at + 1
        if token.text == "-" and near:
            return Number(-self._take().value, token.at), 0
        level, kind = _PREFIX[token.text]
        level = min(level, most)
        operand = self._term(level if kind == "fy" else level - 1)
        return Compound(token.text, (operand,), token.at), level
