"""How each database writes names, texts, numbers and times, so that it reads exactly what the tree holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from hornbeam import arguments
from hornbeam.errors import UsageError
from hornbeam.table import Attribute
from hornbeam.table.schema import show_name
from hornbeam.table.storage import SECONDS_A_DAY, TICKS

BOOLEANS = frozenset(("false", "true"))


class Dialect:
    """What the three databases have in common; each subclass says where it differs."""

    name: ClassVar[str]
    title: ClassVar[str]
    quote: ClassVar[str] = '"'
    character: ClassVar[str] = "chr"
    # Characters beside the unprintable ones that are safer as numbers.
    escaped: ClassVar[str] = ""
    # CASE expressions that may stand inside each other.
    nesting: ClassVar[int] = 60

    def identifier(self, name: str) -> str:
        if not arguments.text("the name of a table or a column", name) or "\0" in name:
            what = "a null character" if name else "no character"
            raise UsageError(
                f"column {name!r}: {self.title} takes no name with {what}; rename it, or name it in columns="
            )
        return f"{self.quote}{name.replace(self.quote, 2 * self.quote)}{self.quote}"

    def text(self, value: str) -> str:
        """A text literal; what cannot be seen, or what a setting could change, stands as its code point."""
        parts: list[str] = []
        run = ""
        for character in value:
            if character.isprintable() and character not in self.escaped:
                run += "''" if character == "'" else character
                continue
            parts += [f"'{run}'"] if run else []
            parts.append(f"{self.character}({ord(character)})")
            run = ""
        parts += [f"'{run}'"] if run or not parts else []
        return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"

    def category(self, attribute: Attribute, label: str) -> tuple[str, ...]:
        """The literals that a column may have for a label; none where it can never have it."""
        return (self.text(label),)

    def subject(self, attribute: Attribute, column: str) -> str:
        """The column of a nominal attribute as it is compared with labels."""
        return column

    def real(self, value: float) -> str:
        raise TypeError(f"{type(self).__name__} writes no numbers")

    def is_nan(self, column: str) -> str | None:
        """The condition that a float is NaN, which is above every number; None where there is no NaN."""
        return None

    def label(self, label: bool | int | float | str) -> str:
        """A class label."""
        if isinstance(label, bool):
            return "TRUE" if label else "FALSE"
        if isinstance(label, str):
            return self.text(label)
        return self.real(label) if isinstance(label, float) else str(label)

    def bound(self, attribute: Attribute, bound: float | int, column: str) -> tuple[str, str]:
        """The two sides of `value <= bound`: the column, or what is made of it, and the literal."""
        if not attribute.is_integer:
            return column, self.real(bound + 0.0)  # adding 0.0 turns -0.0 into 0.0
        writers: dict[str, Callable[[Attribute, int, str], tuple[str, str]]] = {
            "integer": self.whole,
            "unsigned": self.whole,
            "decimal": self.decimal,
            "date": self.date,
            "timestamp": self.timestamp,
            "time": self.time,
            "duration": self.duration,
        }
        return writers[attribute.storage.family](attribute, int(bound), column)

    def whole(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        return column, str(attribute.decode(code))

    def decimal(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        return column, attribute.format(code)

    def date(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        raise self.refusal(attribute, code)

    timestamp = time = duration = date

    def clock(self, attribute: Attribute, code: int, digits: int) -> str:
        """A time of day; 24:00 is one."""
        ticks = rescaled(attribute, code, digits)
        if not 0 <= ticks <= SECONDS_A_DAY * 10**digits:
            raise self.refusal(attribute, code)
        return clock_text(ticks, digits)

    def microseconds(self, attribute: Attribute, code: int) -> int:
        ticks = rescaled(attribute, code, 6)
        if not -(2**63) < ticks < 2**63:
            raise self.refusal(attribute, code)
        return ticks

    def refusal(self, attribute: Attribute, code: int) -> UsageError:
        return UsageError(
            f"{show_name(attribute.name)}: {self.title} has no {attribute.type} value for the threshold "
            f"{attribute.format(code)}; convert the column before fit, or choose another dialect"
        )


class DuckDB(Dialect):
    """DuckDB takes a literal without exponent for a decimal, which loses digits and which FLOAT columns
    round."""

    name = "duckdb"
    title = "DuckDB"

    def real(self, value: float) -> str:
        if math.isinf(value):
            return f"'{'-' if value < 0 else ''}Infinity'::DOUBLE"
        return shown if "e" in (shown := repr(value)) else f"{shown}e0"

    def is_nan(self, column: str) -> str | None:
        return f"isnan({column})"

    def decimal(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        shown, scale = attribute.format(code), attribute.storage.scale
        if sum(map(str.isdigit, shown)) <= 38:
            return column, shown
        if scale > 38:
            raise self.refusal(attribute, code)
        return column, f"'{shown}'::DECIMAL(38, {scale})"

    def date(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        if abs(code) > 2**31 - 3:
            raise self.refusal(attribute, code)
        day, before_christ = calendar_day(code)
        return column, f"DATE '{day}{' (BC)' if before_christ else ''}'"

    def timestamp(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        storage = attribute.storage
        if storage.unit == "ns" and (storage.zone or abs(code) > 9_223_000_000 * 10**9):
            return self.nanoseconds(attribute, code, column)
        digits = 9 if storage.unit == "ns" else 6
        ticks = rescaled(attribute, code, digits)
        if digits == 6 and abs(ticks) > 9_223_372_022_400_000_000:
            raise self.refusal(attribute, code)
        date, before_christ, clock = moment(ticks, digits)
        kind = "TIMESTAMPTZ" if storage.zone else "TIMESTAMP_NS" if digits == 9 else "TIMESTAMP"
        era, zone = " (BC)" if before_christ else "", "+00" if storage.zone else ""
        return column, f"{kind} '{date}{era} {clock}{zone}'"

    def nanoseconds(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        """Types of this precision came late to DuckDB and compare with no other; the function takes all."""
        return f"epoch_ns({column})", f"{code} /* {attribute.format(code)} */"

    def time(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        if attribute.storage.unit == "ns":
            return self.nanoseconds(attribute, code, column)
        return column, f"TIME '{self.clock(attribute, code, 6)}'"

    def duration(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        return column, f"to_microseconds({self.microseconds(attribute, code)})"


class PostgreSQL(Dialect):
    """PostgreSQL keeps times in microseconds, so thresholds are rounded down to them. A setting of it gives
    \\ a meaning."""

    name = "postgresql"
    title = "PostgreSQL"
    escaped = "\\"
    # 4714-11-24 BC, 5874897-12-31 and 294276-12-31.
    first_day = -2_440_588
    last_day = 2_145_042_905
    last_timestamp_day = 106_762_939

    def real(self, value: float) -> str:
        if math.isinf(value):
            return f"'{'-' if value < 0 else ''}Infinity'::float8"
        return f"{value!r}::float8"

    def is_nan(self, column: str) -> str | None:
        return f"{column} = 'NaN'::float8"

    def category(self, attribute: Attribute, label: str) -> tuple[str, ...]:
        return () if "\0" in label else (self.text(label),)  # no text of PostgreSQL holds a null character

    def date(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        if not self.first_day <= code <= self.last_day:
            raise self.refusal(attribute, code)
        day, before_christ = calendar_day(code)
        return column, f"DATE '{day}{' BC' if before_christ else ''}'"

    def timestamp(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        ticks = rescaled(attribute, code, 6)
        if not self.first_day <= ticks // (SECONDS_A_DAY * 10**6) <= self.last_timestamp_day:
            raise self.refusal(attribute, code)
        date, before_christ, clock = moment(ticks, 6)
        kind, zone = ("TIMESTAMPTZ", "+00") if attribute.storage.zone else ("TIMESTAMP", "")
        return column, f"{kind} '{date} {clock}{zone}{' BC' if before_christ else ''}'"

    def time(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        return column, f"TIME '{self.clock(attribute, code, 6)}'"

    def duration(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        return column, f"INTERVAL '{self.microseconds(attribute, code)} microseconds'"


class SQLite(Dialect):
    """SQLite keeps booleans as 0 and 1, dates and times as ISO 8601 text with a space (zones in UTC), NaN as
    NULL.

    A name in double quotes that is no column would silently be a text, hence the other quotes. Numbers of
    many digits are read wrong by a unit in the last place, hence the arithmetic.
    """

    name = "sqlite"
    title = "SQLite"
    quote = "`"
    character = "char"
    # The parser of SQLite has a stack of 100 entries, enough for some fifteen.
    nesting = 8

    def category(self, attribute: Attribute, label: str) -> tuple[str, ...]:
        if not self.is_boolean(attribute):
            return (self.text(label),)
        return (self.text(label), "1" if label == "true" else "0")

    def subject(self, attribute: Attribute, column: str) -> str:
        """The + keeps a text column from reading 1 as '1'."""
        return f"+{column}" if self.is_boolean(attribute) else column

    def is_boolean(self, attribute: Attribute) -> bool:
        return bool(attribute.labels) and BOOLEANS.issuperset(attribute.labels)

    def real(self, value: float) -> str:
        if math.isinf(value):
            return f"{'-' if value < 0 else ''}9e999"
        return repr(value) if reads_back(value) else binary_text(value)

    def whole(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        if attribute.decode(code) >= 2**63:
            raise self.refusal(attribute, code)
        return column, str(attribute.decode(code))

    def decimal(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        """Decimals are kept there as the nearest double, which tells any two apart up to fifteen digits."""
        if abs(code) >= 10**15:
            raise self.refusal(attribute, code)
        return column, self.real(float(Fraction(code) / Fraction(10) ** attribute.storage.scale))

    def date(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        return column, f"'{self.day(attribute, code, code)}'"

    def timestamp(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        # Nine digits: then a text with fewer, or with +00:00 after them, sorts where its value does.
        day, ticks = divmod(rescaled(attribute, code, 9), SECONDS_A_DAY * 10**9)
        return column, f"'{self.day(attribute, code, day)} {clock_text(ticks, 9)}'"

    def time(self, attribute: Attribute, code: int, column: str) -> tuple[str, str]:
        return column, f"'{self.clock(attribute, code, 9)}'"

    def day(self, attribute: Attribute, code: int, day: int) -> str:
        shown, before_christ = calendar_day(day) if abs(day) < 2**31 else ("", True)
        if before_christ or len(shown) != len("0000-00-00"):
            raise self.refusal(attribute, code)
        return shown


DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (DuckDB(), PostgreSQL(), SQLite())}


def dialect_named(name: str) -> Dialect:
    if not isinstance(name, str) or name not in DIALECTS:
        raise UsageError(f"dialect {str(name)!r} is unknown; choose {', '.join(DIALECTS)}")
    return DIALECTS[name]


def rescaled(attribute: Attribute, code: int, digits: int) -> int:
    """The count of units of 10^-digits seconds, rounded down; for values in such units that loses nothing."""
    ticks: int = 10**digits
    return code * ticks // TICKS[attribute.storage.unit]


def calendar_day(day: int) -> tuple[str, bool]:
    """A day since 1970-01-01 as year-month-day, and whether the year is one before Christ."""
    shown = str(np.datetime64(day, "D"))
    year = int(shown[:-6])
    return f"{year if year > 0 else 1 - year:04d}{shown[-6:]}", year <= 0


def clock_text(ticks: int, digits: int) -> str:
    seconds, fraction = divmod(ticks, 10**digits)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:0{digits}d}"


def moment(ticks: int, digits: int) -> tuple[str, bool, str]:
    """Ticks since 1970-01-01 as day, whether before Christ, and time of day."""
    day, since_midnight = divmod(ticks, SECONDS_A_DAY * 10**digits)
    return *calendar_day(day), clock_text(since_midnight, digits)


def reads_back(value: float) -> bool:
    """Whether every SQLite reads the shortest decimal of a double as that double.

    With at most 15 digits and a power of ten up to 22 both are exact, and one division or product remains.
    Where that is rounded twice (long double, then double) it must not come near the middle of two doubles.
    """
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    if len(digits) > 15 or not isinstance(exponent, int) or abs(exponent) > 22:
        return False
    written = Fraction(Decimal(repr(value)))
    room = Fraction(math.ulp(value)) / 4 - abs(written - Fraction(value)) / 2
    return room >= abs(written) / 2**61


def binary_text(value: float) -> str:
    """A double as a product of integers that is exact at every step."""
    numerator, denominator = value.as_integer_ratio()
    halvings, doublings = denominator.bit_length() - 1, 0
    while abs(numerator) >= 2**53:
        numerator, doublings = numerator // 2, doublings + 1
    steps = [f"{numerator} * 1.0"]
    for sign, count in (("*", doublings), ("/", halvings)):
        steps += [f"{sign} {2 ** min(62, count - done)}" for done in range(0, count, 62)]
    return f"({' '.join(steps)})"
