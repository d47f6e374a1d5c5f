"""Generated sets: one module a family, rows that depend on the seed and their number alone."""

from .make import FAMILIES, LINKED, find_family, find_linked, options_of

__all__ = ["FAMILIES", "LINKED", "find_family", "find_linked", "options_of"]
