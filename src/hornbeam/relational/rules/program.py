"""Rules as joins: literals, negations, comparisons, arithmetic; whatever is more than that says why."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hornbeam.relational.ace.facts import DefiniteClause, Name
from hornbeam.relational.ace.terms import (
    Atom,
    Compound,
    Term,
    Var,
    constants_of,
    parts_of,
    show,
    value_of,
    variables_in,
)
from hornbeam.relational.logic import Value

COMPARED = ("=", "\\=", "==", "\\==", "=:=", "=\\=", "<", ">", "=<", ">=")
MOST_ALTERNATIVES = 256


@dataclass(frozen=True)
class Slot:
    """A variable of a rule by its name."""

    name: str


Argument: TypeAlias = Slot | Value


@dataclass(frozen=True)
class Call:
    """A literal; `negated` where it must not hold."""

    name: str
    args: tuple[Argument, ...]
    negated: bool = False

    @property
    def predicate(self) -> Name:
        return self.name, len(self.args)


@dataclass(frozen=True)
class Comparison:
    """Two sides; `is` binds its left one to what the right one comes to."""

    operator: str
    left: Term
    right: Term


@dataclass(frozen=True)
class Member:
    """`member(X, [a, b])`: a value out of a list."""

    arg: Argument
    values: tuple[Value, ...]


Step: TypeAlias = Call | Comparison | Member


@dataclass(frozen=True)
class Conjunction:
    """One alternative of a rule: a head and what must hold together. The rule is kept for errors."""

    head: Call
    steps: tuple[Step, ...]
    rule: DefiniteClause = field(compare=False)


class NotDatalogError(Exception):
    """Why a rule is more than non-recursive Datalog."""


def conjunctions(rule: DefiniteClause) -> list[Conjunction]:
    """The alternatives of a rule; NotDatalogError where it is something else."""
    numbers = itertools.count(1)
    head = _call(rule.head, numbers)
    bodies = [()] if rule.body is None else list(_alternatives(rule.body, numbers))
    found = [Conjunction(head, tuple(steps), rule) for steps in bodies]
    for conjunction in found:
        check_safe(conjunction)
    return found


def _alternatives(body: Term, numbers: Iterator[int]) -> Iterator[tuple[Step, ...]]:
    for alternative in parts_of(body, ";"):
        choices = [_choices(part, numbers) for part in parts_of(alternative, ",")]
        count = 1
        for choice in choices:
            count *= len(choice)
        if count > MOST_ALTERNATIVES:
            raise NotDatalogError(f"its ; and , make more than {MOST_ALTERNATIVES} alternatives")
        for combined in itertools.product(*choices):
            yield tuple(step for steps in combined for step in steps)


def _choices(term: Term, numbers: Iterator[int]) -> list[tuple[Step, ...]]:
    if isinstance(term, Compound) and term.name == ";":
        return list(_alternatives(term, numbers))
    if isinstance(term, Compound) and term.name in ("\\+", "not") and len(term.args) == 1:
        inner = _call(term.args[0], numbers)
        return [(Call(inner.name, inner.args, negated=True),)]
    if term == Atom("true"):
        return [()]
    if term in (Atom("fail"), Atom("false")):
        return []
    if isinstance(term, Compound) and len(term.args) == 2 and (term.name in COMPARED or term.name == "is"):
        return [(Comparison(term.name, term.args[0], term.args[1]),)]
    if isinstance(term, Compound) and term.name == "member" and len(term.args) == 2:
        return [(_member(term, numbers),)]
    return [(_call(term, numbers),)]


def _member(term: Compound, numbers: Iterator[int]) -> Member:
    values = constants_of(term.args[1])
    if values is None:
        raise NotDatalogError(f"{show(term)} takes a list that is no constant")
    return Member(_argument(term.args[0], numbers), values)


_CONTROL = ("->", "*->", "!", "call", "findall", "bagof", "setof", "forall", "assert", "asserta", "assertz")


def _call(term: Term, numbers: Iterator[int]) -> Call:
    if not isinstance(term, Atom | Compound) or term.name in _CONTROL:
        raise NotDatalogError(f"{show(term)[:40]} is no literal of a table")
    return Call(term.name, tuple(_argument(arg, numbers) for arg in term.args))


def _argument(term: Term, numbers: Iterator[int]) -> Argument:
    if isinstance(term, Var):
        return Slot(term.name if term.name != "_" else f"_{next(numbers)}_")
    value = value_of(term)
    if value is None:
        raise NotDatalogError(f"{show(term)[:40]} is neither a variable nor a constant")
    return value


def slots(args: Sequence[Argument]) -> set[str]:
    return {arg.name for arg in args if isinstance(arg, Slot)}


def check_safe(conjunction: Conjunction) -> None:
    """Every variable of the head, of a negation and of a comparison must get a value from a literal."""
    bound: set[str] = set()
    for step in order(conjunction.steps):
        if isinstance(step, Call) and step.negated:
            free = {name for name in slots(step.args) - bound if not name.startswith("_")}
            if free:
                raise NotDatalogError(f"{min(free)} stands only under a negation")
        bound |= _binds(step)
    unbound = slots(conjunction.head.args) - bound
    if unbound:
        raise NotDatalogError(f"{min(unbound)} gets no value in its body")


def order(steps: Sequence[Step]) -> list[Step]:
    """The steps in an order in which each has what it needs: literals as written, tests when they can."""
    waiting, ordered, bound = list(steps), [], set[str]()
    while waiting:
        ready = [step for step in waiting if _ready(step, bound)]
        members = [step for step in waiting if isinstance(step, Member)]
        calls = [step for step in waiting if isinstance(step, Call)]
        literals = [call for call in calls if not call.negated]
        step = (ready or members or literals or calls or waiting)[0]
        if isinstance(step, Comparison) and not ready:
            raise NotDatalogError(
                f"a variable of {show(step.left)} {step.operator} {show(step.right)} is unbound"
            )
        waiting.remove(step)
        ordered.append(step)
        bound |= _binds(step)
    return ordered


def _binds(step: Step) -> set[str]:
    """The variables that have a value once the step is done."""
    if isinstance(step, Member):
        return slots((step.arg,))
    if isinstance(step, Call):
        return set() if step.negated else slots(step.args)
    sides = (step.left, step.right) if step.operator in ("=", "is") else ()
    return {side.name for side in sides if isinstance(side, Var)}


def _ready(step: Step, bound: set[str]) -> bool:
    """Whether a test can be made now: only tests jump the queue."""
    if isinstance(step, Call):
        return step.negated and all(name in bound for name in slots(step.args) if not name.startswith("_"))
    if isinstance(step, Member):
        return False
    needed = {variable.name for variable in variables_in(step.right)}
    if step.operator == "is":
        return needed <= bound
    known = [{variable.name for variable in variables_in(side)} <= bound for side in (step.left, step.right)]
    if step.operator == "=":  # one side may be a variable that gets its value from the other
        return (known[0] and (known[1] or isinstance(step.right, Var))) or (
            known[1] and isinstance(step.left, Var)
        )
    return all(known)


def called(found: Iterable[Conjunction]) -> set[Name]:
    """The predicates that conjunctions ask about."""
    return {step.predicate for c in found for step in c.steps if isinstance(step, Call)}


def strata(rules: Mapping[Name, Sequence[Conjunction]]) -> tuple[list[Name], dict[Name, set[Name]]]:
    """Derived predicates so that each follows what it is made of, and what is left: it has no such order."""
    waiting = {name: called(found) & set(rules) for name, found in rules.items()}
    ordered: list[Name] = []
    while ready := [name for name, on in waiting.items() if not on & set(waiting)]:
        ordered += ready
        for name in ready:
            del waiting[name]
    return ordered, waiting


def reached(start: Iterable[Name], needs: Mapping[Name, Collection[Name]]) -> set[Name]:
    """Everything that some predicates are made of, directly or through others."""
    seen: set[Name] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += needs.get(name, ())
    return seen
