"""Files of facts: those keyed by their first argument, those between the marks of a model, and rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hornbeam.relational.ace.reader import Clause, Fact, read_clauses
from hornbeam.relational.ace.terms import Atom, Compound, Term, show, value_of
from hornbeam.relational.ace.tokens import Source
from hornbeam.relational.logic import Value

Row = tuple[Value, ...]
Name = tuple[str, int]
"""A predicate and its arity; in the models format the key, which stands first, is counted."""


@dataclass(frozen=True, eq=False)
class Rule:
    """A clause with a body, or with variables, and where it stands."""

    head: Term
    body: Term | None
    source: Source
    at: int

    @property
    def line(self) -> int:
        return self.source.line(self.at)


@dataclass(eq=False)
class Knowledge:
    """What was read: rows of each predicate, rules, the models in their order, directives that were not run.

    `keyed` are the predicates whose facts stand in models: their first column is the key of the model.
    """

    rows: dict[Name, list[Row]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    models: list[Value] = field(default_factory=list)
    keyed: set[Name] = field(default_factory=set)
    ignored: list[str] = field(default_factory=list)

    def names(self) -> Iterator[Name]:
        yield from self.rows

    def add(self, name: str, row: Row) -> None:
        self.rows.setdefault((name, len(row)), []).append(row)


def read_facts(source: Source, knowledge: Knowledge, models: bool) -> None:
    """Add what a file says; in the models format facts between the marks belong to that model."""
    model: Value | None = None
    for clause in read_clauses(source):
        if isinstance(clause, Fact):
            _add_row(knowledge, clause.name, clause.values, model)
            continue
        term = clause.term
        marked = _mark(term) if models else None
        if marked is None:
            _add_clause(source, knowledge, clause, model)
        elif marked[0] == "begin":
            if model is not None:
                raise source.refuse(
                    term.at, f"model {show_key(marked[1])} begins inside model {show_key(model)}"
                )
            model = marked[1]
            knowledge.models.append(model)
        else:
            if marked[1] != model:
                raise source.refuse(term.at, f"model {show_key(marked[1])} ends and did not begin before it")
            model = None
    if model is not None:
        raise source.refuse(len(source.text), f"model {show_key(model)} begins and does not end")


def show_key(value: Value | None) -> str:
    return "none" if value is None else repr(value)[:40]


def _mark(term: Term) -> tuple[str, Value] | None:
    """`begin(model(k))` or `end(model(k))`."""
    if not isinstance(term, Compound) or term.name not in ("begin", "end") or len(term.args) != 1:
        return None
    inner = term.args[0]
    if not isinstance(inner, Compound) or inner.name != "model" or len(inner.args) != 1:
        return None
    key = value_of(inner.args[0])
    return None if key is None else (term.name, key)


def _add_row(knowledge: Knowledge, name: str, values: Row, model: Value | None) -> None:
    if model is not None:
        values = (model, *values)
        knowledge.keyed.add((name, len(values)))
    knowledge.add(name, values)


def _add_clause(source: Source, knowledge: Knowledge, clause: Clause, model: Value | None) -> None:
    term = clause.term
    if isinstance(term, Compound) and term.name in (":-", "?-") and len(term.args) == 1:
        if not _declares(term.args[0]):
            knowledge.ignored.append(f":- {show(term.args[0])[:60]} (line {source.line(clause.at)})")
        return
    if isinstance(term, Compound) and term.name == ":-" and len(term.args) == 2:
        if model is not None:
            raise source.refuse(term.at, "a rule stands inside a model; put it into the background file")
        _head(source, term.args[0])
        knowledge.rules.append(Rule(term.args[0], term.args[1], source, clause.at))
        return
    name, args = _head(source, term)
    values = [value_of(arg) for arg in args]
    known = tuple(value for value in values if value is not None)
    if len(known) == len(values):
        _add_row(knowledge, name, known, model)
    elif model is not None:
        raise source.refuse(term.at, f"{show(term)[:60]} holds variables; facts of a model have none")
    else:
        knowledge.rules.append(Rule(term, None, source, clause.at))


def _head(source: Source, term: Term) -> tuple[str, tuple[Term, ...]]:
    if isinstance(term, Atom):
        return term.name, ()
    if isinstance(term, Compound):
        return term.name, term.args
    raise source.refuse(term.at, f"{show(term)[:60]} is neither a fact nor a rule")


def _declares(term: Term) -> bool:
    """Declarations of Prolog that say nothing about facts."""
    return isinstance(term, Compound) and term.name in (
        "dynamic",
        "discontiguous",
        "multifile",
        "style_check",
    )
