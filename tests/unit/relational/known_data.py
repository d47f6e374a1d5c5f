"""The databases whose trees are known, with their biases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hornbeam.relational.bias import Bias
from hornbeam.relational.database import Coded
from tests.real_data import ABSENT, find_folder
from tests.unit.relational.databases import bias_of, coded_of, facts, lookahead, mode

ELEMENTS = ("br", "c", "cl", "f", "h", "i", "n", "o", "s")
# fmt: off
TYPES = (
    1, 3, 8, 10, 14, 16, 19, 21, 22, 25, 26, 27, 28, 29, 31, 32, 34, 35, 36, 38, 40, 41, 42, 45, 49, 50, 51,
    52, 72, 92, 93, 94, 95, 194, 195, 230, 232,
)
# fmt: on
PICTURES = {
    1: "tri a up, circ b, in a b",
    2: "tri a up, circ b",
    3: "tri a up, sq b, in a b, circ c",
    4: "circ a, tri b down, in a b",
    5: "tri a up, tri b down, circ c, sq d, in a d, in b c",
    6: "tri a down, tri b up, circ c, in a c",
}


def folder() -> Path:
    found = find_folder()
    if found is None or not (found / "relational").is_dir():
        pytest.skip(ABSENT)
    return found / "relational"


def machines() -> tuple[Coded, Bias]:
    given = facts(folder() / "machines" / "facts.pl.gz")
    coded = coded_of(
        [key for key, _ in given["machine"]],
        {
            "worn": (("key", "comp"), given["worn"]),
            "replaceable": (("comp",), given["replaceable"]),
            "not_replaceable": (("comp",), given["not_replaceable"]),
        },
        target=[action for _, action in given["machine"]],
    )
    modes = [mode("replaceable(+X)"), mode("not_replaceable(+X)"), mode("worn(+K,+-X)")]
    return coded, bias_of(coded, modes)


def pictures() -> tuple[Coded, Bias]:
    tables: dict[str, list[tuple[Any, ...]]] = {name: [] for name in ("tri", "sq", "circ", "in", "config")}
    for key, text in PICTURES.items():
        for fact in text.split(", "):
            name, *args = fact.split()
            if name == "tri":
                tables["config"].append((key, *args))
                args = args[:1]
            tables[name].append((key, *args))
    shape = ("key", "obj")
    coded = coded_of(
        list(PICTURES),
        {
            "tri": (shape, tables["tri"]),
            "sq": (shape, tables["sq"]),
            "circ": (shape, tables["circ"]),
            "in": (("key", "obj", "obj"), tables["in"]),
            "config": (("key", "obj", "conf"), tables["config"]),
        },
        target=["pos" if key in (1, 5, 6) else "neg" for key in PICTURES],
    )
    modes = [mode("tri(+P,+-S)"), mode("circ(+P,+S)"), mode("in(+P,+S,+-T)")]
    return coded, bias_of(coded, modes, [lookahead("tri(P,S)", "in(P,S,-T)")])


def trains() -> tuple[Coded, list[Any]]:
    given = facts(folder() / "trains10" / "facts.pl.gz")
    unary = ("short", "closed", "long", "open_car", "double", "jagged")
    tables: dict[str, Any] = {name: (("car",), given[name]) for name in unary}
    tables["has_car"] = (("key", "car"), given["has_car"])
    tables["shape"] = (("car", "shape"), given["shape"])
    tables["load"] = (("car", "load", "number"), [(c, s, int(n)) for c, s, n in given["load"]])
    tables["wheels"] = (("car", "wheels"), [(c, int(n)) for c, n in given["wheels"]])
    keys = [key for key, _ in given["direction"]]
    return coded_of(keys, tables, target=[way for _, way in given["direction"]]), list(unary)


def bongard() -> tuple[Coded, Bias]:
    given = facts(folder() / "bongard" / "facts.pl.gz")
    shape = ("key", "obj")
    coded = coded_of(
        [key for key, _ in given["bongard"]],
        {
            "triangle": (shape, given["triangle"]),
            "square": (shape, given["square"]),
            "circle": (shape, given["circle"]),
            "in": (("key", "obj", "obj"), given["in"]),
            "config": (("key", "obj", "conf"), given["config"]),
        },
        target=[way for _, way in given["bongard"]],
    )
    modes = [mode(f"{one}(+P,+-S)", 5) for one in ("triangle", "square", "circle")]
    modes += [mode("in(+P,+S1,+-S2)", 5), mode("config(+P,+S,#C)", 5, C=("up", "down"))]
    return coded, bias_of(coded, modes)


def mutagenesis() -> tuple[Coded, Bias]:
    given = facts(folder() / "mutagenesis" / "facts.pl.gz")
    atoms = [(m, a, e, int(t), float(c)) for m, a, e, t, c in given["atm"]]
    bonds = [(m, x, y, int(b)) for m, a, c, b in given["bond"] for x, y in ((a, c), (c, a))]
    coded = coded_of(
        [key for key, _ in given["class"]],
        {
            "atom": (("key", "id", "element", "type", "charge"), atoms),
            "sbond": (("key", "id", "id", "bondtype"), bonds),
        },
        target=[way for _, way in given["class"]],
        classes=("active", "inactive"),
        ties_to_last=True,
    )
    modes = [
        mode("atom(+M,-A,-E,#T,-Ch)", T=TYPES),
        mode("atom(+M,-A,#E,-T,-Ch)", E=ELEMENTS),
        mode("atom(+M,-A,+-E,-T,-Ch)"),
        mode("sbond(+M,+A1,+-A2,-BT)"),
    ]
    lookaheads = [
        lookahead("sbond(M,A1,A2,BT)", "BT = #B", B=(1, 2, 3, 4, 5, 7)),
        lookahead("sbond(M,A1,A2,BT)", "atom(M,A2,#E,_,_)", E=ELEMENTS),
        lookahead("sbond(M,A1,A2,BT)", "atom(M,A2,_,#T,_)", T=TYPES),
        lookahead("sbond(M,A1,A2,BT)", "sbond(M,A2,+-A3,_)"),
    ]
    return coded, bias_of(coded, modes, lookaheads)
