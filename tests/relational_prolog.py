"""Queries of the oracle's databases as a Prolog program, and what SWI-Prolog says to them."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.facts import COMPARISONS, Const, Database, Literal, Query, Term, Value, Var

ABSENT = "no swipl on the path: install SWI-Prolog"


@dataclass(frozen=True)
class Answers:
    """For each query the examples for which it holds, and the CPU seconds of asking all, inside Prolog."""

    found: tuple[frozenset[int], ...]
    seconds: float


def find_swipl() -> str | None:
    return shutil.which("swipl")


def ask(database: Database, queries: Sequence[Query], examples: Sequence[int]) -> Answers:
    """Compiled clauses, one a query, asked twice; the second time counts. No fact may have missing values."""
    swipl = find_swipl()
    assert swipl is not None, ABSENT
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.pl"
        file.write_text("\n".join(program(database, queries, examples)), encoding="utf-8")
        done = subprocess.run(
            [swipl, "-q", "-O", "-g", "main", "-t", "halt", str(file)],
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
        )
    seconds, *lines = done.stdout.splitlines()
    return Answers(tuple(frozenset(json.loads(line)) for line in lines), float(seconds))


def program(database: Database, queries: Sequence[Query], examples: Sequence[int]) -> list[str]:
    lines = [":- style_check(-singleton).", ":- style_check(-discontiguous)."]
    for name, relation in database.relations.items():
        width = len(relation.types) + (relation.owner is not None)
        if not relation.rows:
            lines.append(f":- dynamic({predicate(name)}/{width}).")
        for number, row in enumerate(relation.rows):
            owner = [] if relation.owner is None else [str(relation.owner[number])]
            cells = [constant(value) for value in row if value is not None]
            assert len(cells) == len(row), "a missing value has no place in a Prolog fact"
            lines.append(f"{predicate(name)}({','.join(owner + cells)}).")
    lines += [f"key({e},{constant(key)})." for e, key in enumerate(database.keys)]
    lines += [f"at({e})." for e in examples]
    for number, query in enumerate(queries):
        body = ", ".join(["key(E,V0)", *(goal(database, literal) for literal in query)])
        lines.append(f"t({number},E) :- {body}, !.")
    last = len(queries) - 1
    lines += [
        "every(N) :- at(E), t(N,E), fail.",
        "every(_).",
        f"all :- between(0,{last},N), every(N), fail.",
        "all.",
        "main :- all, statistics(cputime,A), all, statistics(cputime,B), C is B-A, writeln(C),",
        f"  forall(between(0,{last},N), (findall(E,(at(E),t(N,E)),Es), print(Es), nl)).",
    ]
    return lines


def goal(database: Database, literal: Literal) -> str:
    terms = [term_of(term) for term in literal.terms]
    if literal.predicate in COMPARISONS:
        sign = {"=": "==", "<=": "=<", ">": ">"}[literal.predicate]
        return f"{terms[0]} {sign} {terms[1]}"
    if database.relations[literal.predicate].owner is not None:
        terms.insert(0, "E")
    return f"{predicate(literal.predicate)}({','.join(terms)})"


def predicate(name: str) -> str:
    """Names of their own, so that none is one of Prolog's."""
    return f"r_{name}"


def term_of(term: Term) -> str:
    if isinstance(term, Var):
        return f"V{term.number}"
    return constant(term.value) if isinstance(term, Const) else "_"


def constant(value: Value) -> str:
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return repr(float(value)) if isinstance(value, float) else str(value)
