"""Text that is safe and fits: escaping of hostile names, width estimates, shortening, numbers."""

from __future__ import annotations

import math
import unicodedata
from html import escape as _escape

ELLIPSIS = "…"
_NARROW = frozenset("iljtfrI.,:;|!'`()[]{}/\\ -")
_WIDE = frozenset("mwMW@%&—…≤≥")


def clean(text: str) -> str:
    """Replace what no document may carry: control characters, lone surrogates, direction overrides."""
    return "".join(" " if c in "\n\r\t\u2028\u2029" else "\ufffd" if _is_unsafe(c) else c for c in text)


def _is_unsafe(character: str) -> bool:
    category = unicodedata.category(character)
    return (
        category in ("Cc", "Cs", "Co", "Cn")
        or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
    )


def escape(text: str) -> str:
    """Text for element content and double-quoted attributes of SVG and HTML."""
    return _escape(clean(text), quote=True)


def width_em(text: str) -> float:
    """Width in em, estimated from above for the widest common interface font (DejaVu Sans)."""
    # Not sum, which rounds otherwise from Python 3.12 on: a picture is the same everywhere.
    return math.fsum(map(_character_width, text))


def _character_width(character: str) -> float:
    if character in _NARROW:
        return 0.39
    if character in _WIDE:
        return 1.0
    if "a" <= character <= "z":
        return 0.62
    if "0" <= character <= "9":
        return 0.64
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return 1.3 if ord(character) > 0xFFFF else 1.05
    return 0.78 if ord(character) < 0x2000 else 1.0


def shorten(text: str, room_em: float) -> str:
    """The text itself where it fits into the room, else its beginning and an ellipsis."""
    text = clean(text)
    if width_em(text) <= room_em:
        return text
    return _fitting(text, room_em - width_em(ELLIPSIS)).rstrip(" ,") + ELLIPSIS


def _fitting(text: str, room: float) -> str:
    """The beginning of a text, as far as the room goes."""
    kept: list[str] = []
    for character in text:
        room -= _character_width(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept)


def shorten_middle(text: str, room_em: float) -> str:
    """The text itself where it fits, else its beginning and its end: names often differ only there."""
    text = clean(text)
    if width_em(text) <= room_em:
        return text
    half = (room_em - width_em(ELLIPSIS)) / 2
    head, tail = _fitting(text, half), _fitting(text[::-1], half)[::-1]
    while tail and unicodedata.combining(tail[0]):
        tail = tail[1:]
    return head.rstrip() + ELLIPSIS + tail.lstrip()


def shorten_test(name: str, condition: str, room_em: float) -> str:
    """A question on one line, shortened in its attribute name first, so that the threshold stays readable."""
    after = clean(f" {condition}") if condition else ""
    if width_em(clean(name) + after) <= room_em:
        return clean(name) + after
    if width_em(after) <= room_em * 0.6:
        return shorten_middle(name, room_em - width_em(after)) + after
    kept = shorten_middle(name, room_em * 0.45)
    return kept + shorten(after, room_em - width_em(kept))


def count_text(value: float) -> str:
    """A count for people: thin groups of three, no decimals where it is whole."""
    if value == int(value):
        return f"{int(value):,}".replace(",", "\u202f")
    return number_text(value)


def number_text(value: float, digits: int = 4) -> str:
    """A measure for people: four significant digits, no exponent for everyday sizes."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e7:
        magnitude = len(str(int(abs(value)))) if abs(value) >= 1 else 0
        text = f"{value:.{max(0, digits - magnitude)}f}" if abs(value) >= 1 else f"{value:.{digits}g}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.{digits - 1}e}"


def percent_text(share: float) -> str:
    """A share in percent; only a true 0 or 1 is shown as 0 or 100."""
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", "\u202f%")
    percent = share * 100
    if percent < 0.1:
        return "<0.1\u202f%"
    if percent > 99.9:
        return ">99.9\u202f%"
    return (f"{percent:.0f}" if 1 <= percent < 99 else f"{percent:.1f}") + "\u202f%"
