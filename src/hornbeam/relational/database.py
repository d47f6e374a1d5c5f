"""What queries are asked of: domains of values, relations of codes, and the examples with their target.

`coding` makes a `Coded` database, and the native engine answers queries from it. Orders of customers, who are
the examples, are for instance

    Relation("orders", ("id", "customer"), ("orders", "customers"), (ids, customers), owner=customers, key=1)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, TypeAlias, TypeVar
from typing import Literal as OneOf

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import DataError, UsageError
from hornbeam.relational.logic import KEY, Constant, Literal, Query, Term, Value, Variable, plain_value
from hornbeam.relational.tree import RelationalTree

Codes: TypeAlias = npt.NDArray[np.int32]
Rows: TypeAlias = npt.NDArray[np.int64]
Column = TypeVar("Column")
Numbers: TypeAlias = Sequence[int] | npt.NDArray[Any]
NativeTerm: TypeAlias = tuple[int, int]
NativeLiteral: TypeAlias = tuple[int, list[NativeTerm]]

MISSING: Final = -1
"""The code of NULL. It satisfies a literal only where nothing is asked of it: it equals no constant and no
variable, another NULL included, and lies on no side of a threshold."""
NOWHERE: Final = -2
"""The code of a constant that its domain does not hold: no cell has it."""
PREDICATES: Final[Mapping[str, int]] = {"=": -1, "<=": -2, ">": -3}
VARIABLE, CONSTANT, ANYTHING = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of one type. A code is a place among them: numbers ascend, labels by their UTF-8 bytes.

    Columns of one type are coded alike, so joins compare codes, and so do thresholds of a numeric type.
    `storage` is empty where the values are themselves: text, int64, float64. "boolean" says that the labels
    false and true were truth values; "date", "timestamp:us" and so on (`hornbeam.table.storage`) that the
    values are the int64 codes of dates or times.
    """

    name: str
    kind: OneOf["nominal", "numeric"]
    values: npt.NDArray[Any]
    storage: str = ""

    def native(self) -> tuple[int, npt.NDArray[Any] | None]:
        """The domain as the engine takes it: how many values, and numbers themselves."""
        if self.kind != "numeric":
            return len(self.values), None
        kind = np.int64 if self.values.dtype.kind in "iu" else np.float64
        return len(self.values), np.ascontiguousarray(self.values, dtype=kind)

    def places(self) -> dict[Any, int]:
        """The code of each value."""
        return {value: code for code, value in enumerate(self.values.tolist())}


@dataclass(frozen=True, eq=False)
class Relation(Generic[Column]):
    """A table: its columns as they were read, `Relation[Cells]`, or coded, `Relation[Codes]`.

    `owner` is the example of each row, or None where all examples share the rows. `key` is the column that
    holds the example's key itself, if there is one: there `owner` is what it says. A table that is reached
    through others (the items of an order of a customer) has owners and no key. `row_key` is the column that
    tells the table's rows apart, if there is one. `counts` names the table and
    the reference whose rows a derived relation counts. `rows` are those of the columns that examples see, and
    None where they see all.
    """

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    data: tuple[Column, ...]
    owner: Codes | None = None
    key: int | None = None
    row_key: int | None = None
    counts: tuple[str, str] | None = None
    rows: Rows | None = None

    @property
    def n_rows(self: Relation[Codes]) -> int:
        return len(self.data[0]) if self.data else 0


@dataclass(frozen=True, eq=False)
class Examples:
    """The examples in the order of the target table: their keys, and what is predicted of them, if known.

    For classes `target` holds a code of `classes` for each example (MISSING: unlabelled), for numbers the
    numbers themselves (nan: unlabelled). `ties_to_last` is the rule of data read from ACE files.
    """

    keys: npt.NDArray[Any]
    target_name: str | None = None
    task: OneOf["classification", "regression"] = "classification"
    classes: tuple[Any, ...] = ()
    target: npt.NDArray[Any] | None = None
    ties_to_last: bool = False

    @property
    def n(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, eq=False)
