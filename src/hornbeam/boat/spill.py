"""Rows that are put away on disk while memory is short: packed, in one file, gone when the growth ends."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.errors import StorageError
from hornbeam.growth.memory import text_of

Bytes = npt.NDArray[np.uint8]


class Spill:
    """A file of packed rows. It has no name, so that nothing of it is left behind, whatever happens."""

    def __init__(self, directory: str | None = None) -> None:
        self._directory = directory or tempfile.gettempdir()
        self._file = None
        self.bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the disk back."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def put(self, rows: _core.KeptRows) -> tuple[int, int]:
        """Write rows down; where they lie: the first byte, and how many."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._directory, prefix="hornbeam-")
            begin, size = self.bytes, 0
            self._file.seek(begin)
            for block in rows.blocks():
                self._file.write(block)
                size += len(block)
            self._file.flush()
        except OSError as error:
            self.close()
            raise StorageError(
                f"{self._directory!r} cannot hold the rows that do not fit in memory "
                f"({text_of(self.bytes)} written): {error.strerror}; free some room, set TMPDIR to another "
                "directory, or allow more memory"
            ) from None
        self.bytes += size
        return begin, size

    def read(self, begin: int, size: int, most: int) -> Iterator[Bytes]:
        """The bytes that lie there, so many at a time at most."""
        assert self._file is not None
        for at in range(begin, begin + size, most):
            wanted = min(most, begin + size - at)
            found = os.pread(self._file.fileno(), wanted, at)
            if len(found) < wanted:
                raise StorageError(f"{self._directory!r} gives back fewer bytes than were written; try again")
            yield np.frombuffer(found, dtype=np.uint8)
