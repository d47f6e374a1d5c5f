"""Sources: rows that need not fit in memory, scanned in bounded chunks, sampled, counted, watched."""

from hornbeam.table.sources.column_labels import ColumnLabels
from hornbeam.table.sources.hashing import fold_of
from hornbeam.table.sources.opening import source
from hornbeam.table.sources.part import CHUNK_BYTES, CHUNK_ROWS, Part, PartScan, ScanStats, Tally
from hornbeam.table.sources.sampling import Reservoir
from hornbeam.table.sources.source import Source

__all__ = [
    "CHUNK_BYTES",
    "CHUNK_ROWS",
    "ColumnLabels",
    "Part",
    "PartScan",
    "Reservoir",
    "ScanStats",
    "Source",
    "Tally",
    "fold_of",
    "source",
]
