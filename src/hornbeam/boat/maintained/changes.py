"""What a batch did to a tree, node by node: kept, its cut moved, or grown anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hornbeam.boat.maintained.alike import Subtrees
from hornbeam.boat.maintained.chance import CHANCE
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF, NUMERIC
from hornbeam.model.text import Style, branch_text, test_text

KEPT, MOVED, REBUILT = "kept", "moved", "rebuilt"


@dataclass(frozen=True)
class NodeChange:
    """A node before and after; "" is the test of a leaf, None are the rows of a node that is not there."""

    path: str
    state: str
    before: str
    after: str
    rows_before: int | None
    rows_after: int | None
    standard_errors: float | None = None
    """By how many of them the new test is better than the old one, on the present rows; None where that was
    not asked (the same test, no rows before or after, a pruned tree)."""
    withheld: str = ""
    """The test that exactness would have taken here, where the policy keeps tests while chance may be the
    reason; `standard_errors` are then of that one."""
    below: int = 0
    """How many nodes below are the same, rows and all, and therefore not listed."""

    @property
    def beyond_chance(self) -> bool:
        """Whether the new test is better by more than two standard errors."""
        return self.standard_errors is not None and self.standard_errors > CHANCE


@dataclass(frozen=True)
class Changes:
    """One batch: how many rows came and went, the digests of the tree, and all of its nodes."""

    number: int
    id: str | None
    inserted: int
    deleted: int
    rows: int
    digest_before: str | None
    digest_after: str | None
    nodes: tuple[NodeChange, ...] = ()
    repeated: bool = False
    """The batch had been applied before: nothing was done."""
    past: Mapping[str, int] | None = None
    """The counts of a batch so old that its nodes are not kept any more."""

    @property
    def counts(self) -> dict[str, int]:
        """How many tests were kept, moved and rebuilt."""
        if self.past is not None:
            return dict(self.past)
        found = Counter(node.state for node in self.nodes if node.before or node.after)
        found[KEPT] += sum(tests_below(node) for node in self.nodes)
        return {state: found[state] for state in (KEPT, MOVED, REBUILT)}

    @property
    def withheld(self) -> int:
        """How many tests were kept though another one is the best, by chance."""
        return sum(bool(node.withheld) for node in self.nodes)

    def to_record(self) -> dict[str, Any]:
        """The same for JSON; `nodes` is None where they are not kept any more."""
        record = vars(self) | {"nodes": [vars(node) for node in self.nodes], "counts": self.counts}
        return record if record.pop("past") is None else record | {"nodes": None}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Changes:
        """What `to_record` gave."""
        plain = dict(record)
        counts, nodes = plain.pop("counts"), plain.pop("nodes")
        if nodes is None:
            return cls(**plain, past=counts)
        return cls(**plain, nodes=tuple(NodeChange(**node) for node in nodes))

    def to_text(self) -> str:
        """A line on the whole, and one for each test that is not the same."""
        counts = self.counts
        more = f"; {self.withheld} of those kept are not the best" if self.withheld else ""
        lines = [
            f"batch {self.number}: {self.inserted:,} rows inserted, {self.deleted:,} deleted, {self.rows:,} "
            f"present; {counts[KEPT]} tests kept, {counts[MOVED]} moved, {counts[REBUILT]} rebuilt{more}"
        ]
        for node in self.nodes:
            if node.state != KEPT:
                said = f"{node.before or 'a leaf'} -> {node.after or 'a leaf'}"
                lines.append(f"  {node.state:8} {node.path or 'root'}: {said}{_by_chance(node)}")
            elif node.withheld:
                said = f"{node.after} stays, the best is {node.withheld}"
                lines.append(f"  {node.state:8} {node.path or 'root'}: {said}{_by_chance(node)}")
        return "\n".join(lines)


def tests_below(node: NodeChange) -> int:
    """The tests that are not listed: every test has two branches."""
    return max(0, node.below // 2 - 1)


def _by_chance(node: NodeChange) -> str:
    if node.standard_errors is None:
        return ""
    return f" ({node.standard_errors:.1f} standard errors{'' if node.beyond_chance else ': chance'})"


def compare(
    before: Tree | None,
    after: Tree | None,
    errors: Mapping[int, float] | None = None,
    withheld: Mapping[int, tuple[str, float]] | None = None,
) -> tuple[NodeChange, ...]:
    """The nodes of two trees as far as their tests agree, and below those that do not, the first. `errors`
    are standard errors by node of the new tree, `withheld` better tests with theirs."""
    if before is None or after is None:
        (was, rows_was), (now, rows_now) = _said(before, 0), _said(after, 0)
        change = NodeChange("", REBUILT, was, now, rows_was, rows_now)
        return () if before is after else (change,)
    found: list[NodeChange] = []
    same, sizes = same_subtrees(before, after), Subtrees(after).sizes
    for old, new, path, state in matched(before, after, same):
        (was, rows_was), (now, rows_now) = _said(before, old), _said(after, new)
        better = None if state == KEPT or errors is None else errors.get(new)
        best = ""
        if state == KEPT and withheld is not None and new in withheld:
            best, better = withheld[new]
        below = int(sizes[new]) - 1 if same(old, new) else 0
        found.append(NodeChange(path, state, was, now, rows_was, rows_now, better, best, below))
    return tuple(found)


Same = Callable[[int, int], bool]


def same_subtrees(before: Tree, after: Tree) -> Same:
    """Whether a node of the one tree and all below is as that of the other."""
    if before.schema != after.schema or before.classes != after.classes:
        return lambda old, new: False
    was, now = Subtrees(before).marks, Subtrees(after).marks
    return lambda old, new: bool(was[old] == now[new])


def matched(
    before: Tree, after: Tree, same: Same = lambda old, new: False
) -> Iterator[tuple[int, int, str, str]]:
    """The nodes that are compared, in their order: in the old tree, in the new one, the path, the state.
    Below those that are the same none is."""
    pending = [(0, 0, "")]
    while pending:
        old, new, path = pending.pop()
        state = _state(before, old, after, new)
        yield old, new, path, state
        if state == REBUILT or after.is_leaf(new) or same(old, new):
            continue
        for child in reversed(range(int(after.arrays["n_children"][new]))):
            step = branch_text(after, new, child, Style())
            below = f"{path} and {step}" if path else step
            was_first, now_first = before.arrays["first_child"][old], after.arrays["first_child"][new]
            pending.append((int(was_first) + child, int(now_first) + child, below))


def _said(tree: Tree | None, node: int) -> tuple[str, int | None]:
    if tree is None:
        return "", None
    return test_text(tree, node, Style()), int(tree.arrays["rows"][node])


def _state(before: Tree, old: int, after: Tree, new: int) -> str:
    was, now = before.arrays, after.arrays
    kind = was["kind"][old]
    if kind != now["kind"][new] or was["attribute"][old] != now["attribute"][new]:
        return REBUILT
    if kind == LEAF:
        return KEPT
    if kind == NUMERIC:
        same = all(was[name][old] == now[name][new] for name in ("threshold", "threshold_integer"))
        return KEPT if same else MOVED
    sides, now_sides = _branches(before, old), _branches(after, new)
    stayed = all(sides[label] == now_sides[label] for label in sides.keys() & now_sides.keys())
    return KEPT if stayed else MOVED


def _branches(tree: Tree, node: int) -> dict[str, int]:
    labels = tree.schema.attributes[tree.arrays["attribute"][node]].labels
    here = slice(*tree.arrays["branch_start"][node : node + 2])
    codes, children = tree.arrays["branch_code"][here], tree.arrays["branch_child"][here]
    return {labels[code]: int(child) for code, child in zip(codes.tolist(), children, strict=True)}
