"""SVG primitives: elements as strings, one style sheet, one frame for every picture."""

from __future__ import annotations

from . import palette
from .text import escape, shorten

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
        f"{scope}{{{palette.variables(dark=False)}}}"
        f"@media (prefers-color-scheme:dark){{{scope}{{{palette.variables(dark=True)}}}}}"
        f"@media print{{{scope}{{{palette.variables(dark=False)}}}}}" + RULES
    )


def element(name: str, content: str = "", **attributes: object) -> str:
    """One element; attribute names use _ for -, class_ for class; content must already be escaped."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(str(value))


def label(
    x: float, y: float, text: str, room: float, size: float = 12, class_: str = "t", anchor: str | None = None
) -> str:
    """A line of text that never leaves its room; the whole text is its tooltip where it was shortened."""
    shown = shorten(text, room / size / (BOLD if class_ == "t" else 1.0))
    return text_line(x, y, shown, text, class_, anchor)


def text_line(x: float, y: float, shown: str, whole: str, class_: str, anchor: str | None = None) -> str:
    title = element("title", escape(whole)) if shown != whole else ""
    return element("text", title + escape(shown), x=x, y=y, class_=class_, text_anchor=anchor)


def frame(width: float, height: float, body: str, title: str, description: str, inline: bool) -> str:
    """The picture: scalable, described for those who do not see it; alone it carries its own style.

    Inside a page the page carries the style and the patterns once (`page_definitions`).
    """
    style = "" if inline else element("style", style_sheet(".hb")) + element("defs", palette.stripes())
    ground = "" if inline else element("rect", width="100%", height="100%", style="fill:var(--hb-card)")
    head = element("title", escape(title)) + element("desc", escape(description))
    return element(
        "svg",
        head + style + ground + body,
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
    defs = element("defs", palette.stripes())
    return element("svg", defs, width="0", height="0", style="position:absolute", aria_hidden="true")
