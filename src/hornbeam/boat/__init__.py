"""BOAT: exact trees over sources, rows that need not fit in memory."""

from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.reading import Reading
from hornbeam.boat.survey import Range, Survey, survey

__all__ = ["Chunks", "EncodedChunk", "Range", "Reading", "Survey", "survey"]
