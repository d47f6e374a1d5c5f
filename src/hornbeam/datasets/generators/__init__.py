"""Generated sets: one module a family, rows that depend on the seed and their number alone."""

from .family import CHUNK_ROWS, CLASS, Family, RowsHash, batches, count_rows
from .make import (
    make_agrawal,
    make_instability,
    make_led,
    make_monks,
    make_multiplexer,
    make_numeric_xor,
    make_tictactoe,
    make_xor,
)
from .registry import FAMILIES, find_family, generate, options_of

__all__ = [
    "CHUNK_ROWS",
    "CLASS",
    "FAMILIES",
    "Family",
    "RowsHash",
    "batches",
    "count_rows",
    "find_family",
    "generate",
    "make_agrawal",
    "make_instability",
    "make_led",
    "make_monks",
    "make_multiplexer",
    "make_numeric_xor",
    "make_tictactoe",
    "make_xor",
    "options_of",
]
