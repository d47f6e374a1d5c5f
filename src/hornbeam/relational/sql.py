"""The tree as SQL: a query that gives for every example what predict gives.

A test is an EXISTS over the tables of its literals. Only the part of a path's query that is linked to the
test is asked again, which is enough for the examples that come so far.
"""

from __future__ import annotations

from typing import Any, Final

from hornbeam.arguments import text_or_none
from hornbeam.errors import UsageError
from hornbeam.model.dialects import Dialect, dialect_named
from hornbeam.model.sql import CaseWriter, Writer
from hornbeam.relational.logic import (
    ABOVE,
    EQUALS,
    KEY,
    Constant,
    Literal,
    Query,
    Term,
    Variable,
    connected,
    plain_value,
)
from hornbeam.relational.signature import Counted, Predicate, Signature, routed
from hornbeam.relational.tree import RelationalTree
from hornbeam.table import Attribute

OUTPUTS: Final = ("prediction", "probability", "leaf")
_EXAMPLE: Final = "hornbeam_example"


def to_sql(tree: RelationalTree, dialect: str, output: str, of: Any, table: str | None) -> str:
    """See RelationalTree.to_sql."""
    speaker = dialect_named(dialect)
    signature = tree.signature
    if signature is None:
        raise UsageError("the tree does not know its tables: give it a signature, tree.with_signature(...)")
    name, write = answer(tree, speaker, output, of)
    key = f"{_EXAMPLE}.{speaker.identifier(signature.key_field)}"
    case = _FirstOrderCase(tree, speaker, signature, write).text(2)
    examples = speaker.identifier(text_or_none("table", table) or signature.examples)
    return f"SELECT {key},\n  {case} AS {speaker.identifier(name)}\nFROM {examples} AS {_EXAMPLE}"


def answer(tree: RelationalTree, dialect: Dialect, output: str, of: Any) -> tuple[str, Writer]:
    """The name of an answer's column, and the literal of each leaf."""
    if not isinstance(output, str) or output not in OUTPUTS:
        raise UsageError(f"output {str(output)!r} is unknown; choose {', '.join(OUTPUTS)}")
    if output != "probability" and of is not None:
        raise UsageError(f"of={of!r} is for output='probability'; leave it out")
    if output == "leaf":
        return output, str
    if tree.task == "regression":
        if output == "probability":
            raise UsageError("output 'probability': the tree predicts numbers and has no classes")
        return output, lambda leaf: dialect.real(float(tree.answer(leaf)) + 0.0)
    if output == "prediction":
        return output, lambda leaf: dialect.label(plain_value(tree.answer(leaf)))
    labels = [plain_value(label) for label in tree.classes]
    places = [k for k, label in enumerate(labels) if type(label) is type(of) and label == of]
    if not places:
        raise UsageError(f"of={of!r}: no class; give one of {', '.join(map(repr, labels[:8]))}")
    return f"probability:{of}", lambda leaf: dialect.real(tree.shares(leaf)[places[0]])


class _FirstOrderCase(CaseWriter):
    """The CASE expression of a first-order tree."""

    inner = 4

    def __init__(self, tree: RelationalTree, dialect: Dialect, signature: Signature, write: Writer) -> None:
        super().__init__(dialect, [() if of.is_leaf else (of.yes, of.no) for of in tree.nodes], write)
        self.tree, self.signature = tree, signature

    def condition(self, node: int, child: int) -> str:
        """An EXISTS is never unknown, so its opposite is true for all others."""
        before, test = self.tree.queries[node], self.tree.nodes[node].test
        exists = ExistsQuery(self.dialect, self.signature, connected(before, test) + test).text()
        return f"NOT {exists}" if child else exists


