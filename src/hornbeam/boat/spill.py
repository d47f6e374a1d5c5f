"""Rows that are put away on disk while memory is short: packed, in one file, gone when the growth ends."""

from __future__ import annotations

import os
import tempfile
import zlib
from types import TracebackType
from typing import IO, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import StorageError
from hornbeam.growth.memory import text_of

Bytes = npt.NDArray[np.uint8]
_PIECE_BYTES = 1 << 21  # after so many a piece ends: it is read in one go


class Piece(NamedTuple):
    """Where rows lie on disk."""

    begin: int
    """Their first byte."""
    size: int
    """How many bytes they are."""
    checksum: int


class Spill:
    """A file of packed rows. It has no name, so that nothing of it is left behind, whatever happens."""

    def __init__(self) -> None:
        self._directory = tempfile.gettempdir()
        self._file: IO[bytes] | None = None
        self.bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def put(self, rows: _core.KeptRows) -> list[Piece]:
        """Write rows down; where they lie."""
        pieces: list[Piece] = []
        try:
            if self._file is None:  # a name that is taken away afterwards would outlive a Ctrl-C between
                where = self._directory
                self._file = tempfile.TemporaryFile(buffering=0, dir=where)  # noqa: SIM115 - it stays open
            for block in rows.blocks():
                goes_on = bool(pieces) and pieces[-1].size < _PIECE_BYTES
                last = pieces.pop() if goes_on else Piece(self.bytes, 0, 0)
                self._write(self._file, block)
                pieces.append(Piece(last.begin, last.size + len(block), zlib.crc32(block, last.checksum)))
        except OSError as error:
            raise StorageError(
                f"{self._directory!r} cannot hold the rows that do not fit in memory "
                f"({text_of(self.bytes)} written): {error.strerror}; free some room, set TMPDIR to another "
                "directory, or allow more memory"
            ) from None
        return pieces

    def _write(self, file: IO[bytes], block: bytes) -> None:
        written = 0
        while written < len(block):
            written += os.pwrite(file.fileno(), block[written:], self.bytes + written)
        self.bytes += len(block)

    def read(self, piece: Piece) -> Bytes:
        """The bytes that lie there, if they are those that were written."""
        assert self._file is not None  # something was put
        found = os.pread(self._file.fileno(), piece.size, piece.begin)
        if len(found) < piece.size or zlib.crc32(found) != piece.checksum:
            kind = "fewer" if len(found) < piece.size else "other"
            raise StorageError(
                f"{self._directory!r} gives back {kind} bytes than were written; "
                "set TMPDIR to another directory"
            )
        return np.frombuffer(found, dtype=np.uint8)
