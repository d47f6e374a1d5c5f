"""Trees walked together from their roots: who stands at the same place, and who asks the same there.

Follows Blockeel and Struyf, section 3.1 and figure 5, but reads finished trees, so that the answer does not
depend on how they were grown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hornbeam.errors import UsageError
from hornbeam.model import Tree
from hornbeam.model.arrays import LEAF, MULTIWAY, SUBSET, VALUE, Array
from hornbeam.model.walk import brief_nodes

Ints = npt.NDArray[np.int64]

_EXTRAS = 2**40  # what a key keeps besides kind and attribute: a label, or the number of a subset


@dataclass(frozen=True, eq=False)
class JointWalk:
    """Places in the order of their levels; a place holds arms, an arm the sets that ask the same there.

    Arm g holds the entries `arm_start[g]` to `arm_start[g + 1]`, ascending by set; place p the arms
    `place_start[p]` to `place_start[p + 1]`. Kept are the places that set 0 reaches, and those where several
    sets stand. Set i at an entry stands at its node `node`.
    """

    set: npt.NDArray[np.int32]
    node: npt.NDArray[np.int32]
    arm_start: Ints
    place_start: Ints
    level: Ints
    first_arm: Ints
    """The arm of each node of tree 0."""
    first_place: Ints
    """The place of each node of tree 0."""
    tests: Ints
    """Different tests at each level of the forest; an arm counts once, however many sets share it."""
    leaves: Ints
    """Different leaves at each level."""
    asked: Ints
    """Tests at each level, those of every set counted."""
    n_sets: int


class _Nodes:
    """The nodes of all trees in one row of arrays; node j of tree i is at `offset[i] + j`."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        sizes = np.array([tree.n_nodes for tree in trees], dtype=np.int64)
        self.offset: Ints = np.cumsum(sizes) - sizes
        self.kind = np.concatenate([tree.arrays["kind"] for tree in trees])
        attribute = np.concatenate([tree.arrays["attribute"] for tree in trees]).astype(np.int64)
        self.n_children = np.concatenate([tree.arrays["n_children"] for tree in trees])
        first = [tree.arrays["first_child"] + at for tree, at in zip(trees, self.offset, strict=True)]
        self.first = np.concatenate(first)
        parts = [_labels_of(tree) for tree in trees]
        # What leads to a node from its parent: the label of a multiway test, else the number of the child.
        self.arrival = np.concatenate([arrival for arrival, _ in parts])
        extra = np.concatenate([value for _, value in parts])
        self.key: Ints = (self.kind + 8 * np.maximum(attribute, 0)) * _EXTRAS + extra
        self.key[self.kind == LEAF] = 0


def _labels_of(tree: Tree) -> tuple[Ints, Ints]:
    """(what leads to each node, the label that each value test asks for)."""
    kind, first, n = (tree.arrays[name] for name in ("kind", "first_child", "n_children"))
    arrival, value = np.zeros(tree.n_nodes, dtype=np.int64), np.zeros(tree.n_nodes, dtype=np.int64)
    inner = np.flatnonzero(n)
    if len(inner):
        ends = np.cumsum(n[inner])
        place = np.arange(ends[-1]) - np.repeat(ends - n[inner], n[inner])
        arrival[np.repeat(first[inner], n[inner]) + place] = place
    code, child = tree.arrays["branch_code"], tree.arrays["branch_child"]
    if len(code):
        owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.arrays["branch_start"]))
        own = (kind[owner] == MULTIWAY) & (child >= 0)
        arrival[first[owner[own]] + child[own]] = code[own]
        asked = (kind[owner] == VALUE) & (child == 0)
        value[owner[asked]] = code[asked]
    return arrival, value


