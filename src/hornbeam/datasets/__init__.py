"""Data sets by name, and generated ones: one table as a `Dataset`, linked tables as a `LinkedSet`."""

from .dataset import Dataset
from .generators.linked import LinkedSet
from .generators.make import (
    generate,
    make_agrawal,
    make_balance,
    make_bongard,
    make_instability,
    make_led,
    make_monks,
    make_multiplex_xor,
    make_multiplexer,
    make_numeric_xor,
    make_tictactoe,
    make_trains,
    make_xor,
)
from .loading import load, load_openml, names

__all__ = [
    "Dataset",
    "LinkedSet",
    "generate",
    "load",
    "load_openml",
    "make_agrawal",
    "make_balance",
    "make_bongard",
    "make_instability",
    "make_led",
    "make_monks",
    "make_multiplex_xor",
    "make_multiplexer",
    "make_numeric_xor",
    "make_tictactoe",
    "make_trains",
    "make_xor",
    "names",
]
