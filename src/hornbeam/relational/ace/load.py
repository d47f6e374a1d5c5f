"""ACE's files as data, a bias and parameters of estimators."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from hornbeam.errors import DataError, StorageError
from hornbeam.relational.ace.datalog import NotDatalogError, conjunctions, derive, refuse_rule, solutions
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
from hornbeam.relational.ace.swipl import Given
from hornbeam.relational.ace.terms import Atom, Compound, Term, Var, parts_of, show
from hornbeam.relational.ace.tokens import read_source
from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Placemarker, Sign, fault_of
from hornbeam.relational.logic import Value
from hornbeam.table.schema import list_names

BUILT_IN = frozenset({"equals", "=", "==", "=:=", "<", ">", "=<", "<=", ">=", "member", "threshold"})
MOST_ASKED = 1_000_000

_EQUAL = ("=", "==", "=:=", "equals")
_UNTYPED = "any"
_KEY = Placemarker(Sign.OLD)

_Pool = dict[str, dict[Value, None]]
Loaded = tuple[FactBase, Bias, dict[str, Any], str]


def load_ace(
    settings_path: str | os.PathLike[str],
    facts: str | os.PathLike[str] | None,
    background: str | os.PathLike[str] | None,
    seconds: float,
) -> Loaded:
    """What the files of an application say."""
    settings = read_settings(read_source(settings_path))
    models = settings.predict is None if settings.models is None else settings.models
    if not models and settings.predict is None:
        raise DataError(f"{settings.source.shown}: the key format needs predict(target(+key,-class))")
    knowledge = Knowledge()
    fact_source = read_source(facts if facts is not None else _facts_beside(settings_path))
    read_facts(fact_source, knowledge, models)
    other = background if background is not None else _beside(settings_path, "bg")
    if other is not None:
        read_facts(read_source(other), knowledge, models=False)
    _warn_of_unknown(settings, knowledge)
    return _Application(settings, knowledge, models, seconds, fact_source.shown).load()


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


def _warn_of_unknown(settings: AceSettings, knowledge: Knowledge) -> None:
    if settings.unknown:
        shown = "; ".join(settings.unknown)
        warnings.warn(
            f"{settings.source.shown}: settings without a meaning here are left out: {shown}", stacklevel=4
        )
    if knowledge.ignored:
        shown = "; ".join(knowledge.ignored[:8])
        warnings.warn(f"directives among the facts are left out: {shown}", stacklevel=4)


class _Application:
    """The files of an application on their way to a fact base and a bias."""

    def __init__(
        self, settings: AceSettings, knowledge: Knowledge, models: bool, seconds: float, shown: str
    ) -> None:
        self._settings, self._knowledge, self._models = settings, knowledge, models
        self._seconds, self._shown = seconds, shown
        self._typed = settings.typed if settings.typed is not None else bool(settings.types)
        self._literals = list(_literals_of(settings))
        self._named = {literal.name for literal in self._literals} - BUILT_IN

    def load(self) -> Loaded:
        settings = self._settings
        if settings.predict is not None and settings.predict[0] in self._named:
            raise DataError(
                f"{settings.source.shown}: a mode names {settings.predict[0]!r}, which is predicted"
            )
        examples = self._examples
        rows = {name: self._rows.get(self._full_name(name), []) for name in self._types}
        key_type, keyed = self._key_type, self._keyed
        empty = [name for name, found in rows.items() if not found]
        if empty:
            warnings.warn(
                f"{self._shown} has no facts of {list_names(empty)}, which modes name", stacklevel=4
            )
        base = FactBase(
            key_type,
            examples.target,
            self._types,
            rows,
            frozenset(keyed),
            examples.keys,
            examples.labels,
            None if settings.regression else settings.classes,
            self._shown,
        )
        bias = with_labels(self._bias(), base.numeric_types)
        # Wrong classes are pruned by, numbers tested by variance.
        other = ("prune", "confidence", "criterion") if settings.regression else ("ftest",)
        parameters = {name: value for name, value in settings.parameters.items() if name not in other}
        return base, bias, parameters, examples.target

    @cached_property
    def _examples(self) -> LabelledKeys:
        if not self._models:
            return examples_of_facts(self._knowledge, self._settings)
        examples = examples_of_models(self._knowledge, self._settings)
        with_keys(self._knowledge)
        return examples

    @cached_property
    def _types(self) -> dict[str, tuple[str, ...]]:
        """The types of all predicates that tests may use."""
        own, keyed = self._examples.own, self._knowledge.keyed
        known = {*self._knowledge.rows, *(rule.predicate for rule in self._knowledge.rules)}
        types: dict[str, tuple[str, ...]] = {}
        if not self._typed:
            for name, arity in sorted(known):
                if name in self._named and name not in own:
                    first = "model" if (name, arity) in keyed else _UNTYPED
                    types[name] = (first, *[_UNTYPED] * (arity - 1))[:arity]
            return types
        for name, columns in self._settings.types.items():
            full = ("model", *columns) if (name, len(columns) + 1) in keyed else columns
            if name in BUILT_IN or name in own:
                continue
            if (name, len(full)) in known or name in self._named:
                types[name] = full
        return types

    def _full_name(self, name: str) -> Name:
        return name, len(self._types[name])

    @cached_property
    def _rows(self) -> dict[Name, list[Row]]:
        """The rows of all predicates that tests may use, those that rules derive too."""
        wanted = [self._full_name(name) for name in self._types]
        return derive(self._knowledge, wanted, self._seconds, self._given_to)

    @cached_property
    def _key_type(self) -> str:
        if self._models:
            return "model"
        return (
            key_type_of(self._settings, self._rows, self._types, self._examples) if self._typed else _UNTYPED
        )

    @cached_property
    def _keyed(self) -> set[str]:
        """The predicates whose first column is the key."""
        types = self._types
        if self._models:
            return {name for name in types if self._full_name(name) in self._knowledge.keyed}
        if self._typed:
            return {name for name, columns in types.items() if columns[:1] == (self._key_type,)}
        keys = set(self._examples.keys)
        rows = {name: self._rows.get(self._full_name(name), []) for name, columns in types.items() if columns}
        return {name for name, found in rows.items() if all(row[0] in keys for row in found)}

    # the bias

    def _bias(self) -> Bias:
        source, types = self._settings.source, self._types
        reader = ModeReader(source, self._constants, equal=_EQUAL)
        modes: list[Mode] = []
        for term in self._settings.modes:
            for mode in reader.modes(term):
                modes.append(Mode(self._with_key(mode.patterns), mode.most))
                source.check(fault_of(modes[-1].patterns, types), term.at)
        lookaheads: list[LookaheadDeclaration] = []
        for first, second in self._settings.lookaheads:
            for lookahead in reader.lookahead(first, second):
                (after,) = self._with_key((lookahead.after,), Placemarker(Sign.ANYTHING))
                lookaheads.append(LookaheadDeclaration(after, self._with_key(lookahead.then)))
                source.check(fault_of(lookaheads[-1].patterns, types), first.at)
        depth = self._settings.max_lookahead
        return Bias(self._key_type, dict(types), tuple(modes), tuple(lookaheads), depth)

    def _with_key(self, patterns: tuple[Pattern, ...], key: Placemarker = _KEY) -> tuple[Pattern, ...]:
        """Patterns with a place for the key of the model, which modes of the models format do not write."""
        if not self._models:
            return patterns
        return tuple(
            Pattern(pattern.predicate, (key, *pattern.places))
            if pattern.predicate in self._keyed
            and len(pattern.places) + 1 == len(self._types[pattern.predicate])
            else pattern
            for pattern in patterns
        )

    def _constants(self, goal: Term, what: Var) -> list[Value]:
        """The values of a variable that make a goal true, each once, in the order of the facts."""
        source = self._settings.source
        rule = DefiniteClause(Compound("constants", (what,), goal.at), goal, source, goal.at)
        try:
            found = [row[0] for of in conjunctions(rule) for row in solutions(of, self._rows)]
        except NotDatalogError as error:
            raise refuse_rule(rule, str(error)) from None
        if not found:
            raise source.refuse(goal.at, f"{show(goal)[:60]} gives no constants")
        return list(dict.fromkeys(found))

    # what Prolog is given

    def _given_to(self, name: Name) -> Given:
        """What Prolog is asked with: the key, and for columns that have + in every mode the values of their
        types among the facts of the example and those that all examples share."""
        columns = self._types[name[0]]
        inputs = tuple(sorted(self._inputs(name, columns)))
        if not inputs:
            return Given((), ())
        shared, own = self._pools()
        rows: list[Row] = []
        for key in self._examples.keys if inputs[0] == 0 else (None,):
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

    def _inputs(self, name: Name, columns: tuple[str, ...]) -> set[int]:
        """The columns that have + in every mode; in the models format modes do not write the key."""
        wanted: list[set[int]] = []
        for literal in self._literals:
            shift = len(columns) - len(literal.args)
            if literal.name == name[0] and shift in (0, 1):
                given = {i + shift for i, arg in enumerate(literal.args) if _is_input(arg)}
                wanted.append(given | set(range(shift)))
        return set.intersection(*wanted) if wanted else set()

    def _pools(self) -> tuple[_Pool, dict[Value, _Pool]]:
        """The values of each type among the facts that all examples share, and among those of each one."""
        shared: _Pool = {}
        own: dict[Value, _Pool] = {key: {} for key in self._examples.keys}
        for name, columns in self._types.items():
            for row in self._knowledge.rows.get((name, len(columns)), []):
                pool = own.get(row[0], shared) if row else shared
                for type_, value in zip(columns, row, strict=True):
                    pool.setdefault(type_, {})[value] = None
        return shared, own


def _literals_of(settings: AceSettings) -> Iterator[Atom | Compound]:
    """The literals of modes and lookaheads."""
    for term in (*settings.modes, *itertools.chain.from_iterable(settings.lookaheads)):
        yield from _literals_in(term)


def _literals_in(term: Term) -> Iterator[Atom | Compound]:
    if isinstance(term, Compound) and term.name in (":", "#") and len(term.args) == 2:
        yield from _literals_in(term.args[1])
    elif isinstance(term, Compound) and term.name == ",":
        for part in parts_of(term, ","):
            yield from _literals_in(part)
    elif isinstance(term, Atom | Compound):
        yield term


def _is_input(arg: Term) -> bool:
    return isinstance(arg, Compound) and arg.name == "+" and isinstance(arg.args[0], Var | Atom)
