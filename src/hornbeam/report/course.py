"""The part of the page about a search that improved the tree: why it ended, and the curve over time."""

from __future__ import annotations

from hornbeam.anytime.course import SearchCourse
from hornbeam.anytime.states import SearchState
from hornbeam.drawing.page import section, tag
from hornbeam.drawing.text import count_text, escape


def course_section(course: SearchCourse) -> str:
    """What was found by when."""
    first, last = course.states[0], course.last
    what = "the fewest leaves" if course.objective == "size" else "the fewest expected errors"
    rebuilt = f"{count_text(last.iteration)} subtrees were rebuilt in {last.elapsed:.1f} seconds"
    hint = f"A search for {what}: {rebuilt}."
    said = [
        ("Found:", f"{_size(last.leaves)} instead of {_size(first.leaves)}, {_errors(first, last)}."),
        ("Ended because", f"{course.why}."),
    ]
    sentences = [tag("p", tag("b", escape(name)), " ", escape(text), class_="said") for name, text in said]
    curve = tag("div", course.to_svg(inline=True), class_="scroll")
    return section("How this tree was improved", hint, *sentences, curve, class_="long")


def _size(leaves: int) -> str:
    return "1 leaf" if leaves == 1 else f"{count_text(leaves)} leaves"


def _errors(first: SearchState, last: SearchState) -> str:
    return f"{last.expected_error:.1f} expected errors instead of {first.expected_error:.1f}"
