"""How far tests look that Hypothesis does not draw: at some cases, or in the deep profile at all of them."""

from __future__ import annotations

import os

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"


def spread(count: int, most: int) -> list[int]:
    """Numbers from 1 to a count: all of them, or so many with the first and the last."""
    if DEEP or count <= most:
        return list(range(1, count + 1))
    return sorted({round(1 + i * (count - 1) / (most - 1)) for i in range(most)})


def seeds(first: int, some: int, all_: int) -> range:
    """Seeds from a first one on."""
    return range(first, first + (all_ if DEEP else some))
