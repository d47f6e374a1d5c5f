"""ARFF, the dense format of Weka's files: a header of attributes, then rows of cells."""

import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hornbeam.errors import DataError
from hornbeam.table.refusals import refuse_file, unpacked

if TYPE_CHECKING:
    import pyarrow as pa

_NUMERIC = ("numeric", "real", "integer")
# A cell is quoted by ' or " with backslash escapes, or plain up to a comma or a comment.
_CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,%'"]*))\s*""")
_NAME = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*(.*)""",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}

Refuse = Callable[[str], DataError]


@dataclass(frozen=True, slots=True)
class _Declared:
    name: str
    type: str
    labels: frozenset[str] = frozenset()


def read_arff_file(path: str) -> "pa.Table":
    """An ARFF file as an Arrow table."""
    try:
        with unpacked(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as lines:
            return read_arff(lines, path)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise refuse_file(path, error, "ARFF") from None


def read_arff(lines: Iterable[str], shown: str) -> "pa.Table":
    """An Arrow table; numeric and real are float64, integer is int64 where all cells are whole."""
    import pyarrow as pa

    numbered = enumerate(lines, start=1)
    declared = list(_read_header(numbered, shown))
    rows = list(_read_rows(numbered, len(declared), shown))
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in declared]
    arrays = [_column(d, cells, shown) for d, cells in zip(declared, columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=[d.name for d in declared])


def _refusal(shown: str, line: int) -> Refuse:
    return lambda why: DataError(f"{shown!r}, line {line}: {why}")


def _read_header(numbered: Iterator[tuple[int, str]], shown: str) -> Iterator[_Declared]:
    count = 0
    for number, line in numbered:
        text = line.strip()
        word = text.split(None, 1)[0].lower() if text else ""
        refuse = _refusal(shown, number)
        if not text or word.startswith("%") or word == "@relation":
            continue
        if word == "@data":
            if not count:
                raise refuse("@data before any @attribute; declare the columns first")
            return
        if word != "@attribute":
            raise refuse(f"{text[:40]!r} in the header; expected @relation, @attribute or @data")
        count += 1
        yield _read_attribute(text, refuse)
    raise DataError(f"{shown!r} has no @data line; it is not a complete ARFF file")


def _read_attribute(text: str, refuse: Refuse) -> _Declared:
    found = _NAME.match(text)
    if found is None or not found[4]:
        raise refuse(f"{text[:60]!r} is not '@attribute name type'")
    name = _unquote(found)
    type_ = found[4].strip()
    if type_.startswith("{"):
        cells = _split(type_[1:], refuse, end="}")
        return _Declared(name, "nominal", frozenset(cell for cell in cells if cell is not None))
    word = type_.split("%")[0].split()[0].lower() if type_.split("%")[0].split() else ""
    if word in (*_NUMERIC, "string"):
        return _Declared(name, word)
    raise refuse(
        f"attribute {name!r} has type {word[:40]!r}, which is not read; allowed are numeric, real, integer, "
        f"string and {{labels}}"
    )


def _unquote(found: re.Match[str]) -> str:
    quoted = found[1] if found[1] is not None else found[2]
    if quoted is None:
        return found[3].strip()
    return _ESCAPE.sub(lambda m: _CONTROL.get(m[1], m[1]), quoted) if "\\" in quoted else quoted


def _split(text: str, refuse: Refuse, end: str = "") -> list[str | None]:
    """Cells of one line; an unquoted ? is None. With `end`, that character closes the list."""
    cells: list[str | None] = []
    position = 0
    while True:
        found = _CELL.match(text, position)
        if found is None:
            raise refuse("a quote is not closed")
        plain = found[3]
        if end and plain is not None and end in plain:
            if plain.split(end)[0].strip() or cells:
                cells.append(plain.split(end)[0].strip())
            return cells
        cells.append(None if plain is not None and plain.strip() == "?" else _unquote(found))
        position = found.end()
        if end and text[position : position + 1] == end:
            return cells
        if position >= len(text) or text[position] == "%":
            if end:
                raise refuse("a list of labels is not closed by }")
            return cells
        if text[position] in "'\"":
            raise refuse("a quote is not closed, or stands inside a cell that is not quoted as a whole")
        if text[position] != ",":
            raise refuse(f"{text[position : position + 20]!r} after a closed quote; expected a comma")
        position += 1


def _read_rows(numbered: Iterator[tuple[int, str]], width: int, shown: str) -> Iterator[list[str | None]]:
    for number, line in numbered:
        text = line.strip()
        if not text or text[0] == "%":
            continue
        refuse = _refusal(shown, number)
        if text[0] == "{":
            raise refuse(
                "sparse ARFF is not read; write the rows in the dense format (all cells, comma-separated)"
            )
        if "'" in text or '"' in text or "%" in text:
            cells = _split(text, refuse)
        else:
            parts = text.split(",") if "," in text or width == 1 else text.split()
            cells = [None if (cell := part.strip()) == "?" else cell for part in parts]
        if len(cells) != width:
            raise refuse(f"{len(cells)} cells for {width} attributes (instance weights are not read)")
        yield cells


def _column(declared: _Declared, cells: tuple[str | None, ...], shown: str) -> "pa.Array":
    import pyarrow as pa

    if declared.type in _NUMERIC:
        return _numbers(declared, cells, shown)
    if declared.type == "nominal":
        unknown = next((cell for cell in cells if cell is not None and cell not in declared.labels), None)
        if unknown is not None:
            raise DataError(
                f"{shown!r}: attribute {declared.name!r} has {unknown[:40]!r}, which its header does not "
                "declare"
            )
    return pa.array(cells, pa.string())


def _numbers(declared: _Declared, cells: tuple[str | None, ...], shown: str) -> "pa.Array":
    import pyarrow as pa

    def convert(number: Callable[[str], Any], type_: "pa.DataType") -> "pa.Array":
        return pa.array([None if cell is None else number(cell) for cell in cells], type_)

    if any(cell is not None and "_" in cell for cell in cells):  # Python would read 1_000 as a number
        raise _refuse_number(declared, cells, shown)
    if declared.type == "integer":
        try:
            return convert(int, pa.int64())
        except (ValueError, OverflowError):
            pass
    try:
        return convert(float, pa.float64())
    except ValueError:
        raise _refuse_number(declared, cells, shown) from None


def _refuse_number(declared: _Declared, cells: tuple[str | None, ...], shown: str) -> DataError:
    def is_number(cell: str) -> bool:
        try:
            return "_" not in cell and float(cell) is not None
        except ValueError:
            return False

    bad = next((cell for cell in cells if cell is not None and not is_number(cell)), "")
    return DataError(
        f"{shown!r}: attribute {declared.name!r} is {declared.type} and has {bad[:40]!r}; write a number, or "
        "? where missing"
    )
