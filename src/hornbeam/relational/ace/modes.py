"""Modes and lookaheads from terms: signs, names, constants, comparisons, and generated constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hornbeam.relational.ace.terms import (
    Atom,
    Compound,
    ListTerm,
    Number,
    Term,
    Var,
    constants_of,
    parts_of,
    show,
    value_of,
    values_of,
    variables_in,
)
from hornbeam.relational.ace.tokens import PrologText
from hornbeam.relational.bias import LookaheadDeclaration, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.logic import ABOVE, AT_MOST, EQUALS, Value

Generate: TypeAlias = Callable[[Term, Var], list[Value]]
"""The values that a goal of the background gives a variable, for `#(C: goal(C), ...)`."""

_SIGNS = {"+": Sign.OLD, "-": Sign.NEW, "+-": Sign.EITHER, "-+": Sign.EITHER}
_EQUAL = ("=", "==", "=:=")
_COMPARED = {"<=": AT_MOST, "=<": AT_MOST, "<": AT_MOST, ">": ABOVE, ">=": ABOVE}
_ANY = Placemarker(Sign.ANYTHING)


@dataclass(frozen=True)
class ModeReader:
    """Reads modes of one text. `bare` says that names without a sign are variables though nothing bound them,
    as in the first half of a lookahead; `constants` are the generated ones by their names, None where every
    threshold is meant; `equal` are the names of the comparison with an equals sign, in ACE equals too.
    """

    source: PrologText
    generate: Generate | None = None
    constants: Mapping[str, tuple[Value, ...] | None] = field(default_factory=dict)
    bare: bool = False
    equal: tuple[str, ...] = _EQUAL

    def modes(self, term: Term) -> list[Mode]:
        """`N: what` or `what`; what is a literal, a conjunction, or `#(C: goal, conjunction)`."""
        most = None
        if isinstance(term, Compound) and term.is_(":", 2):
            count, term = term.args
            if not isinstance(count, Number) or not isinstance(count.value, int) or count.value < 1:
                raise self.source.refuse(count.at, f"{show(count)}: a mode begins with a count of at least 1")
            most = count.value
        if isinstance(term, Compound) and term.is_("#", 2):
            return [replace(mode, most=most) for mode in self._generated(term.args[0], term.args[1])]
        return [Mode(self.patterns(term, set()), most)]

    def lookahead(self, after: Term, then: Term) -> list[LookaheadDeclaration]:
        """`after` is one literal; names of it are known in `then`."""
        names: set[str] = set()
        first = replace(self, bare=True).patterns(after, names)
        if len(first) != 1:
            raise self.source.refuse(after.at, "the first half of a lookahead is one literal")
        if isinstance(then, Compound) and then.is_("#", 2):
            modes = self._generated(then.args[0], then.args[1], names)
            return [LookaheadDeclaration(first[0], mode.patterns) for mode in modes]
        return [LookaheadDeclaration(first[0], self.patterns(then, names))]

    def patterns(self, term: Term, names: set[str]) -> tuple[Pattern, ...]:
        """The literals of a conjunction; `names` are those bound before, and grows by those bound here."""
        return tuple(self._pattern(part, names) for part in parts_of(term, ","))

    def _pattern(self, term: Term, names: set[str]) -> Pattern:
        if isinstance(term, Atom):
            return Pattern(term.name, ())
        if not isinstance(term, Compound):
            raise self.source.refuse(term.at, f"{show(term)} is no literal; write name(arguments)")
        compared = term.name in self.equal or term.name in _COMPARED
        if compared and len(term.args) == 2 and not term.quoted:
            return self._comparison(term, names)
        return Pattern(term.name, tuple(self._place(arg, names) for arg in term.args))

    def _comparison(self, term: Compound, names: set[str]) -> Pattern:
        left, right = (self._place(arg, names) for arg in term.args)
        if left.sign in (Sign.CONSTANT, Sign.FIXED, Sign.ANYTHING) or left.sign is Sign.NEW:
            raise self.source.refuse(term.at, f"{show(term)}: a comparison has a variable on its left")
        if term.name in self.equal:
            return Pattern(EQUALS, (left, right))
        if right.sign is Sign.FIXED and right.constants is not None:
            right = self._bound(term, right.constants[0])
        return Pattern(_COMPARED[term.name], (left, right))

    def _bound(self, term: Compound, value: Value) -> Placemarker:
        """A fixed bound: `X < 5` is `X <= t` with the largest t below 5, since there are two comparisons."""
        if isinstance(value, str):
            raise self.source.refuse(term.at, f"{show(term)}: {value!r} is no number")
        if term.name in ("<", ">="):
            value = math.nextafter(float(value), -math.inf)
        return Placemarker(Sign.FIXED, None, (value,))

    def _place(self, term: Term, names: set[str]) -> Placemarker:
        if isinstance(term, Var):
            return self._variable(term, names)
        if isinstance(term, Atom) and term.name == "#" and not term.quoted:
            return Placemarker(Sign.CONSTANT)
        if isinstance(term, Compound) and len(term.args) == 1:
            if term.name in _SIGNS:
                return self._signed(term, names)
            if term.name == "#":
                return Placemarker(Sign.CONSTANT, None, self._constants(term.args[0]))
        value = value_of(term)
        if value is None:
            raise self.source.refuse(
                term.at, f"{show(term)}: a place holds +X, -X, +-X, #, #[..], _ or a constant"
            )
        return Placemarker(Sign.FIXED, None, (value,))

    def _variable(self, term: Var, names: set[str]) -> Placemarker:
        if term.name in self.constants:
            return Placemarker(Sign.CONSTANT, None, self.constants[term.name])
        if term.name == "_":
            return _ANY
        if term.name not in names and not self.bare:
            raise self.source.refuse(
                term.at,
                f"{term.name} has no sign and nothing before it bound it; write +{term.name}, "
                f"-{term.name} or +-{term.name}",
            )
        names.add(term.name)
        return Placemarker(Sign.OLD, term.name)

    def _signed(self, term: Compound, names: set[str]) -> Placemarker:
        sign, inner = _SIGNS[term.name], term.args[0]
        if isinstance(inner, Compound) and term.name == "+" and inner.name == "-" and len(inner.args) == 1:
            sign, inner = Sign.EITHER, inner.args[0]
        if not isinstance(inner, Var | Atom):
            raise self.source.refuse(inner.at, f"{show(inner)}: a variable stands behind {sign.value}")
        if inner.name == "_" and isinstance(inner, Var):
            return Placemarker(sign)
        names.add(inner.name)
        return Placemarker(sign, inner.name)

    def _constants(self, term: Term) -> tuple[Value, ...]:
        values = constants_of(term)
        if values is None:
            raise self.source.refuse(term.at, f"{show(term)}: behind # stands a list of constants, as #[a,b]")
        return values

    def _generated(self, spec: Term, body: Term, names: Iterable[str] = ()) -> list[Mode]:
        if not isinstance(spec, Compound) or spec.name != ":" or len(spec.args) != 2:
            raise self.source.refuse(spec.at, f"{show(spec)}: write #(C: goal, literals)")
        what, goal = spec.args
        if isinstance(what, ListTerm):
            return self._of_tuples(what, goal, body, names)
        if not isinstance(what, Var):
            raise self.source.refuse(what.at, f"{show(what)}: write #(C: goal, literals) with a variable C")
        values = self._values(what, goal)
        places = sum(variable.name == what.name for variable in variables_in(body))
        choices = [values] if places == 1 or values is None else [(value,) for value in values]
        return [self._mode_with({what.name: choice}, body, names) for choice in choices]

    def _mode_with(
        self, constants: Mapping[str, tuple[Value, ...] | None], body: Term, names: Iterable[str]
    ) -> Mode:
        reader = replace(self, constants={**self.constants, **constants})
        return Mode(reader.patterns(body, set(names)))

    def _of_tuples(self, what: ListTerm, goal: Term, body: Term, names: Iterable[str]) -> list[Mode]:
        """`#([C,D]: member([C,D],[[a,b],[c,d]]), ...)`: one mode for each tuple."""
        variables = [item.name for item in what.items if isinstance(item, Var)]
        rows = (
            goal.args[1]
            if isinstance(goal, Compound) and (goal.name, len(goal.args)) == ("member", 2)
            else None
        )
        if len(variables) != len(what.items) or not isinstance(rows, ListTerm):
            raise self.source.refuse(
                goal.at, f"{show(goal)}: several constants come from member([C,D],[[..],..])"
            )
        modes: list[Mode] = []
        for row in rows.items:
            values = values_of(row.items) if isinstance(row, ListTerm) else None
            if values is None or len(values) != len(variables):
                shown = f"{show(row)}: a tuple of {len(variables)} constants is needed"
                raise self.source.refuse(row.at, shown)
            constants = {name: (value,) for name, value in zip(variables, values, strict=True)}
            modes.append(self._mode_with(constants, body, names))
        return modes

    def _values(self, what: Var, goal: Term) -> tuple[Value, ...] | None:
        """The constants that a goal generates for a variable; None where it is every threshold."""
        if (
            isinstance(goal, Compound)
            and (goal.name, len(goal.args)) == ("member", 2)
            and goal.args[0] == what
        ):
            return self._constants(goal.args[1])
        if isinstance(goal, Compound) and (goal.name, len(goal.args)) == ("threshold", 3):
            return None
        if self.generate is None:
            raise self.source.refuse(
                goal.at, f"{show(goal)}: constants come from member(C,[..]) or threshold(..)"
            )
        return tuple(self.generate(goal, what))
