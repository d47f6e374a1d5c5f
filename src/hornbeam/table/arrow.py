"""Arrow tables and streams as frames: polars, DuckDB and everything else that speaks Arrow comes in here."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from hornbeam.errors import DataError, first_line
from hornbeam.table.columns import Array, Cells, Frame, Mask, check_names, refuse_type
from hornbeam.table.labels import all_missing, cell_texts, nominal_from_booleans, nominal_from_codes
from hornbeam.table.schema import show_name

_MS_A_DAY = 86_400_000
_BYTES = {"string": pa.binary(), "large_string": pa.large_binary(), "string_view": pa.binary_view()}
ENCODED_AT_ONCE = 1 << 19  # rows of text


def read_stream(data: Any, what: str = "X") -> Frame:
    """A frame over a pyarrow table, batch or reader, or any object with the Arrow C interface."""
    try:
        table = data if isinstance(data, pa.Table) else pa.table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"{what} is a {type(data).__name__} that cannot be read as an Arrow table: {first_line(error)}; "
            f"{what} must be a table of rows and columns"
        ) from None
    return read_table(table)


def to_chunked(data: Any, shown: str) -> pa.ChunkedArray:
    """One valid Arrow column from an array, a chunked array or any object with the Arrow C interface."""
    if isinstance(data, pa.ChunkedArray):
        return checked_column(data, shown)
    if isinstance(data, pa.Array):
        return checked_column(pa.chunked_array([data]), shown)
    if hasattr(data, "__arrow_c_stream__"):
        return checked_column(pa.chunked_array(data), shown)
    return checked_column(pa.chunked_array([pa.array(data)]), shown)


def checked_column(column: pa.ChunkedArray, shown: str) -> pa.ChunkedArray:
    """The column, once its buffers are found to hold together; every column from outside comes by here."""
    for chunk in column.chunks:
        check_array(chunk, shown)
    return column


def check_array(array: pa.Array, shown: str) -> None:
    """Refuse offsets, bitmaps and dictionary indices that point outside their buffers.

    Arrow takes them from its callers on trust, and we would read other labels or other memory. Whether text
    is UTF-8 is left to who decodes it, for it would cost ten times as much.
    """
    try:
        _validate(array)
    except (pa.ArrowInvalid, pa.lib.ArrowIndexError) as error:
        raise DataError(
            f"{shown}: its Arrow data are not valid: {first_line(error)}; write the column again, or mend "
            "what made it"
        ) from None


def _validate(array: pa.Array) -> None:
    type_ = array.type
    if pa.types.is_dictionary(type_):
        _validate(array.indices)
        _validate(array.dictionary)
        import pyarrow.compute as pc  # takes 40 ms

        least, most = pc.min_max(array.indices).as_py().values()
        if least is not None and (least < 0 or most >= len(array.dictionary)):
            index = least if least < 0 else most
            raise pa.ArrowInvalid(f"index {index} into a dictionary of {len(array.dictionary)} values")
    elif is_text(type_):
        array.view(_BYTES[str(type_)]).validate(full=True)
    else:
        array.validate(full=True)


def read_table(table: pa.Table) -> Frame:
    """A frame over a pyarrow table."""
    names = check_names(list(table.column_names))
    return Frame(
        names,
        table.num_rows,
        table.num_columns,
        lambda j, name, nominal: read_chunked(checked_column(table.column(j), show_name(name)), name),
    )


def read_chunked(column: pa.ChunkedArray, name: str) -> Cells:
    """Cells of one Arrow column of any supported type; chunks, offsets and nulls as they come."""
    type_ = column.type
    if pa.types.is_floating(type_):
        return Cells("float64", _floats(column))
    if pa.types.is_integer(type_):
        values, missing = _integers(column)
        return Cells("uint64" if pa.types.is_uint64(type_) else "int64", values, missing)
    if pa.types.is_null(type_):
        return all_missing(len(column))
    if pa.types.is_boolean(type_):
        values, missing = _integers(column.cast(pa.int8()))
        return nominal_from_booleans(values, missing, name)
    if is_text(type_):
        return _dictionary(_encode_texts(column), name)
    if pa.types.is_dictionary(type_):
        return _dictionary(column, name)
    if pa.types.is_decimal(type_):
        values, missing = _decimals(column, name)
        return Cells(f"decimal:{type_.scale}", values, missing)
    return _times(column, name)


def _encode_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text by a dictionary, in stretches of some 40 ms: no Ctrl-C is heard during a call of Arrow."""
    if len(column) <= ENCODED_AT_ONCE:
        return column.dictionary_encode()
    parts = [
        column.slice(begin, ENCODED_AT_ONCE).dictionary_encode()
        for begin in range(0, len(column), ENCODED_AT_ONCE)
    ]
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks]).unify_dictionaries()


def is_text(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_)
    )


