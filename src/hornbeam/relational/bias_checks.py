"""Whether a bias can be: by itself, and beside the data that it is used on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from hornbeam.errors import DataError
from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Sign
from hornbeam.relational.coding import Arranged, TypedTable
from hornbeam.relational.logic import ABOVE, AT_MOST, COMPARISONS
from hornbeam.table.schema import list_names

Types = Mapping[str, tuple[str, ...]]
Refuse = Callable[[str], DataError]


def check_mode(mode: Mode, types: Types, refuse: Refuse) -> None:
    """Refuse a mode that names what is not there, or a variable of two types."""
    _check(mode.patterns, types, {}, refuse)


def check_lookahead(lookahead: LookaheadDeclaration, types: Types, refuse: Refuse) -> None:
    """Refuse a lookahead by the same rules."""
    _check((lookahead.after, *lookahead.then), types, {}, refuse)


def _check(patterns: Sequence[Pattern], types: Types, known: dict[str, str], refuse: Refuse) -> None:
    for pattern in patterns:
        if pattern.predicate in COMPARISONS:
            continue
        if pattern.predicate not in types:
            raise refuse(
                f"{pattern.predicate!r} is no table and has no type; there are {list_names(list(types))}"
            )
        declared = types[pattern.predicate]
        if len(pattern.places) != len(declared):
            raise refuse(
                f"{pattern.predicate!r} has {len(declared)} columns ({', '.join(declared)}) "
                f"and is given {len(pattern.places)}"
            )
        for place, type_ in zip(pattern.places, declared, strict=True):
            if place.name is None or place.sign in (Sign.CONSTANT, Sign.FIXED, Sign.ANYTHING):
                continue
            before = known.setdefault(place.name, type_)
            if before != type_:
                raise refuse(f"{place.name} is of type {before!r} and of type {type_!r}; give it one type")


def typed_by(bias: Bias, arranged: Arranged) -> Arranged:
    """The tables with the types that the bias gives their columns: columns of one type can be joined."""
    for table in arranged.tables:
        _check_columns(bias, table)
    tables = {table.name: replace(table, types=bias.types[table.name]) for table in arranged.tables}
    labels = _nominal_types(tables.values())
    for number, mode in enumerate(bias.modes, 1):
        check_mode(mode, bias.types, lambda what, n=number: DataError(f"mode {n} of the bias: {what}"))  # type: ignore[misc]
        _check_patterns(f"mode {number}", mode.patterns, tables, labels)
    for number, ahead in enumerate(bias.lookaheads, 1):
        check_lookahead(
            ahead,
            bias.types,
            lambda what, n=number: DataError(f"lookahead {n} of the bias: {what}"),  # type: ignore[misc]
        )
        _check_patterns(f"lookahead {number}", (ahead.after, *ahead.then), tables, labels, ahead.after)
    return Arranged(replace(arranged.examples, key_type=bias.key_type), tuple(tables.values()))


def narrowed(arranged: Arranged, columns: Mapping[str, Sequence[str]]) -> Arranged:
    """Of each table the columns that are named, in that order; others may be there and are not looked at."""
    tables = [_narrow(table, columns.get(table.name, table.columns)) for table in arranged.tables]
    return replace(arranged, tables=tuple(tables))


def _narrow(table: TypedTable, columns: Sequence[str]) -> TypedTable:
    absent = [column for column in columns if column not in table.columns]
    if absent:
        raise DataError(
            f"table {table.name!r} has no column {absent[0]!r}, which the model knows it by; its columns are "
            f"{', '.join(table.columns)}"
        )
    places = [table.columns.index(column) for column in columns]
    moved = {old: new for new, old in enumerate(places)}
    return replace(
        table,
        columns=tuple(columns),
        types=tuple(table.types[i] for i in places),
        cells=tuple(table.cells[i] for i in places),
        key=None if table.key is None else moved.get(table.key),
        row_key=None if table.row_key is None else moved.get(table.row_key),
    )


def _nominal_types(tables: Collection[TypedTable]) -> frozenset[str]:
    return frozenset(
        type_
        for table in tables
        for type_, cells in zip(table.types, table.cells, strict=True)
        if cells.type == "nominal" and cells.source != "null"
    )


def _holder(tables: Collection[TypedTable], type_: str | None) -> str:
    """A column of text that has this type."""
    held = (
        f"{table.name}.{column}"
        for table in tables
        for column, of, cells in zip(table.columns, table.types, table.cells, strict=True)
        if of == type_ and cells.type == "nominal" and cells.source != "null"
    )
    return next(held)


def _check_columns(bias: Bias, table: TypedTable) -> None:
    declared = bias.types[table.name]
    if len(declared) != len(table.columns):
        raise DataError(
            f"the bias gives {table.name!r} {len(declared)} columns and the data has {len(table.columns)}: "
            f"{', '.join(table.columns)}"
        )
    if table.key is not None and declared[table.key] != bias.key_type:
        raise DataError(
            f"{table.name}.{table.columns[table.key]} holds the keys of the examples and has type "
            f"{declared[table.key]!r}; the examples' type is {bias.key_type!r}"
        )


def _check_patterns(
    where: str,
    patterns: Sequence[Pattern],
    tables: Mapping[str, TypedTable],
    labels: Collection[str],
    after: Pattern | None = None,
) -> None:
    """The key's place holds the key (`_` will do where a literal is recognised), and no threshold cuts
    labels, which have no order."""
    at_key = {False: (Sign.OLD,), True: (Sign.OLD, Sign.ANYTHING)}
    types: dict[str | None, str] = {}
    for pattern in patterns:
        if pattern.predicate in COMPARISONS:
            type_ = types.get(pattern.places[0].name)
            if pattern.predicate in (AT_MOST, ABOVE) and type_ in labels:
                raise DataError(
                    f"{where} of the bias: {pattern.places[0].name} is of type {type_!r} and has no order, "
                    f"for {_holder(tables.values(), type_)} holds text; ask with = instead of "
                    f"{pattern.predicate}, or give numbers or times"
                )
            continue
        table = tables[pattern.predicate]
        types |= {place.name: type_ for place, type_ in zip(pattern.places, table.types, strict=True)}
        if table.key is not None and pattern.places[table.key].sign not in at_key[pattern is after]:
            raise DataError(
                f"{where} of the bias has {pattern.places[table.key].sign.value} at "
                f"{table.name}.{table.columns[table.key]}, which holds the example's key; write +Key there"
            )
