"""The types of chunks: text always comes by dictionary, and the files of one source agree on each column."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from hornbeam.errors import DataError
from hornbeam.table.arrow import check_array, is_text, read_chunked
from hornbeam.table.columns import check_names, refuse_type
from hornbeam.table.labels import cell_texts
from hornbeam.table.schema import MAX_COLUMNS, list_names, show_name

TEXT = pa.dictionary(pa.int32(), pa.string())


def normal_schema(schema: pa.Schema, shown: str) -> pa.Schema:
    """The schema of the chunks, without nullability and metadata; one line where a column has no place."""
    try:
        names = check_names(list(schema.names)) or ()
        if not names or len(names) > MAX_COLUMNS:
            raise DataError(f"{len(names)} columns; 1 to {MAX_COLUMNS} are allowed")
        return pa.schema([(name, normal_type(schema.field(name).type, name)) for name in names])
    except DataError as error:
        raise DataError(f"{shown}: {error}") from None


def normal_type(type_: pa.DataType, name: str) -> pa.DataType:
    """The type of a column in chunks; DataError for what has no place in a table."""
    coded = pa.types.is_dictionary(type_)
    value = type_.value_type if coded else type_
    if coded and pa.types.is_dictionary(value):
        raise refuse_type(name, str(type_))
    read_chunked(pa.chunked_array([], value), name)
    return TEXT if coded or is_text(value) else type_


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with text as it is, without dictionaries."""
    return pa.schema([(field.name, pa.string() if field.type == TEXT else field.type) for field in schema])


def normalise(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of a schema, in its order and types; what is not valid Arrow is refused here."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        check_array(column, show_name(name))
    columns = [_to_type(batch.column(field.name), field) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _to_type(column: pa.Array, field: pa.Field) -> pa.Array:
    type_ = field.type
    if column.type == type_:
        return column
    given = normal_type(column.type, field.name)
    if _join(type_, given, inferred=False) != type_:  # a cast would make something of it all the same
        raise DataError(f"column {field.name!r} is {_say(given)}, but {_say(type_)} before; give it one type")
    if pa.types.is_null(given):
        return pa.nulls(len(column), type_)
    if type_ != TEXT:
        return column.cast(type_)
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(
            column.indices.cast(pa.int32()), _labels(column.dictionary, field.name)
        )
    return column.cast(pa.string()).dictionary_encode()


def _labels(dictionary: pa.Array, name: str) -> pa.Array:
    """The values of a dictionary as labels, which are text."""
    if is_text(dictionary.type):
        return dictionary.cast(pa.string())
    return pa.array(cell_texts(read_chunked(pa.chunked_array([dictionary]), name)), pa.string())


def join_schemas(found: Sequence[tuple[str, pa.Schema]], *, inferred: bool = False) -> pa.Schema:
    """One schema for files that are called so; types that were inferred from text may widen to float64."""
    first, schema = found[0]
    types: dict[str, pa.DataType] = {name: schema.field(name).type for name in schema.names}
    for shown, other in found[1:]:
        _check_same_columns(first, types, shown, other.names)
        for name in types:
            joined = _join(types[name], other.field(name).type, inferred)
            if joined is None:
                raise DataError(
                    f"{shown}: column {name!r} is {_say(other.field(name).type)}, but {_say(types[name])} in "
                    f"{first}; write the files with one type, or leave it out by columns=[...]"
                )
            types[name] = joined
    return pa.schema(list(types.items()))


def _check_same_columns(first: str, names: Iterable[str], shown: str, others: list[str]) -> None:
    absent, more = [name for name in names if name not in set(others)], set(others) - set(names)
    if absent:
        raise DataError(
            f"{shown}: column {absent[0]!r} is missing, which {first} has; it has {list_names(others)}"
        )
    if more:
        raise DataError(
            f"{shown}: column {min(more)!r} is not in {first}; "
            "give the files the same columns, or choose some by columns=[...]"
        )


def _join(a: pa.DataType, b: pa.DataType, inferred: bool) -> pa.DataType | None:
    """The type that holds the values of both exactly; None where the table would take them for different."""
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    if pa.types.is_floating(a) and pa.types.is_floating(b):
        return pa.float64()
    if pa.types.is_integer(a) and pa.types.is_integer(b):
        if not pa.types.is_uint64(a) and not pa.types.is_uint64(b):
            return pa.int64()
        return pa.uint64() if pa.types.is_unsigned_integer(a) and pa.types.is_unsigned_integer(b) else None
    if inferred and {a, b} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if pa.types.is_date(a) and pa.types.is_date(b):
        return pa.date32()
    if pa.types.is_decimal(a) and pa.types.is_decimal(b) and a.scale == b.scale:
        return max((a, b), key=lambda type_: type_.precision)
    return None


def _say(type_: Any) -> str:
    return "text" if type_ == TEXT else str(type_)
