"""Messages: what workers send, as checksummed bytes that say which parts of the source they speak for.

A worker keeps a message in its pieces, so that those which a kernel only passes on are not copied; where it
has to be one run of bytes it is flat.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import pyarrow as pa

from hornbeam.errors import EngineError

_MAGIC = b"hbparcel1"
_HEAD = struct.Struct("<QI")  # bytes of the contents, and their checksum

Buffer = bytes | memoryview
Packed = tuple[Buffer, ...] | bytes
"""A message: what it contains and then its pieces, each by itself, or flat."""


class Sealed(NamedTuple):
    """A piece as it came, not looked at yet: it can be passed on as it is."""

    data: Buffer
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
class Message:
    """Named pieces, found in some parts of a source, which are numbered."""

    parts: tuple[int, ...]
    sealed: Mapping[str, Sealed]
    notes: Mapping[str, Any]
    """Small things, as JSON has them."""

    def __contains__(self, name: str) -> bool:
        return name in self.sealed

    def __getitem__(self, name: str) -> bytes:
        return self.sealed[name].open()


def pack(parts: Sequence[int], pieces: Mapping[str, bytes | Sealed], **notes: Any) -> Packed:
    """The message in its pieces."""
    sealed = {n: piece if isinstance(piece, Sealed) else Sealed.of(piece) for n, piece in pieces.items()}
    inside = {name: [len(piece.data), piece.checksum] for name, piece in sealed.items()}
    contents = json.dumps({"parts": list(parts), "pieces": inside, "notes": notes}).encode()
    head = _HEAD.pack(len(contents), zlib.crc32(contents))
    return (b"".join([_MAGIC, head, contents]), *(piece.data for piece in sealed.values()))


def flat(message: Packed) -> bytes:
    """The message as one run of bytes."""
    return message if isinstance(message, bytes) else b"".join(message)


def size_of(message: Packed) -> int:
    """Bytes of a message."""
    return len(message) if isinstance(message, bytes) else sum(map(len, message))


def unpack(message: Packed) -> Message:
    """The message that bytes hold; refused where they are not what was sent. Pieces are checked when they are
    opened: most are only passed on."""
    head = message if isinstance(message, bytes) else bytes(message[0])
    said, begin = _contents(head)
    lengths = [length for length, _ in said["pieces"].values()]
    pieces = _cut(memoryview(head)[begin:], lengths) if isinstance(message, bytes) else message[1:]
    if [len(piece) for piece in pieces] != lengths:
        raise _damaged()
    checksums = (checksum for _, checksum in said["pieces"].values())
    sealed = dict(zip(said["pieces"], map(Sealed, pieces, checksums), strict=True))
    return Message(tuple(said["parts"]), sealed, said["notes"])


def _contents(head: bytes) -> tuple[dict[str, Any], int]:
    """What a message says that it contains, and where its pieces begin if it is flat."""
    start = len(_MAGIC) + _HEAD.size
    if head[: len(_MAGIC)] != _MAGIC or len(head) < start:
        raise _damaged()
    size, checksum = _HEAD.unpack_from(head, len(_MAGIC))
    contents = head[start : start + size]
    if zlib.crc32(contents) != checksum:
        raise _damaged()
    said: dict[str, Any] = json.loads(contents)
    return said, start + size


def _cut(data: memoryview, lengths: Sequence[int]) -> list[memoryview]:
    """Bytes in pieces of such lengths; what is left over is one more."""
    ends = [0, *accumulate(lengths)]
    pieces = [data[begin:end] for begin, end in pairwise(ends)]
    return pieces if ends[-1] >= len(data) else [*pieces, data[ends[-1] :]]


def each_once(messages: Sequence[Packed]) -> Iterator[Message]:
    """The messages of different parts, in their order: one that came twice is counted once."""
    opened = sorted(map(unpack, messages), key=lambda message: (message.parts[:1], -len(message.parts)))
    seen: set[int] = set()
    for message in opened:
        if seen.issuperset(message.parts) and message.parts:
            continue
        if not seen.isdisjoint(message.parts):
            raise EngineError("the cluster delivered parts of a scan twice, merged with others; run it again")
        seen.update(message.parts)
        yield message


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
