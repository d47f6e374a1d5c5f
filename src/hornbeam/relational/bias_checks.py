"""Whether a bias can be: by itself, and beside the data that it is used on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from hornbeam.errors import DataError
from hornbeam.relational.bias import Bias, Pattern, Sign
from hornbeam.relational.coding import TypedData
from hornbeam.relational.logic import ABOVE, AT_MOST, COMPARISONS
from hornbeam.relational.records import Relation
from hornbeam.table.columns import Cells
from hornbeam.table.schema import list_names


def fault_of(patterns: Sequence[Pattern], types: Mapping[str, tuple[str, ...]]) -> str | None:
    """Why patterns cannot be: they name what is not there, or a variable of two types; None if they can."""
    known: dict[str, str] = {}
    for pattern in patterns:
        if pattern.predicate in COMPARISONS:
            continue
        if pattern.predicate not in types:
            return f"{pattern.predicate!r} is no table and has no type; there are {list_names(list(types))}"
        declared = types[pattern.predicate]
        if len(pattern.places) != len(declared):
            return (
                f"{pattern.predicate!r} has {len(declared)} columns ({', '.join(declared)}) "
                f"and is given {len(pattern.places)}"
            )
        for place, type_ in zip(pattern.places, declared, strict=True):
            if place.name is None or place.sign in (Sign.CONSTANT, Sign.FIXED, Sign.ANYTHING):
                continue
            before = known.setdefault(place.name, type_)
            if before != type_:
                return f"{place.name} is of type {before!r} and of type {type_!r}; give it one type"
    return None


def typed_by(bias: Bias, data: TypedData) -> TypedData:
    """The relations with the types that the bias gives their columns: columns of one type can be joined."""
    for relation in data.relations:
        _check_columns(bias, relation)
    relations = {of.name: replace(of, types=bias.types[of.name]) for of in data.relations}
    text_columns: dict[str, str] = {}
    for relation in relations.values():
        for column, type_, cells in zip(relation.columns, relation.types, relation.data, strict=True):
            if cells.type == "nominal" and cells.source != "null":
                text_columns.setdefault(type_, f"{relation.name}.{column}")
    declared: list[tuple[str, tuple[Pattern, ...], Pattern | None]]
    declared = [(f"mode {i}", mode.patterns, None) for i, mode in enumerate(bias.modes, 1)]
    declared += [(f"lookahead {i}", of.patterns, of.after) for i, of in enumerate(bias.lookaheads, 1)]
    for name, patterns, after in declared:
        fault = fault_of(patterns, bias.types)
        if fault is not None:
            raise DataError(f"{name} of the bias: {fault}")
        _check_patterns(f"{name} of the bias", patterns, relations, text_columns, after)
    return replace(data, key_type=bias.key_type, relations=tuple(relations.values()))


def narrowed(data: TypedData, columns: Mapping[str, Sequence[str]]) -> TypedData:
    """Of each relation the columns that are named, in that order; others are not looked at."""
    relations = (_narrow(of, columns.get(of.name, of.columns)) for of in data.relations)
    return replace(data, relations=tuple(relations))


def _narrow(relation: Relation[Cells], columns: Sequence[str]) -> Relation[Cells]:
    absent = [column for column in columns if column not in relation.columns]
    if absent:
        raise DataError(
            f"table {relation.name!r} has no column {absent[0]!r}, which the model knows it by; its columns "
            f"are {', '.join(relation.columns)}"
        )
    places = [relation.columns.index(column) for column in columns]
    moved = {old: new for new, old in enumerate(places)}
    return replace(
        relation,
        columns=tuple(columns),
        types=tuple(relation.types[i] for i in places),
        data=tuple(relation.data[i] for i in places),
        key=None if relation.key is None else moved.get(relation.key),
        row_key=None if relation.row_key is None else moved.get(relation.row_key),
    )


def _check_columns(bias: Bias, relation: Relation[Cells]) -> None:
    declared = bias.types[relation.name]
    if len(declared) != len(relation.columns):
        raise DataError(
            f"the bias gives {relation.name!r} {len(declared)} columns and the data has "
            f"{len(relation.columns)}: {', '.join(relation.columns)}"
        )
    if relation.key is not None and declared[relation.key] != bias.key_type:
        raise DataError(
            f"{relation.name}.{relation.columns[relation.key]} holds the keys of the examples and has type "
            f"{declared[relation.key]!r}; the examples' type is {bias.key_type!r}"
        )


def _check_patterns(
    declaration: str,
    patterns: Sequence[Pattern],
    relations: Mapping[str, Relation[Cells]],
    text_columns: Mapping[str, str],
    after: Pattern | None,
) -> None:
    """The key's place holds the key (`_` will do where a literal is recognised), and no threshold cuts
    labels, which have no order."""
    at_key: dict[bool, Collection[Sign]] = {False: (Sign.OLD,), True: (Sign.OLD, Sign.ANYTHING)}
    types: dict[str | None, str] = {}
    for pattern in patterns:
        if pattern.predicate in COMPARISONS:
            type_ = types.get(pattern.places[0].name, "")
            if pattern.predicate in (AT_MOST, ABOVE) and type_ in text_columns:
                raise DataError(
                    f"{declaration}: {pattern.places[0].name} is of type {type_!r} and has no order, "
                    f"for {text_columns[type_]} holds text; ask with = instead of "
                    f"{pattern.predicate}, or give numbers or times"
                )
            continue
        relation = relations[pattern.predicate]
        types |= {place.name: type_ for place, type_ in zip(pattern.places, relation.types, strict=True)}
        if relation.key is not None and pattern.places[relation.key].sign not in at_key[pattern is after]:
            raise DataError(
                f"{declaration} has {pattern.places[relation.key].sign.value} at "
                f"{relation.name}.{relation.columns[relation.key]}, which holds the example's key; "
                "write +Key there"
            )
