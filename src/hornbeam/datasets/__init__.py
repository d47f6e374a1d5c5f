"""Data sets by name, and generated ones: every one as a `Dataset`."""

from .dataset import Dataset
from .generators import (
    generate,
    make_agrawal,
    make_instability,
    make_led,
    make_monks,
    make_multiplexer,
    make_numeric_xor,
    make_tictactoe,
    make_xor,
)
from .loading import load, names
from .openml import load_openml

__all__ = [
    "Dataset",
    "generate",
    "load",
    "load_openml",
    "make_agrawal",
    "make_instability",
    "make_led",
    "make_monks",
    "make_multiplexer",
    "make_numeric_xor",
    "make_tictactoe",
    "make_xor",
    "names",
]
