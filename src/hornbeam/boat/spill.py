"""Rows that are put away on disk while memory is short: packed, in one file, gone when the growth ends."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Self

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import StorageError
from hornbeam.growth.memory import text_of

Bytes = npt.NDArray[np.uint8]
Piece = tuple[int, int]  # where rows lie: their first byte, and how many bytes they are


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

    def put(self, rows: _core.KeptRows) -> Piece:
        """Write rows down."""
        begin = self.bytes
        try:
            if self._file is None:  # a name that is taken away afterwards would outlive a Ctrl-C between
                where = self._directory
                self._file = tempfile.TemporaryFile(buffering=0, dir=where)  # noqa: SIM115 - it stays open
            for block in rows.blocks():
                written = 0
                while written < len(block):
                    written += os.pwrite(self._file.fileno(), block[written:], self.bytes + written)
                self.bytes += len(block)
        except OSError as error:
            raise StorageError(
                f"{self._directory!r} cannot hold the rows that do not fit in memory "
                f"({text_of(self.bytes)} written): {error.strerror}; free some room, set TMPDIR to another "
                "directory, or allow more memory"
            ) from None
        return begin, self.bytes - begin

    def read(self, piece: Piece, most: int) -> Iterator[Bytes]:
        """The bytes that lie there, so many at a time at most."""
        begin, size = piece
        assert self._file is not None  # something was put
        for at in range(begin, begin + size, most):
            wanted = min(most, begin + size - at)
            found = os.pread(self._file.fileno(), wanted, at)
            if len(found) < wanted:
                raise StorageError(f"{self._directory!r} gives back fewer bytes than were written; try again")
            yield np.frombuffer(found, dtype=np.uint8)