class ExistsQuery:
    """The tables and conditions of one EXISTS."""

    def __init__(self, dialect: Dialect, signature: Signature, query: Query) -> None:
        self.dialect, self.signature = dialect, signature
        self.tables: list[str] = []
        self.conditions: list[str] = []
        self.places: dict[Variable, tuple[str, str]] = {
            KEY: (f"{_EXAMPLE}.{self.dialect.identifier(self.signature.key_field)}", self.signature.key_type)
        }
        for literal in routed(query, self.signature):
            if literal.compares:
                self._compare(literal)
            else:
                self._join(literal)

    def text(self) -> str:
        """True for the examples that have a solution."""
        tables = f" FROM {', '.join(self.tables)}" if self.tables else ""
        asked = f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""
        return f"EXISTS (SELECT 1{tables}{asked})"

    def _join(self, literal: Literal) -> None:
        predicate = self.signature.predicate_of(literal)
        if predicate is None:
            raise UsageError(
                f"the tree asks {literal.predicate!r} with {len(literal.terms)} columns, which its signature "
                "does not have; give it the signature of its data"
            )
        alias = self._from(predicate)
        for i, term in enumerate(literal.terms):
            self._column(self._value(predicate, alias, i), predicate.types[i], term)

    def _from(self, predicate: Predicate) -> str:
        alias = f"t{len(self.tables) + 1}"
        table = f"{self.dialect.identifier(predicate.table or predicate.name)} AS {alias}"
        self.tables.append(table + self._tally(predicate, alias))
        self.conditions += self._seen(alias, predicate.time)
        return alias

    def _counts_by_example(self, counted: Counted) -> bool:
        """Whether the rows that count differ from example to example."""
        return counted.time is not None and self.signature.time_field is not None

    def _tally(self, predicate: Predicate, alias: str) -> str:
        """How many rows refer to each, joined: inside nested questions a count of its own for every row takes
        databases more memory than they have."""
        counted = predicate.counts
        if counted is None or self._counts_by_example(counted):
            return ""
        table, field = map(self.dialect.identifier, (counted.table, counted.field))
        key = self.dialect.identifier(predicate.field_of(0))
        many = f"SELECT {field} AS k, COUNT(*) AS n FROM {table} GROUP BY {field}"
        return f" LEFT JOIN ({many}) AS {alias}c ON {alias}c.k = {alias}.{key}"

    def _seen(self, alias: str, time: str | None) -> list[str]:
        """Rows at or after the time of the example are not seen."""
        if time is None:
            return []
        if self.signature.time_field is None:
            raise UsageError(
                "rows were left out by one moment for all examples, which no table holds; make it a column "
                "of the examples and name that as example_time to write SQL"
            )
        moment = f"{_EXAMPLE}.{self.dialect.identifier(self.signature.time_field)}"
        return [f"{alias}.{self.dialect.identifier(time)} < {moment}"]

    def _value(self, predicate: Predicate, alias: str, column: int) -> str:
        """A column of a row, or the number of rows that refer to it."""
        counted = predicate.counts
        if counted is None or column == 0:
            return f"{alias}.{self.dialect.identifier(predicate.field_of(column))}"
        inner = f"{alias}c"
        if not self._counts_by_example(counted):
            return f"COALESCE({inner}.n, 0)"
        key = f"{alias}.{self.dialect.identifier(predicate.field_of(0))}"
        refers = f"{inner}.{self.dialect.identifier(counted.field)} = {key}"
        asked = " AND ".join([refers, *self._seen(inner, counted.time)])
        return f"(SELECT COUNT(*) FROM {self.dialect.identifier(counted.table)} AS {inner} WHERE {asked})"

    def _column(self, column: str, kind: str, term: Term) -> None:
        if isinstance(term, Constant):
            self.conditions.append(self._asked(column, kind, EQUALS, term))
        elif isinstance(term, Variable) and term in self.places:
            self.conditions.append(f"{column} = {self.places[term][0]}")
            self._exclude_nan(column, kind)
        elif isinstance(term, Variable):
            self.places[term] = column, kind

    def _asked(self, column: str, kind: str, sign: str, constant: Constant) -> str:
        """A comparison with a constant, as the database keeps values of its type."""
        value, storage = plain_value(constant.value), self.signature.storages.get(kind, "")
        if storage == "boolean":
            attribute = Attribute(kind, "nominal", "nominal", ("false", "true"))
            literals = self.dialect.category(attribute, str(value))
            return f"{self.dialect.subject(attribute, column)} IN ({', '.join(literals)})"
        if storage:
            if not isinstance(value, int):
                raise UsageError(f"the tree compares {storage} with {value!r}, which is no code of one")
            attribute = Attribute(kind, "numeric", storage)
            left, right = self.dialect.bound(attribute, value, column)
            return f"{left} {sign} {right}"
        return f"{column} {sign} {self.dialect.label(value)}"

    def _compare(self, literal: Literal) -> None:
        left, right = literal.terms
        column, kind = self._place(left)
        if isinstance(right, Constant):
            self.conditions.append(self._asked(column, kind, literal.predicate, right))
        else:
            self.conditions.append(f"{column} {literal.predicate} {self._place(right)[0]}")
        if literal.predicate == ABOVE or (literal.predicate == EQUALS and not isinstance(right, Constant)):
            self._exclude_nan(column, kind)

    def _place(self, term: Term) -> tuple[str, str]:
        if not isinstance(term, Variable) or term not in self.places:
            raise UsageError(
                "the tree compares a variable that nothing on its path binds; it is no tree of ours"
            )
        return self.places[term]

    def _exclude_nan(self, column: str, kind: str) -> None:
        """Leave out rows with a NaN: databases take it for a number above all others, a tree for a missing
        value."""
        nan = self.dialect.is_nan(column) if kind in self.signature.floats else None
        if nan is not None:
            self.conditions.append(f"NOT {nan}")
