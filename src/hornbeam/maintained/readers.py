"""Opening the file of a maintained tree to read: the file itself, or what its writer published meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, cast

from hornbeam.maintained.opening import InUse
from hornbeam.maintained.published import Publication
from hornbeam.maintained.records import BatchLine, Records, record_of
from hornbeam.maintained.store import Store

_TRIES = 50
_BETWEEN = 0.02  # seconds; a writer that opens or closes has nothing published for a moment


def open_to_read(path: str) -> Store:
    """The file, or the last whole state of it that the process which writes to it has published."""
    for _ in range(_TRIES):
        try:
            return Store.open(path, read_only=True)
        except InUse as error:
            published, refused = Publication(path).of(error.owner), error
        if published is not None:
            return PublishedStore(path, refused.owner, *published)
        time.sleep(_BETWEEN)
    raise refused


class PublishedStore(Store):
    """What readers see of a file that a process has open for writing: the tree and its last batches."""

    def __init__(self, path: str, owner: int, state: dict[str, Any], data: list[bytes]) -> None:
        Records.__init__(self, path, cast("Any", _Elsewhere(path, owner)))
        self.read_only, self._state, given = True, state, iter(data)
        self._lines: list[BatchLine] = [
            (line, size, None if size is None else next(given)) for line, size in state["batches"]
        ]
        self._trees = {tuple(which): next(given) for which in state["trees"]}
        self._recognise()

    def close(self) -> None: ...

    def limit_memory(self, memory: int | None) -> None: ...

    def _meta(self) -> list[Any]:
        return list(self._state["meta"])

    def tree(self, number: int, tree: int = 0) -> bytes | None:
        """One of the trees that a batch left."""
        return self._trees.get((number, tree))

    def batches(self) -> list[dict[str, Any]]:
        """The records of the last batches."""
        return [record_of(*found) for found in self._lines]


@dataclass(frozen=True)
class _Elsewhere:
    """The connection that another has: whoever asks for it wants the rows."""

    path: str
    owner: int

    def __getattr__(self, name: str) -> Any:
        raise InUse(
            f"{self.path!r} is open for writing by process {self.owner}, and this needs its rows; close the "
            "tree there, or wait until it ends",
            self.owner,
        )
