"""Prolog text cut into tokens; what is none is refused with its line and column."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hornbeam.arguments import file_path
from hornbeam.errors import DataError, StorageError

Kind = Literal["atom", "quoted", "var", "number", "open", "punct", "end"]

_SYMBOLS = r"[+\-*/\\^<>=~:.?@&$]"
_ESCAPED = r"\\x[0-9a-fA-F]+\\?|\\[0-7]+\\|\\."  # the last backslash of \x41\ escapes nothing
_TOKEN = re.compile(
    rf"""(?P<space>\s+|%[^\n]*|/\*.*?\*/)
    |(?P<character>0'(?:\\.|''|[^\\]))
    |(?P<radix>0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+)
    |(?P<number>\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<var>[A-Z_]\w*)
    |(?P<atom>[^\W\d_A-Z]\w*|\[\]|{{}}|!|;)
    |(?P<quoted>'(?:[^'\\]|''|{_ESCAPED})*+'|"(?:[^"\\]|""|{_ESCAPED})*+")
    |(?P<end>\.(?=\s|%|\Z))
    |(?P<symbol>\#|(?!/\*){_SYMBOLS}+)  # '#' is a sign of its own: 5:#(...)
    |(?P<punct>[()\[\]{{}},|])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "s": " "}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+\\?|[0-7]+\\|\n|.)", re.DOTALL)
LARGEST = 2**63


class Token(NamedTuple):
    """`open` is a name with a bracket right behind it: an atom that begins a compound."""

    kind: Kind
    text: str
    at: int
    value: int | float = 0
    quoted: bool = False


@dataclass(frozen=True, eq=False)
class PrologText:
    """A text and what it is called in errors."""

    shown: str
    text: str

    def refuse(self, at: int, what: str) -> DataError:
        """The error at a place of the text."""
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return DataError(f"{self.shown}, line {line}, column {column}: {what}")

    def check(self, fault: str | None, at: int) -> None:
        """Refuse what stands at a place of the text, if there is a fault."""
        if fault is not None:
            raise self.refuse(at, fault)

    def line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1


def read_source(place: str | os.PathLike[str]) -> PrologText:
    """The text of a file, compressed or not."""
    shown = file_path("file", place)
    try:
        with open(shown, "rb") as file:
            content = file.read()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError(f"{shown!r} is a damaged gzip file; get another copy") from None
    except OSError as error:
        raise StorageError(f"{shown!r} cannot be opened: {error.strerror or error}; check the path") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise DataError(
            f"{shown!r}, line {line}, column {column}: this is no UTF-8 text; save it as UTF-8, for instance "
            "with: iconv -f latin1 -t utf-8 old > new"
        ) from None
    return PrologText(repr(shown), text)


def tokens(source: PrologText, start: int = 0) -> Iterator[Token]:
    """The tokens from a place on, comments and spaces left out."""
    text, at = source.text, start
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise source.refuse(at, _why_not(text, at))
        if match.lastgroup != "space":
            yield _token(source, match)
        at = match.end()


def _token(source: PrologText, match: re.Match[str]) -> Token:
    kind, text, at = match.lastgroup, match.group(), match.start()
    if kind in ("number", "radix"):
        return Token("number", text, at, _number(source, text, at))
    if kind == "character":
        return Token("number", text, at, ord(_unescaped(source, text[2:], at)[0]))
    if kind in ("var", "punct", "end"):
        return Token(kind, text, at)  # type: ignore[arg-type]
    name = text
    if kind == "quoted":
        name = _unescaped(source, text[1:-1].replace(text[0] * 2, text[0]), at)
    if source.text[match.end() : match.end() + 1] == "(":
        return Token("open", name, at, quoted=kind == "quoted")
    return Token("quoted" if kind == "quoted" else "atom", name, at)


def _number(source: PrologText, text: str, at: int) -> int | float:
    if text[:2] in ("0x", "0o", "0b"):
        value: int | float = int(text, 0) if len(text) < 80 else LARGEST + 1
    elif text.isdigit() or "_" in text:
        value = int(text.replace("_", "")) if len(text) < 80 else LARGEST + 1
    else:
        value = float(text)
    if isinstance(value, int) and value > LARGEST:
        raise source.refuse(at, f"number {text[:30]}{'...' if len(text) > 30 else ''} does not fit 64 bits")
    if isinstance(value, float) and value == float("inf"):
        raise source.refuse(at, f"number {text[:30]} is too large for a double")
    return value


def _unescaped(source: PrologText, text: str, at: int) -> str:
    def letter(match: re.Match[str]) -> str:
        code = match.group(1)
        if code == "\n":
            return ""
        if code[0] == "x" and len(code) > 1:
            return _character(int(code[1:].rstrip("\\"), 16) if len(code) < 12 else -1)
        if code[0].isdigit() and code.endswith("\\"):
            return _character(int(code[:-1], 8) if len(code) < 12 else -1)
        return _ESCAPES.get(code, code)

    def _character(code: int) -> str:
        if not 0 <= code < 0x110000 or 0xD800 <= code < 0xE000:
            raise source.refuse(at, "an escape in the quoted text names no character")
        return chr(code)

    return _ESCAPE.sub(letter, text) if "\\" in text else text


def _why_not(text: str, at: int) -> str:
    if text.startswith("/*", at):
        return "a comment that begins here never ends"
    if text[at] in "'\"":
        return "quoted text that begins here never ends"
    return f"character {text[at]!r} has no meaning here"
