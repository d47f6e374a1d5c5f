"""The folds at a node as cells of a bar, their thresholds as marks on a scale, and what the colours mean."""

from __future__ import annotations

from . import palette
from .agreement import Agreement, Mark, StabilityPicture, folds_text
from .places import MARGIN
from .svg import element, label
from .text import width_em

BAR = 9.0
_MOST_CELLS = 25  # folds drawn one by one; more are a continuous bar
_KINDS = (
    ("same", "var(--hb-c0)", "same test or leaf"),
    ("astray", "var(--hb-c3)", "same leaf, other answer"),
    ("others", "var(--hb-c1)", "asks something else"),
    ("leaves", "var(--hb-other)", "stops here"),
    ("gone", "", "parted above"),
)


def agreement_fill(share: float) -> str:
    """From pale (no fold) to dark (every fold): a scale of one hue, so it holds on grey paper too."""
    return palette.step_fill(share)


def draw_folds(agreement: Agreement, x: float, y: float, width: float) -> str:
    """A cell for each fold while there are few, else stretches; folds that parted above are empty."""
    counts = counts_of(agreement)
    few = agreement.folds <= _MOST_CELLS
    step = width / agreement.folds
    parts, at = [], 0
    for name, fill, _ in _KINDS:
        many, width_each = (counts[name], 1) if few else (min(counts[name], 1), counts[name])
        look = {"style": f"fill:{fill}"} if fill else {"class_": "b"}
        for _ in range(many):
            wide = max(step * width_each - (1.2 if few else 0.0), 0.6)
            parts.append(element("rect", x=x + at * step, y=y, width=wide, height=BAR, rx=1.5, **look))
            at += width_each
    return "".join(parts)


def counts_of(agreement: Agreement) -> dict[str, int]:
    """Folds by what they do; those that end at the same leaf with another answer on their own."""
    return {
        "same": agreement.same - agreement.astray,
        "astray": agreement.astray,
        "others": agreement.others,
        "leaves": agreement.leaves,
        "gone": agreement.gone,
    }


def draw_mark(mark: Mark, x: float, y: float, width: float) -> str:
    """Centred on y."""
    inner = width - 6

    def at(share: float) -> float:
        return x + 3 + inner * share

    low, high = at(mark.low), at(mark.high)
    parts = [
        element("path", d=f"M{x:.1f} {y:.1f}h{width:.1f}", class_="e"),
        element(
            "rect",
            x=low - 1,
            y=y - 4,
            width=high - low + 2,
            height=8,
            rx=2,
            style="fill:var(--hb-c0)",
            fill_opacity=0.3,
        ),
    ]
    ticks = "".join(f"M{at(tick):.1f} {y - 4:.1f}v8" for tick in mark.ticks)
    parts.append(element("path", d=ticks or "M0 0", style="stroke:var(--hb-c0)", stroke_width=1.2))
    parts.append(element("circle", cx=at(mark.own), cy=y, r=3.2, style="fill:var(--hb-ink)"))
    return "".join(parts)


def draw_legend(stability: StabilityPicture, width: float) -> str:
    """What the cells mean, those that occur; then the scale of the stripe, where there is room."""
    seen = [counts_of(agreement) for agreement in stability.agreements]
    parts, x = [], MARGIN
    for name, fill, text in _KINDS:
        if not any(counts[name] for counts in seen):
            continue
        look = {"style": f"fill:{fill}"} if fill else {"class_": "b"}
        parts.append(element("rect", x=x, y=17, width=10, height=10, rx=1.5, **look))
        room = width_em(text) * 11 + 4
        parts.append(label(x + 15, 26, text, room, 11, "s"))
        x += 15 + room + 12
    wide = 62.0 + 11 * palette.N_STEPS + width_em(folds_text(stability.folds)) * 11
    if x + wide <= width - MARGIN:
        parts.append(_scale(stability.folds, width - MARGIN - wide))
    return "".join(parts)


def _scale(folds: int, x: float) -> str:
    step = 11.0
    blocks = "".join(
        element(
            "rect",
            x=x + 50 + step * i,
            y=17,
            width=step + 0.5,
            height=10,
            style=f"fill:{agreement_fill(i / (palette.N_STEPS - 1))}",
        )
        for i in range(palette.N_STEPS)
    )
    left = label(x + 44, 26, "no fold", 60, 11, "s", "end")
    right = label(x + 50 + step * palette.N_STEPS + 6, 26, folds_text(folds), 90, 11, "s")
    return left + blocks + right