class Coded:
    """The examples, domains and relations of one database, which the engine knows by their places.

    `key_type` is the type of the examples' keys, that of the first keyed relation where it is not said.
    """

    examples: Examples
    domains: Mapping[str, Domain]
    relations: Mapping[str, Relation[Codes]]
    key_type: str | None = None

    @cached_property
    def core(self) -> _core.RelationalDatabase:
        """The database in the engine; it is made once."""
        domains = [domain.native() for domain in self.domains.values()]
        return _core.RelationalDatabase(
            self._keys(), domains, list(map(self._native, self.relations.values()))
        )

    @cached_property
    def relation_places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.relations)}

    @cached_property
    def domain_places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.domains)}

    @cached_property
    def _codes(self) -> dict[str, dict[Any, int]]:
        return {}

    def _keys(self) -> Codes:
        keyed = (of.types[of.key] for of in self.relations.values() if of.key is not None)
        key_type = next(keyed, None) if self.key_type is None else self.key_type
        if key_type is None or key_type not in self.domains:
            return np.full(self.examples.n, NOWHERE, dtype=np.int32)
        place = self.domains[key_type].places()  # not kept: there may be millions
        return np.array([place.get(plain_value(key), NOWHERE) for key in self.examples.keys], dtype=np.int32)

    def _native(self, relation: Relation[Codes]) -> tuple[Any, ...]:
        columns = [np.ascontiguousarray(column, dtype=np.int32) for column in relation.data]
        missing = next((kind for kind in relation.types if kind not in self.domains), None)
        if missing is not None:
            raise DataError(
                f"relation '{relation.name}' has a column of type '{missing}', which has no domain"
            )
        owner = None if relation.owner is None else np.ascontiguousarray(relation.owner, dtype=np.int32)
        domains = [self.domain_places[kind] for kind in relation.types]
        return columns, domains, owner, -1 if relation.key is None else relation.key

    @property
    def known_relations(self) -> str:
        """The names of the relations, for errors."""
        return ", ".join(sorted(self.relations)) or "none"

    def value(self, kind: str, code: int) -> Value:
        return plain_value(self.domains[kind].values[code])

    def code(self, kind: str, value: Any) -> int:
        """The code of a value, NOWHERE if the domain does not hold it."""
        if kind not in self._codes:
            self._codes[kind] = self.domains[kind].places()
        try:
            return self._codes[kind].get(value, NOWHERE)
        except TypeError:  # a value that cannot be looked up is in no domain
            return NOWHERE

    def cut(self, kind: str, threshold: Any) -> int:
        """The largest code whose value is not above the threshold; -1: there is none."""
        domain = self.domains[kind]
        if domain.kind != "numeric" or isinstance(threshold, str):
            raise UsageError(f"a threshold {threshold!r} for type '{kind}', which is {domain.kind}: give '='")
        if domain.values.dtype.kind in "iu" and math.isfinite(threshold):
            limits = np.iinfo(np.int64)
            threshold = np.int64(min(max(math.floor(threshold), limits.min), limits.max))
        return int(np.searchsorted(domain.values, threshold, side="right")) - 1

    def check_constants(self, query: Query) -> None:
        """Refuse constants of another kind than their columns hold: what was learned from numbers is not
        asked of text, nor the other way about."""
        for literal in query:
            kinds = self.relations[literal.predicate].types if literal.predicate in self.relations else ()
            for term, kind in zip(literal.terms, kinds, strict=False):
                if isinstance(term, Constant) and len(self.domains[kind].values):
                    holds_text = self.domains[kind].kind == "nominal"
                    if holds_text != isinstance(term.value, str):
                        raise DataError(
                            f"the tree asks '{literal.predicate}' for {term.value!r} of type '{kind}', which "
                            f"holds {'text' if holds_text else 'numbers'} here; give it as it was learned"
                        )

    def native_query(self, query: Query, types: dict[int, str]) -> list[NativeLiteral]:
        """The literals as the engine takes them. `types` are those of the variables bound so far; what the
        query binds is added."""
        return [
            (PREDICATES[literal.predicate], self._compared(literal, types))
            if literal.compares
            else (self._place(literal), self._terms(literal, types))
            for literal in query
        ]

    def _place(self, literal: Literal) -> int:
        if literal.predicate not in self.relations:
            raise DataError(
                f"no relation '{literal.predicate}' in the database; there are: {self.known_relations}"
            )
        return self.relation_places[literal.predicate]

    def _terms(self, literal: Literal, types: dict[int, str]) -> list[NativeTerm]:
        kinds = self.relations[literal.predicate].types
        if len(literal.terms) != len(kinds):
            raise UsageError(
                f"a literal of '{literal.predicate}' has {len(literal.terms)} terms; the relation has "
                f"{len(kinds)} columns"
            )
        for term, kind in zip(literal.terms, kinds, strict=True):
            if isinstance(term, Variable):
                types.setdefault(term.number, kind)
        return [self._term(term, kind) for term, kind in zip(literal.terms, kinds, strict=True)]

    def _term(self, term: Term, kind: str) -> NativeTerm:
        if isinstance(term, Variable):
            return VARIABLE, term.number
        return (CONSTANT, self.code(kind, term.value)) if isinstance(term, Constant) else (ANYTHING, 0)

    def _compared(self, literal: Literal, types: Mapping[int, str]) -> list[NativeTerm]:
        left, right = literal.terms
        for term in literal.terms:
            if isinstance(term, Variable) and term != KEY and term.number not in types:
                raise UsageError(
                    f"'{literal.predicate}' compares a variable that no relation before it binds; "
                    "put the comparison behind a literal that has it"
                )
        if not isinstance(left, Variable) or not isinstance(right, Variable | Constant):
            raise UsageError(f"'{literal.predicate}' compares a variable with a variable or a constant")
        if isinstance(right, Variable):
            return [(VARIABLE, left.number), (VARIABLE, right.number)]
        kind = types[left.number]
        code = self.code(kind, right.value) if literal.predicate == "=" else self.cut(kind, right.value)
        return [(VARIABLE, left.number), (CONSTANT, code)]

    def numbers_of(self, examples: Numbers | None) -> npt.NDArray[np.uint32]:
        """The examples asked for, by number; None: all."""
        if examples is None:
            return np.arange(self.examples.n, dtype=np.uint32)
        given = np.asarray(examples)
        if given.size and (given.min() < 0 or given.max() >= self.examples.n):
            raise self.no_example(int(given.max()))
        return given.astype(np.uint32)

    def no_example(self, number: int) -> UsageError:
        return UsageError(f"an example {number}; the database has examples 0 to {self.examples.n - 1}")


