"""Small databases for tests: facts written out, coded by the plainest means."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.database import MISSING, Coded, Domain, Examples, Relation

Row = Sequence[Any]
SIGNS = {"+": Sign.OLD, "-": Sign.NEW, "+-": Sign.EITHER, "#": Sign.CONSTANT, "_": Sign.ANYTHING}


def coded_of(
    keys: Sequence[Any],
    tables: Mapping[str, tuple[Sequence[str], Iterable[Row]]],
    *,
    key_type: str = "key",
    owned: Mapping[str, Sequence[int]] | None = None,
    target: Sequence[Any] | None = None,
    task: str = "classification",
    classes: Sequence[Any] | None = None,
    values: Mapping[str, Sequence[Any]] | None = None,
    ties_to_last: bool = False,
) -> Coded:
    """Tables are (types, rows), None for a missing value. The first column is the key where it has the key's
    type; a table in `owned` has an owner for each row; others are shared."""
    rows = {name: [tuple(row) for row in given] for name, (_, given) in tables.items()}
    found: dict[str, set[Any]] = {key_type: set(keys)}
    for name, (types, _) in tables.items():
        for row in rows[name]:
            for kind, value in zip(types, row, strict=True):
                if value is not None:
                    found.setdefault(kind, set()).add(value)
        for kind in types:
            found.setdefault(kind, set())
    for kind, more in (values or {}).items():
        found.setdefault(kind, set()).update(more)
    domains = {kind: domain_of(kind, some) for kind, some in found.items()}
    place = {kind: {v: i for i, v in enumerate(d.values.tolist())} for kind, d in domains.items()}
    number = {key: i for i, key in enumerate(keys)}
    relations = {}
    for name, (types, _) in tables.items():
        codes = tuple(
            np.array([MISSING if r[c] is None else place[kind][r[c]] for r in rows[name]], dtype=np.int32)
            for c, kind in enumerate(types)
        )
        key = 0 if types and types[0] == key_type and name not in (owned or {}) else None
        owner = None
        if key is not None:
            owner = np.array([number[r[0]] for r in rows[name]], dtype=np.int32)
        elif owned and name in owned:
            owner = np.array(owned[name], dtype=np.int32)
        columns = tuple(f"c{i}" for i in range(len(types)))
        relations[name] = Relation(name, columns, tuple(types), codes, owner, key)
    return Coded(examples_of(keys, target, task, classes, ties_to_last), domains, relations, key_type)


def domain_of(kind: str, values: Iterable[Any]) -> Domain:
    some = list(values)
    if some and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in some):
        whole = all(isinstance(v, int) for v in some)
        return Domain(kind, "numeric", np.array(sorted(some), dtype=np.int64 if whole else np.float64))
    return Domain(kind, "nominal", np.array(sorted(some, key=lambda v: str(v).encode()), dtype=object))


def examples_of(
    keys: Sequence[Any],
    target: Sequence[Any] | None,
    task: str,
    classes: Sequence[Any] | None,
    ties_to_last: bool,
) -> Examples:
    if target is None:
        return Examples(np.array(keys, dtype=object))
    if task == "regression":
        return Examples(np.array(keys, dtype=object), "y", "regression", (), np.array(target, dtype=float))
    labels = tuple(classes or sorted(set(target)))
    codes = np.array([labels.index(t) for t in target], dtype=np.int32)
    return Examples(np.array(keys, dtype=object), "class", "classification", labels, codes, ties_to_last)


def pattern(text: str, constants: Mapping[str, Sequence[Any]] | None = None) -> Pattern:
    """`p(+A,-B,#T,_)`: signs and names; constants by name; a comparison is written `+A <= #`."""
    compared = re.fullmatch(r"(\S+) (=|<=|>) (\S+)", text)
    if compared:
        return Pattern(compared[2], (place(compared[1], constants), place(compared[3], constants)))
    name, _, inside = text.rstrip(")").partition("(")
    return Pattern(name, tuple(place(one, constants) for one in inside.split(",")))


def place(text: str, constants: Mapping[str, Sequence[Any]] | None = None) -> Placemarker:
    sign = next((s for s in ("+-", "+", "-", "#", "_") if text.startswith(s)), "+")
    name = text.removeprefix(sign) if text.startswith(sign) else text
    if sign == "#":
        given = (constants or {}).get(name)
        return Placemarker(Sign.CONSTANT, None, None if given is None else tuple(given))
    return Placemarker(SIGNS[sign], name or None)


def mode(text: str, most: int | None = None, **constants: Sequence[Any]) -> Mode:
    """Literals separated by `;`."""
    return Mode(tuple(pattern(one.strip(), constants) for one in text.split(";")), most)


def lookahead(after: str, then: str, **constants: Sequence[Any]) -> LookaheadDeclaration:
    return LookaheadDeclaration(
        pattern(after), tuple(pattern(one.strip(), constants) for one in then.split(";"))
    )


def bias_of(
    coded: Coded, modes: Sequence[Mode], lookaheads: Sequence[LookaheadDeclaration] = (), **more: Any
) -> Bias:
    types = {name: relation.types for name, relation in coded.relations.items()}
    return Bias(more.pop("key_type", "key"), types, tuple(modes), tuple(lookaheads), **more)


def facts(path: Path) -> dict[str, list[list[str]]]:
    """The ground facts of a file, by predicate."""
    found: dict[str, list[list[str]]] = {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        if match := re.fullmatch(r"(\w+)\((.*)\)\.", line.strip()):
            found.setdefault(match[1], []).append([one.strip() for one in match[2].split(",")])
    return found
