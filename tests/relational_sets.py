"""Published relational problems as the oracle reads them, with the biases they were published with."""

from __future__ import annotations

import csv
import functools
import gzip
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tests.oracle.facts import Database, Domain, Relation, Row, Value
from tests.oracle.refinement import Bias, Lookahead, Mode, Pattern, Place
from tests.oracle.table import Classes
from tests.real_data import ABSENT, find_folder


@dataclass(frozen=True)
class Problem:
    """Examples with their facts, what a test may be made of, and their classes."""

    database: Database
    bias: Bias
    classes: Classes


def pattern(text: str, **constants: tuple[Value, ...]) -> Pattern:
    """A literal with modes in ACE's notation; `#name` takes its constants from the keywords."""
    predicate, arguments = text.rstrip(")").split("(")
    return Pattern(predicate, tuple(place(word.strip(), constants) for word in arguments.split(",")))


def place(word: str, constants: Mapping[str, tuple[Value, ...]]) -> Place:
    if word == "_":
        return Place("_")
    if word.startswith("#"):
        return Place("#", None, constants.get(word[1:]))
    sign = next((s for s in ("+-", "+", "-") if word.startswith(s)), "")
    return Place(sign or "+", word[len(sign) :])


def modes(
    *texts: str, most: int | None = None, constants: Mapping[str, tuple[Value, ...]] | None = None
) -> tuple[Mode, ...]:
    return tuple(Mode((pattern(text, **(constants or {})),), most) for text in texts)


def keyed(types: tuple[str, ...], rows: Iterable[Row], keys: tuple[Value, ...]) -> Relation:
    """Facts whose first column is the key of their example."""
    place_of = {key: e for e, key in enumerate(keys)}
    kept = tuple(rows)
    return Relation(types, kept, tuple(place_of[row[0]] for row in kept if row[0] is not None), 0)


def database(keys: Iterable[Value], relations: Mapping[str, Relation], kinds: Mapping[str, str]) -> Database:
    """With the domains that the columns have; types are nominal unless `kinds` says otherwise."""
    found: dict[str, set[Value]] = {}
    for relation in relations.values():
        for row in relation.rows:
            for kind, value in zip(relation.types, row, strict=True):
                found.setdefault(kind, set()).update(() if value is None else (value,))
    bare = {kind: Domain(kinds.get(kind, "nominal"), ()) for r in relations.values() for kind in r.types}
    domains = {k: Domain(d.kind, tuple(d.ascending(found.get(k, set())))) for k, d in bare.items()}
    return Database(tuple(keys), domains, relations)


def read(name: str) -> list[dict[str, str]]:
    """A table of the relational sets; the caller makes sure that there is a folder."""
    folder = find_folder()
    if folder is None:
        raise FileNotFoundError(ABSENT)
    with gzip.open(folder / "relational" / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@functools.cache
def machines() -> Problem:
    """Worn parts of 15 machines."""
    examples, parts = read("machines/machine"), read("machines/component")
    keys = tuple(row["machine_id"] for row in examples)
    worn = [(row["machine_id"], row["component"]) for row in read("machines/worn")]
    types = {"replaceable": ("comp",), "not_replaceable": ("comp",), "worn": ("machine", "comp")}
    relations = {
        "replaceable": Relation(
            ("comp",), tuple((r["component"],) for r in parts if r["replaceable"] == "yes")
        ),
        "not_replaceable": Relation(
            ("comp",), tuple((r["component"],) for r in parts if r["replaceable"] == "no")
        ),
        "worn": keyed(types["worn"], worn, keys),
    }
    offered = modes("replaceable(+X)", "not_replaceable(+X)", "worn(+K,+-X)")
    bias = Bias("machine", types, offered)
    return Problem(database(keys, relations, {}), bias, Classes(tuple(row["action"] for row in examples)))


SHAPES = ("triangle", "square", "circle")
PICTURE_TYPES = {
    **dict.fromkeys(SHAPES, ("pic", "obj")),
    "in": ("pic", "obj", "obj"),
    "config": ("pic", "obj", "conf"),
}
PICTURE_MODES = modes(
    *(f"{shape}(+P,+-S)" for shape in SHAPES),
    "in(+P,+S1,+-S2)",
    "config(+P,+S,#turns)",
    most=5,
    constants={"turns": ("up", "down")},
)


def pictures(
    keys: tuple[Value, ...], facts: Mapping[str, Iterable[Row]], classes: Iterable[Value]
) -> Problem:
    relations = {name: keyed(types, facts[name], keys) for name, types in PICTURE_TYPES.items()}
    bias = Bias("pic", PICTURE_TYPES, PICTURE_MODES)
    return Problem(database(keys, relations, {}), bias, Classes(tuple(classes)))


@functools.cache
def bongard_392() -> Problem:
    """The pictures that come with ACE."""
    examples, objects = read("bongard/picture"), read("bongard/object")
    facts: dict[str, list[Row]] = {
        shape: [(r["picture_id"], r["object_id"]) for r in objects if r["shape"] == shape] for shape in SHAPES
    }
    facts["config"] = [
        (r["picture_id"], r["object_id"], r["orientation"]) for r in objects if r["orientation"]
    ]
    facts["in"] = [tuple(row.values()) for row in read("bongard/inside")]
    keys = tuple(row["picture_id"] for row in examples)
    return pictures(keys, facts, (row["class"] for row in examples))


def six_pictures() -> Problem:
    """Small enough to see; the classes are pos for 1, 5 and 6."""
    facts: dict[str, list[Row]] = {
        "triangle": [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "a"), (5, "b"), (6, "a"), (6, "b")],
        "square": [(3, "b"), (5, "d")],
        "circle": [(1, "b"), (2, "b"), (3, "c"), (4, "a"), (5, "c"), (6, "c")],
        "in": [(1, "a", "b"), (3, "a", "b"), (4, "a", "b"), (5, "a", "d"), (5, "b", "c"), (6, "a", "c")],
        "config": [
            *((picture, "a", "up") for picture in (1, 2, 3, 5)),
            (4, "b", "down"),
            (5, "b", "down"),
            (6, "a", "down"),
            (6, "b", "up"),
        ],
    }
    return pictures((1, 2, 3, 4, 5, 6), facts, ("pos", "neg", "neg", "neg", "pos", "pos"))


