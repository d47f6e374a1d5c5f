"""The tree as text a person reads: a line for each node, its condition, its examples, what it predicts."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hornbeam import arguments
from hornbeam.model.arrays import LEAF, MULTIWAY, NUMERIC, VALUE
from hornbeam.model.walk import leaves_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hornbeam.model.arrays import Array
    from hornbeam.model.tree import Tree
    from hornbeam.table import Schema

INDENT = "|   "
DEEPEST_INDENT = 40  # below, the depth is written as a number: a chain's text must not grow with its square


class StoredTests(Protocol):
    """What tests are read from: a tree, or the competitors of its nodes."""

    @property
    def schema(self) -> Schema: ...
    @property
    def arrays(self) -> Mapping[str, Array]: ...
    def branch_codes(self, node: int, child: int, /) -> Array: ...


@dataclass(frozen=True, slots=True)
class Style:
    """How much is shown: labels of a subset, classes of a node, digits of a number, where the missing go."""

    max_labels: int = 5
    max_classes: int = 3
    digits: int | None = 6  # significant digits; None for all
    missing: bool = False
    competitors: bool = False  # below each test those that came next, where the tree keeps them


def style_of(caller: str, given: Mapping[str, Any]) -> Style:
    """The style that a caller's options say."""
    arguments.refuse_unknown(caller, given, [entry.name for entry in fields(Style)])
    for name, value in given.items():
        if name in ("missing", "competitors"):
            arguments.flag(name, value)
        elif name != "digits" or value is not None:
            arguments.whole(name, value, 0, also=", or None for all of them" if name == "digits" else "")
    return Style(**given)


def one_line(name: str) -> str:
    """A name as it is, unless it would break the line or hide something: then escaped."""
    return name if name.isprintable() else json.dumps(name)[1:-1]


def real_text(x: float, style: Style) -> str:
    shown = repr(x) if style.digits is None else format(x, f".{style.digits}g")
    return shown.removesuffix(".0")


def shortened(texts: Sequence[str], most: int) -> str:
    """`a, b, c` or `a, b, and 7 more`."""
    if len(texts) <= max(most, 1):
        return ", ".join(texts)
    return f"{', '.join(texts[: max(most, 1)])}, and {len(texts) - max(most, 1)} more"


def bound_text(tests: StoredTests, node: int, style: Style) -> str:
    attribute = tests.schema.attributes[tests.arrays["attribute"][node]]
    if attribute.is_integer:
        return one_line(attribute.format(int(tests.arrays["threshold_integer"][node])))
    return real_text(float(tests.arrays["threshold"][node]), style)


def branch_labels(tests: StoredTests, node: int, child: int) -> list[str]:
    """The labels that a nominal test sends to one of its children."""
    labels = tests.schema.attributes[tests.arrays["attribute"][node]].labels
    return [one_line(labels[code]) for code in tests.branch_codes(node, child).tolist()]


def attribute_name(tests: StoredTests, node: int) -> str:
    return one_line(tests.schema.attributes[tests.arrays["attribute"][node]].name)


def test_text(tests: StoredTests, node: int, style: Style) -> str:
    kind = tests.arrays["kind"][node]
    if kind == LEAF:
        return ""
    return attribute_name(tests, node) if kind == MULTIWAY else branch_text(tests, node, 0, style)


def branch_text(tests: StoredTests, node: int, child: int, style: Style) -> str:
    kind, name = tests.arrays["kind"][node], attribute_name(tests, node)
    if kind == NUMERIC:
        return f"{name} {'>' if child else '<='} {bound_text(tests, node, style)}"
    if kind == VALUE:
        return f"{name} {'!=' if child else '=='} {branch_labels(tests, node, 0)[0]}"
    labels = branch_labels(tests, node, child)
    if kind == MULTIWAY:
        return f"{name} == {labels[0]}"
    return f"{name} in {{{shortened(labels, style.max_labels)}}}"


def share_text(share: float) -> str:
    """A share in percent, which never reads 0% or 100% unless it is."""
    percent = 100 * share
    if percent in (0.0, 100.0):
        return f"{percent:.0f}%"
    return f"{min(max(percent, 0.1), 99.9):.1f}%"


def value_text(tree: Tree, node: int, style: Style) -> str:
    """What a node predicts, and for classification the largest shares."""
    if tree.classes is None:
        means = [real_text(x, style) for x in tree.means[node].tolist()]
        assert tree.targets is not None
        if len(means) == 1:
            return means[0]
        return ", ".join(f"{one_line(name)} {mean}" for name, mean in zip(tree.targets, means, strict=True))
    shares = tree.probabilities([node])[0]
    order = np.argsort(-shares, kind="stable")
    present = [k for k in order.tolist() if shares[k] > 0]
    texts = [f"{one_line(str(tree.classes[k]))} {share_text(shares[k])}" for k in present]
    return f"{one_line(str(tree.classes[tree.leaf_class[node]]))} ({shortened(texts, style.max_classes)})"


def node_line(tree: Tree, node: int, condition: str, depth: int, style: Style) -> str:
    indent = INDENT * min(depth, DEEPEST_INDENT)
    if depth > DEEPEST_INDENT:
        indent += f"[depth {depth}] "
    weight, rows = float(tree.arrays["weight"][node]), int(tree.arrays["rows"][node])
    size = f"n={rows}" if weight == rows else f"n={rows} weight={real_text(weight, style)}"
    leaf = " *" if tree.is_leaf(node) else ""
    return f"{indent}{condition}  {size}  {value_text(tree, node, style)}{leaf}"


def competitor_lines(tree: Tree, node: int, depth: int, style: Style) -> Iterator[str]:
    """The tests that came next, each with its gain."""
    indent = INDENT * min(depth + 1, DEEPEST_INDENT)
    kept = tree.kept_competitors
    if kept is None:
        return
    for i in kept.of(node):
        gain = real_text(float(kept.arrays["gain"][i]), style)
        yield f"{indent}(next: {test_text(kept, i, style)}  gain {gain})"


def lines(tree: Tree, max_depth: int | None, style: Style) -> Iterator[str]:
    below = leaves_below(tree)
    waiting: list[tuple[int, str, int]] = [(0, "root", 0)]
    while waiting:
        node, condition, depth = waiting.pop()
        yield node_line(tree, node, condition, depth, style)
        if tree.is_leaf(node):
            continue
        if style.competitors:
            yield from competitor_lines(tree, node, depth, style)
        if max_depth is not None and depth >= max_depth:
            yield f"{INDENT * min(depth + 1, DEEPEST_INDENT)}... {below[node]} leaves below"
            continue
        default = int(tree.arrays["default_child"][node])
        for k, child in reversed(list(enumerate(tree.children(node)))):
            branch = branch_text(tree, node, k, style)
            waiting.append(
                (child, f"{branch} or missing" if style.missing and k == default else branch, depth + 1)
            )


def to_text(tree: Tree, max_depth: int | None, style: Style) -> str:
    size = f"{tree.n_leaves} {'leaf' if tree.n_leaves == 1 else 'leaves'}, depth {tree.depth}"
    shape = "condition  examples  prediction" + ("" if tree.classes is None else " (class shares)")
    return (
        "\n".join([f"Tree with {size}. Each line: {shape}; * is a leaf.", *lines(tree, max_depth, style)])
        + "\n"
    )
