"""Queries of the oracle's databases as SQL: joins, conditions, EXISTS."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import duckdb

from tests.oracle.facts import Const, Database, Query, Term, Var

SQL_TYPES = {"nominal": "varchar", "float": "double", "integer": "bigint"}


def sql_database(database: Database) -> duckdb.DuckDBPyConnection:
    """A table `example` with numbers and keys, and a table a relation, with the number of the owner."""
    connection = shared_connection()
    insert(connection, "example", "e integer, key varchar", enumerate(map(str, database.keys)))
    for name, relation in database.relations.items():
        kinds = [SQL_TYPES[database.domains[t].kind] for t in relation.types]
        columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds))
        owners = relation.owner or (None,) * len(relation.rows)
        rows = ((e, *row) for e, row in zip(owners, relation.rows, strict=True))
        insert(connection, name, f"owner integer, {columns}", rows)
    return connection


@functools.cache
def shared_connection() -> duckdb.DuckDBPyConnection:
    """Opening one takes longer than most questions; tables of the same name replace each other."""
    return duckdb.connect(config={"threads": 1})


def insert(
    connection: duckdb.DuckDBPyConnection, name: str, columns: str, rows: Iterable[tuple[object, ...]]
) -> None:
    connection.execute(f'create or replace table "{name}" ({columns})')
    lines = [f"({', '.join(map(cell, row))})" for row in rows]
    for begin in range(0, len(lines), 5000):
        connection.execute(f'insert into "{name}" values {", ".join(lines[begin : begin + 5000])}')


def cell(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"{value!r}::double" if isinstance(value, float) else str(value)


def sql_of(database: Database, query: Query, examples: str = "example") -> str:
    """The numbers of the examples for which a query holds; the first place of a variable is its column."""
    place, tables, conditions = {0: "example.key"}, [], ["true"]
    for number, literal in enumerate(query):
        relation = database.relations.get(literal.predicate)
        if relation is not None:
            tables.append(f'"{literal.predicate}" t{number}')
            if relation.owner is not None:
                conditions.append(f"t{number}.owner = example.e")
        operands = []
        for at, term in enumerate(literal.terms):
            value = place.get(term.number) if isinstance(term, Var) else quoted(term)
            if relation is not None and at != relation.key:
                if value is not None:
                    conditions.append(f"t{number}.c{at} = {value}")
                elif isinstance(term, Var):
                    place[term.number] = f"t{number}.c{at}"
            operands.append(value)
        if relation is None:
            conditions.append(f"{operands[0]} {literal.predicate} {operands[1]}")
    source = f"from {', '.join(tables)}" if tables else ""
    where = " and ".join(conditions)
    return f"select e from {examples} example where exists (select 1 {source} where {where})"


def quoted(term: Term) -> str | None:
    return cell(term.value) if isinstance(term, Const) else None
