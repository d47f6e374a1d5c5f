"""SVG: colours, the style sheet, elements as strings, labels, legends, and one frame for every picture.

The colours are apart for colour-blind readers and on grey paper (after Okabe and Ito), as CSS variables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .text import escape, shorten, width_em

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
    """The colour of a position between the smallest and the largest mean as a ground for text."""
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


FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif"

# Bold letters are about a tenth wider than the estimate of the regular face.
BOLD = 1.1

RULES = (
    ".hb text{font-family:" + FONT + ";fill:var(--hb-ink)}"
    ".hb .t{font-size:12px;font-weight:600}.hb .s{font-size:11px;fill:var(--hb-soft)}"
    ".hb .b{fill:var(--hb-card);stroke:var(--hb-line)}.hb .e{fill:none;stroke:var(--hb-line)}"
    ".hb .l{font-size:11px;fill:var(--hb-soft);paint-order:stroke;stroke:var(--hb-card)}"
    ".hb .l{stroke-width:4px;stroke-linejoin:round}"
    ".hb .m{fill:none;stroke:var(--hb-soft);stroke-dasharray:2 3}"
    ".hb .k{fill:var(--hb-ground)}"
    ".hb .on>.b{stroke:var(--hb-ink);stroke-width:2px}.hb .e.on{stroke:var(--hb-accent)}"
    ".hb rect.on{stroke:var(--hb-ink);stroke-width:1.5px}"
)


def style_sheet(scope: str = ":root") -> str:
    """Variables for light and dark readers, and the rules of the pictures."""
    return (
        f"{scope}{{{variables(dark=False)}}}"
        f"@media (prefers-color-scheme:dark){{{scope}{{{variables(dark=True)}}}}}"
        f"@media print{{{scope}{{{variables(dark=False)}}}}}" + RULES
    )


def element(name: str, *content: str, **attributes: object) -> str:
    """One element; content must already be escaped, and an element without any closes itself."""
    inside = "".join(content)
    return f"<{name}{attributes_text(attributes)}" + (f">{inside}</{name}>" if inside else "/>")


def attributes_text(attributes: Mapping[str, object]) -> str:
    """Attributes as they are written: _ for -, class_ for class; True has no value, None and False are left
    out."""
    return "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{_value(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(str(value))


def rect(
    x: float,
    y: float,
    width: float,
    height: float,
    rx: float | None = None,
    *,
    fill: str = "",
    **look: object,
) -> str:
    """A rectangle, painted with a fill or as `look` says."""
    painted = {"style": f"fill:{fill}"} if fill else {}
    return element("rect", x=x, y=y, width=width, height=height, rx=rx, **painted, **look)


def path(d: str, **look: object) -> str:
    return element("path", d=d, **look)


def tooltip(text: str) -> str:
    return element("title", escape(text))


def circle(x: float, y: float, r: float, style: str, text: str = "") -> str:
    """A circle, and what it says where it is pointed at."""
    return element("circle", tooltip(text) if text else "", cx=x, cy=y, r=r, style=style)


def label(
    x: float, y: float, text: str, room: float, size: float = 12, class_: str = "t", anchor: str | None = None
) -> str:
    """A line of text that never leaves its room; the whole text is its tooltip where it was shortened."""
    shown = shorten(text, room / size / (BOLD if class_ == "t" else 1.0))
    return text_line(x, y, shown, text, class_, anchor)


def text_line(x: float, y: float, shown: str, whole: str, class_: str, anchor: str | None = None) -> str:
    title = tooltip(whole) if shown != whole else ""
    return element("text", title + escape(shown), x=x, y=y, class_=class_, text_anchor=anchor)


def frame(width: float, height: float, body: str, title: str, description: str, inline: bool) -> str:
    """The picture: scalable, described for those who do not see it; alone it carries its own style.

    Inside a page the page carries the style and the patterns once (`page_definitions`).
    """
    style = "" if inline else element("style", style_sheet(".hb")) + element("defs", stripes())
    background = "" if inline else element("rect", width="100%", height="100%", style="fill:var(--hb-card)")
    head = tooltip(title) + element("desc", escape(description))
    return element(
        "svg",
        head + style + background + body,
        xmlns="http://www.w3.org/2000/svg",
        class_="hb",
        role="img",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        # In a page it may shrink a little to fit; below that its frame scrolls.
        style=f"min-width:{0.78 * width:.0f}px" if inline else None,
    )


def page_definitions() -> str:
    """The patterns for a page whose pictures are inline; zero-sized, since hidden patterns do not paint."""
    defs = element("defs", stripes())
    return element("svg", defs, width="0", height="0", style="position:absolute", aria_hidden="true")


def swatch(
    x: float, y: float, text: str, fill: str, *, small: bool = False, most: float = math.inf
) -> tuple[str, float]:
    """One entry of a legend, a colour and what it means, and where the next one begins; without a fill an
    empty box. The text is on the line y and takes up to `most`."""
    side, up, rx, gap, after, size = (10, 9, 1.5, 15, 12, 11) if small else (12, 10, 3, 18, 16, 12)
    room = min(width_em(text) * size + 4, most)
    box = rect(x, y - up, side, side, rx, fill=fill, class_=None if fill else "b")
    return box + label(x + gap, y, text, room, size, "s"), x + gap + room + after


def step_scale(x: float, y: float, step: float, height: float) -> str:
    """The colours from the smallest to the largest share, side by side."""
    fills = [step_fill(i / (N_STEPS - 1)) for i in range(N_STEPS)]
    return "".join(rect(x + step * i, y, step + 0.5, height, fill=fill) for i, fill in enumerate(fills))
