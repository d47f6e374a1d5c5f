"""Generated sets: one module a family, rows that depend on the seed and their number alone."""

from .family import CHUNK_ROWS, CLASS, Family, RowsHash, batches, count_rows
from .linked import LinkedFamily, LinkedSet, TablesHash, count_examples, csv_bytes, pieces
from .make import (
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
from .registry import FAMILIES, LINKED, find_family, find_linked, generate, options_of

__all__ = [
    "CHUNK_ROWS",
    "CLASS",
    "FAMILIES",
    "LINKED",
    "Family",
    "LinkedFamily",
    "LinkedSet",
    "RowsHash",
    "TablesHash",
    "batches",
    "count_examples",
    "count_rows",
    "csv_bytes",
    "find_family",
    "find_linked",
    "generate",
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
    "options_of",
    "pieces",
]
