"""The leaves and the paths of the rows of a table, by the native router."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hornbeam import _core, arguments
from hornbeam.errors import DataError
from hornbeam.model.arrays import Array
from hornbeam.table import Attribute, Schema, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from hornbeam.model.tree import Tree


def attribute_kind(attribute: Attribute) -> int:
    """How the values of an attribute arrive in the core: 0 double, 1 int64, 2 category code."""
    if attribute.kind == "nominal":
        return 2
    return 1 if attribute.is_integer else 0


def attribute_kinds(schema: Schema) -> npt.NDArray[np.uint8]:
    return np.array([attribute_kind(attribute) for attribute in schema.attributes], dtype=np.uint8)


def n_categories(schema: Schema) -> npt.NDArray[np.int32]:
    return np.array([len(attribute.labels) for attribute in schema.attributes], dtype=np.int32)


def make_router(tree: Tree) -> _core.Router:
    return _core.Router(tree.native(), attribute_kinds(tree.schema))


class RoutedTable:
    """A table whose rows are sent down many trees that were grown from it: it is made ready once."""

    def __init__(self, table: Table) -> None:
        self.native = _core.RoutedTable(table.native(), table.n_rows, attribute_kinds(table.schema))

    def leaves(self, tree: Tree, rows: npt.NDArray[np.int64], threads: int = 1) -> npt.NDArray[np.int32]:
        """The leaf of each of the given rows."""
        return self.native.leaves(dict(tree.arrays), rows, threads)

    def classes(self, tree: Tree, rows: npt.NDArray[np.int64], threads: int = 1) -> npt.NDArray[np.int32]:
        """The class code of each of the given rows."""
        return tree.leaf_class.take(self.leaves(tree, rows, threads))


def require_match(tree: Tree, table: Table) -> None:
    arguments.instance("table", table, Table, "a Table that hornbeam.table.conform makes")
    given, expected = len(table.schema.attributes), len(tree.schema.attributes)
    if given != expected:
        raise DataError(
            f"the table has {given} attributes; the tree was grown on {expected}; conform the table first"
        )


def leaves(tree: Tree, table: Table, threads: int) -> npt.NDArray[np.int32]:
    require_match(tree, table)
    threads = arguments.whole("threads", threads, 1, arguments.MAX_THREADS)
    result: npt.NDArray[np.int32] = tree.router.apply(table.native(), table.n_rows, threads)
    return result


def decision_path(tree: Tree, table: Table, threads: int) -> csr_matrix:
    from scipy.sparse import csr_matrix  # only who asks for a sparse matrix pays for its import

    require_match(tree, table)
    threads = arguments.whole("threads", threads, 1, arguments.MAX_THREADS)
    start, nodes = tree.router.path(table.native(), table.n_rows, threads)
    ones: Array = np.ones(len(nodes), dtype=np.int64)
    shape: tuple[Any, Any] = (table.n_rows, tree.n_nodes)
    return csr_matrix((ones, nodes, start), shape=shape)
