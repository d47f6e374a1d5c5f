"""Derived predicates: conjunctions worked out by hash joins where rules allow it, else by swipl."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from hornbeam.errors import DataError
from hornbeam.relational.ace.facts import DefiniteClause, Knowledge, Name, Row
from hornbeam.relational.ace.terms import Compound, Number, Term, Var, show, value_of
from hornbeam.relational.logic import Value
from hornbeam.relational.rules.program import (
    Argument,
    Call,
    Comparison,
    Conjunction,
    Member,
    NotDatalogError,
    Slot,
    called,
    conjunctions,
    order,
    reached,
    strata,
)
from hornbeam.relational.rules.swipl import Given, solve

Binding: TypeAlias = dict[str, Value]
Rows: TypeAlias = Mapping[Name, Sequence[Row]]

_ARITHMETIC: dict[tuple[str, int], Callable[..., int | float]] = {
    ("+", 2): lambda a, b: a + b,
    ("-", 2): lambda a, b: a - b,
    ("*", 2): lambda a, b: a * b,
    ("/", 2): lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) and a % b == 0 else a / b,
    ("//", 2): lambda a, b: _truncated(a, b),
    ("mod", 2): lambda a, b: a % b,
    ("-", 1): lambda a: -a,
    ("+", 1): lambda a: +a,
    ("abs", 1): abs,
    ("min", 2): min,
    ("max", 2): max,
    ("sqrt", 1): math.sqrt,
    ("log", 1): math.log,
    ("exp", 1): math.exp,
}


def _truncated(a: int | float, b: int | float) -> int:
    """Division towards zero, exact for integers of any size."""
    if not isinstance(a, int) or not isinstance(b, int):
        raise EvaluationError("// divides integers only")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


class EvaluationError(Exception):
    """Arithmetic on what is no number, or without a result."""


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
    return binding[arg.name] if isinstance(arg, Slot) else arg


def _join(call: Call, rows: Sequence[Row], bindings: list[Binding]) -> list[Binding]:
    if not bindings:
        return []
    known = set(bindings[0])  # all bindings have the same names
    fixed = [i for i, arg in enumerate(call.args) if not isinstance(arg, Slot) or arg.name in known]
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
            extended.update((arg.name, row[i]) for i, arg in enumerate(call.args) if isinstance(arg, Slot))
            joined.append(extended)
    return joined


def _agrees(call: Call, row: Row) -> bool:
    """Whether a variable that stands twice has one value."""
    seen: Binding = {}
    for arg, value in zip(call.args, row, strict=True):
        if isinstance(arg, Slot) and seen.setdefault(arg.name, value) != value:
            return False
    return True


def _members(step: Member, bindings: list[Binding]) -> list[Binding]:
    found: list[Binding] = []
    for binding in bindings:
        if isinstance(step.arg, Slot) and step.arg.name not in binding:
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
    left, right = _number(step.left, binding), _number(step.right, binding)
    holds = {
        "=:=": left == right,
        "=\\=": left != right,
        "<": left < right,
        ">": left > right,
        "=<": left <= right,
        ">=": left >= right,
    }
    return binding if holds[step.operator] else None


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
