"""The picture of what a batch did, for notebooks and for files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from hornbeam.drawing import changes as drawn
from hornbeam.drawing.changes import MOST_BOXES, Change, ChangesPicture, Side, draw_changes, render_changes
from hornbeam.maintained import changes as record
from hornbeam.maintained.changes import Changes, NodeChange, matched, sides_text, tests_below
from hornbeam.model import Tree
from hornbeam.model.picture import Levels, View, picture_of


class ChangesView(View):
    """The trees before and after a batch: a picture in a notebook, a text by `svg` or `html`, a file by
    `save`."""

    def __init__(self, changes: Changes, before: Tree | None, after: Tree | None) -> None:
        self.changes, self.before, self.after = changes, before, after

    @cached_property
    def picture(self) -> ChangesPicture:
        """The records that are drawn."""
        return changes_picture(self.changes, self.before, self.after)

    def svg(self, max_depth: Levels = "auto", *, title: str = "What a batch did") -> str:
        """The picture; below `max_depth` subtrees are counted instead of drawn ("auto": as deep as no tree
        has more than 64 boxes)."""
        depth = self.picture.depths(MOST_BOXES)[-1] if max_depth == "auto" else max_depth
        return draw_changes(self.picture, depth, title=title) + "\n"

    def html(self, *, title: str = "What a batch did") -> str:
        """A page of its own that needs no network: both trees, and every test that is not the same."""
        return render_changes(self.picture, title)

    def __repr__(self) -> str:
        return f"<ChangesView of batch {self.changes.number}; save it as .svg or .html>"


def changes_picture(changes: Changes, before: Tree | None, after: Tree | None) -> ChangesPicture:
    """Both trees with what the record says of their nodes; below rebuilt nodes all is rebuilt."""
    was, now, earlier = dict[int, NodeChange](), dict[int, NodeChange](), dict[int, int]()
    if before is not None and after is not None:
        records = (node for node in changes.nodes for _ in range(1 + node.below))
        for (old, new, *_), node in zip(matched(before, after), records, strict=True):
            was[old] = now[new] = node
            earlier[new] = old
    left, right = (
        None if tree is None else _side(tree, known) for tree, known in ((before, was), (after, now))
    )
    tests = [(state_of(node), node) for node in changes.nodes if node.before or node.after]
    counts = Counter(state for state, _ in tests)
    counts[drawn.KEPT] += sum(tests_below(node) for node in changes.nodes)
    return ChangesPicture(
        changes.number,
        changes.inserted,
        changes.deleted,
        changes.rows,
        left,
        right if left is None or right is None else _since(right, left, earlier),
        tuple((state, counts[state]) for state in drawn.STATES),
        tuple(_change(state, node) for state, node in tests if state != drawn.KEPT),
        tuple(_change(state, replace(node, after=node.withheld)) for state, node in tests if node.withheld),
    )


def state_of(node: NodeChange) -> str:
    """As the picture has it: what moved did so within chance, beyond it, or nobody knows."""
    if node.state != record.MOVED:
        return drawn.KEPT if node.state == record.KEPT else drawn.REBUILT
    if node.standard_errors is None:
        return drawn.MOVED
    return drawn.BEYOND if node.beyond_chance else drawn.CHANCE


def _side(tree: Tree, known: Mapping[int, NodeChange]) -> Side:
    picture, rows = picture_of(tree), tree.arrays["rows"].tolist()
    nodes = tuple(replace(node, rows=float(n)) for node, n in zip(picture.nodes, rows, strict=True))
    states = [state_of(known[node]) if node in known else drawn.REBUILT for node in range(tree.n_nodes)]
    return Side(replace(picture, nodes=nodes), tuple(states), (None,) * tree.n_nodes)


def _since(after: Side, before: Side, earlier: Mapping[int, int]) -> Side:
    """The new tree with the rows that its nodes had; a leaf of another class says which it had."""
    nodes, rows = list(after.picture.nodes), list(after.rows_before)
    for new, old in earlier.items():
        was, now = before.picture.nodes[old], nodes[new]
        rows[new] = was.rows
        if after.picture.classes and not (was.test or now.test) and was.prediction != now.prediction:
            nodes[new] = replace(now, prediction=f"{now.prediction}, was {was.prediction}")
    return Side(replace(after.picture, nodes=tuple(nodes)), after.states, tuple(rows))


def _change(state: str, node: NodeChange) -> Change:
    after = node.after + sides_text(node)
    return Change(
        state, node.path, node.before, after, node.rows_before, node.rows_after, node.standard_errors
    )