def _times(column: pa.ChunkedArray, name: str) -> Cells:
    type_ = column.type
    if pa.types.is_date(type_) or pa.types.is_time(type_):
        width = pa.int32() if type_.bit_width == 32 else pa.int64()
        values, missing = _integers(column.cast(width))
        if pa.types.is_date32(type_):
            return Cells("date", values, missing)
        return (
            Cells("date", values // _MS_A_DAY, missing)
            if pa.types.is_date64(type_)
            else Cells(f"time:{type_.unit}", values, missing)
        )
    if pa.types.is_timestamp(type_):
        values, missing = _integers(column.cast(pa.int64()))
        return Cells(
            f"timestamp:{type_.unit}:{type_.tz}" if type_.tz else f"timestamp:{type_.unit}", values, missing
        )
    if pa.types.is_duration(type_):
        values, missing = _integers(column.cast(pa.int64()))
        return Cells(f"duration:{type_.unit}", values, missing)
    raise refuse_type(name, str(type_))


def _floats(column: pa.ChunkedArray) -> Array:
    """float64 values, NaN where null; without a copy where the column is one float64 chunk without nulls."""
    array: Array = column.to_numpy()
    return array.astype(np.float64, copy=False)


def _integers(column: pa.ChunkedArray) -> tuple[Array, Mask | None]:
    """int64 codes of an integer column and its mask; uint64 as value - 2^63."""
    missing = None
    if column.null_count:
        missing = column.is_null().to_numpy().astype(np.uint8)
        column = column.fill_null(0)
    values: Array = column.to_numpy()
    if values.dtype == np.uint64:
        return (values ^ np.uint64(2**63)).view(np.int64), missing
    return values.astype(np.int64, copy=False), missing


def narrow_integers(column: pa.Array, name: str) -> tuple[Array, Mask | None]:
    """The exact values of integers, decimals or times, as narrow as Arrow keeps them, and the mask.

    They are the codes of `read_chunked`, except that a uint64 is itself.
    """
    type_ = column.type
    if pa.types.is_decimal(type_):
        return _decimals(pa.chunked_array([column]), name)
    if not pa.types.is_integer(type_):
        column = column.view(pa.int32() if type_.bit_width == 32 else pa.int64())
    missing = None
    if column.null_count:
        missing = column.is_null().to_numpy(zero_copy_only=False).view(np.uint8)
        column = column.fill_null(0)
    values: Array = column.to_numpy()
    return (values // _MS_A_DAY if pa.types.is_date64(type_) else values), missing


def _decimals(column: pa.ChunkedArray, name: str) -> tuple[Array, Mask | None]:
    """The scaled integers of a decimal column, refused where one does not fit 64 bits."""
    words = column.type.bit_width // 64
    values = np.empty(len(column), dtype=np.int64)
    missing = column.is_null().to_numpy().astype(np.uint8) if column.null_count else None
    start = 0
    for chunk in column.chunks:
        stop = start + len(chunk)
        part = values[start:stop]
        part[:] = 0
        if len(chunk) and chunk.null_count < len(chunk):
            _, data = chunk.buffers()
            stored: Array = np.frombuffer(data, dtype=np.int64 if words else np.int32)
            stored = stored[chunk.offset * max(words, 1) : (chunk.offset + len(chunk)) * max(words, 1)]
            stored = stored.reshape(len(chunk), max(words, 1))
            known = np.ones(len(chunk), dtype=np.bool_) if missing is None else missing[start:stop] == 0
            part[known] = stored[known, 0]
            # The value fits when every higher word only repeats the sign.
            wide = known & (stored[:, 1:] != (stored[:, :1] >> 63)).any(axis=1)
            if wide.any():
                raise _refuse_wide(chunk, int(np.flatnonzero(wide)[0]), start, name)
        start = stop
    return values, missing


def _refuse_wide(chunk: pa.Array, row: int, start: int, name: str) -> DataError:
    return DataError(
        f"{show_name(name)}: {chunk.type} value {chunk[row].as_py()} in row {start + row} does not fit 64 "
        "bits as a scaled integer; round it, lower its scale or cast the column to float64"
    )


def _dictionary(column: pa.ChunkedArray, name: str) -> Cells:
    raw, texts = join_dictionaries(column, lambda dictionary: _texts(dictionary, name))
    return nominal_from_codes(raw, texts, name)


def join_dictionaries(
    column: pa.ChunkedArray, values: Callable[[pa.Array], list[Any]]
) -> tuple[Array, list[Any]]:
    """Places of the cells (-1 null) in one list of all dictionaries' values; each chunk may bring its own."""
    joined: list[Any] = []
    parts: list[Array] = []
    base, last = 0, None
    for chunk in column.chunks:
        if last is None or not chunk.dictionary.equals(last):
            last, base = chunk.dictionary, len(joined)
            joined += values(last)
        parts.append(_indices(chunk.indices, base))
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64), joined


def _indices(indices: pa.Array, base: int) -> Array:
    missing = indices.is_null().to_numpy(zero_copy_only=False) if indices.null_count else None
    values: Array = indices.cast(pa.int64()).fill_null(0).to_numpy() + base
    if missing is not None:
        values[missing] = -1
    return values


def _texts(dictionary: pa.Array, name: str) -> list[str | None]:
    if not is_text(dictionary.type):
        return cell_texts(read_chunked(pa.chunked_array([dictionary]), name))
    try:
        texts: list[str | None] = dictionary.to_pylist()
    except UnicodeDecodeError:
        raise not_utf8(name) from None
    return texts


def not_utf8(name: str) -> DataError:
    """The error for text of which Arrow says that it is UTF-8, and it is not."""
    return DataError(f"{show_name(name)}: a label is not valid UTF-8; decode the text before")
