"""Hornbeam's native core."""

from typing import Annotated

import numpy
from numpy.typing import NDArray


class EncodedTable:
    pass

class Router:
    """A tree made ready to send rows to their leaves."""

    def __init__(self, arrays: dict, attribute_kinds: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def apply(self, columns: list, n_rows: int, threads: int = 1) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]:
        """The leaf (node index) of each row."""

    def path(self, columns: list, n_rows: int, threads: int = 1) -> tuple:
        """The nodes on the path of each row: (indptr, indices)."""

def verify_tree(arrays: dict, attribute_kinds: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Raises ValueError, in one line that names the node, where the arrays are no valid tree.
    """