UNARY = ("short", "closed", "long", "open", "double", "jagged")  # in the order of the published file
ATTRIBUTES = ("shape", "load", "wheels")


@functools.cache
def trains_10() -> Problem:
    """Michalski's trains: a car is reached by has_car, and each of its properties may be seen ahead."""
    examples, cars = read("trains10/train"), read("trains10/car")
    keys = tuple(row["train_id"] for row in examples)
    has: dict[str, Callable[[dict[str, str]], bool]] = {
        "short": lambda car: car["length"] == "short",
        "long": lambda car: car["length"] == "long",
        "open": lambda car: car["top"] == "open",
        "closed": lambda car: car["top"] == "closed",
        "double": lambda car: car["double_sided"] == "yes",
        "jagged": lambda car: car["jagged_top"] == "yes",
    }
    types: dict[str, tuple[str, ...]] = {"has_car": ("train", "car"), **dict.fromkeys(UNARY, ("car",))}
    types |= {name: ("car", name) for name in ATTRIBUTES}
    relations = {"has_car": keyed(types["has_car"], ((c["train_id"], c["car_id"]) for c in cars), keys)}
    for name in UNARY:
        relations[name] = Relation(types[name], tuple((c["car_id"],) for c in cars if has[name](c)))
    columns = {"shape": "shape", "load": "load_shape", "wheels": "wheels"}
    for name, column in columns.items():
        relations[name] = Relation(types[name], tuple((c["car_id"], c[column]) for c in cars))
    properties = (*(f"{name}(+C)" for name in UNARY), *(f"{name}(+C,#)" for name in ATTRIBUTES))
    offered = modes("has_car(+T,-C)", *properties)
    afters = ("has_car(T,C)", *(f"{name}(C)" for name in UNARY), *(f"{name}(C,_)" for name in ATTRIBUTES))
    ahead = tuple(Lookahead(pattern(a), (pattern(p),)) for a in afters for p in properties)
    classes = Classes(tuple(row["direction"] for row in examples))
    return Problem(database(keys, relations, {}), Bias("train", types, offered, ahead), classes)


ELEMENTS: tuple[Value, ...] = ("br", "c", "cl", "f", "h", "i", "n", "o", "s")
ATOM_TYPES: tuple[Value, ...] = (
    *(1, 3, 8, 10, 14, 16, 19, 21, 22, 25, 26, 27, 28, 29, 31, 32, 34, 35, 36, 38, 40, 41, 42, 45, 49, 50),
    *(51, 52, 72, 92, 93, 94, 95, 194, 195, 230, 232),
)
BONDS: tuple[Value, ...] = (1, 2, 3, 4, 5, 7)


@functools.cache
def mutagenesis_230() -> Problem:
    """Atoms and bonds; the classes are named as in the files of ACE, neg and pos."""
    examples = read("mutagenesis/molecule")
    keys = tuple(row["molecule_id"] for row in examples)
    types = {"atom": ("mol", "id", "element", "type", "charge"), "sbond": ("mol", "id", "id", "bondtype")}
    atoms = [
        (r["molecule_id"], r["atom_id"], r["element"], int(r["atom_type"]), float(r["charge"]))
        for r in read("mutagenesis/atom")
    ]
    bonds = [
        (r["molecule_id"], r["atom1_id"], r["atom2_id"], int(r["bond_type"]))
        for r in read("mutagenesis/bond")
    ]
    both = bonds + [(key, b, a, kind) for key, a, b, kind in bonds]
    relations = {"atom": keyed(types["atom"], atoms, keys), "sbond": keyed(types["sbond"], both, keys)}
    constants = {"elements": ELEMENTS, "types": ATOM_TYPES, "bonds": BONDS}
    offered = modes(
        "atom(+M,-A,-E,#types,-Ch)",
        "atom(+M,-A,#elements,-T,-Ch)",
        "atom(+M,-A,+-E,-T,-Ch)",
        "sbond(+M,+A1,+-A2,-BT)",
        constants=constants,
    )
    bond = pattern("sbond(M,A1,A2,BT)")
    seen = ("=(BT,#bonds)", "atom(M,A2,#elements,_,_)", "atom(M,A2,_,#types,_)", "sbond(M,A2,+-A3,_)")
    ahead = tuple(Lookahead(bond, (pattern(text, **constants),)) for text in seen)
    kinds = {"type": "integer", "charge": "float", "bondtype": "integer"}
    classes = Classes(tuple("pos" if row["class"] == "active" else "neg" for row in examples))
    return Problem(database(keys, relations, kinds), Bias("mol", types, offered, ahead), classes)
