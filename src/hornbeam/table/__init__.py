"""The table room: everything that comes in becomes one encoded table with an exact schema."""

from hornbeam.table.classes import encode_classes
from hornbeam.table.columns import Column, NativeColumn, Table
from hornbeam.table.conform import conform
from hornbeam.table.encoding import from_data
from hornbeam.table.readers import read_path
from hornbeam.table.schema import MAX_CATEGORIES, MAX_COLUMNS, MAX_ROWS, Attribute, Schema
from hornbeam.table.targets import check_same_length, encode_targets, encode_weights

__all__ = [
    "MAX_CATEGORIES",
    "MAX_COLUMNS",
    "MAX_ROWS",
    "Attribute",
    "Column",
    "NativeColumn",
    "Schema",
    "Table",
    "check_same_length",
    "conform",
    "encode_classes",
    "encode_targets",
    "encode_weights",
    "from_data",
    "read_path",
]
