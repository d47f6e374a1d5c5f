"""Colours apart for colour-blind readers and on grey paper (after Okabe and Ito), as CSS variables."""

from __future__ import annotations

# Neighbours differ in lightness as well as in hue: the first two are safe in black and white.
_LIGHT = ("#1b6ca8", "#eda024", "#14916c", "#c76b9f", "#63b7e6", "#c8501e", "#7a5cad", "#8c8c4a")
_DARK = ("#4f9fdc", "#f2b04a", "#35b890", "#dd8fbb", "#8fd0f2", "#e6743f", "#a48bd6", "#b5b56c")
N_HUES = len(_LIGHT)
# A second round of the same hues is striped; classes beyond both rounds share one grey.
N_DISTINCT = 2 * N_HUES

_LOW, _HIGH = (0xB9, 0xD5, 0xE9), (0x0E, 0x3F, 0x6E)
_LOW_DARK, _HIGH_DARK = (0x30, 0x4E, 0x6C), (0x9F, 0xD3, 0xFA)

_NAMES = {
    "ink": ("#1d2530", "#e8ecf1"),
    "soft": ("#5a6675", "#a5b0bd"),
    "line": ("#c9d1da", "#3c4754"),
    "card": ("#ffffff", "#1c232c"),
    "ground": ("#f6f7f9", "#12171d"),
    "other": ("#9aa3ad", "#76818d"),
    "accent": ("#14916c", "#35b890"),
}


def variables(dark: bool) -> str:
    """The declarations of every colour variable for one mode."""
    side = 1 if dark else 0
    names = "".join(f"--hb-{name}:{values[side]};" for name, values in _NAMES.items())
    hues = "".join(f"--hb-c{i}:{colour};" for i, colour in enumerate(_DARK if dark else _LIGHT))
    low, high = (_LOW_DARK, _HIGH_DARK) if dark else (_LOW, _HIGH)
    steps = "".join(f"--hb-s{i}:{_mix(low, high, i / (N_STEPS - 1))};" for i in range(N_STEPS))
    return names + hues + steps


N_STEPS = 9


def _mix(low: tuple[int, int, int], high: tuple[int, int, int], share: float) -> str:
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high, strict=True))


def class_fill(index: int, rank: int | None = None) -> str:
    """The fill of a class: a solid hue, then the same hues striped, then grey."""
    place = index if rank is None else rank
    if place < N_HUES:
        return f"var(--hb-c{place})"
    if place < N_DISTINCT:
        return f"url(#hb-stripe-{place - N_HUES})"
    return "var(--hb-other)"


def pale_class(rank: int) -> str:
    """The colour of a class as a ground for text, where there are no variables and no patterns."""
    colour = _LIGHT[rank] if rank < N_HUES else _NAMES["other"][0]
    return _pale(colour, 0.55 if rank < N_HUES else 0.7)


def pale_step(share: float) -> str:
    """The same for a position between the smallest and the largest mean."""
    return _pale(_mix(_LOW, _HIGH, min(1.0, max(0.0, share))), 0.45)


def _pale(colour: str, share: float) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return _mix((red, green, blue), (255, 255, 255), share)


def step_fill(share: float) -> str:
    """The fill of a position between the smallest (0) and the largest (1) mean."""
    return f"var(--hb-s{min(N_STEPS - 1, max(0, round(share * (N_STEPS - 1))))})"


def stripes() -> str:
    """The pattern definitions of the second round of hues."""
    return "".join(
        f'<pattern id="hb-stripe-{i}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect width="6" height="6" style="fill:var(--hb-c{i})"/>'
        f'<rect width="2.5" height="6" style="fill:var(--hb-card)" opacity=".75"/></pattern>'
        for i in range(N_HUES)
    )
