"""A frame: the caller's table seen column by column, read only where it is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from hornbeam.errors import DataError, DataTypeError
from hornbeam.table.columns import Array, Cells
from hornbeam.table.schema import duplicate_names, is_unicode, show_name

CellReader = Callable[[int, str, bool], Cells]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """`cells(position, name, nominal)` reads a column; name is for errors, nominal lets mixed cells be text.

    `matrix`, where given, is the whole table as a float64 array whose columns are used as they are.
    """

    names: tuple[str, ...] | None
    n_rows: int
    n_columns: int
    cells: CellReader
    matrix: Array | None = None


@lru_cache(maxsize=64)
def positional_names(count: int) -> tuple[str, ...]:
    """Names of the columns of data that has none."""
    return tuple(f"x{i}" for i in range(count))


def check_names(names: list[object]) -> tuple[str, ...] | None:
    """Column names as a tuple; None where none of them is text (then only positions count)."""
    if all(type(name) is str for name in names):
        texts = [name for name in names if isinstance(name, str)]
    elif not any(isinstance(name, str) for name in names):
        return None
    elif all(isinstance(name, str) for name in names):
        texts = [str(name) for name in names]
    else:
        types = sorted({type(name).__name__ for name in names})
        raise DataTypeError(
            f"column names must all be text or all not; given are {', '.join(types)}; rename the columns"
        )
    if len(set(texts)) != len(texts):
        raise duplicate_names(texts)
    if not is_unicode("".join(texts)):
        bad = next(text for text in texts if not is_unicode(text))
        raise DataError(
            f"{show_name(bad)}: the name is not valid Unicode (a lone surrogate); rename the column"
        )
    return tuple(texts)


def refuse_type(name: str, type_name: str) -> DataError:
    """The error for a column of a type that has no place in a table."""
    hints = {
        "list": "split it into columns or take a summary of it",
        "struct": "split it into columns",
        "binary": "decode it to text",
        "complex": "Complex data not supported; give real and imaginary parts as two columns",
    }
    hint = next(
        (text for word, text in hints.items() if word in type_name), "cast it to a supported type or drop it"
    )
    return DataError(
        f"{show_name(name)}: type {type_name} is not supported; {hint} (docs/types.md lists the types)"
    )


def refuse_shape(shape: tuple[int, ...]) -> DataError:
    """The error for data that is not two-dimensional, in scikit-learn's words."""
    if len(shape) == 1:
        return DataError(
            f"Expected 2D array, got 1D array instead (shape={shape}). Reshape your data either using "
            "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it is a single "
            "sample."
        )
    if not shape:
        return DataError("Expected 2D array, got scalar array instead; X must be a table of rows and columns")
    return DataError(
        f"Found array with dim {len(shape)}, while dim <= 2 is required; X must be rows and columns"
    )
