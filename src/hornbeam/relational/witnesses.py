"""Solutions of a query for one example, with the rows that they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hornbeam.relational.engine import witness
from hornbeam.relational.logic import Query, plain_value
from hornbeam.relational.records import MISSING, Coded
from hornbeam.table.storage import format_code, parse_type


@dataclass(frozen=True)
class Witness:
    """A row that a literal was satisfied by: the relation, and the value of each column (None: missing)."""

    relation: str
    row: int
    values: dict[str, Any]


class Facts:
    """What one example sees."""

    def __init__(self, coded: Coded, example: int, key_type: str | None) -> None:
        self.coded, self.example, self.key_type = coded, example, key_type

    def solve(self, query: Query) -> tuple[Witness, ...] | None:
        """The first solution in the order of the rows: a row for each literal that asks a relation."""
        if not query:
            return ()
        rows = witness(self.coded, query, self.example, key_type=self.key_type)
        if rows is None:
            return None
        pairs = zip(query, rows, strict=True)
        return tuple(self._witness(literal.predicate, row) for literal, row in pairs if row is not None)

    def _witness(self, name: str, row: int) -> Witness:
        relation = self.coded.relations[name]
        values = (
            self._value(kind, int(codes[row]))
            for kind, codes in zip(relation.types, relation.codes, strict=True)
        )
        return Witness(name, row, dict(zip(relation.columns, values, strict=True)))

    def _value(self, kind: str, code: int) -> Any:
        """A value as people know it: dates and times are written out."""
        if code == MISSING:
            return None
        domain = self.coded.domains[kind]
        value = plain_value(domain.values[code])
        if domain.storage in ("", "boolean"):
            return value
        return format_code(parse_type(domain.storage), int(value))
