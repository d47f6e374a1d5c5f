"""The schema of a table: what each attribute is called, how its values are kept, which labels it has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from hornbeam.errors import DataError
from hornbeam.table.storage import INT64_MAX, INT64_MIN, Storage, format_code, format_float, parse_type

MAX_ROWS = 2**31 - 1
MAX_COLUMNS = 2**16
MAX_CATEGORIES = 10**6

Kind = Literal["numeric", "nominal"]


def show_name(name: str) -> str:
    """`attribute 'age'`, on one line and of bounded length whatever the name contains."""
    return f"attribute {name if len(name) <= 80 else name[:77] + '...'!r}"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a schema. `labels` (nominal only) are sorted by their UTF-8 bytes; code i is labels[i]."""

    name: str
    kind: Kind
    type: str
    labels: tuple[str, ...] = ()

    @property
    def storage(self) -> Storage:
        return parse_type(self.type)

    @property
    def is_integer(self) -> bool:
        """Whether values are int64 codes: every numeric type but float64."""
        return self.kind == "numeric" and self.type != "float64"

    def decode(self, code: int) -> int:
        """The exact integer a code stands for: the value itself, or ticks, days or scaled units."""
        if not self.is_integer:
            raise DataError(f"{show_name(self.name)}: a {self.type} attribute has no integer codes to decode")
        return code - INT64_MIN if self.type == "uint64" else code

    def encode(self, value: int) -> int:
        """The inverse of `decode`; DataError where the value has no code."""
        if not self.is_integer:
            raise DataError(f"{show_name(self.name)}: a {self.type} attribute has no integer codes to encode")
        code = value + INT64_MIN if self.type == "uint64" else value
        if not INT64_MIN <= code <= INT64_MAX:
            raise DataError(f"{show_name(self.name)}: {value} is outside the range of {self.type}")
        return code

    def format(self, value: int | float) -> str:
        """Exact text of a float value, of an integer code, or of a nominal code (its label)."""
        if self.kind == "nominal":
            return self.labels[int(value)]
        if self.type == "float64":
            return format_float(float(value))
        return format_code(self.storage, int(value))

    def to_json(self) -> dict[str, Any]:
        """A plain dict; labels only where the attribute is nominal."""
        plain: dict[str, Any] = {"name": self.name, "kind": self.kind, "type": self.type}
        if self.kind == "nominal":
            plain["labels"] = list(self.labels)
        return plain

    @classmethod
    def from_json(cls, content: object) -> "Attribute":
        """Exactly what `to_json` gives, and nothing else."""
        plain = _dict(content, "attribute")
        kind = plain.get("kind")
        wanted = {"name", "kind", "type"} | ({"labels"} if kind == "nominal" else set())
        if set(plain) != wanted:
            raise _bad(f"an attribute has keys {sorted(map(str, plain))[:8]}, expected {sorted(wanted)}")
        name, type_ = plain["name"], plain["type"]
        if not isinstance(name, str) or not is_unicode(name):
            raise _bad("an attribute's name is not valid text")
        if not isinstance(type_, str) or kind not in ("numeric", "nominal"):
            raise _bad(f"{show_name(name)} has a kind or type that is not known")
        if (kind == "nominal") != (parse_type(type_).family == "nominal"):
            raise _bad(f"{show_name(name)} is {kind} but of type {type_}")
        labels = _labels(plain["labels"], name) if kind == "nominal" else ()
        return cls(name, kind, type_, labels)


@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes in order. `named` is False where the data had no names: then only positions count."""

    attributes: tuple[Attribute, ...]
    named: bool = True
    _index: dict[str, int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        index = {attribute.name: i for i, attribute in enumerate(self.attributes)}
        if len(index) != len(self.attributes):
            raise duplicate_names([attribute.name for attribute in self.attributes])
        object.__setattr__(self, "_index", index)

    def __len__(self) -> int:
        return len(self.attributes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._index)

    def index(self, name: str) -> int:
        """Position of the attribute of that name."""
        if name not in self._index:
            raise DataError(f"{show_name(name)} is not in the schema; known are {list_names(self.names)}")
        return self._index[name]

    def to_json(self) -> dict[str, Any]:
        """A plain dict that `from_json` turns back into an equal schema."""
        return {"named": self.named, "attributes": [attribute.to_json() for attribute in self.attributes]}

    @classmethod
    def from_json(cls, content: object) -> "Schema":
        """Exactly what `to_json` gives; DataError, on one line, for anything else."""
        plain = _dict(content, "schema")
        if set(plain) != {"named", "attributes"}:
            raise _bad(f"it has keys {sorted(map(str, plain))[:8]}, expected ['attributes', 'named']")
        attributes, named = plain["attributes"], plain["named"]
        if not isinstance(named, bool) or not isinstance(attributes, list):
            raise _bad("'named' must be true or false and 'attributes' a list")
        if len(attributes) > MAX_COLUMNS:
            raise _bad(f"it has {len(attributes)} attributes, at most {MAX_COLUMNS} are allowed")
        return cls(tuple(Attribute.from_json(attribute) for attribute in attributes), named)


def list_names(names: tuple[str, ...] | list[str], most: int = 8) -> str:
    """The first few names, quoted, for an error."""
    texts = map(str, names[:most])
    shown = ", ".join(repr(name if len(name) <= 80 else name[:77] + "...") for name in texts)
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown or "none"


def duplicate_names(names: list[str]) -> DataError:
    """The error that names the columns that share a name."""
    seen: set[str] = set()
    twice = dict.fromkeys(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return DataError(
        f"column names must be unique; given more than once: {list_names(list(twice))}; rename them"
    )


def is_unicode(text: str) -> bool:
    """Whether the text has UTF-8 bytes at all: a lone surrogate has none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _labels(content: object, name: str) -> tuple[str, ...]:
    if not isinstance(content, list) or not all(isinstance(label, str) for label in content):
        raise _bad(f"the labels of {show_name(name)} are not a list of text")
    if len(content) > MAX_CATEGORIES:
        raise _bad(f"{show_name(name)} has {len(content)} labels, at most {MAX_CATEGORIES} are allowed")
    if not is_unicode("".join(content)):
        raise _bad(f"a label of {show_name(name)} is not valid text")
    # Code point order is the order of the UTF-8 bytes.
    if any(a >= b for a, b in pairwise(content)):
        raise _bad(f"the labels of {show_name(name)} are not in strictly ascending order")
    return tuple(content)


def _dict(content: object, what: str) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise _bad(f"the {what} is a {type(content).__name__}, expected an object")
    return content


def _bad(why: str) -> DataError:
    return DataError(f"stored schema refused: {why}; the file is corrupt or not a Hornbeam schema")
