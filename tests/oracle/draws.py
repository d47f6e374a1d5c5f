"""Random numbers that depend on their key alone: splitmix64's finish over 64-bit keys."""

from __future__ import annotations

from collections.abc import Sequence

BITS = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(key: int, x: int) -> int:
    """The key of the place x below a key."""
    z = (key + GOLDEN * (x + 1)) & BITS
    z ^= z >> 30
    z = (z * 0xBF58476D1CE4E5B9) & BITS
    z ^= z >> 27
    z = (z * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def unit(key: int) -> float:
    """A double from 0 to below 1."""
    return (key >> 11) * 2.0**-53


def draw(weights: Sequence[float], u: float) -> int:
    """The first place where the running sum passes u times the total; the last one if none does."""
    sums, running = [], 0.0
    for weight in weights:
        running = running + weight
        sums.append(running)
    x = u * running
    return next((i for i, reached in enumerate(sums) if reached > x), len(sums) - 1)
