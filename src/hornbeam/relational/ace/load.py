"""From ACE's files to data, bias and parameters."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from hornbeam.errors import DataError, StorageError
from hornbeam.relational.ace.factbase import FactBase, with_labels
from hornbeam.relational.ace.facts import (
    DefiniteClause,
    Knowledge,
    LabelledKeys,
    Name,
    Row,
    examples_of_facts,
    examples_of_models,
    key_type_of,
    read_facts,
    with_keys,
)
from hornbeam.relational.ace.modes import ModeReader
from hornbeam.relational.ace.settings import AceSettings, read_settings
from hornbeam.relational.ace.terms import Atom, Compound, Term, Var, parts_of, show
from hornbeam.relational.ace.tokens import PrologText, read_source
from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.bias_checks import fault_of
from hornbeam.relational.logic import Value
from hornbeam.relational.rules.evaluate import derive, head_name, refuse_rule, solutions
from hornbeam.relational.rules.program import NotDatalogError, conjunctions
from hornbeam.relational.rules.swipl import Given
from hornbeam.table.schema import list_names

BUILT_IN = frozenset({"equals", "=", "==", "=:=", "<", ">", "=<", "<=", ">=", "member", "threshold"})
MOST_ASKED = 1_000_000

Types = Mapping[str, tuple[str, ...]]
_Pool = dict[str, dict[Value, None]]


def named(said: AceSettings) -> Iterator[str]:
    """The predicates that modes and lookaheads name, comparisons left out."""
    for literal in _literals(said):
        if literal.name not in BUILT_IN:
            yield literal.name


def _literals(said: AceSettings) -> Iterator[Compound]:
    for term in (*said.modes, *(half for halves in said.lookaheads for half in halves)):
        yield from _literals_in(term)


def _literals_in(term: Term) -> Iterator[Compound]:
    if isinstance(term, Atom):
        yield Compound(term.name, (), term.at)
    elif isinstance(term, Compound) and term.name in (":", "#") and len(term.args) == 2:
        yield from _literals_in(term.args[1])
    elif isinstance(term, Compound) and term.name == ",":
        for part in parts_of(term, ","):
            yield from _literals_in(part)
    elif isinstance(term, Compound):
        yield term


def given_to(
    name: Name, said: AceSettings, knowledge: Knowledge, types: Types, examples: LabelledKeys
) -> Given:
    """What Prolog is asked with: the key, and where every mode wants a value that is there before (+), the
    values of that type among the facts of the example and those that all examples share."""
    columns = types[name[0]]
    inputs = tuple(sorted(_inputs(said, name, columns)))
    if not inputs:
        return Given((), ())
    shared, own = _pools(knowledge, types, examples)
    rows: list[Row] = []
    for key in examples.keys if inputs[0] == 0 else (None,):
        pool = own.get(key, {}) if key is not None else {}
        choices = [
            [key]
            if i == 0 and key is not None
            else list({**pool.get(columns[i], {}), **shared.get(columns[i], {})})
            for i in inputs
        ]
        rows += itertools.islice(itertools.product(*choices), MOST_ASKED + 1 - len(rows))
        if len(rows) > MOST_ASKED:
            raise DataError(
                f"{name[0]}/{name[1]} would be asked of Prolog more than {MOST_ASKED:,} times; give its "
                "modes fewer + places"
            )
    return Given(inputs, rows)


def _inputs(said: AceSettings, name: Name, columns: tuple[str, ...]) -> set[int]:
    """The columns that have + in every mode; in the models format the key is one that modes do not write."""
    wanted: set[int] | None = None
    for literal in _literals(said):
        shift = len(columns) - len(literal.args)
        if literal.name == name[0] and shift in (0, 1):
            given = {i + shift for i, arg in enumerate(literal.args) if _is_input(arg)} | set(range(shift))
            wanted = given if wanted is None else wanted & given
    return wanted or set()


def _is_input(arg: Term) -> bool:
    return isinstance(arg, Compound) and arg.name == "+" and isinstance(arg.args[0], Var | Atom)


def _pools(knowledge: Knowledge, types: Types, examples: LabelledKeys) -> tuple[_Pool, dict[Value, _Pool]]:
    """The values of each type among the facts that all examples share, and among those of each example."""
    shared: _Pool = {}
    own: dict[Value, _Pool] = {key: {} for key in examples.keys}
    for name, columns in types.items():
        for row in knowledge.rows.get((name, len(columns)), []):
            pool = own.get(row[0], shared) if row else shared
            for type_, value in zip(columns, row, strict=True):
                pool.setdefault(type_, {})[value] = None
    return shared, own


_EQUAL = ("=", "==", "=:=", "equals")
_UNTYPED = "any"

Loaded = tuple[FactBase, Bias, dict[str, Any], str]


def load_ace(
    settings: str | os.PathLike[str],
    facts: str | os.PathLike[str] | None,
    background: str | os.PathLike[str] | None,
    seconds: float,
) -> Loaded:
    """What the files of an application say."""
    said = read_settings(read_source(settings))
    models = said.predict is None if said.models is None else said.models
    if not models and said.predict is None:
        raise DataError(f"{said.source.shown}: the key format needs predict(target(+key,-class))")
    knowledge = Knowledge()
    fact_source = read_source(facts if facts is not None else _facts_beside(settings))
    read_facts(fact_source, knowledge, models)
    other = background if background is not None else _beside(settings, "bg")
    if other is not None:
        read_facts(read_source(other), knowledge, models=False)
    _warn_of_unknown(said, knowledge)
    return _Application(said, knowledge, models, seconds, fact_source.shown).load()


def _beside(settings: str | os.PathLike[str], ending: str) -> Path | None:
    stem = Path(settings).with_suffix("")
    both = (stem.with_suffix(f".{ending}"), stem.with_suffix(f".{ending}.gz"))
    return next((path for path in both if path.is_file()), None)


def _facts_beside(settings: str | os.PathLike[str]) -> Path:
    found = _beside(settings, "kb")
    if found is None:
        raise StorageError(
            f"{os.fspath(settings)!r} has no facts beside it: {Path(settings).stem}.kb is not there; "
            "name the file with facts="
        )
    return found


def _warn_of_unknown(said: AceSettings, knowledge: Knowledge) -> None:
    if said.unknown:
        warnings.warn(
            f"{said.source.shown}: settings without a meaning here are left out: {'; '.join(said.unknown)}",
            stacklevel=4,
        )
    if knowledge.ignored:
        shown = "; ".join(knowledge.ignored[:8])
        warnings.warn(f"directives among the facts are left out: {shown}", stacklevel=4)


def _parameters_for(said: AceSettings) -> dict[str, Any]:
    """Those that mean something for the task: wrong classes are pruned by, numbers tested by variance."""
    other = ("prune", "confidence", "criterion") if said.regression else ("ftest",)
    return {name: value for name, value in said.parameters.items() if name not in other}


class _Application:
    """The pieces on their way to a fact base and a bias."""

    def __init__(
        self, said: AceSettings, knowledge: Knowledge, models: bool, seconds: float, shown: str
    ) -> None:
        self._said = said
        self._knowledge = knowledge
        self._models = models
        self._seconds = seconds
        self._shown = shown
        self._typed = said.typed if said.typed is not None else bool(said.types)
        self._named = set(named(said))
        self._check_target()

    def load(self) -> Loaded:
        said = self._said
        if self._models:
            examples = examples_of_models(self._knowledge, said)
            with_keys(self._knowledge)
        else:
            examples = examples_of_facts(self._knowledge, said)
        types = self._types(examples)
        wanted = {name: (name, len(columns)) for name, columns in types.items()}
        rows = derive(
            self._knowledge,
            list(wanted.values()),
            self._seconds,
            lambda name: given_to(name, said, self._knowledge, types, examples),
        )
        key_type = self._key_type(types, rows, examples)
        keyed = self._keyed(types, key_type, rows, examples)
        self._warn_of_empty(wanted, rows)
        base = FactBase(
            key_type,
            examples.target,
            types,
            {name: rows.get(full, []) for name, full in wanted.items()},
            frozenset(keyed),
            examples.keys,
            examples.labels,
            None if said.regression else said.classes,
            self._shown,
        )
        bias = with_labels(self._bias(types, key_type, keyed, rows), base.numeric_types)
        return base, bias, _parameters_for(said), examples.target

    def _check_target(self) -> None:
        if self._said.predict is not None and self._said.predict[0] in self._named:
            raise DataError(
                f"{self._said.source.shown}: a mode names {self._said.predict[0]!r}, which is predicted"
            )

    def _types(self, examples: LabelledKeys) -> dict[str, tuple[str, ...]]:
        """The types of all predicates that tests may use."""
        known = {*self._knowledge.rows, *(head_name(rule) for rule in self._knowledge.rules)}
        declared = self._said.types if self._typed else {}
        own = examples.own
        types: dict[str, tuple[str, ...]] = {}
        for name, columns in declared.items():
            full = ("model", *columns) if (name, len(columns) + 1) in self._knowledge.keyed else columns
            if name in BUILT_IN or name in own:
                continue
            if (name, len(full)) in known or name in self._named:
                types[name] = full
        if not self._typed:
            for name, arity in sorted(known):
                if name in self._named and name not in own:
                    keyed = (name, arity) in self._knowledge.keyed
                    types[name] = ("model", *[_UNTYPED] * (arity - 1)) if keyed else (_UNTYPED,) * arity
        return types

    def _key_type(
        self, types: Mapping[str, tuple[str, ...]], rows: Mapping[Name, list[Row]], examples: LabelledKeys
    ) -> str:
        if self._models:
            return "model"
        return key_type_of(self._said, rows, types, examples) if self._typed else _UNTYPED

    def _keyed(
        self,
        types: Mapping[str, tuple[str, ...]],
        key_type: str,
        rows: Mapping[Name, list[Row]],
        examples: LabelledKeys,
    ) -> set[str]:
        if self._models:
            return {name for name, columns in types.items() if (name, len(columns)) in self._knowledge.keyed}
        if self._typed:
            return {name for name, columns in types.items() if columns[:1] == (key_type,)}
        keys = set(examples.keys)
        return {
            name
            for name, columns in types.items()
            if columns and all(row[0] in keys for row in rows.get((name, len(columns)), []))
        }

    def _warn_of_empty(self, wanted: Mapping[str, Name], rows: Mapping[Name, list[Row]]) -> None:
        empty = [name for name, full in wanted.items() if not rows.get(full)]
        if empty:
            warnings.warn(
                f"{self._shown} has no facts of {list_names(empty)}, which modes name", stacklevel=5
            )

    def _bias(
        self,
        types: Mapping[str, tuple[str, ...]],
        key_type: str,
        keyed: Collection[str],
        rows: Mapping[Name, list[Row]],
    ) -> Bias:
        source = self._said.source

        def generate(goal: Term, what: Var) -> list[Value]:
            return _answers(goal, what, source, rows)

        reader = ModeReader(source, generate, equal=_EQUAL)
        modes: list[Mode] = []
        for term in self._said.modes:
            for mode in reader.modes(term):
                found = Mode(self._with_key(mode.patterns, types, keyed), mode.most)
                source.check(fault_of(found.patterns, types), term.at)
                modes.append(found)
        lookaheads: list[LookaheadDeclaration] = []
        for after, then in self._said.lookaheads:
            for lookahead in reader.lookahead(after, then):
                first = self._with_key((lookahead.after,), types, keyed, Placemarker(Sign.ANYTHING))[0]
                added = LookaheadDeclaration(first, self._with_key(lookahead.then, types, keyed))
                source.check(fault_of((added.after, *added.then), types), after.at)
                lookaheads.append(added)
        depth = self._said.max_lookahead
        return Bias(key_type, dict(types), tuple(modes), tuple(lookaheads), depth)

    def _with_key(
        self,
        patterns: tuple[Pattern, ...],
        types: Mapping[str, tuple[str, ...]],
        keyed: Collection[str],
        place: Placemarker = Placemarker(Sign.OLD),  # noqa: B008 - a frozen record
    ) -> tuple[Pattern, ...]:
        """In the models format the key is no argument; here it is the first one."""
        if not self._models:
            return patterns
        return tuple(
            Pattern(pattern.predicate, (place, *pattern.places))
            if pattern.predicate in keyed and len(pattern.places) + 1 == len(types[pattern.predicate])
            else pattern
            for pattern in patterns
        )


def _answers(goal: Term, what: Var, source: PrologText, rows: Mapping[Name, list[Row]]) -> list[Value]:
    """The values of a variable that make a goal true, each once, in the order of the facts."""
    rule = DefiniteClause(Compound("constants", (what,), goal.at), goal, source, goal.at)
    try:
        found = [row[0] for conjunction in conjunctions(rule) for row in solutions(conjunction, rows)]
    except NotDatalogError as error:
        raise refuse_rule(rule, str(error)) from None
    if not found:
        raise source.refuse(goal.at, f"{show(goal)[:60]} gives no constants")
    return list(dict.fromkeys(found))