def walk_together(trees: Sequence[Tree]) -> JointWalk:
    """The joint walk. Numeric tests are the same where they ask the same attribute, whatever the threshold;
    value tests where they ask for the same label; subset tests where every category that both know goes the
    same way; multiway tests where they ask the same attribute, and branches then meet by their labels.
    """
    _check(trees)
    nodes, subsets = _Nodes(trees), SubsetTests(trees)
    kept = _Kept(trees[0].n_nodes)
    sets: Ints = np.arange(len(trees), dtype=np.int64)
    at, place = nodes.offset.copy(), np.zeros(len(trees), dtype=np.int64)
    while len(at):
        key, swapped = nodes.key[at], np.zeros(len(at), dtype=bool)
        shared = _in_company(place)
        asks = np.flatnonzero(shared & (nodes.kind[at] == SUBSET))
        if len(asks):
            local = at[asks] - nodes.offset[sets[asks]]
            number, swapped[asks] = subsets.numbered(place[asks], sets[asks], local)
            key[asks] += number
        order = np.lexsort((key, place))
        at, place, sets, key, swapped = at[order], place[order], sets[order], key[order], swapped[order]
        arm = np.concatenate([[0], np.cumsum((np.diff(place) != 0) | (np.diff(key) != 0))])
        kept.level(at - nodes.offset[sets], place, sets, arm, key == 0, shared[order])
        at, place, sets = _children(nodes, at, arm, sets, swapped)
    return kept.joint(len(trees))


def _check(trees: Sequence[Tree]) -> None:
    if not trees:
        raise UsageError("no trees were given; the first is that of all rows, those of the folds follow")
    first = trees[0]
    for i, tree in enumerate(trees):
        if tree.schema is not first.schema and tree.schema != first.schema:
            raise UsageError(
                f"tree {i} was grown from other columns than tree 0; trees of one table are compared"
            )
        if tree.classes != first.classes or tree.targets != first.targets:
            raise UsageError(f"tree {i} has other classes or targets than tree 0; grow them from one table")


def _in_company(place: Ints) -> npt.NDArray[np.bool_]:
    """Whether another entry has the same place; places ascend."""
    same = np.diff(place) == 0
    company: npt.NDArray[np.bool_] = np.concatenate([[False], same]) | np.concatenate([same, [False]])
    return company


def _children(
    nodes: _Nodes, at: Ints, arm: Ints, sets: Ints, swapped: npt.NDArray[np.bool_]
) -> tuple[Ints, Ints, Ints]:
    """The entries of the next level; those that took the same branch of the same arm share a place."""
    n = nodes.n_children[at].astype(np.int64)
    owner = np.repeat(np.arange(len(at)), n)
    ends = np.cumsum(n)
    child = nodes.first[at][owner] + np.arange(len(owner)) - (ends - n)[owner]
    way = nodes.arrival[child]
    way = np.where(swapped[owner], 1 - way, way)
    key = arm[owner] * (int(way.max(initial=0)) + 1) + way
    order = np.argsort(key, kind="stable")
    place = np.cumsum(np.diff(key[order], prepend=key[order[:1]]) != 0)
    return child[order], place, sets[owner][order]


class _Kept:
    """What the walk leaves behind, level after level."""

    def __init__(self, n_nodes: int) -> None:
        self._set: list[Array] = []
        self._node: list[Array] = []
        self._arm_sizes: list[Array] = []
        self._place_arms: list[Array] = []
        self._counts: list[tuple[int, int, int]] = []
        self._first_arm: Ints = np.zeros(n_nodes, dtype=np.int64)
        self._first_place: Ints = np.zeros(n_nodes, dtype=np.int64)
        self._arms = self._places = 0

    def level(
        self, node: Ints, place: Ints, sets: Ints, arm: Ints, leaf: Array, shared: npt.NDArray[np.bool_]
    ) -> None:
        """All entries of a level, ascending by arm; arms ascend with their places."""
        leaves = int(np.count_nonzero(leaf & np.concatenate([[True], np.diff(arm) != 0])))
        self._counts.append((int(arm[-1]) + 1 - leaves, leaves, int(np.count_nonzero(~leaf))))
        kept = shared | (sets == 0)
        node, place, sets, arm = node[kept], place[kept], sets[kept], arm[kept]
        if not len(node):
            self._place_arms.append(np.zeros(0, dtype=np.int64))
            return
        new_arm = np.concatenate([[True], np.diff(arm) != 0])
        new_place = np.concatenate([[True], np.diff(place) != 0])
        arm, place = np.cumsum(new_arm) - 1, np.cumsum(new_place) - 1
        own = sets == 0
        self._first_arm[node[own]] = self._arms + arm[own]
        self._first_place[node[own]] = self._places + place[own]
        self._set.append(sets.astype(np.int32))
        self._node.append(node.astype(np.int32))
        self._arm_sizes.append(np.bincount(arm))
        self._place_arms.append(np.bincount(place[new_arm]))
        self._arms += int(arm[-1]) + 1
        self._places += int(place[-1]) + 1

    def joint(self, n_sets: int) -> JointWalk:
        tests, leaves, asked = np.array(self._counts, dtype=np.int64).T
        return JointWalk(
            set=np.concatenate(self._set),
            node=np.concatenate(self._node),
            arm_start=_starts(self._arm_sizes),
            place_start=_starts(self._place_arms),
            level=np.repeat(np.arange(len(self._place_arms)), [len(part) for part in self._place_arms]),
            first_arm=self._first_arm,
            first_place=self._first_place,
            tests=tests,
            leaves=leaves,
            asked=asked,
            n_sets=n_sets,
        )


