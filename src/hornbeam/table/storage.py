"""Storage types: how an exact value is kept as a 64-bit code, and how a code reads as text."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hornbeam.errors import DataError

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1

# Ticks of a unit in a second; a date's tick is a day.
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Storage:
    """A parsed `Attribute.type`.

    Families: float, integer, unsigned, decimal, date, timestamp, time, duration, nominal.
    """

    family: str
    scale: int = 0
    unit: str = ""
    zone: str = ""

    @property
    def group(self) -> str:
        """Types of one group can be compared with each other exactly."""
        if self.family in ("float", "integer", "unsigned", "decimal"):
            return "number"
        if self.family in ("date", "timestamp"):
            return "date"
        return self.family

    @property
    def description(self) -> str:
        """What a person calls such values in an error."""
        return {
            "number": "numbers",
            "date": "dates",
            "time": "times",
            "duration": "durations",
            "nominal": "text",
        }[self.group]


_PLAIN = {
    "float64": Storage("float"),
    "int64": Storage("integer"),
    "uint64": Storage("unsigned"),
    "date": Storage("date"),
    "nominal": Storage("nominal"),
}


@lru_cache(maxsize=1024)
def parse_type(text: str) -> Storage:
    """The storage that an `Attribute.type` names; DataError for anything else."""
    if text in _PLAIN:
        return _PLAIN[text]
    family, _, parts = text.partition(":")
    if family == "decimal":
        return Storage("decimal", scale=_parse_scale(text, parts))
    unit, colon, zone = parts.partition(":")
    zoned = family == "timestamp" or not zone
    if unit in TICKS and family in ("timestamp", "time", "duration") and bool(zone) == bool(colon) and zoned:
        return Storage(family, unit=unit, zone=zone)
    raise _unknown(text)


def _parse_scale(text: str, scale: str) -> int:
    digits = scale.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 3 and str(int(scale)) == scale):
        raise _unknown(text)
    return int(scale)


def _unknown(text: str) -> DataError:
    return DataError(
        f"storage type {text[:60]!r} is unknown; known are float64, int64, uint64, decimal:SCALE, date, "
        "timestamp:UNIT[:ZONE], time:UNIT, duration:UNIT and nominal"
    )


def format_code(storage: Storage, code: int) -> str:
    """Exact text of an int64 code: digits, decimal digits, or ISO 8601 (timestamps with a zone in UTC)."""
    if storage.family == "integer":
        return str(code)
    if storage.family == "unsigned":
        return str(code - INT64_MIN)
    if storage.family == "decimal":
        return _format_decimal(code, storage.scale)
    if storage.family == "date":
        return _format_day(code)
    ticks = TICKS[storage.unit]
    if storage.family == "timestamp":
        day, since_midnight = divmod(code, ticks * SECONDS_A_DAY)
        return f"{_format_day(day)}T{_format_clock(since_midnight, ticks)}{'Z' if storage.zone else ''}"
    if storage.family == "time":
        return _format_clock(code, ticks)
    return _format_duration(code, ticks)


def _format_decimal(code: int, scale: int) -> str:
    if scale <= 0:
        return str(code * 10**-scale)
    whole, fraction = divmod(abs(code), 10**scale)
    return f"{'-' if code < 0 else ''}{whole}.{fraction:0{scale}d}"


def _format_day(day: int) -> str:
    # Python's calendar ends at year 9999, numpy's does not; beyond its range the number stays readable.
    return str(np.datetime64(day, "D")) if abs(day) < 2**40 else f"day {day}"


def _format_clock(ticks_of_day: int, ticks: int) -> str:
    seconds, fraction = divmod(ticks_of_day, ticks)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return text + (f".{fraction:0{len(str(ticks)) - 1}d}" if fraction else "")


def _format_duration(code: int, ticks: int) -> str:
    seconds, fraction = divmod(abs(code), ticks)
    day, within = divmod(seconds, SECONDS_A_DAY)
    tail = f".{fraction:0{len(str(ticks)) - 1}d}".rstrip("0") if fraction else ""
    clock = "".join(
        f"{count}{letter}" for count, letter in ((within // 3600, "H"), (within // 60 % 60, "M")) if count
    )
    if within % 60 or tail:
        clock += f"{within % 60}{tail}S"
    body = (f"{day}D" if day else "") + (f"T{clock}" if clock else "")
    return f"{'-' if code < 0 else ''}P{body or 'T0S'}"


def format_float(value: float) -> str:
    """Shortest text that reads back as the same double; integral values as an integer would be written."""
    if value.is_integer() and abs(value) < 2.0**64:
        return str(int(value))
    return repr(value)
