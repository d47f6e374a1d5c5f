"""The tree as a thing of its own: immutable, readable, comparable, storable."""

from hornbeam.model.costs import Costs, costs_of
from hornbeam.model.routing import RoutedTable, attribute_kinds
from hornbeam.model.store import (
    FORMAT_VERSION,
    document_of,
    read_document,
    reading,
    refused,
    write_document,
)
from hornbeam.model.tree import Tree, narrowed

__all__ = [
    "FORMAT_VERSION",
    "Costs",
    "RoutedTable",
    "Tree",
    "attribute_kinds",
    "costs_of",
    "document_of",
    "narrowed",
    "read_document",
    "reading",
    "refused",
    "write_document",
]
