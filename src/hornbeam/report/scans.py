"""The part of the page about a source: how often its rows were read, what was held, what memory it took."""

from __future__ import annotations

from hornbeam.boat.stats import SourceStats, seconds_text
from hornbeam.drawing.page import section, tag
from hornbeam.drawing.text import count_text, escape

_SAID = ("algorithm", "seconds")  # elsewhere in the section


def scans_section(stats: SourceStats) -> str:
    """What growing from the source took."""
    hint = f"Grown by the algorithm {stats.algorithm}: {stats.reason}."
    entries = [
        tag("dt", escape(name)) + tag("dd", escape(value))
        for name, value in stats.to_pairs(count_text)
        if name not in _SAID
    ]
    longest = max(stats.seconds.values(), default=0.0) or 1.0
    bars = [
        tag("div", escape(phase), class_="n")
        + tag("div", class_="b", style=f"width:{seconds / longest * 100:.1f}%")
        + tag("div", escape(seconds_text(seconds)), class_="v")
        for phase, seconds in stats.seconds.items()
    ]
    return section(
        "How the rows were read",
        hint,
        tag("dl", *entries, class_="meta"),
        tag("div", *bars, class_="bars"),
    )
