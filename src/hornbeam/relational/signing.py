"""The signature of linked tables: what their predicates are called in the database they come from."""

from __future__ import annotations

from dataclasses import replace

from hornbeam.relational.counts import CountColumn
from hornbeam.relational.linked import LinkedTables
from hornbeam.relational.ownership import Placed
from hornbeam.relational.records import Coded
from hornbeam.relational.signature import Counted, Predicate, Route, Signature


def signature_of(data: LinkedTables, target: str, coded: Coded) -> Signature:
    """All tables and counts, also those that the bias leaves out: routes may lead through them."""
    table, _ = data.target_of(target)
    placed = data.placed(table)
    predicates = {name: _table(data, name, placed[name], target, placed) for name in data.links.tables}
    predicates |= {count.name: _count(data, count, placed) for count in data.counts(table)}
    for name, relation in coded.relations.items():
        predicates[name] = replace(predicates[name], types=relation.types)
    key = data.links.keys[table]
    time = data.example_time if isinstance(data.example_time, str) else data.time_columns.get(table)
    return replace(
        Signature.of(coded),
        predicates=predicates,
        key_type=data.type_of(table, key),
        examples=table,
        key_field=key,
        time_field=time if time in data.links.tables[table].columns else None,
    )


def _table(
    data: LinkedTables, name: str, placed: Placed, target: str, all_placed: dict[str, Placed]
) -> Predicate:
    columns = data.columns_of(name, target)
    row_key = data.links.keys.get(name)
    return Predicate(
        name,
        columns,
        tuple(data.type_of(name, column) for column in columns),
        columns.index(placed.key) if placed.key in columns else None,
        columns.index(row_key) if row_key in columns else None,
        _route(data, name, placed, columns, target, all_placed),
        table=name,
        time=None if placed.hops == 0 else data.time_columns.get(name),
    )


def _route(
    data: LinkedTables,
    name: str,
    placed: Placed,
    columns: tuple[str, ...],
    target: str,
    all_placed: dict[str, Placed],
) -> Route | None:
    """The reference by which rows without a key belong to their example."""
    if placed.hops < 1 or placed.key is not None:
        return None
    for column, to in data.links.references[name].items():
        beyond = data.columns_of(to, target)
        key = data.links.keys[to]
        if all_placed[to].hops == placed.hops - 1 and column in columns and key in beyond:
            return Route(columns.index(column), to, beyond.index(key))
    return None


def _count(data: LinkedTables, count: CountColumn, placed: dict[str, Placed]) -> Predicate:
    key = data.links.keys[count.parent]
    return Predicate(
        count.name,
        (key, "count"),
        (data.type_of(count.parent, key), count.name),
        0 if placed[count.parent].hops == 0 else None,
        0,
        table=count.parent,
        fields=(key, "count"),
        counts=Counted(count.child, count.column, data.time_columns.get(count.child)),
        time=None if placed[count.parent].hops == 0 else data.time_columns.get(count.parent),
    )
