"""The signature of linked tables: what their predicates are called in the database they come from."""

from __future__ import annotations

from dataclasses import replace

from hornbeam.relational.counts import CountColumn
from hornbeam.relational.linked import LinkedTables
from hornbeam.relational.ownership import Placed
from hornbeam.relational.records import Coded
from hornbeam.relational.sharing import Way
from hornbeam.relational.signature import Counted, Predicate, Route, Signature


def signature_of(data: LinkedTables, target: str, coded: Coded) -> Signature:
    """All tables and counts, also those that the bias leaves out: routes may lead through them."""
    table, _ = data.target_of(target)
    placed = data.placed(table)
    predicates = {name: _table(data, name, placed[name], target, placed) for name in data.links.tables}
    predicates |= {count.name: _count(data, count, placed, target) for count in data.counts(table)}
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
    key = columns.index(placed.key) if placed.key in columns else None
    routes = () if key is not None else _routes(data, name, placed, target, all_placed)
    return Predicate(
        name,
        columns,
        tuple(data.type_of(name, column) for column in columns),
        key,
        columns.index(row_key) if row_key in columns else None,
        routes,
        table=name,
        time=None if placed.hops == 0 else data.time_columns.get(name),
        hidden=placed.owner is not None and key is None and not routes,
    )


def _routes(
    data: LinkedTables, name: str, placed: Placed, target: str, all_placed: dict[str, Placed]
) -> tuple[Route, ...]:
    """The steps by which rows that do not name their example belong to it: one where all agree, every one of
    those of divided tables; none where a column of one may not be asked about."""
    ways = placed.ways
    if placed.hops > 0:
        near = [
            Way(column, to, data.links.keys[to])
            for column, to in data.links.references[name].items()
            if all_placed[to].hops == placed.hops - 1
        ]
        ways = tuple(way for way in near if _may_be_asked(data, name, way, target))[:1]
    if not all(_may_be_asked(data, name, way, target) for way in ways):
        return ()
    columns = data.columns_of(name, target)
    return tuple(
        Route(columns.index(way.column), way.table, data.columns_of(way.table, target).index(way.target))
        for way in ways
    )


def _may_be_asked(data: LinkedTables, name: str, way: Way, target: str) -> bool:
    beyond = data.columns_of(way.table, target)
    return way.column in data.columns_of(name, target) and way.target in beyond


def _count(data: LinkedTables, count: CountColumn, placed: dict[str, Placed], target: str) -> Predicate:
    key, columns = data.links.keys[count.parent], data.columns_of(count.parent, target)
    of_example = placed[count.parent].hops == 0
    routes = () if of_example or key not in columns else (Route(0, count.parent, columns.index(key)),)
    return Predicate(
        count.name,
        (key, "count"),
        (data.type_of(count.parent, key), count.name),
        0 if of_example else None,
        0,
        routes,
        table=count.parent,
        fields=(key, "count"),
        counts=Counted(count.child, count.column, data.time_columns.get(count.child)),
        time=None if of_example else data.time_columns.get(count.parent),
        hidden=not of_example and not routes,
    )
