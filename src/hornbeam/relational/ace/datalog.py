"""Rules as joins of literals, negations, comparisons and arithmetic, worked out here where they allow it."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hornbeam.errors import DataError
from hornbeam.relational.ace.facts import DefiniteClause, Knowledge, Name, Row
from hornbeam.relational.ace.swipl import Given, solve
from hornbeam.relational.ace.terms import (
    Atom,
    Compound,
    Number,
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


Argument: TypeAlias = Var | Value


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
        return term if term.name != "_" else Var(f"_{next(numbers)}_")
    value = value_of(term)
    if value is None:
        raise NotDatalogError(f"{show(term)[:40]} is neither a variable nor a constant")
    return value


def slots(args: Sequence[Argument]) -> set[str]:
    return {arg.name for arg in args if isinstance(arg, Var)}


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
    if step.operator == "=":  # a variable on one side gets its value from the other side
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


Binding: TypeAlias = dict[str, Value]
Rows: TypeAlias = Mapping[Name, Sequence[Row]]


class EvaluationError(Exception):
    """Arithmetic on what is no number, or without a result."""


def _truncated(a: int | float, b: int | float) -> int:
    """Division towards zero, exact for integers of any size."""
    if not isinstance(a, int) or not isinstance(b, int):
        raise EvaluationError("// divides integers only")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_ORDERS: dict[str, Callable[..., bool]] = {
    "=:=": operator.eq,
    "=\\=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=<": operator.le,
    ">=": operator.ge,
}
_ARITHMETIC: dict[tuple[str, int], Callable[..., int | float]] = {
    ("+", 2): operator.add,
    ("-", 2): operator.sub,
    ("*", 2): operator.mul,
    ("/", 2): lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) and a % b == 0 else a / b,
    ("//", 2): _truncated,
    ("mod", 2): operator.mod,
    ("-", 1): operator.neg,
    ("+", 1): operator.pos,
    ("abs", 1): abs,
    ("min", 2): min,
    ("max", 2): max,
    ("sqrt", 1): math.sqrt,
    ("log", 1): math.log,
    ("exp", 1): math.exp,
}


def solutions(conjunction: Conjunction, rows: Rows) -> list[Row]:
    """The rows of the head, each once, in the order in which they are found."""
    bindings: list[Binding] = [{}]
    for step in order(conjunction.steps):
        if isinstance(step, Call):
            bindings = _join(step, rows.get(step.predicate, ()), bindings)
        elif isinstance(step, Member):
            bindings = _members(step, bindings)
        else:
            bindings = [found for binding in bindings if (found := _compare(step, binding)) is not None]
    head = conjunction.head.args
    return list(dict.fromkeys(tuple(_value(arg, binding) for arg in head) for binding in bindings))


def _value(arg: Argument, binding: Binding) -> Value:
    return binding[arg.name] if isinstance(arg, Var) else arg


def _join(call: Call, rows: Sequence[Row], bindings: list[Binding]) -> list[Binding]:
    if not bindings:
        return []
    known = set(bindings[0])  # all bindings have the same names
    fixed = [i for i, arg in enumerate(call.args) if not isinstance(arg, Var) or arg.name in known]
    index: dict[Row, list[Row]] = {}
    for row in rows:
        if _agrees(call, row):
            index.setdefault(tuple(row[i] for i in fixed), []).append(row)
    joined: list[Binding] = []
    for binding in bindings:
        found = index.get(tuple(_value(call.args[i], binding) for i in fixed), ())
        if call.negated:
            joined += [] if found else [binding]
            continue
        for row in found:
            extended = dict(binding)
            extended.update((arg.name, row[i]) for i, arg in enumerate(call.args) if isinstance(arg, Var))
            joined.append(extended)
    return joined


def _agrees(call: Call, row: Row) -> bool:
    """Whether a variable that stands twice has one value."""
    seen: Binding = {}
    for arg, value in zip(call.args, row, strict=True):
        if isinstance(arg, Var) and seen.setdefault(arg.name, value) != value:
            return False
    return True


def _members(step: Member, bindings: list[Binding]) -> list[Binding]:
    found: list[Binding] = []
    for binding in bindings:
        if isinstance(step.arg, Var) and step.arg.name not in binding:
            found += [{**binding, step.arg.name: value} for value in step.values]
        elif _value(step.arg, binding) in step.values:
            found.append(binding)
    return found


def _compare(step: Comparison, binding: Binding) -> Binding | None:
    if step.operator in ("=", "is"):
        return _unify(step, binding)
    if step.operator in ("\\=", "==", "\\=="):
        same = _ground(step.left, binding) == _ground(step.right, binding)
        return binding if same == (step.operator == "==") else None
    holds = _ORDERS[step.operator](_number(step.left, binding), _number(step.right, binding))
    return binding if holds else None


def _unify(step: Comparison, binding: Binding) -> Binding | None:
    left, right = step.left, step.right
    if step.operator == "=" and isinstance(right, Var) and right.name not in binding:
        left, right = right, left
    value: Value = _number(right, binding) if step.operator == "is" else _ground(right, binding)
    if isinstance(left, Var) and left.name not in binding:
        return {**binding, left.name: value}
    return binding if _ground(left, binding) == value else None


def _ground(term: Term, binding: Binding) -> Value:
    if isinstance(term, Var):
        return binding[term.name]
    value = value_of(term)
    if value is None:
        raise EvaluationError("a structure with variables is compared")
    return value


def _number(term: Term, binding: Binding) -> int | float:
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Var):
        value = binding[term.name]
        if isinstance(value, str):
            raise EvaluationError(f"{value!r} is no number")
        return value
    if isinstance(term, Compound) and (term.name, len(term.args)) in _ARITHMETIC:
        arguments = [_number(arg, binding) for arg in term.args]
        try:
            return _ARITHMETIC[term.name, len(term.args)](*arguments)
        except ZeroDivisionError:
            raise EvaluationError(f"{term.name} has no result: division by zero") from None
        except (ValueError, OverflowError) as error:
            raise EvaluationError(f"{term.name} has no result: {error}") from None
    raise EvaluationError("a number is needed")


Reasons = dict[Name, tuple[DefiniteClause, str]]


def derive(
    knowledge: Knowledge, wanted: Collection[Name], seconds: float, given: Callable[[Name], Given]
) -> dict[Name, list[Row]]:
    """The rows of the wanted predicates and of all that they are made of, facts and rules together.

    `given` says of a predicate which columns must have a value before Prolog is asked, and their values.
    """
    rules: dict[Name, list[DefiniteClause]] = {}
    for rule in knowledge.rules:
        rules.setdefault(rule.predicate, []).append(rule)
    native, reasons = _native(rules)
    rows: dict[Name, list[Row]] = dict(knowledge.rows)
    needed = [name for name in wanted if name in rules]
    foreign = [name for name in needed if name in reasons]
    if foreign:
        refusal = refuse_rule(*reasons[foreign[0]])
        rows |= solve(knowledge, {name: given(name) for name in foreign}, seconds, refusal)
    asked = reached(needed, {name: called(found) for name, found in native.items()})
    for name in strata(native)[0]:
        if name in asked:
            rows[name] = _rows_of(native[name], rows, knowledge.rows.get(name, []))
    return rows


def refuse_rule(rule: DefiniteClause, reason: str) -> DataError:
    """The one line for a rule that cannot be worked out here."""
    return rule.source.refuse(rule.at, f"the rule for {show(rule.head)[:60]} is refused: {reason}")


def _native(rules: Mapping[Name, list[DefiniteClause]]) -> tuple[dict[Name, list[Conjunction]], Reasons]:
    """What can be worked out here; for everything else, and for what is made of it, why not."""
    found: dict[Name, list[Conjunction]] = {}
    reasons: Reasons = {}
    for name, clauses in rules.items():
        for clause in clauses:
            try:
                found.setdefault(name, []).extend(conjunctions(clause))
            except NotDatalogError as error:
                reasons.setdefault(name, (clause, f"{error}, so it is no safe Datalog"))
    needs = strata(found)[1]
    for name in needs:
        if name in reached(needs[name] & set(needs), needs):
            reasons.setdefault(name, (rules[name][0], "it is recursive"))
    while spoilt := [name for name in found if name not in reasons and called(found[name]) & set(reasons)]:
        for name in spoilt:
            on = min(called(found[name]) & set(reasons))
            reasons[name] = (reasons[on][0], reasons[on][1])
    return {name: clauses for name, clauses in found.items() if name not in reasons}, reasons


def _rows_of(found: list[Conjunction], rows: Mapping[Name, list[Row]], facts: list[Row]) -> list[Row]:
    derived: dict[Row, None] = dict.fromkeys(facts)
    for conjunction in found:
        try:
            derived.update(dict.fromkeys(solutions(conjunction, rows)))
        except EvaluationError as error:
            raise refuse_rule(conjunction.rule, str(error)) from None
    return list(derived)
