"""The tree as indented lines, in words or as ACE prints it, and as a list of rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hornbeam.arguments import whole
from hornbeam.errors import UsageError
from hornbeam.model.text import DEEPEST_INDENT, INDENT, Style, one_line, real_text, share_text, shortened
from hornbeam.relational.ace.terms import atom
from hornbeam.relational.logic import Query
from hornbeam.relational.prolog import constant_term, query_text
from hornbeam.relational.tree import RelationalTree
from hornbeam.relational.words import test_words

LAYOUTS: Final = ("words", "ace")
_STYLE: Final = Style()


def to_text(tree: RelationalTree, layout: str, max_depth: int | None) -> str:
    """See RelationalTree.to_text."""
    if max_depth is not None:
        whole("max_depth", max_depth, also=", or None for the whole tree")
    if not isinstance(layout, str) or layout not in LAYOUTS:
        raise UsageError(f"layout {str(layout)!r} is unknown; choose {' or '.join(LAYOUTS)}")
    if layout == "words":
        return in_words(tree, max_depth)
    if max_depth is not None:
        raise UsageError(f"max_depth={max_depth!r}: ACE's layout is always the whole tree; leave it out")
    return as_ace(tree)


def in_words(tree: RelationalTree, max_depth: int | None) -> str:
    leaves = f"{tree.n_leaves} {'leaf' if tree.n_leaves == 1 else 'leaves'}"
    shares = " (class shares)" if tree.classes else ""
    head = (
        f"Tree with {leaves}, depth {tree.depth}. "
        f"Each line: condition  examples  prediction{shares}; * is a leaf."
    )
    return "\n".join([head, *_lines(tree, max_depth)]) + "\n"


def _lines(tree: RelationalTree, max_depth: int | None) -> Iterator[str]:
    depths, queries, below = tree.depths, tree.queries, tree.leaves_below
    conditions = {0: "root"}
    for i, node in enumerate(tree.nodes):  # preorder: as they are read
        if i not in conditions:
            continue  # below the last level that is shown
        indent = _indent(depths[i])
        leaf = " *" if node.is_leaf else ""
        yield f"{indent}{conditions[i]}  n={real_text(tree.size(i), _STYLE)}  {value_text(tree, i)}{leaf}"
        if node.is_leaf:
            continue
        if max_depth is not None and depths[i] >= max_depth:
            yield f"{_indent(depths[i] + 1)}... {below[i]} leaves below"
            continue
        conditions[node.yes] = test_words(tree.signature, queries[i], node.test)
        conditions[node.no] = "otherwise"


def _indent(depth: int) -> str:
    deep = f"[depth {depth}] " if depth > DEEPEST_INDENT else ""
    return INDENT * min(depth, DEEPEST_INDENT) + deep


def value_text(tree: RelationalTree, node: int) -> str:
    """What a node predicts, and for classes the largest shares."""
    if tree.task == "regression":
        return real_text(float(tree.answer(node)), _STYLE)
    shares = tree.shares(node)
    order = sorted(range(len(shares)), key=lambda k: -shares[k])
    texts = [f"{one_line(str(tree.classes[k]))} {share_text(shares[k])}" for k in order if shares[k] > 0]
    return f"{one_line(str(tree.answer(node)))} ({shortened(texts, _STYLE.max_classes)})"


def as_ace(tree: RelationalTree) -> str:
    """ACE's own layout: tests in logic, a yes and a no below each, counts of all classes at the leaves."""
    lines = [f"{atom(tree.target_name)}(-A,-B)"]
    waiting = [(0, "", "")]  # a node, what stands before it, and what before the lines below it
    while waiting:
        i, opening, margin = waiting.pop()
        node = tree.nodes[i]
        if node.is_leaf:
            lines.append(f"{opening}{ace_leaf(tree, i)}")
            continue
        lines.append(f"{opening}{query_text(node.test)} ?")
        waiting.append((node.no, f"{margin}+--no:  ", f"{margin}        "))
        waiting.append((node.yes, f"{margin}+--yes: ", f"{margin}|       "))
    return "\n".join(lines) + "\n"


def ace_leaf(tree: RelationalTree, node: int) -> str:
    size = float(tree.size(node))
    if tree.task == "regression":
        return f"[{float(tree.answer(node))!r}] {size!r}"
    counts = zip(tree.classes, tree.nodes[node].counts, strict=True)
    listed = ",".join(f"{constant_term(label)}:{float(count)!r}" for label, count in counts)
    return f"[{constant_term(tree.answer(node))}] {size!r} [[{listed}]]"


@dataclass(frozen=True)
class DecisionRule:
    """A leaf: what must be found, where no rule before it applied, and what is said then."""

    leaf: int
    query: Query
    prediction: Any
    size: float
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class DecisionList:
    """Rules in the order in which they are asked."""

    rules: tuple[DecisionRule, ...]

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[DecisionRule]:
        return iter(self.rules)

    def __getitem__(self, place: int) -> DecisionRule:
        return self.rules[place]

    def to_text(self) -> str:
        """A line for each rule."""
        return "\n".join(map(str, self.rules)) + "\n"


def decision_list(tree: RelationalTree) -> DecisionList:
    """A rule for each leaf. The tests of no branches are not in it: the rules before it have seen to them."""
    queries = tree.queries
    rules: list[DecisionRule] = []
    for leaf in tree.leaves:
        query = queries[leaf]
        asked = test_words(tree.signature, (), query) if query else ""
        opening = "else " if rules else ""
        condition = f"{opening}if {asked}:" if asked else f"{opening.strip() or 'always'}:"
        size = tree.size(leaf)
        text = f"{condition} {value_text(tree, leaf)}  n={size:g}"
        rules.append(DecisionRule(leaf, query, tree.answer(leaf), size, text))
    return DecisionList(tuple(rules))
