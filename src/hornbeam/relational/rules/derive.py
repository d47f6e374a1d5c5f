"""All derived predicates of some knowledge: natively where the rules allow it, else by swipl."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from hornbeam.errors import DataError
from hornbeam.relational.ace.facts import Knowledge, Name, Row, Rule
from hornbeam.relational.ace.terms import Atom, Compound, show
from hornbeam.relational.rules.evaluate import EvaluationError, solutions
from hornbeam.relational.rules.program import (
    Conjunction,
    NotDatalogError,
    called,
    conjunctions,
    reached,
    strata,
)
from hornbeam.relational.rules.swipl import Given, solve

Reasons = dict[Name, tuple[Rule, str]]


def head_name(rule: Rule) -> Name:
    """The predicate that a rule is about."""
    if isinstance(rule.head, Compound):
        return rule.head.name, len(rule.head.args)
    assert isinstance(rule.head, Atom)
    return rule.head.name, 0


def derive(
    knowledge: Knowledge, wanted: Collection[Name], seconds: float, given: Callable[[Name], Given]
) -> dict[Name, list[Row]]:
    """The rows of the wanted predicates and of all that they are made of, facts and rules together.

    `given` says of a predicate which columns must have a value before Prolog is asked, and their values.
    """
    rules: dict[Name, list[Rule]] = {}
    for rule in knowledge.rules:
        rules.setdefault(head_name(rule), []).append(rule)
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


def refuse_rule(rule: Rule, reason: str) -> DataError:
    """The one line for a rule that cannot be worked out here."""
    return rule.source.refuse(rule.at, f"the rule for {show(rule.head)[:60]} is refused: {reason}")


def _native(rules: Mapping[Name, list[Rule]]) -> tuple[dict[Name, list[Conjunction]], Reasons]:
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
