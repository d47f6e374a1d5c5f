"""The canonical form of a tree and its digest (docs/law.md, "Digest"): what equal trees have in common."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hornbeam.model.arrays import KIND_NAMES, LEAF, NUMERIC, Array
from hornbeam.model.present import Branches, preorder

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree
    from hornbeam.table import Attribute

BLOCK: Final = 2**20  # characters hashed at once


def digest(tree: Tree) -> str:
    """SHA-256 of the canonical form."""
    sha, waiting, size = hashlib.sha256(), [], 0
    for part in canonical_parts(tree):
        waiting.append(part)
        size += len(part)
        if size > BLOCK:
            sha.update("".join(waiting).encode("ascii"))
            waiting, size = [], 0
    sha.update("".join(waiting).encode("ascii"))
    return sha.hexdigest()


def canonical_text(tree: Tree) -> str:
    """JSON with sorted keys, no spaces and ASCII only: a list of the nodes in preorder."""
    return "".join(canonical_parts(tree))


def canonical_parts(tree: Tree) -> Iterator[str]:
    """The text in pieces: it names every category present at every node, and may be longer than the memory.

    Written by hand, node by node, because a digest of a large tree has to be quick; the tests compare it with
    json.dumps of the same records.
    """
    tests = Tests(tree)
    values = count_texts(tree) if tree.n_classes else mean_texts(tree)
    before_node = "["
    for node, whole in preorder(tree):
        children, default, test = tests.of(node, whole)
        before, after = values[node]
        # The keys in their order: children, counts, default, mean, test, weight.
        members = (
            children,
            before if tree.n_classes else "",
            default,
            "" if tree.n_classes else before,
            test,
            after,
        )
        yield before_node + "{" + ",".join(member for member in members if member) + "}"
        before_node = ","
    yield "]"


def number_text(x: float) -> str:
    """A count or a weight sum: an integer where it is one, else the exact double in hexadecimal."""
    return str(int(x)) if x.is_integer() else f'"{x.hex()}"'


def number_texts(values: Array) -> list[str]:
    if np.all(values == np.floor(values)) and np.all(np.abs(values) < 2**53):
        return [str(number) for number in values.astype(np.int64).tolist()]
    return [number_text(x) for x in values.tolist()]


def real_text(x: float) -> str:
    return f'"{(x + 0.0).hex()}"'  # adding 0.0 turns -0.0 into 0.0


def label_text(label: bool | int | float | str) -> str:
    return real_text(label) if isinstance(label, float) else json.dumps(label)


def count_texts(tree: Tree) -> list[tuple[str, str]]:
    """The member "counts" of each node: pairs of label and count in class order, without zeros."""
    assert tree.classes is not None
    opening = ["[" + label_text(label) + "," for label in tree.classes]
    start = tree.arrays["count_start"].tolist()
    counts = number_texts(tree.arrays["count"])
    classes = tree.arrays["count_class"].tolist()
    pairs = [
        opening[k] + count + "]" if count != "0" else "" for k, count in zip(classes, counts, strict=True)
    ]
    return [
        ('"counts":[' + ",".join(pair for pair in pairs[begin:end] if pair) + "]", "")
        for begin, end in itertools.pairwise(start)
    ]


def mean_texts(tree: Tree) -> list[tuple[str, str]]:
    """The members "mean" and "weight" of each node."""
    means = [real_text(x) for x in tree.arrays["mean"].tolist()]
    q = tree.n_targets
    return [
        ('"mean":[' + ",".join(means[i * q : i * q + q]) + "]", '"weight":' + weight)
        for i, weight in enumerate(number_texts(tree.arrays["weight"]))
    ]


class Tests:
    """The members "children", "default" and "test" of a node; empty at a leaf."""

    def __init__(self, tree: Tree) -> None:
        lists: dict[str, list[Any]] = {
            name: array.tolist() for name, array in tree.arrays.items() if name != "mean"
        }
        self.kind, self.attribute = lists["kind"], lists["attribute"]
        self.n_children, self.default_child = lists["n_children"], lists["default_child"]
        self.threshold, self.threshold_integer = lists["threshold"], lists["threshold_integer"]
        self.start, self.code, self.child = lists["branch_start"], lists["branch_code"], lists["branch_child"]
        self.attributes = tree.schema.attributes
        self.names = [json.dumps(attribute.name) for attribute in self.attributes]
        self.labels = [LabelTexts(attribute) for attribute in self.attributes]

    def of(self, node: int, whole: Branches | None) -> tuple[str, str, str]:
        kind = self.kind[node]
        if kind == LEAF:
            return "", "", ""
        a = self.attribute[node]
        argument = self.bound(node, a) if kind == NUMERIC else self.branches(node, a, whole)
        return (
            f'"children":{self.n_children[node]}',
            f'"default":{self.default_child[node]}',
            f'"test":["{KIND_NAMES[kind]}",{self.names[a]},{argument}]',
        )

    def bound(self, node: int, a: int) -> str:
        if self.attributes[a].is_integer:
            return str(self.attributes[a].decode(self.threshold_integer[node]))
        return real_text(self.threshold[node])

    def branches(self, node: int, a: int, whole: Branches | None) -> str:
        begin, end = self.start[node], self.start[node + 1]
        labels = self.labels[a]
        if whole is None:
            pairs = list(zip(self.code[begin:end], self.child[begin:end], strict=True))
        elif labels.ascending:
            return labels.two_ways(*whole)
        else:
            pairs = list(zip(whole[0].tolist(), whole[1].tolist(), strict=True))
        if not labels.ascending:
            pairs.sort(key=lambda pair: labels.label[pair[0]])
        return "[" + ",".join(f"[{labels.text[code]},{child}]" for code, child in pairs) + "]"


class LabelTexts:
    """The labels of an attribute as JSON. Code point order is the order of their UTF-8 bytes."""

    def __init__(self, attribute: Attribute) -> None:
        self.label = attribute.labels
        self.text = [json.dumps(label) for label in attribute.labels]
        self.ascending = all(a < b for a, b in itertools.pairwise(attribute.labels))

    @cached_property
    def pairs(self) -> Array:
        """The pairs of each label with child 0, and with child 1."""
        return np.array([[f"[{text},{child}]" for text in self.text] for child in (0, 1)], dtype=object)

    def two_ways(self, codes: Array, children: Array) -> str:
        return "[" + ",".join(self.pairs[children, codes].tolist()) + "]"