def _starts(sizes: list[Array]) -> Ints:
    ends: Ints = np.cumsum(np.concatenate(sizes))
    return np.concatenate([[0], ends])


class SubsetTests:
    """Numbers for the subset tests of several trees: at a place, equal numbers are the same test.

    Sides carry no meaning of their own: a test that has lost the label which names its left side may be
    written the other way round. Such a test gets the same number and is marked as swapped.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        self._trees = trees
        self._lists: dict[int, tuple[Array, list[int], list[int]]] = {}
        self._numbers: dict[tuple[int, int, bytes], int] = {}

    def numbered(self, place: Ints, sets: Ints, node: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """The number of each entry's test, and whether its sides are swapped; entries ascend by place."""
        number = np.array(
            [self._number(i, n) for i, n in zip(sets.tolist(), node.tolist(), strict=True)], dtype=np.int64
        )
        swapped = np.zeros(len(number), dtype=bool)
        mixed = np.flatnonzero((np.diff(place) == 0) & (np.diff(number) != 0))
        for at in np.unique(place[mixed]).tolist():
            begin, end = np.searchsorted(place, (at, at + 1)).tolist()
            self._merge(number, swapped, begin, end, sets, node)
        return number, swapped

    def _number(self, i: int, node: int) -> int:
        """Equal for tests that are written alike; others may turn out to be the same all the same."""
        if i not in self._lists:
            self._lists[i] = _written(self._trees[i])
        written, start, brief = self._lists[i]
        attribute = int(self._trees[i].arrays["attribute"][node])
        text = attribute, brief[node], written[start[node] : start[node + 1]].tobytes()
        return self._numbers.setdefault(text, len(self._numbers))

    def _merge(
        self, number: Ints, swapped: npt.NDArray[np.bool_], begin: int, end: int, sets: Ints, node: Ints
    ) -> None:
        """Give tests of one place that agree the number of the first of them.

        A test joins the first group whose known categories it does not contradict, and brings its own.
        """
        groups: list[tuple[int, int, dict[int, int]]] = []  # attribute, number, category -> side
        joined: dict[int, tuple[int, bool]] = {}
        for entry in range(begin, end):
            own = int(number[entry])
            if own not in joined:
                tree, at = self._trees[int(sets[entry])], int(node[entry])
                ways = {code: k for k in (0, 1) for code in tree.branch_codes(at, k).tolist()}
                joined[own] = _join(groups, int(tree.arrays["attribute"][at]), own, ways)
            number[entry], swapped[entry] = joined[own]


def _join(
    groups: list[tuple[int, int, dict[int, int]]], attribute: int, own: int, ways: dict[int, int]
) -> tuple[int, bool]:
    for other, number, known in groups:
        common = [code for code in ways if code in known] if other == attribute else None
        if common is None:
            continue
        for swap in (False, True):
            if all(known[code] == ways[code] ^ swap for code in common):
                known.update((code, way ^ swap) for code, way in ways.items())
                return number, swap
    groups.append((attribute, own, ways))
    return own, False


def _written(tree: Tree) -> tuple[Array, list[int], list[int]]:
    """(category and child of each branch as one number, where a node's begin, and what a test in brief
    adds: its default child, since that is where unlisted categories go)."""
    code, child = tree.arrays["branch_code"], tree.arrays["branch_child"]
    brief = np.full(tree.n_nodes, -1)
    short = brief_nodes(tree)
    brief[short] = tree.arrays["default_child"][short]
    written = code.astype(np.int64) << 32 | child.astype(np.int64) & 0xFFFFFFFF
    return written, tree.arrays["branch_start"].tolist(), brief.tolist()
