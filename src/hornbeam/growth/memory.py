"""What growing several sets needs of memory: estimated from above beforehand, and kept within a limit."""

from __future__ import annotations

import math
import numbers
import re
from typing import TYPE_CHECKING, Any

from hornbeam.arguments import is_number, refuse
from hornbeam.errors import DataError
from hornbeam.growth.grow import ClassTarget, Target
from hornbeam.growth.parameters import Parameters
from hornbeam.model import Tree
from hornbeam.table import Table

if TYPE_CHECKING:
    from hornbeam.growth.prune import Pair

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_TEXT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]*)\s*")

KEPT_TREES = 2**30  # bytes of trees that a forest keeps where no limit is given; others are grown again

# Bytes of a cell, a row and a node; docs/cross-validation.md tells what they stand for.
_CELL, _CELL_OF_SET, _ROW, _ROW_OF_SET, _NODE, _COUNT = 32, 8, 48, 4, 320, 24


def bytes_of(limit: Any) -> int | None:
    """A memory limit as bytes: a number of them, or a text such as "500MB" or "2GiB"; None is no limit."""
    if limit is None:
        return None
    if is_number(limit, numbers.Real) and 0 < limit < math.inf:
        return int(limit)
    found = _TEXT.fullmatch(limit) if isinstance(limit, str) else None
    if found is None or found[2].upper() not in _UNITS or float(found[1]) == 0:
        refuse("memory_limit", limit, "give a number of bytes, or a text such as '500MB' or '2GiB'")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def text_of(size: float) -> str:
    """A number of bytes for people."""
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}"
    return f"{size:.0f} bytes"


class MemoryPlan:
    """How many sets may grow together, and which trees may stay, within a limit. DataError where not even the
    trees of one set, which has one for each of so many settings, are sure to fit."""

    def __init__(
        self, table: Table, target: Target, parameters: Parameters, limit: int | None, settings: int = 1
    ) -> None:
        self.limited, self.full = limit is not None, False
        self._kept, self._per_set, self._room = 0, 0, KEPT_TREES
        if limit is None:
            return
        nominal = any(column.kind == "nominal" for column in table.columns)
        answers = min(len(target.labels), 8) if isinstance(target, ClassTarget) else len(target.names)
        size = table.n_rows, len(table.columns), answers
        fixed, self._per_set = _bytes_needed(*size, parameters, nominal, settings)
        if fixed + self._per_set > limit:
            raise DataError(
                f"memory_limit={text_of(limit)}: a tree of this table may need "
                f"{text_of(fixed + self._per_set)}; allow as much, or limit the tree by min_samples_leaf or "
                "max_depth",
                named=("memory_limit", "min_samples_leaf", "max_depth"),
            )
        self._room = limit - fixed

    def width(self, most: int) -> int:
        """How many sets may grow together now."""
        if not self.limited:
            return most
        return max(1, min(most, (self._room - self._kept) // self._per_set))

    def take(self, pair: Pair) -> bool:
        """Whether both trees may stay; from the first that may not, none does."""
        size = tree_bytes(pair.tree) + (0 if pair.tree is pair.unpruned else tree_bytes(pair.unpruned))
        self.full = self.full or self._kept + size > self._room - self._per_set
        if not self.full:
            self._kept += size
        return not self.full


def memory_needed(rows: int, columns: int, answers: int, parameters: Parameters, nominal: bool = True) -> int:
    """Bytes that a tree of such a table may need beside the table; `answers` are its classes, up to 8, or
    targets, and `nominal` tells whether it may have nominal columns."""
    return sum(_bytes_needed(rows, columns, answers, parameters, nominal))


def _bytes_needed(
    rows: int, columns: int, answers: int, parameters: Parameters, nominal: bool, settings: int = 1
) -> tuple[int, int]:
    """(bytes of the table, bytes of the trees of one training set)."""
    leaves = max(1, rows // least_rows(parameters.min_samples_leaf, rows))
    binary = parameters.nominal != "multiway" or not nominal
    if binary and parameters.max_depth is not None and parameters.max_depth < 31:
        leaves = min(leaves, 2**parameters.max_depth)
    cells, nodes = rows * columns, 2 * leaves * settings
    per_set = _CELL_OF_SET * cells + _ROW_OF_SET * rows + nodes * (_NODE + _COUNT * answers)
    return _CELL * cells + _ROW * rows, per_set


def least_rows(size: int | float, n_rows: int) -> int:
    """The rows that a size stands for, a share being of all rows."""
    return max(1, math.ceil(size * n_rows) if isinstance(size, float) else size)


def tree_bytes(tree: Tree) -> int:
    """The memory that a tree takes: its arrays, those of its competitors, which the core may have allotted
    twice as large, and what is kept beside them to predict."""
    kept = tree.kept_competitors
    others = 0 if kept is None else 2 * sum(int(array.nbytes) for array in kept.arrays.values())
    return sum(int(array.nbytes) for array in tree.arrays.values()) + others + 64 * tree.n_nodes