def solve(coded: Coded, query: Query, examples: Numbers | None = None) -> npt.NDArray[np.bool_]:
    """Whether the query has a solution among the facts of each example, in the order given; None: of all."""
    found = _core.solve_query(coded.core, coded.native_query(query, {}), coded.numbers_of(examples))
    return np.asarray(found).view(np.bool_)


def witness(coded: Coded, query: Query, example: int) -> tuple[int | None, ...] | None:
    """The rows of the first solution, one for each literal, None for comparisons; None: there is no solution.

    Rows are tried in the order of their tables, literals as written: the first is the same every time.
    """
    if not 0 <= example < coded.examples.n:
        raise coded.no_example(example)
    rows = _core.query_witness(coded.core, coded.native_query(query, {}), example)
    if query and not rows:
        return None
    return tuple(None if row < 0 else row for row in rows)


def route(coded: Coded, tree: RelationalTree, examples: Numbers | None = None) -> Codes:
    """The leaf of each example, as the number of its node. The database need not be the one that the tree was
    grown from: constants and thresholds are looked up in its own domains."""
    tests: list[list[NativeLiteral]] = [[] for _ in tree.nodes]
    types: list[dict[int, str]] = [{} for _ in tree.nodes]
    for i, node in enumerate(tree.nodes):
        if not node.is_leaf:
            types[node.yes], types[node.no] = dict(types[i]), types[i]
            coded.check_constants(node.test)
            tests[i] = coded.native_query(node.test, types[node.yes])
    yes, no = (np.array([getattr(n, way) for n in tree.nodes], dtype=np.int32) for way in ("yes", "no"))
    return np.asarray(_core.route_first_order(coded.core, tests, yes, no, coded.numbers_of(examples)))
