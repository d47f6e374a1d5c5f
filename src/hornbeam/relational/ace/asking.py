"""Which predicates modes name, and with what values a predicate must be asked of Prolog."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from hornbeam.errors import DataError
from hornbeam.relational.ace.facts import Knowledge, Name, Row
from hornbeam.relational.ace.keys import Examples
from hornbeam.relational.ace.settings import Settings
from hornbeam.relational.ace.terms import Atom, Compound, Term, Var, parts_of
from hornbeam.relational.logic import Value
from hornbeam.relational.rules.swipl import Given

BUILT_IN = frozenset({"equals", "=", "==", "=:=", "<", ">", "=<", "<=", ">=", "member", "threshold"})
MOST_ASKED = 1_000_000

Types = Mapping[str, tuple[str, ...]]
_Pool = dict[str, dict[Value, None]]


def named(said: Settings) -> Iterator[str]:
    """The predicates that modes and lookaheads name, comparisons left out."""
    for literal in _literals(said):
        if literal.name not in BUILT_IN:
            yield literal.name


def _literals(said: Settings) -> Iterator[Compound]:
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


def given_to(name: Name, said: Settings, knowledge: Knowledge, types: Types, examples: Examples) -> Given:
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


def _inputs(said: Settings, name: Name, columns: tuple[str, ...]) -> set[int]:
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


def _pools(knowledge: Knowledge, types: Types, examples: Examples) -> tuple[_Pool, dict[Value, _Pool]]:
    """The values of each type among the facts that all examples share, and among those of each example."""
    shared: _Pool = {}
    own: dict[Value, _Pool] = {key: {} for key in examples.keys}
    for name, columns in types.items():
        for row in knowledge.rows.get((name, len(columns)), []):
            pool = own.get(row[0], shared) if row else shared
            for type_, value in zip(columns, row, strict=True):
                pool.setdefault(type_, {})[value] = None
    return shared, own
