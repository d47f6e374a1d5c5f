"""Parts of the space of attributes, written as `age>=60 and elevel==level2`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hornbeam.errors import UsageError

from .streams import Truths, Values

_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|==|!=|<|>)\s*([\w.+-]+)\s*")
_COMPARE: dict[str, Callable[[Values, float], Values]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_FORM = "ATTRIBUTE OP VALUE, joined by 'and', for instance 'age>=60 and elevel==level2'"


@dataclass(frozen=True)
class Region:
    """Where every condition (attribute, comparison, number or code of a label) holds."""

    conditions: tuple[tuple[str, str, float], ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _, _ in self.conditions))

    def covers(self, columns: Mapping[str, Values], count: int) -> Truths:
        inside = np.ones(count, dtype=np.bool_)
        for name, sign, bound in self.conditions:
            inside &= _COMPARE[sign](columns[name], bound)
        return inside


def parse_region(text: str, attributes: Mapping[str, tuple[str, ...]]) -> Region:
    """Read a region; `attributes` gives the labels of each attribute, none where it is numeric."""
    return Region(tuple(_condition(text, part, attributes) for part in re.split(r"\band\b", text)))


def _condition(text: str, part: str, attributes: Mapping[str, tuple[str, ...]]) -> tuple[str, str, float]:
    match = _CONDITION.fullmatch(part)
    if match is None:
        raise UsageError(f"region {text!r}: {part.strip()!r} is no condition; write {_FORM}")
    name, sign, value = match.groups()
    if name not in attributes:
        raise UsageError(
            f"region {text!r}: there is no attribute {name!r}; there are {', '.join(attributes)}"
        )
    labels = attributes[name]
    if not labels:
        return name, sign, _number(text, name, value)
    if sign not in ("==", "!="):
        raise UsageError(f"region {text!r}: {name!r} is nominal; only == and != are allowed there")
    if value not in labels:
        raise UsageError(
            f"region {text!r}: {name!r} has no label {value!r}; its labels are {', '.join(labels)}"
        )
    return name, sign, labels.index(value)


def _number(text: str, name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"region {text!r}: {name!r} is numeric and {value!r} is no number; write {_FORM}")
    return number
