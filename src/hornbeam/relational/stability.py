"""How stable a first-order tree is: at each node, how many folds ask the same, and what others do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hornbeam.growth.stability_records import (
    Arm,
    Bifurcation,
    LevelStability,
    NodeStability,
    ThresholdBand,
    TreeBesideFolds,
)
from hornbeam.growth.stability_view import arm_text, says
from hornbeam.model.text import DEEPEST_INDENT, INDENT, Style, one_line, real_text, share_text
from hornbeam.relational.logic import ABOVE, AT_MOST, Anything, Constant, Literal, Query
from hornbeam.relational.tree import Node, RelationalTree
from hornbeam.relational.words import test_words

if TYPE_CHECKING:
    from hornbeam.relational.picture import RelationalStabilityView

_STYLE = Style()
Members = dict[int, int]
"""Trees that came the same way, each with its node."""


@dataclass(frozen=True)
class _Meeting:
    """A place to which trees come by the same tests: the arms that part there, the query of the yes branches
    above, and the tests of the way, each with the query above it and whether it was answered yes."""

    arms: tuple[Members, ...]
    query: Query
    way: tuple[tuple[Query, Query, bool], ...]

    @property
    def members(self) -> Members:
        return {i: at for arm in self.arms for i, at in arm.items()}


class RelationalStability(TreeBesideFolds):
    """The tree of all examples beside those of folds. Fold i is tree i, from 1.

    Folds ask the same where their tests have the same literals, thresholds aside: those make a band.
    """

    tree: RelationalTree
    rows, met = "examples", "are met"

    def _record(self, node: int) -> NodeStability:
        return self.nodes[node]

    # trees walked together

    @cached_property
    def _levels(self) -> list[list[_Meeting]]:
        """Level by level, trees that ask the same go on together; their thresholds may differ."""
        level = [self._meeting(dict.fromkeys(range(len(self.trees)), 0), (), ())]
        levels = []
        while level:
            levels.append(level)
            level = [
                below for meeting in level for arm in meeting.arms for below in self._below(meeting, arm)
            ]
        return levels

    def _meeting(
        self, members: Members, query: Query, way: tuple[tuple[Query, Query, bool], ...]
    ) -> _Meeting:
        arms: dict[Query, Members] = {}
        for i, at in members.items():
            arms.setdefault(shape_of(self.trees[i].nodes[at].test), {})[i] = at
        return _Meeting(tuple(arms.values()), query, way)

    def _below(self, meeting: _Meeting, arm: Members) -> Iterator[_Meeting]:
        nodes = self._nodes_of(arm)
        test = next(iter(nodes.values())).test
        if test:
            yes, no = ((*meeting.way, (meeting.query, test, branch)) for branch in (True, False))
            yield self._meeting({i: of.yes for i, of in nodes.items()}, meeting.query + test, yes)
            yield self._meeting({i: of.no for i, of in nodes.items()}, meeting.query, no)

    def _nodes_of(self, members: Members) -> dict[int, Node]:
        return {i: self.trees[i].nodes[at] for i, at in members.items()}

    @cached_property
    def nodes(self) -> tuple[NodeStability, ...]:
        """A record for each node of the tree."""
        meetings = (meeting for level in self._levels for meeting in level if 0 in meeting.arms[0])
        return tuple(sorted(map(self._node, meetings), key=lambda record: record.node))

    def _node(self, meeting: _Meeting) -> NodeStability:
        own, *others = meeting.arms
        i, tree = own[0], self.tree
        arm, same = self._arm(meeting, own), [fold for fold in own if fold]
        alternatives = [self._arm(meeting, other) for other in others]
        alternatives.sort(key=lambda other: (-len(other.folds), other.folds))
        here = len(meeting.members) - 1
        answers = [self.trees[fold].answer(own[fold]) for fold in same]
        classes = tree.task == "classification"
        leaf = tree.nodes[i].is_leaf
        return NodeStability(
            node=i,
            depth=len(meeting.way),
            path=self._path(meeting),
            rows=int(tree.size(i)),
            test=arm.attribute,
            prediction=one_line(str(tree.answer(i))),
            folds=self.n_folds,
            here=here,
            same=len(same),
            leaves=sum(len(other.folds) for other in alternatives if other.is_leaf),
            gone=self.n_folds - here,
            agreeing=sum(answer == tree.answer(i) for answer in answers) if leaf and classes else None,
            band=arm.band,
            means=_band([tree.answer(i), *answers]) if leaf and not classes else None,
            alternatives=tuple(alternatives),
        )

    def _arm(self, meeting: _Meeting, members: Members) -> Arm:
        """What trees do that ask the same, thresholds aside, or that all stop."""
        nodes = self._nodes_of(members)
        folds, final = tuple(i for i in members if i > 0), 0 in members
        test = next(iter(nodes.values())).test
        if not test:
            answers = Counter(one_line(str(self.trees[i].answer(at))) for i, at in members.items())
            return Arm(f"leaf: {next(iter(answers))}" if len(answers) == 1 else "leaf", folds, final)
        words = self._words(meeting.query, test)
        first = [thresholds_of(node.test)[:1] for node in nodes.values()]
        return Arm(words, folds, final, words, _band([value for values in first for value in values]))

    def _words(self, before: Query, test: Query) -> str:
        return test_words(self.tree.signature, before, test)

    def _path(self, meeting: _Meeting) -> str:
        steps = ((self._words(before, test), yes) for before, test, yes in meeting.way)
        return ", ".join(words if yes else f"not ({words})" for words, yes in steps)

    @cached_property
    def bifurcations(self) -> tuple[Bifurcation, ...]:
        """Every place where trees that came together ask different things, level by level."""
        meetings = (meeting for level in self._levels for meeting in level)
        return tuple(self._bifurcation(meeting) for meeting in meetings if len(meeting.arms) > 1)

    def _bifurcation(self, meeting: _Meeting) -> Bifurcation:
        """The arm of the tree of all examples first, then by the number of folds."""
        arms = sorted(meeting.arms, key=lambda arm: (0 not in arm, -len(arm), min(arm)))
        first, at = next(iter(arms[0].items()))
        return Bifurcation(
            path=self._path(meeting),
            depth=len(meeting.way),
            node=meeting.members.get(0),
            rows=int(self.trees[first].size(at)),
            arms=tuple(self._arm(meeting, arm) for arm in arms),
        )

    # numbers of the whole tree

    @cached_property
    def agreement(self) -> float:
        """The share of the tests an example meets on its way that a fold asks there too; for a single leaf
        the share of folds that are a single leaf as well."""
        tests = [record for record in self.nodes if record.test] or list(self.nodes)
        weights = [max(record.rows, 0) for record in tests]
        same = sum(record.same * weight for record, weight in zip(tests, weights, strict=True))
        return same / (self.n_folds * sum(weights)) if sum(weights) else 0.0

    @cached_property
    def by_level(self) -> tuple[LevelStability, ...]:
        """A record for each level on which the tree asks."""
        levels = []
        for level in range(self.tree.depth):
            tests = [record for record in self if record.test and record.depth == level]
            rows = sum(record.rows for record in tests)
            same = sum(record.same * record.rows for record in tests)
            agreement = same / (rows * self.n_folds) if rows else 0.0
            found = self.tests_by_level[level], self.f[level]
            levels.append(LevelStability(level, len(tests), rows, agreement, *found))
        return tuple(levels)

    @cached_property
    def _tests_by_level(self) -> list[list[int]]:
        """For each level on which any tree asks, how many trees ask each of the different tests."""
        levels = [[arm for meeting in level for arm in meeting.arms] for level in self._levels]
        tests = [
            [len(arm) for arm in arms if next(iter(self._nodes_of(arm).values())).test] for arms in levels
        ]
        return [counts for counts in tests if counts]

    @property
    def f(self) -> tuple[float, ...]:
        """f(i) of Blockeel and Struyf, section 3.2: the different tests of all trees on each level on which
        any asks, for each test of a single one."""
        return tuple(len(counts) * len(self.trees) / sum(counts) for counts in self._tests_by_level)

    @property
    def tests_by_level(self) -> tuple[int, ...]:
        """The different tests of all trees on each level."""
        return tuple(map(len, self._tests_by_level))

    # faces

    def to_record(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        shares = {"agreement": self.agreement, "root_agreement": self.root_agreement}
        parted = [place.to_record() for place in self.bifurcations]
        return {"n_folds": self.n_folds, **shares, "nodes": self.table(), "bifurcations": parted}

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
        for record, node in zip(self, self.tree.nodes, strict=True):
            indent = INDENT * min(record.depth, DEEPEST_INDENT)
            yield f"{indent}{branches[record.node]}  n={record.rows}  {says(record)}"
            yield from (f"{indent}    ({arm_text(arm)})" for arm in record.alternatives)
            branches |= {node.yes: "yes", node.no: "no"}

    def show(self) -> RelationalStabilityView:
        """A picture for notebooks, and for files: `.save("stability.svg")` or `.save("stability.html")`."""
        from hornbeam.relational.picture import RelationalStabilityView

        return RelationalStabilityView(self)


def shape_of(test: Query) -> Query:
    """A test with its thresholds left open."""
    return tuple(
        Literal(literal.predicate, (literal.terms[0], Anything()))
        if literal.predicate in (AT_MOST, ABOVE)
        else literal
        for literal in test
    )


def thresholds_of(test: Query) -> list[float | int]:
    """The constants that the test compares with, in its order."""
    compared = (literal.terms[1] for literal in test if literal.predicate in (AT_MOST, ABOVE))
    values = [term.value for term in compared if isinstance(term, Constant)]
    return [value if isinstance(value, int) else float(value) for value in values]


def _band(values: Sequence[float | int]) -> ThresholdBand | None:
    if not values:
        return None
    low, high = min(values), max(values)
    return ThresholdBand(low, high, real_text(float(low), _STYLE), real_text(float(high), _STYLE))
