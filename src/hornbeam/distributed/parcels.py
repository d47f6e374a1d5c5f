"""Parcels: what workers send, as checksummed bytes that say which parts of the source they speak for."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from hornbeam.errors import EngineError

_MAGIC = b"hbparcel1"
_HEAD = struct.Struct("<QI")  # bytes of the contents, and their checksum


class Sealed(NamedTuple):
    """A piece as it came, not looked at yet: it can be passed on as it is."""

    data: bytes | memoryview
    checksum: int

    @classmethod
    def of(cls, data: bytes) -> Sealed:
        return cls(data, zlib.crc32(data))

    def open(self) -> bytes:
        """The piece, if it is what was sent."""
        if zlib.crc32(self.data) != self.checksum:
            raise _damaged()
        return bytes(self.data)


@dataclass(frozen=True, eq=False)
class Parcel:
    """Named pieces, found in some parts of a source, which are numbered."""

    parts: tuple[int, ...]
    sealed: Mapping[str, Sealed]
    notes: Mapping[str, Any]
    """Small things, as JSON has them."""

    def __contains__(self, name: str) -> bool:
        return name in self.sealed

    def __getitem__(self, name: str) -> bytes:
        return self.sealed[name].open()


def pack(parts: Sequence[int], pieces: Mapping[str, bytes | Sealed], **notes: Any) -> bytes:
    """The parcel as bytes."""
    sealed = {n: piece if isinstance(piece, Sealed) else Sealed.of(piece) for n, piece in pieces.items()}
    inside = {name: [len(piece.data), piece.checksum] for name, piece in sealed.items()}
    contents = json.dumps({"parts": list(parts), "pieces": inside, "notes": notes}).encode()
    head = _HEAD.pack(len(contents), zlib.crc32(contents))
    return b"".join([_MAGIC, head, contents, *(piece.data for piece in sealed.values())])


def unpack(data: bytes) -> Parcel:
    """The parcel that bytes hold; refused where they are not what was sent. Pieces are checked when they are
    opened: most are only passed on."""
    start = len(_MAGIC) + _HEAD.size
    if data[: len(_MAGIC)] != _MAGIC or len(data) < start:
        raise _damaged()
    size, checksum = _HEAD.unpack_from(data, len(_MAGIC))
    view, at = memoryview(data), start + size
    if zlib.crc32(view[start:at]) != checksum:
        raise _damaged()
    said = json.loads(bytes(view[start:at]))
    sealed: dict[str, Sealed] = {}
    for name, (length, piece_checksum) in said["pieces"].items():
        sealed[name] = Sealed(view[at : at + length], piece_checksum)
        at += length
    if at != len(data):
        raise _damaged()
    return Parcel(tuple(said["parts"]), sealed, said["notes"])


def each_once(parcels: Sequence[bytes]) -> Iterator[Parcel]:
    """The parcels of different parts, in their order: one that came twice is counted once."""
    opened = sorted(map(unpack, parcels), key=lambda parcel: (parcel.parts[:1], -len(parcel.parts)))
    seen: set[int] = set()
    for parcel in opened:
        if seen.issuperset(parcel.parts) and parcel.parts:
            continue
        if not seen.isdisjoint(parcel.parts):
            raise EngineError("the cluster delivered parts of a scan twice, merged with others; run it again")
        seen.update(parcel.parts)
        yield parcel


def squeeze(data: bytes) -> bytes:
    """Counts, most of which are small, in fewer bytes."""
    small: bytes = _codec().compress(data, asbytes=True)
    return len(data).to_bytes(8, "little") + small


def expand(data: bytes) -> bytes:
    """What was squeezed."""
    size = int.from_bytes(data[:8], "little")
    found: bytes = _codec().decompress(data[8:], decompressed_size=size, asbytes=True)
    return found


def _codec() -> pa.Codec:
    return pa.Codec("zstd", compression_level=1)


def _damaged() -> EngineError:
    return EngineError("what a worker sent came damaged; look at the network and run it again")
