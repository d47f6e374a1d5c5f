"""Files of facts, keyed or between the marks of models, their rules, and the examples that they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hornbeam.errors import DataError
from hornbeam.relational.ace.reader import Clause, Fact, read_clauses
from hornbeam.relational.ace.settings import AceSettings
from hornbeam.relational.ace.terms import Atom, Compound, Term, Var, parts_of, show, value_of, values_of
from hornbeam.relational.ace.tokens import PrologText
from hornbeam.relational.logic import Value
from hornbeam.table.schema import list_names

Row = tuple[Value, ...]
Name = tuple[str, int]
"""A predicate and its arity; in the models format the key, which stands first, is counted."""


@dataclass(frozen=True, eq=False)
class DefiniteClause:
    """A clause with a body, or with variables, and where it stands."""

    head: Atom | Compound
    body: Term | None
    source: PrologText
    at: int

    @property
    def predicate(self) -> Name:
        """The predicate that the clause is about."""
        return self.head.name, len(self.head.args)


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
    match term:
        case Compound("begin" | "end" as mark, (Compound("model", (inner,)),)):
            key = value_of(inner)
            return None if key is None else (mark, key)
    return None


def _add_row(knowledge: Knowledge, name: str, values: Row, model: Value | None) -> None:
    if model is not None:
        values = (model, *values)
        knowledge.keyed.add((name, len(values)))
    knowledge.add(name, values)


def _add_clause(source: PrologText, knowledge: Knowledge, clause: Clause, model: Value | None) -> None:
    match clause.term:
        case Compound(":-" | "?-", (goal,)):
            if not _declares(goal):
                knowledge.ignored.append(f":- {show(goal)[:60]} (line {source.line(clause.at)})")
        case Compound(":-", (head, body)):
            if model is not None:
                what = "a rule stands inside a model; put it into the background file"
                raise source.refuse(clause.term.at, what)
            knowledge.rules.append(DefiniteClause(_head(source, head), body, source, clause.at))
        case term:
            fact = _head(source, term)
            values = values_of(fact.args)
            if values is not None:
                _add_row(knowledge, fact.name, values, model)
            elif model is not None:
                raise source.refuse(term.at, f"{show(term)[:60]} holds variables; facts of a model have none")
            else:
                knowledge.rules.append(DefiniteClause(fact, None, source, clause.at))


def _head(source: PrologText, term: Term) -> Atom | Compound:
    if not isinstance(term, Atom | Compound):
        raise source.refuse(term.at, f"{show(term)[:60]} is neither a fact nor a rule")
    return term


def _declares(term: Term) -> bool:
    """Declarations of Prolog that say nothing about facts."""
    names = ("dynamic", "discontiguous", "multifile", "style_check")
    return isinstance(term, Compound) and term.name in names


_KEY = Var("Key_of_model")
_CONNECTIVES = (",", ";", "->", "\\+", "not")


@dataclass(frozen=True, eq=False)
class LabelledKeys:
    """The keys in their order, what is predicted of each, and the predicates that say it."""

    keys: tuple[Value, ...]
    labels: tuple[Value | None, ...] | None
    target: str
    own: frozenset[str]


def examples_of_facts(knowledge: Knowledge, settings: AceSettings) -> LabelledKeys:
    """Key format: the facts of the predicted predicate; without any, all keys that keyed facts mention."""
    assert settings.predict is not None
    name, key, label, arity = settings.predict
    known: dict[Value, Value] = {}
    for row in knowledge.rows.get((name, arity), []):
        if known.setdefault(row[key], row[label]) != row[label]:
            raise DataError(
                f"{name}: example {row[key]!r} is {known[row[key]]!r} and {row[label]!r}; give it one class"
            )
    if known:
        return LabelledKeys(tuple(known), tuple(known.values()), name, frozenset({name}))
    mentioned: dict[Value, None] = {}
    columns = settings.types.get(name)
    for (other, _), rows in knowledge.rows.items():
        if columns is not None and settings.types.get(other, ())[:1] == (columns[key],):
            mentioned.update(dict.fromkeys(row[0] for row in rows))
    if not mentioned:
        raise DataError(
            f"{settings.source.shown}: there are no facts {name}/{arity}, so there are no examples; "
            f"there are {list_names([f'{name}/{n}' for name, n in knowledge.rows])}"
        )
    return LabelledKeys(tuple(mentioned), None, name, frozenset({name}))


def examples_of_models(knowledge: Knowledge, settings: AceSettings) -> LabelledKeys:
    """Models format: each model is an example, and one of the classes stands in it as a plain fact."""
    if not knowledge.models:
        raise DataError(
            f"{settings.source.shown}: the facts hold no begin(model(k)), so there are no examples"
        )
    if len(set(knowledge.models)) < len(knowledge.models):
        twice = next(key for key in knowledge.models if knowledge.models.count(key) > 1)
        raise DataError(f"model {twice!r} stands in the facts more than once; give each model its own key")
    if settings.classes is None:
        raise DataError(f"{settings.source.shown}: the models format needs classes([...])")
    labels: dict[Value, Value] = {}
    for name in settings.classes:
        for (key,) in knowledge.rows.pop((str(name), 1), []):
            if labels.setdefault(key, name) != name:
                raise DataError(f"model {key!r} is {labels[key]!r} and {name!r}; give it one class")
    own = frozenset(str(name) for name in settings.classes)
    return LabelledKeys(
        tuple(knowledge.models),
        tuple(labels.get(key) for key in knowledge.models) if labels else None,
        "class",
        own,
    )


def key_type_of(
    settings: AceSettings,
    known: Mapping[Name, list[Row]],
    types: Mapping[str, tuple[str, ...]],
    examples: LabelledKeys,
) -> str:
    """The type of the keys: as the predicted predicate declares it, else of first columns that hold keys."""
    assert settings.predict is not None
    name, key, _, arity = settings.predict
    declared = settings.types.get(name, ())
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
            rule.predicate
            for rule in knowledge.rules
            if rule.body is not None and any(_name(call) in plain for call in _calls(rule.body))
        } - plain
        if not added:
            break
        plain |= added
    knowledge.keyed |= {(name, arity + 1) for name, arity in plain}
    knowledge.rules[:] = [_keyed_rule(rule, plain) for rule in knowledge.rules]


def _name(term: Term) -> Name | None:
    return (term.name, len(term.args)) if isinstance(term, Atom | Compound) else None


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


def _keyed_rule(rule: DefiniteClause, plain: set[Name]) -> DefiniteClause:
    if rule.predicate not in plain:
        return rule
    head = Compound(rule.head.name, (_KEY, *rule.head.args), rule.head.at)
    return replace(rule, head=head, body=None if rule.body is None else _with_key(rule.body, plain))


def _with_key(term: Term, plain: set[Name]) -> Term:
    if isinstance(term, Compound) and term.name in _CONNECTIVES:
        return Compound(term.name, tuple(_with_key(arg, plain) for arg in term.args), term.at)
    if isinstance(term, Atom | Compound) and _name(term) in plain:
        return Compound(term.name, (_KEY, *term.args), term.at)
    return term
