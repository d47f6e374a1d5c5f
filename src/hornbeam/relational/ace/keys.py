"""Which examples there are in the key format and in the models format, and what their keys are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hornbeam.errors import DataError
from hornbeam.relational.ace.facts import Knowledge, Name, Row, Rule
from hornbeam.relational.ace.settings import Settings
from hornbeam.relational.ace.terms import Atom, Compound, Term, Var, parts_of, show
from hornbeam.relational.logic import Value
from hornbeam.table.schema import list_names

_KEY = Var("Key_of_model")
_CONNECTIVES = (",", ";", "->", "\\+", "not")


@dataclass(frozen=True, eq=False)
class Examples:
    """The keys in their order, what is predicted of each, and the predicates that say it."""

    keys: tuple[Value, ...]
    labels: tuple[Value | None, ...] | None
    target: str
    own: frozenset[str]


def examples_of_facts(knowledge: Knowledge, said: Settings) -> Examples:
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
        return Examples(tuple(known), tuple(known.values()), name, frozenset({name}))
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
    return Examples(tuple(mentioned), None, name, frozenset({name}))


def examples_of_models(knowledge: Knowledge, said: Settings) -> Examples:
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
    return Examples(
        tuple(knowledge.models),
        tuple(labels.get(key) for key in knowledge.models) if labels else None,
        "class",
        own,
    )


def key_type_of(
    said: Settings,
    known: Mapping[Name, list[Row]],
    types: Mapping[str, tuple[str, ...]],
    examples: Examples,
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


def _keyed_rule(rule: Rule, plain: set[tuple[str, int]]) -> Rule:
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
