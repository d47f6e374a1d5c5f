"""Random databases, biases and targets for the laws of first-order trees, straight from a seed and a size."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.oracle.facts import (
    ANYTHING,
    COMPARISONS,
    Const,
    Database,
    Domain,
    Literal,
    Query,
    Relation,
    Row,
    Term,
    Value,
    Var,
    holds,
)
from tests.oracle.first_order import Settings
from tests.oracle.refinement import Bias, Lookahead, Mode, Pattern, Place
from tests.oracle.table import Classes, Target, Targets

KEY_TYPE = "k"
POOLS: dict[str, tuple[str, tuple[Value, ...]]] = {
    "a": ("nominal", ("ant", "bee", "cat", "d\u00e9", "\U0001f40d")),
    "b": ("nominal", ("x", "y", "z")),
    "f": ("float", (-2.5, 0.0, 0.1, 0.25, 1.0, 3.5, 1e300)),
    "i": ("integer", (-3, -2, 0, 1, 4, 9)),
}
ABSENT_VALUES: dict[str, Value] = {"a": "nobody", "b": "w", "f": 0.7, "i": 2}
NAMES = ("X", "Y", "Z")


@dataclass(frozen=True)
class Case:
    """A problem, and how often each example is in some training sets over it."""

    database: Database
    bias: Bias
    target: Target
    settings: Settings
    sets: tuple[tuple[int, ...], ...]
    folds: tuple[int, ...]


def random_database(source: random.Random, size: int) -> Database:
    n = source.randrange(2, 5) if source.random() < 0.1 else source.randrange(4 + size, 5 + 3 * size)
    keys = tuple(f"e{e}" for e in source.sample(range(100), n))
    pools = {t: (k, tuple(source.sample(v, source.randrange(1, len(v) + 1)))) for t, (k, v) in POOLS.items()}
    pools[KEY_TYPE] = ("nominal", keys)
    domains = {t: Domain(kind, tuple(Domain(kind, ()).ascending(set(v)))) for t, (kind, v) in pools.items()}
    names = ("p", "q", "r", "s")[: source.choice([1, 2, 3, 3, 4])]
    relations = {name: random_relation(source, size, keys, domains) for name in names}
    return Database(keys, domains, relations)


def random_relation(
    source: random.Random, size: int, keys: tuple[str, ...], domains: dict[str, Domain]
) -> Relation:
    """With the key of its owner in a column, with owners alone, or shared by all; perhaps empty."""
    whose = source.choice(["keyed", "keyed", "keyed", "owned", "shared"])
    width = source.choice([0, 1, 1, 2, 2, 3]) if whose == "keyed" else source.choice([1, 2, 2, 3])
    types = [source.choice(["a", "a", "a", "a", "b", "f", "f", "i", KEY_TYPE]) for _ in range(width)]
    each = source.choice([0.1, 1, 1, 2, 2, 3, 3, size / 2])  # rows of an example
    count = 0 if source.random() < 0.05 else round(each * len(keys))
    missing = source.choice([0.0, 0.0, 0.1, 0.4])
    owners = [source.randrange(len(keys)) for _ in range(count)]
    rows: list[Row] = [
        tuple(None if source.random() < missing else source.choice(domains[t].values) for t in types)
        for _ in range(count)
    ]
    if whose == "shared":
        return Relation(tuple(types), tuple(rows))
    if whose == "owned":
        return Relation(tuple(types), tuple(rows), tuple(owners))
    at = source.randrange(width + 1)
    keyed = tuple((*row[:at], keys[e], *row[at:]) for row, e in zip(rows, owners, strict=True))
    return Relation((*types[:at], KEY_TYPE, *types[at:]), keyed, tuple(owners), at)


def some_constants(source: random.Random, kind: str, domain: Domain) -> tuple[Value, ...] | None:
    """Those of a `#`: none listed, or a list with some that no row has and some that come twice."""
    if source.random() < 0.5:
        return None
    listed = [source.choice(domain.values) for _ in range(source.randrange(1, 4))]
    if kind in ABSENT_VALUES and source.random() < 0.3:
        listed.append(ABSENT_VALUES[kind])
    return tuple(listed)


def random_place(source: random.Random, kind: str, domain: Domain) -> Place:
    sign = source.choice(["+", "-", "-", "-", "+-", "+-", "+-", "#", "#", "#", "=", "_"])
    if sign == "#":
        return Place("#", None, some_constants(source, kind, domain))
    if sign == "=":
        return Place("=", None, (source.choice(domain.values),))
    return Place(sign, source.choice([None, *NAMES]) if sign != "_" else None)


def random_pattern(source: random.Random, database: Database) -> Pattern:
    name = source.choice(list(database.relations))
    relation = database.relations[name]
    places = [
        Place("+", source.choice([None, "K"]))
        if at == relation.key
        else random_place(source, kind, database.domains[kind])
        for at, kind in enumerate(relation.types)
    ]
    return Pattern(name, tuple(places))


def introducing(database: Database, name: str) -> Pattern:
    """A literal with nothing but fresh variables beside the key."""
    relation = database.relations[name]
    places = [Place("+" if at == relation.key else "-", None) for at in range(len(relation.types))]
    return Pattern(name, tuple(places))


def random_comparison(source: random.Random, database: Database, names: Sequence[str] = NAMES) -> Pattern:
    predicate = source.choice(["<=", ">", "<=", ">", "="])
    first = Place("+", source.choice([None, *names, *names]))
    if source.random() < 0.2:
        return Pattern(predicate, (first, Place("+", source.choice([None, *NAMES]))))
    kind = source.choice(["f", "i"] if predicate != "=" else ["a", "b", "f", "i"])
    if source.random() < 0.7:
        return Pattern(predicate, (first, Place("#")))
    listed = tuple(source.choice(database.domains[kind].values) for _ in range(2))
    return Pattern(predicate, (first, Place("#", None, listed)))


def random_patterns(source: random.Random, database: Database) -> tuple[Pattern, ...]:
    first = random_pattern(source, database)
    chance = source.random()
    if chance < 0.55:
        return (first,)
    if chance > 0.85:
        return (first, random_pattern(source, database))
    named = [place.name for place in first.places if place.name and place.name != "K"]
    return (first, random_comparison(source, database, named or NAMES))


def as_after(source: random.Random, pattern: Pattern) -> Pattern:
    """What a lookahead asks of the literal before it: names, constants, nothing."""
    places = [
        source.choice([Place("+", source.choice(NAMES)), Place("+", source.choice(NAMES)), Place("_"), place])
        if place.sign in ("=", "+")
        else source.choice([Place("+", source.choice(NAMES)), Place("_")])
        for place in pattern.places
    ]
    return Pattern(pattern.predicate, tuple(places))


def random_bias(source: random.Random, database: Database) -> Bias:
    modes = [Mode((introducing(database, name),)) for name in database.relations if source.random() < 0.5]
    for _ in range(source.randrange(2, 7)):
        alone = source.random() < 0.15
        patterns = (random_comparison(source, database),) if alone else random_patterns(source, database)
        modes.append(Mode(patterns, source.choice([None, None, None, 1, 2])))
    used = [mode.patterns[-1] for mode in modes if mode.patterns[-1].predicate not in COMPARISONS]
    lookaheads = []
    for _ in range(source.choice([0, 0, 1, 2]) if used else 0):
        then = source.choice([random_pattern, random_pattern, random_comparison])(source, database)
        lookaheads.append(Lookahead(as_after(source, source.choice(used)), (then,)))
    types = {name: relation.types for name, relation in database.relations.items()}
    return Bias(KEY_TYPE, types, tuple(modes), tuple(lookaheads), source.choice([0, 1, 1, 2]))


def one_threshold_at_most(bias: Bias) -> bool:
    """A mode with two open thresholds is refused, so it is no case."""
    for mode in bias.modes:
        open_places = [p for p in mode.patterns if p.predicate in ("<=", ">") and p.places[1] == Place("#")]
        if len(open_places) > 1:
            return False
    return True


def random_query(source: random.Random, database: Database, length: int) -> Query:
    """Literals with shared, repeated and single variables, constants, `_`; comparisons of what is bound."""
    literals: list[Literal] = []
    bound: dict[int, str] = {}
    for _ in range(length):
        numeric = [v for v, t in bound.items() if database.domains[t].is_numeric]
        if bound and source.random() < 0.25:
            literals.append(random_compared(source, database, bound, numeric))
            continue
        name = source.choice(list(database.relations))
        relation = database.relations[name]
        terms: list[Term] = []
        for at, kind in enumerate(relation.types):
            terms.append(Var(0) if at == relation.key else random_term(source, database, kind, bound))
        literals.append(Literal(name, tuple(terms)))
    return tuple(literals)


def random_term(source: random.Random, database: Database, kind: str, bound: dict[int, str]) -> Term:
    chance = source.random()
    old = [v for v, t in bound.items() if t == kind] + ([0] if kind == KEY_TYPE else [])
    if chance < 0.4 and old:
        return Var(source.choice(old))
    if chance < 0.55:
        return Const(source.choice(database.domains[kind].values))
    if chance < 0.65:
        return ANYTHING
    fresh = len(bound) + 1
    bound[fresh] = kind
    return Var(fresh)


def random_compared(
    source: random.Random, database: Database, bound: dict[int, str], numeric: Sequence[int]
) -> Literal:
    if numeric and source.random() < 0.7:
        variable = source.choice(list(numeric))
        cut = source.choice([0.05, *(database.domains[bound[variable]].values)])
        return Literal(source.choice(["<=", ">"]), (Var(variable), Const(cut)))
    variable = source.choice(list(bound))
    like = [v for v, t in bound.items() if t == bound[variable]]
    values = database.domains[bound[variable]].values
    others: list[Term] = [Var(source.choice(like)), Const(source.choice(values))]
    return Literal("=", (Var(variable), source.choice(others)))


def random_target(source: random.Random, database: Database) -> Target:
    """What a hidden query says, with errors, so that trees have several levels."""
    for _ in range(20):
        query = random_query(source, database, source.randrange(1, 4))
        truths = [holds(database, query, e) for e in range(len(database.keys))]
        if len(truths) / 5 < sum(truths) < len(truths) * 4 / 5:
            break
    wrong = source.choice([0.0, 0.1, 0.4])
    labels = [truth ^ (source.random() < wrong) for truth in truths]
    if source.random() < 0.3:
        size = source.choice([0.0, 1.0, 1e-3, 1e6])
        return Targets(tuple((size * source.randrange(-3, 4) + (2.0 if yes else 0.0),) for yes in labels))
    third = source.choice([0.0, 0.0, 0.3])
    words = ["v" if source.random() < third else "u" if yes else "t" for yes in labels]
    return Classes(tuple(words))


def random_settings(source: random.Random, target: Target) -> Settings:
    criterion = "variance" if isinstance(target, Targets) else source.choice(["gain", "gain_ratio"])
    return Settings(
        criterion,
        source.choice([1, 1, 1, 2, 3]),
        source.choice([None, None, None, None, 0, 1, 2, 4]),
        source.choice([None, 0.05, 0.5]),
        accuracy=source.choice([1.0, 1.0, 1.0, 0.9, 0.7]),
    )


def random_case(seed: int, size: int) -> Case:
    source = random.Random(seed)
    database = random_database(source, size)
    bias = random_bias(source, database)
    while not one_threshold_at_most(bias):
        bias = random_bias(source, database)
    target = random_target(source, database)
    n = len(database.keys)
    folds = tuple(source.randrange(source.choice([2, 3, 5])) for _ in range(n))
    bags = [tuple(source.choice([0, 0, 1, 1, 2, 3]) for _ in range(n)) for _ in range(3)]
    sets = tuple(bag for bag in bags if any(bag)) or ((1,) * n,)
    return Case(database, bias, target, random_settings(source, target), sets, folds)


def cases(size: int = 8) -> st.SearchStrategy[Case]:
    return st.builds(random_case, st.integers(0, 2**32), st.integers(1, size))
