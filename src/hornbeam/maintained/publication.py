"""What a writer leaves beside its file for readers while it has that open: the state after the last batch,
without the rows. It is believed only of the process that holds the file, so one that a crash left is not.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any


class Publication:
    """The copy beside a file. One process at a time has the file, so the names can be fixed ones."""

    def __init__(self, path: str) -> None:
        place = os.path.realpath(path)
        self._place, self._beside = Path(f"{place}.readers"), Path(f"{place}.readers.new")

    def publish(self, state: Mapping[str, Any], data: Sequence[bytes] = ()) -> None:
        """Put a state, and bytes that belong to it, in the place of the one before, at once. Nothing has to
        be on disk: after a power cut nobody believes it. Where there is no room for it there is none rather
        than an old one."""
        owner = os.getpid()
        head = {"owner": owner, "begun": _begun(owner), "state": state, "sizes": [len(part) for part in data]}
        parts = [json.dumps(head).encode("ascii"), b"\n", *data]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
        try:
            with self._beside.open("wb") as file:
                file.writelines([digest.hexdigest().encode("ascii"), b"\n", *parts])
            self._beside.replace(self._place)
        except OSError:
            self.withdraw()

    def withdraw(self) -> None:
        """Leave nothing beside the file."""
        for file in (self._beside, self._place):
            with suppress(OSError):
                file.unlink(missing_ok=True)

    def of(self, owner: int) -> tuple[dict[str, Any], list[bytes]] | None:
        """The state that a process published and its bytes, if it did."""
        try:
            digest, _, rest = self._place.read_bytes().partition(b"\n")
        except OSError:
            return None
        if hashlib.sha256(rest).hexdigest().encode("ascii") != digest:
            return None
        head, _, body = rest.partition(b"\n")
        found = json.loads(head)
        if (found["owner"], found["begun"]) != (owner, _begun(owner)):
            return None
        ends = list(accumulate(found["sizes"], initial=0))
        return found["state"], [body[begin:end] for begin, end in pairwise(ends)]


def _begun(process: int) -> str | None:
    """When a process began, where the system tells: numbers of processes are used again."""
    try:
        return Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[19]
    except OSError:
        return None
