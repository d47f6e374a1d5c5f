"""How stable a first-order tree is: at each node, how many folds ask the same, and what others do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hornbeam.errors import UsageError
from hornbeam.growth.arms import Arm, Bifurcation, NodeStability, ThresholdBand
from hornbeam.growth.stability_text import arm_text, says
from hornbeam.model.text import DEEPEST_INDENT, INDENT, Style, one_line, real_text, share_text
from hornbeam.relational.logic import ABOVE, AT_MOST, Anything, Constant, Literal, Query
from hornbeam.relational.tree import RelationalTree
from hornbeam.relational.words import test_words

if TYPE_CHECKING:
    from hornbeam.relational.picture import RelationalStabilityView


@dataclass(frozen=True)
class Places:
    """Where trees part, level by level; and f(i)."""

    bifurcations: tuple[Bifurcation, ...]
    tests: tuple[int, ...]
    """The different tests on each level on which any tree asks."""
    f: tuple[float, ...]


@dataclass(frozen=True)
class _Place:
    """Trees that came the same way, each with its node; what was found, and the way in words."""

    members: dict[int, int]
    query: Query
    path: tuple[str, ...]


def walk_places(stability: RelationalStability) -> Places:
    """Level by level, trees that ask the same go on together; their thresholds may differ."""
    level = [_Place(dict.fromkeys(range(len(stability.trees)), 0), (), ())]
    parted: list[Bifurcation] = []
    tests: list[int] = []
    f: list[float] = []
    depth = 0
    while level:
        asked, different, below = 0, 0, []
        for place in level:
            groups = _groups(stability, place)
            if len(groups) > 1:
                parted.append(_bifurcation(stability, place, list(groups.values()), depth))
            for shape, members in groups.items():
                if shape:
                    asked, different = asked + len(members), different + 1
                    below += _branches(stability, place, members)
        if asked:
            tests.append(different)
            f.append(different * len(stability.trees) / asked)
        level, depth = below, depth + 1
    return Places(tuple(parted), tuple(tests), tuple(f))


def _groups(stability: RelationalStability, place: _Place) -> dict[Query, dict[int, int]]:
    groups: dict[Query, dict[int, int]] = {}
    for i, at in place.members.items():
        groups.setdefault(shape_of(stability.trees[i].nodes[at].test), {})[i] = at
    return groups


def _branches(stability: RelationalStability, place: _Place, members: dict[int, int]) -> list[_Place]:
    first, at = next(iter(members.items()))
    test = stability.trees[first].nodes[at].test
    words = stability.words(place.query, test)
    nodes = {i: stability.trees[i].nodes[where] for i, where in members.items()}
    return [
        _Place({i: node.yes for i, node in nodes.items()}, place.query + test, (*place.path, words)),
        _Place({i: node.no for i, node in nodes.items()}, place.query, (*place.path, f"not ({words})")),
    ]


def _bifurcation(
    stability: RelationalStability, place: _Place, groups: list[dict[int, int]], depth: int
) -> Bifurcation:
    """The arm of the tree of all examples first, then by the number of folds."""
    groups.sort(key=lambda members: (0 not in members, -len(members), min(members)))
    first, at = next(iter(groups[0].items()))
    return Bifurcation(
        path=", ".join(place.path),
        depth=depth,
        node=place.members.get(0),
        rows=int(stability.trees[first].size(at)),
        arms=tuple(stability.arm(members, place.query) for members in groups),
    )


def shape_of(test: Query) -> Query:
    """A test with its thresholds left open."""
    return tuple(_open(literal) for literal in test)


def _open(literal: Literal) -> Literal:
    if literal.predicate not in (AT_MOST, ABOVE):
        return literal
    return Literal(literal.predicate, (literal.terms[0], Anything()))


_STYLE = Style()
Here = Mapping[int, int]
"""Of each fold that came to a node of the tree of all examples by the same tests, its own node there."""


class RelationalStability:
    """The tree of all examples beside those of folds. Fold i is tree i, from 1.

    Folds ask the same where their tests have the same literals, thresholds aside: those make a band.
    """

    def __init__(self, trees: Sequence[RelationalTree]) -> None:
        if len(trees) < 2:
            raise UsageError("stability needs the tree of all examples and that of at least one fold")
        self.trees = tuple(trees)
        self.tree = trees[0]

    @property
    def n_folds(self) -> int:
        return len(self.trees) - 1

    def __len__(self) -> int:
        return self.tree.n_nodes

    def __iter__(self) -> Iterator[NodeStability]:
        return iter(self.nodes)

    def __getitem__(self, node: int) -> NodeStability:
        if not 0 <= node < len(self):
            raise UsageError(f"node={node!r}: the tree has the nodes 0 to {len(self) - 1}")
        return self.nodes[node]

    def __repr__(self) -> str:
        return (
            f"<RelationalStability: {self.n_folds} folds, {share_text(self.root_agreement)} agree at the "
            f"root, "
            f"{share_text(self.agreement)} of the tests that are met>"
        )

    @cached_property
    def _here(self) -> list[Here]:
        """Who comes to each node of the tree by the same tests."""
        here: list[Here] = [{}] * len(self)
        here[0] = {fold: 0 for fold in range(1, len(self.trees))}
        for i, node in enumerate(self.tree.nodes):
            if node.is_leaf:
                continue
            same = [fold for fold, at in here[i].items() if self._asks(fold, at, node.test)]
            here[node.yes] = {fold: self.trees[fold].nodes[here[i][fold]].yes for fold in same}
            here[node.no] = {fold: self.trees[fold].nodes[here[i][fold]].no for fold in same}
        return here

    def _asks(self, fold: int, at: int, test: Query) -> bool:
        return shape_of(self.trees[fold].nodes[at].test) == shape_of(test)

    @cached_property
    def nodes(self) -> tuple[NodeStability, ...]:
        """A record for each node of the tree."""
        return tuple(map(self._node, range(len(self))))

    def _node(self, i: int) -> NodeStability:
        node, here = self.tree.nodes[i], self._here[i]
        same = [fold for fold, at in here.items() if self._asks(fold, at, node.test)]
        stopped = [fold for fold, at in here.items() if self.trees[fold].nodes[at].is_leaf]
        leaf = node.is_leaf
        agreeing = None
        if leaf and self.tree.task == "classification":
            agreeing = sum(self.trees[fold].answer(here[fold]) == self.tree.answer(i) for fold in same)
        means = None
        if leaf and self.tree.task == "regression":
            means = _band([self.tree.answer(i), *(self.trees[fold].answer(here[fold]) for fold in same)])
        return NodeStability(
            node=i,
            depth=self.tree.depths[i],
            path=self._path(i),
            rows=int(self.tree.size(i)),
            test="" if leaf else self.words(self.tree.queries[i], node.test),
            prediction=one_line(str(self.tree.answer(i))),
            folds=self.n_folds,
            here=len(here),
            same=len(same),
            leaves=0 if leaf else len(stopped),
            gone=self.n_folds - len(here),
            agreeing=agreeing,
            band=None if leaf else self._thresholds(i, same),
            means=means,
            alternatives=self._alternatives(i, same),
        )

    def words(self, before: Query, test: Query) -> str:
        """A test below a query, in words."""
        return test_words(self.tree.signature, before, test)

    def _path(self, node: int) -> str:
        steps = []
        while node:
            child, node = node, self.tree.parents[node]
            words = self.words(self.tree.queries[node], self.tree.nodes[node].test)
            steps.append(words if self.tree.nodes[node].yes == child else f"not ({words})")
        return ", ".join(reversed(steps))

    def _thresholds(self, i: int, same: list[int]) -> ThresholdBand | None:
        """Of the first comparison with a threshold, over the tree and the folds that ask the same."""
        tests = [
            self.tree.nodes[i].test,
            *(self.trees[fold].nodes[self._here[i][fold]].test for fold in same),
        ]
        found = [next(iter(thresholds_of(test)), None) for test in tests]
        return _band([value for value in found if value is not None])

    def _alternatives(self, i: int, same: list[int]) -> tuple[Arm, ...]:
        """What the other folds that are here do, the most folds first."""
        arms: dict[Query, list[int]] = {}
        for fold, at in self._here[i].items():
            if fold not in same:
                arms.setdefault(shape_of(self.trees[fold].nodes[at].test), []).append(fold)
        return tuple(
            self._arm(i, folds) for folds in sorted(arms.values(), key=lambda folds: (-len(folds), folds))
        )

    def _arm(self, i: int, folds: list[int]) -> Arm:
        return self.arm({fold: self._here[i][fold] for fold in folds}, self.tree.queries[i])

    def arm(self, members: Here, before: Query) -> Arm:
        """What trees do that ask the same, thresholds aside, or that all stop, below a query."""
        places = [(self.trees[i], at) for i, at in members.items()]
        folds, final = tuple(i for i in members if i > 0), 0 in members
        tree, at = places[0]
        if tree.nodes[at].is_leaf:
            answers = Counter(one_line(str(some.answer(where))) for some, where in places)
            return Arm(f"leaf: {next(iter(answers))}" if len(answers) == 1 else "leaf", folds, final)
        words = self.words(before, tree.nodes[at].test)
        values = [next(iter(thresholds_of(some.nodes[where].test)), None) for some, where in places]
        band = _band([value for value in values if value is not None])
        return Arm(words, folds, final, words, band)

    @property
    def root_agreement(self) -> float:
        """The share of folds that ask at the root what the tree asks."""
        return self.nodes[0].same / self.n_folds

    @cached_property
    def agreement(self) -> float:
        """Of the tests that an example meets on its way, the share that a fold asks there too; of a single
        leaf the share of folds that are one as well."""
        asking = [record for record in self.nodes if record.test] or list(self.nodes)
        weights = [max(record.rows, 0) for record in asking]
        same = sum(record.same * weight for record, weight in zip(asking, weights, strict=True))
        return same / (self.n_folds * sum(weights)) if sum(weights) else 0.0

    @cached_property
    def _places(self) -> Places:
        return walk_places(self)

    @property
    def bifurcations(self) -> tuple[Bifurcation, ...]:
        """Every place where trees that came together ask different things, level by level."""
        return self._places.bifurcations

    @property
    def f(self) -> tuple[float, ...]:
        """f(i) of Blockeel and Struyf, section 3.2: the different tests of all trees on each level on which
        any asks, for each test of a single one."""
        return self._places.f

    @property
    def tests_by_level(self) -> tuple[int, ...]:
        """The different tests of all trees on each level."""
        return self._places.tests

    def table(self) -> list[dict[str, Any]]:
        """A dict for each node, for a data frame."""
        return [record.to_record() for record in self]

    def to_record(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        shares = {"agreement": self.agreement, "root_agreement": self.root_agreement}
        parted = [place.to_record() for place in self.bifurcations]
        return {"n_folds": self.n_folds, **shares, "nodes": self.table(), "bifurcations": parted}

    def to_json(self) -> str:
        return json.dumps(self.to_record(), allow_nan=False)

    def to_text(self) -> str:
        """A line for each node: what it asks, how many folds do too, and below it what the others do."""
        folds = f"{self.n_folds} fold{'' if self.n_folds == 1 else 's'}"
        head = (
            f"Stability over {folds}: {share_text(self.root_agreement)} agree at the root, "
            f"{share_text(self.agreement)} of the tests that an example meets are the same."
        )
        shape = "Each line: branch  examples  what it asks or answers  folds that do the same; * is a leaf."
        return "\n".join([head, shape, *self._lines()]) + "\n"

    def _lines(self) -> Iterator[str]:
        branches = {0: "root"}
        for i, node in enumerate(self.tree.nodes):
            record = self.nodes[i]
            indent = INDENT * min(record.depth, DEEPEST_INDENT)
            yield f"{indent}{branches[i]}  n={record.rows}  {says(record)}"
            yield from (f"{indent}    ({arm_text(arm)})" for arm in record.alternatives)
            if not node.is_leaf:
                branches[node.yes], branches[node.no] = "yes", "no"

    def show(self) -> RelationalStabilityView:
        """A picture for notebooks, and for files: `.save("stability.svg")` or `.save("stability.html")`."""
        from hornbeam.relational.picture import RelationalStabilityView

        return RelationalStabilityView(self)


def thresholds_of(test: Query) -> list[float | int]:
    found = []
    for literal in test:
        if literal.predicate in (AT_MOST, ABOVE) and isinstance(literal.terms[1], Constant):
            value = literal.terms[1].value
            found.append(value if isinstance(value, int) else float(value))
    return found


def _band(values: Sequence[float | int]) -> ThresholdBand | None:
    if not values:
        return None
    low, high = min(values), max(values)
    return ThresholdBand(low, high, real_text(float(low), _STYLE), real_text(float(high), _STYLE))
