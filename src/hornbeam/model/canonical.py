"""The canonical form of a tree and its digest (docs/law.md, "Digest"): what equal trees have in common."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from hornbeam import _core

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree
    from hornbeam.table import Attribute

BLOCK: Final = 2**20  # characters hashed at once
REAL, INTEGER, UNSIGNED = range(3)  # how the core writes a threshold


def digest(tree: Tree) -> str:
    """SHA-256 of the canonical form."""
    sha = hashlib.sha256()
    for part in canonical_parts(tree):
        sha.update(part)
    return sha.hexdigest()


def canonical_text(tree: Tree) -> str:
    """JSON with sorted keys, no spaces and ASCII only: a list of the nodes in preorder."""
    return b"".join(canonical_parts(tree)).decode("ascii")


def canonical_parts(tree: Tree) -> Iterator[bytes]:
    """The text in pieces: it names every category present at every node, and may be longer than the memory.

    Written by the core, because a digest of a large tree has to be quick; the tests compare it with
    json.dumps of the same records.
    """
    attributes = tree.schema.attributes
    text = _core.CanonicalText(
        tree.native(),
        [json.dumps(attribute.name) for attribute in attributes],
        [_threshold(attribute) for attribute in attributes],
        [[json.dumps(label) for label in attribute.labels] for attribute in attributes],
        [_ranks(attribute) for attribute in attributes],
        [label_text(label) for label in tree.classes or ()],
    )
    while part := text.next(BLOCK):
        yield part


def label_text(label: bool | int | float | str) -> str:
    """The label of a class; adding 0.0 turns -0.0 into 0.0."""
    return f'"{(label + 0.0).hex()}"' if isinstance(label, float) else json.dumps(label)


def _threshold(attribute: Attribute) -> int:
    if not attribute.is_integer:
        return REAL
    return UNSIGNED if attribute.type == "uint64" else INTEGER


def _ranks(attribute: Attribute) -> list[int]:
    """The place of each label in the order of UTF-8 bytes, which is that of code points; none where all are
    in order."""
    labels = attribute.labels
    if all(a < b for a, b in pairwise(labels)):
        return []
    ranks = [0] * len(labels)
    for rank, code in enumerate(sorted(range(len(labels)), key=labels.__getitem__)):
        ranks[code] = rank
    return ranks
