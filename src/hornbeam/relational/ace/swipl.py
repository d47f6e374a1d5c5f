"""Prolog rules worked out once by `swipl`, in a process of its own, within a time."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hornbeam.errors import DataError, UsageError
from hornbeam.relational.ace.facts import Knowledge, Name, Row
from hornbeam.relational.ace.reader import Fact, read_clauses
from hornbeam.relational.ace.terms import Atom, Compound, show, show_value, values_of
from hornbeam.relational.ace.tokens import PrologText
from hornbeam.relational.logic import Value

_PROGRAM = """:- style_check(-singleton), style_check(-discontiguous).
:- set_prolog_flag(stack_limit, 1000000000).
hornbeam_write(Goal) :-
    ( ground(Goal) -> true ; throw('a solution holds a variable without a value') ),
    write_term(Goal, [quoted(true), ignore_ops(true)]), write('.'), nl.
"""


@dataclass(frozen=True)
class Given:
    """What has a value before a predicate is asked: some of its columns, and their values together."""

    columns: tuple[int, ...]
    rows: Sequence[Row]


def solve(
    knowledge: Knowledge, wanted: Mapping[Name, Given], seconds: float, refusal: DataError
) -> dict[Name, list[Row]]:
    """The solutions of predicates, each asked once for all that is given. `refusal` says why it is needed."""
    program = shutil.which("swipl")
    if program is None:
        raise DataError(f"{refusal}; where SWI-Prolog (swipl) is installed, that works it out once")
    if not seconds > 0:
        raise UsageError(f"prolog_seconds={seconds}; a time above 0 is needed")
    with tempfile.TemporaryDirectory(prefix="hornbeam-") as folder:
        path = Path(folder) / "knowledge.pl"
        path.write_text(_text(knowledge, wanted), encoding="utf-8")
        written = _run(program, path, seconds, refusal)
    return _rows(written, wanted)


def _text(knowledge: Knowledge, wanted: Mapping[Name, Given]) -> str:
    parts = [_PROGRAM]
    declared = {*knowledge.rows, *wanted}
    parts += [f":- dynamic({show_value(one)}/{arity}).\n" for one, arity in sorted(declared)]
    for (predicate, _), rows in knowledge.rows.items():
        parts += [f"{_call(predicate, row)}.\n" for row in rows]
    for rule in knowledge.rules:
        body = "" if rule.body is None else f" :- {show(rule.body)}"
        parts.append(f"{show(rule.head)}{body}.\n")
    for i, (name, given) in enumerate(wanted.items()):
        parts.append(_question(f"hornbeam_ask_{i}", name, given))
    asked = ", ".join(f"hornbeam_ask_{i}" for i in range(len(wanted)))
    return "".join(parts) + f"hornbeam_all :- {asked}.\n"


def _call(name: str, row: Collection[Value]) -> str:
    return f"{show_value(name)}({','.join(map(show_value, row))})" if row else show_value(name)


def _question(ask: str, name: Name, given: Given) -> str:
    predicate, arity = name
    variables = [f"X{i}" for i in range(arity)]
    goal = f"{show_value(predicate)}({','.join(variables)})" if arity else show_value(predicate)
    if not given.columns:
        return f"{ask} :- forall({goal}, hornbeam_write({goal})).\n"
    facts = (
        "".join(f"{_call(f'{ask}_given', row)}.\n" for row in given.rows) or f":- dynamic({ask}_given/1).\n"
    )
    first = f"{ask}_given({','.join(variables[i] for i in given.columns)})"
    return f"{facts}{ask} :- forall(({first}, {goal}), hornbeam_write({goal})).\n"


def _run(program: str, path: Path, seconds: float, refusal: DataError) -> str:
    command = [program, "-q", "-f", str(path), "-g", "hornbeam_all", "-t", "halt"]
    environment = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=seconds, env=environment, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise DataError(
            f"{refusal}; swipl did not work it out within {seconds:g} seconds: simplify the rules, or give "
            "more prolog_seconds"
        ) from None
    messages = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    if done.returncode or messages:
        raise DataError(f"{refusal}; swipl says: {' '.join(messages)[:200] or 'it failed'}")
    return done.stdout.decode("utf-8")


def _rows(written: str, wanted: Collection[Name]) -> dict[Name, list[Row]]:
    rows: dict[Name, dict[Row, None]] = {name: {} for name in wanted}
    for clause in read_clauses(PrologText("what swipl wrote", written)):
        term = clause.term
        name = term.name if isinstance(term, Atom | Compound) else show(term)
        values = clause.values if isinstance(clause, Fact) else values_of(getattr(term, "args", ())) or ()
        rows[name, len(values)][values] = None
    return {name: list(found) for name, found in rows.items()}
