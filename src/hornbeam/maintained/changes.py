"""What a batch did to a tree, node by node: kept, its cut moved, or grown anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hornbeam.maintained.chance import CHANCE
from hornbeam.maintained.subtrees import Subtrees
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF, NUMERIC
from hornbeam.model.text import Style, branch_text, test_text

KEPT, MOVED, REBUILT = _STATES = "kept", "moved", "rebuilt"
_SHOWN_LABELS = 5


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
    changed_sides: tuple[str, ...] = ()
    """The labels that take another branch than before, where a test on labels moved."""

    @property
    def beyond_chance(self) -> bool:
        """Whether the new test is better by more than two standard errors."""
        return self.standard_errors is not None and self.standard_errors > CHANCE

    def to_record(self) -> dict[str, Any]:
        """The same for JSON; whether it is beyond chance is None where that was not asked."""
        beyond = None if self.standard_errors is None else self.beyond_chance
        return vars(self) | {"changed_sides": list(self.changed_sides), "beyond_chance": beyond}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> NodeChange:
        """What `to_record` gave, also to an earlier version."""
        plain = {name: value for name, value in record.items() if name != "beyond_chance"}
        return cls(**plain | {"changed_sides": tuple(plain.get("changed_sides", ()))})


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
    proof: Mapping[str, Any] | None = None
    """What `forget` found by growing the tree anew, as `verify` has it."""
    past: Mapping[str, int] | None = None
    """The counts of a batch so old that its nodes are not kept any more, and how many were withheld."""

    @property
    def counts(self) -> dict[str, int]:
        """How many tests were kept, moved and rebuilt."""
        if self.past is not None:
            return {state: self.past[state] for state in _STATES}
        found = Counter(node.state for node in self.nodes if node.before or node.after)
        found[KEPT] += sum(tests_below(node) for node in self.nodes)
        return {state: found[state] for state in _STATES}

    @property
    def withheld(self) -> int:
        """How many tests were kept though another one is the best, by chance."""
        if self.past is not None:
            return self.past["withheld"]
        return sum(bool(node.withheld) for node in self.nodes)

    def to_record(self) -> dict[str, Any]:
        """The same for JSON; `nodes` is None where they are not kept any more."""
        nodes = None if self.past is not None else [node.to_record() for node in self.nodes]
        record = vars(self) | {"nodes": nodes, "counts": self.counts, "withheld": self.withheld}
        del record["past"]
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Changes:
        """What `to_record` gave, also to an earlier version."""
        plain = dict(record)
        counts, nodes, withheld = plain.pop("counts"), plain.pop("nodes"), plain.pop("withheld", 0)
        if nodes is None:
            return cls(**plain, past=counts | {"withheld": withheld})
        return cls(**plain, nodes=tuple(map(NodeChange.from_record, nodes)))

    def certificate(self, keys: Sequence[Any], absent: Sequence[Any] | None) -> dict[str, Any]:
        """What `forget` hands out for keys, of which some had no row; None: that is not known any more."""
        proof = self.proof or {"rebuilt": None, "equal": False}
        return {
            "keys": keys,
            "absent": absent,
            "rows": self.deleted,
            "digest_before": self.digest_before,
            "digest_after": self.digest_after,
            "digest_rebuilt": proof["rebuilt"],
            "equal": proof["equal"],
            "repeated": self.repeated,
        }

    def to_text(self) -> str:
        """A line on the whole, and one for each test that is not the same."""
        counts = self.counts
        verb = "is" if self.withheld == 1 else "are"
        more = f"; {self.withheld:,} of those kept {verb} not the best" if self.withheld else ""
        rows, tests = "row" if self.inserted == 1 else "rows", "test" if counts[KEPT] == 1 else "tests"
        lines = [
            f"batch {self.number}: {self.inserted:,} {rows} inserted, {self.deleted:,} deleted, "
            f"{self.rows:,} present; {counts[KEPT]:,} {tests} kept, {counts[MOVED]:,} moved, "
            f"{counts[REBUILT]:,} rebuilt{more}"
        ]
        for node in self.nodes:
            if node.state != KEPT:
                was, now = _shown(node.before, node.rows_before), _shown(node.after, node.rows_after)
                said = f"{was} -> {now}{sides_text(node)}"
                lines.append(f"  {node.state:8} {node.path or 'root'}: {said}{_by_chance(node)}")
            elif node.withheld:
                said = f"{node.after} stays, the best is {node.withheld}"
                lines.append(f"  {node.state:8} {node.path or 'root'}: {said}{_by_chance(node)}")
        return "\n".join(lines)


def tests_below(node: NodeChange) -> int:
    """The tests that are not listed: every test has two branches."""
    return max(0, node.below // 2 - 1)


def _shown(test: str, rows: int | None) -> str:
    return test or ("no tree" if rows is None else "a leaf")


def sides_text(node: NodeChange) -> str:
    """The labels that changed sides: of a long test they may be among those that are not shown."""
    labels = node.changed_sides
    if not labels:
        return ""
    more = len(labels) - _SHOWN_LABELS
    shown = ", ".join(labels[:_SHOWN_LABELS]) + (f" and {more} more" if more > 0 else "")
    return f"; {shown} changed sides"


def _by_chance(node: NodeChange) -> str:
    if node.standard_errors is None:
        return ""
    judged = "beyond chance" if node.beyond_chance else "chance"
    return f" ({node.standard_errors:.1f} standard errors: {judged})"


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
        labels = _changed_sides(before, old, after, new) if state == MOVED else ()
        found.append(NodeChange(path, state, was, now, rows_was, rows_now, better, best, below, labels))
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
    return MOVED if _changed_sides(before, old, after, new) else KEPT


def _changed_sides(before: Tree, old: int, after: Tree, new: int) -> tuple[str, ...]:
    """The labels that both tests know and send to different branches; none where a number is asked for."""
    if before.arrays["kind"][old] == NUMERIC:
        return ()
    was, now = _branches(before, old), _branches(after, new)
    return tuple(label for label in was if now.get(label, was[label]) != was[label])


def _branches(tree: Tree, node: int) -> dict[str, int]:
    labels = tree.schema.attributes[tree.arrays["attribute"][node]].labels
    here = slice(*tree.arrays["branch_start"][node : node + 2])
    codes, children = tree.arrays["branch_code"][here], tree.arrays["branch_child"][here]
    return {labels[code]: int(child) for code, child in zip(codes.tolist(), children, strict=True)}
