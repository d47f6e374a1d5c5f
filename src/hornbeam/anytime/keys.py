"""Keys: the place of a draw in the search. What is drawn depends on its key alone, never on the way there."""

from __future__ import annotations

_BITS = 2**64 - 1


def mix(key: int, x: int) -> int:
    """The key of the place x below a key: splitmix64's last steps, modulo 2^64."""
    z = (key + 0x9E3779B97F4A7C15 * (x + 1)) & _BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _BITS
    return z ^ (z >> 31)


def seed_key(seed: int) -> int:
    """The key of a whole search."""
    return mix(seed & _BITS, 0)


def iteration_key(seed: int, iteration: int) -> int:
    """The key of a rebuild."""
    return mix(mix(seed_key(seed), 1), iteration)


def fold_key(seed: int, iteration: int, fold: int) -> int:
    """The key of what a referee grows to judge a rebuild."""
    return mix(mix(mix(seed_key(seed), 2), iteration), fold)
