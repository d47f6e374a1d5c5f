"""Files of facts, keyed or between the marks of models, their rules, and the examples that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from hornbeam.errors import DataError
from hornbeam.relational.ace.reader import Clause, Fact, read_clauses
from hornbeam.relational.ace.settings import AceSettings
from hornbeam.relational.ace.terms import Atom, Compound, Term, Var, parts_of, show, value_of
from hornbeam.relational.ace.tokens import PrologText
from hornbeam.relational.logic import Value
from hornbeam.table.schema import list_names

Row = tuple[Value, ...]
Name = tuple[str, int]
"""A predicate and its arity; in the models format the key, which stands first, is counted."""


@dataclass(frozen=True, eq=False)
class DefiniteClause:
    """A clause with a body, or with variables, and where it stands."""

    head: Term
    body: Term | None
    source: PrologText
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
    rules: list[DefiniteClause] = field(default_factory=list)
    models: list[Value] = field(default_factory=list)
    keyed: set[Name] = field(default_factory=set)
    ignored: list[str] = field(default_factory=list)

    def names(self) -> Iterator[Name]:
        yield from self.rows

    def add(self, name: str, row: Row) -> None:
        self.rows.setdefault((name, len(row)), []).append(row)


def read_facts(source: PrologText, knowledge: Knowledge, models: bool) -> None:
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


def _add_clause(source: PrologText, knowledge: Knowledge, clause: Clause, model: Value | None) -> None:
    term = clause.term
    if isinstance(term, Compound) and term.name in (":-", "?-") and len(term.args) == 1:
        if not _declares(term.args[0]):
            knowledge.ignored.append(f":- {show(term.args[0])[:60]} (line {source.line(clause.at)})")
        return
    if isinstance(term, Compound) and term.name == ":-" and len(term.args) == 2:
        if model is not None:
            raise source.refuse(term.at, "a rule stands inside a model; put it into the background file")
        _head(source, term.args[0])
        knowledge.rules.append(DefiniteClause(term.args[0], term.args[1], source, clause.at))
        return
    name, args = _head(source, term)
    values = [value_of(arg) for arg in args]
    known = tuple(value for value in values if value is not None)
    if len(known) == len(values):
        _add_row(knowledge, name, known, model)
    elif model is not None:
        raise source.refuse(term.at, f"{show(term)[:60]} holds variables; facts of a model have none")
    else:
        knowledge.rules.append(DefiniteClause(term, None, source, clause.at))


def _head(source: PrologText, term: Term) -> tuple[str, tuple[Term, ...]]:
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


_KEY = Var("Key_of_model")
_CONNECTIVES = (",", ";", "->", "\\+", "not")


@dataclass(frozen=True, eq=False)
class LabelledKeys:
    """The keys in their order, what is predicted of each, and the predicates that say it."""

    keys: tuple[Value, ...]
    labels: tuple[Value | None, ...] | None
    target: str
    own: frozenset[str]


def examples_of_facts(knowledge: Knowledge, said: AceSettings) -> LabelledKeys:
    """Key format: the facts of the predicted predicate; without any, all keys that keyed facts mention."""
    assert said.predict is not None
    name, key, label, arity = said.predict
    known: dict[Value, Value] = {}
    for row in knowledge.rows.get((name, arity), []):
        if known.setdefault(row[key], row[label]) != row[label]:
            raise DataError(
                f"{name}: example {row[key]!r} is {known[row[key]]!r} and {row[label]!r}; give it one class"
            )
    if known:
        return LabelledKeys(tuple(known), tuple(known.values()), name, frozenset({name}))
    mentioned: dict[Value, None] = {}
    columns = said.types.get(name)
    for (other, _), rows in knowledge.rows.items():
        if columns is not None and said.types.get(other, ())[:1] == (columns[key],):
            mentioned.update(dict.fromkeys(row[0] for row in rows))
    if not mentioned:
        raise DataError(
            f"{said.source.shown}: there are no facts {name}/{arity}, so there are no examples; there are "
            f"{list_names([f'{name}/{n}' for name, n in knowledge.rows])}"
        )
    return LabelledKeys(tuple(mentioned), None, name, frozenset({name}))


def examples_of_models(knowledge: Knowledge, said: AceSettings) -> LabelledKeys:
    """Models format: each model is an example, and one of the classes stands in it as a plain fact."""
    if not knowledge.models:
        raise DataError(f"{said.source.shown}: the facts hold no begin(model(k)), so there are no examples")
    if len(set(knowledge.models)) < len(knowledge.models):
        twice = next(key for key in knowledge.models if knowledge.models.count(key) > 1)
        raise DataError(f"model {twice!r} stands in the facts more than once; give each model its own key")
    if said.classes is None:
        raise DataError(f"{said.source.shown}: the models format needs classes([...])")
    labels: dict[Value, Value] = {}
    for name in said.classes:
        for (key,) in knowledge.rows.pop((str(name), 1), []):
            if labels.setdefault(key, name) != name:
                raise DataError(f"model {key!r} is {labels[key]!r} and {name!r}; give it one class")
    own = frozenset(str(name) for name in said.classes)
    return LabelledKeys(
        tuple(knowledge.models),
        tuple(labels.get(key) for key in knowledge.models) if labels else None,
        "class",
        own,
    )


def key_type_of(
    said: AceSettings,
    known: Mapping[Name, list[Row]],
    types: Mapping[str, tuple[str, ...]],
    examples: LabelledKeys,
) -> str:
    """The type of the keys: as the predicted predicate declares it, else of first columns that hold keys."""
    assert said.predict is not None
    name, key, _, arity = said.predict
    declared = said.types.get(name, ())
    if len(declared) == arity:
        return declared[key]
    keys = set(examples.keys)
    for other, columns in types.items():
        rows = known.get((other, len(columns)), [])
        if columns and rows and all(row[0] in keys for row in rows):
            return columns[0]
    return name


def with_keys(knowledge: Knowledge) -> None:
    """Give rules the key that the models format leaves out: to what stands in models or is made of it."""
    plain = {(name, arity - 1) for name, arity in knowledge.keyed}
    while True:
        added = {
            _name(rule.head)
            for rule in knowledge.rules
            if rule.body is not None and any(_name(call) in plain for call in _calls(rule.body))
        } - plain
        if not added:
            break
        plain |= added
    knowledge.keyed |= {(name, arity + 1) for name, arity in plain}
    knowledge.rules[:] = [_keyed_rule(rule, plain) for rule in knowledge.rules]


def _name(term: Term) -> tuple[str, int]:
    if isinstance(term, Compound):
        return term.name, len(term.args)
    return (term.name, 0) if isinstance(term, Atom) else (show(term), -1)


def _calls(body: Term) -> list[Term]:
    found: list[Term] = []
    waiting = [body]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Compound) and term.name in _CONNECTIVES:
            waiting += [part for arg in term.args for part in parts_of(arg, term.name)]
        else:
            found.append(term)
    return found


def _keyed_rule(rule: DefiniteClause, plain: set[tuple[str, int]]) -> DefiniteClause:
    if _name(rule.head) not in plain:
        return rule
    body = None if rule.body is None else _with_key(rule.body, plain)
    return replace(rule, head=_with_key(rule.head, plain), body=body)


def _with_key(term: Term, plain: set[tuple[str, int]]) -> Term:
    if isinstance(term, Compound) and term.name in _CONNECTIVES:
        return Compound(term.name, tuple(_with_key(arg, plain) for arg in term.args), term.at)
    if _name(term) not in plain:
        return term
    args = term.args if isinstance(term, Compound) else ()
    assert isinstance(term, Compound | Atom)
    return Compound(term.name, (_KEY, *args), term.at)
