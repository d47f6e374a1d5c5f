"""Terms of Prolog as they were read; each knows its place in the text, which equality leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from hornbeam.relational.logic import Value


@dataclass(frozen=True, slots=True)
class Atom:
    """A name; `quoted` where it stood in quotes, and so is no sign."""

    name: str
    at: int = field(default=0, compare=False)
    quoted: bool = field(default=False, compare=False)

    @property
    def args(self) -> tuple[Term, ...]:
        """A name alone is a predicate without arguments."""
        return ()


@dataclass(frozen=True, slots=True)
class Number:
    """An integer of 64 bits or a finite double."""

    value: int | float
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Var:
    """A variable; `_` stands for another one each time."""

    name: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Compound:
    """A name with arguments; an operator with its operands is one too."""

    name: str
    args: tuple[Term, ...]
    at: int = field(default=0, compare=False)
    quoted: bool = field(default=False, compare=False)

    def is_(self, name: str, arity: int) -> bool:
        """Whether this is an operator or a sign, and no table that happens to be called so in quotes."""
        return self.name == name and len(self.args) == arity and not self.quoted


@dataclass(frozen=True, slots=True)
class ListTerm:
    """A list, and what follows its last item after a bar, if anything does."""

    items: tuple[Term, ...]
    tail: Term | None = None
    at: int = field(default=0, compare=False)


Term: TypeAlias = Atom | Number | Var | Compound | ListTerm


def parts_of(term: Term, operator: str) -> Iterator[Term]:
    """The operands of a chain `a, b, c` or `a ; b ; c`, however long."""
    waiting = [term]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Compound) and term.is_(operator, 2):
            waiting += reversed(term.args)
        else:
            yield term


def value_of(term: Term) -> Value | None:
    """The value of a constant; a ground list or compound is the label that its text is. None: not ground."""
    if isinstance(term, Atom):
        return term.name
    if isinstance(term, Number):
        return term.value
    return show(term) if is_ground(term) else None


def values_of(terms: Iterable[Term]) -> tuple[Value, ...] | None:
    """The values of constants; None where one of the terms is not ground."""
    values = [value_of(term) for term in terms]
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else None


def constants_of(term: Term) -> tuple[Value, ...] | None:
    """The values of a list of constants; None for anything else."""
    return values_of(term.items) if isinstance(term, ListTerm) and term.tail is None else None


def variables_in(term: Term) -> Iterator[Var]:
    """Every occurrence of a variable, from left to right."""
    if isinstance(term, Var):
        yield term
    elif isinstance(term, Compound):
        for arg in term.args:
            yield from variables_in(arg)
    elif isinstance(term, ListTerm):
        for item in (*term.items, *(() if term.tail is None else (term.tail,))):
            yield from variables_in(item)


def is_ground(term: Term) -> bool:
    return next(variables_in(term), None) is None


def show_value(value: Value) -> str:
    """A constant as Prolog reads it: names that need quotes have them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    return value if value in ("[]", "{}") else atom(value)


def atom(name: str) -> str:
    """A text as an atom, in quotes where it needs them."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and name[:1].islower()
    return name if plain else quoted(name)


def quoted(value: str) -> str:
    """Text in single quotes, with escapes where it needs them."""
    inside = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return "'" + "".join(_visible(letter) for letter in inside) + "'"


def _visible(letter: str) -> str:
    return letter if letter.isprintable() else f"\\x{ord(letter):x}\\"


def _number(value: int | float) -> str:
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    return text if not e or "." in mantissa else f"{mantissa}.0e{exponent}"


def show(term: Term) -> str:
    """A term as text, without operators: what is read back is the same term."""
    if isinstance(term, Var):
        return term.name
    if isinstance(term, Atom):
        return show_value(term.name)
    if isinstance(term, Number):
        return _number(term.value)
    if isinstance(term, ListTerm):
        tail = "" if term.tail is None else f"|{show(term.tail)}"
        return f"[{','.join(map(show, term.items))}{tail}]"
    return f"{show_value(term.name)}({','.join(map(show, term.args))})"
