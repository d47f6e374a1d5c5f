"""A batch that keeps tests: one stands while no other test of its node is better by more than chance.

What exactness would have changed is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hornbeam import _core
from hornbeam.boat.nodes import KEPT_PART
from hornbeam.boat.plan import PlaceRecord
from hornbeam.maintained.chance import CHANCE
from hornbeam.maintained.conditions import Want
from hornbeam.maintained.kept import KeptNode
from hornbeam.maintained.probes import compare_tests
from hornbeam.maintained.update import NodePair, Update
from hornbeam.model import Tree
from hornbeam.model.arrays import NUMERIC, SUBSET, VALUE
from hornbeam.model.text import Style, test_text

_VALUE = 64  # bytes that a value of an attribute takes while tests are compared


class Withheld(NamedTuple):
    """A test that exactness would have taken, and by how many standard errors it is better."""

    test: str
    standard_errors: float


class StableUpdate(Update):
    """Nodes are kept down to the leaves. Those that are not counted are judged by all values of their rows,
    which one scan brings for as many families as fit the memory."""

    def __init__(self, *given: Any, tests: Tree | None, **switches: Any) -> None:
        super().__init__(*given, **switches)
        self._tests = tests
        """The tree that the numbers of the kept nodes are of."""
        self._unlisted: list[NodePair] = []
        self._listed: dict[KeptNode, tuple[_core.SourceScan, int]] = {}
        self._contested: list[tuple[NodePair, _core.Settled, _core.Settled]] = []
        self._held_back: dict[KeptNode, Withheld] = {}
        self.withheld: dict[int, Withheld] = {}
        """By node of the tree."""

    def settle(self) -> Tree:
        grown = super().settle()
        self._lead_by_thresholds(grown)
        self.withheld = {kept.number: withheld for kept, withheld in self._held_back.items()}
        return grown

    def _lead_by_thresholds(self, grown: Tree) -> None:
        """Rows that come later go where the thresholds say, wherever present values lie."""
        root = self._tree.root
        for kept in root.walk():
            if kept.route is not None and kept.route["kind"] == "numeric":
                self._tree.lead_as(kept, grown)

    # ---- nodes ----

    @property
    def _waits(self) -> bool:
        return bool(self._moving or self._unlisted or self._contested)

    def _serve(self) -> None:
        super()._serve()
        self._contest()
        if not self._pending:
            self._list()

    def _visit(self, node: int, kept: KeptNode) -> None:
        if node < 0 or kept.counted or kept.route is None or self._stays(kept):
            super()._visit(node, kept)
        elif kept in self._listed:
            self._follow(NodePair(node, kept), self._nodes.settling.settle(node, *self._listed[kept]))
        else:
            self._unlisted.append(NodePair(node, kept))

    def _follow(self, pair: NodePair, settled: _core.Settled) -> None:
        unaffected = self._standing(pair) if settled.state == "test" and pair.kept.route is not None else None
        if unaffected is None:
            super()._follow(pair, settled)
        elif self._same_test(pair.kept, settled):
            errors = (
                0.0 if self._same_split(pair.kept, settled) else self._comparison.of_move(pair.kept, settled)
            )
            self._judge(pair, settled, unaffected, errors)
        else:
            self._contested.append((pair, settled, unaffected))

    def _standing(self, pair: NodePair) -> _core.Settled | None:
        """The test that a node has; None where the rules do not admit it any more."""
        kept, tree, settling = pair.kept, self._tests, self._nodes.settling
        assert tree is not None
        assert kept.route is not None
        kind, attribute = int(tree.arrays["kind"][kept.number]), int(kept.route["attribute"])
        branches: list[tuple[int, int]] = []
        if kind != NUMERIC:
            place = self._listed.get(kept, (self._scan, kept.place))
            present = settling.look(pair.node, place[0], place[1], attribute).branches
            branches = [(code, kept.route["child_of"][code]) for code, _ in present]
        threshold = (
            float(tree.arrays["threshold"][kept.number]),
            int(tree.arrays["threshold_integer"][kept.number]),
        )
        places = self._places(kept)
        unaffected = settling.keep(
            node=pair.node,
            kind=kind,
            attribute=attribute,
            default_child=int(kept.route["missing"]),
            threshold=threshold,
            branches=branches,
            counts=[self._scan.totals(place).astype(np.int64).tolist() for place in places],
            sums=[self._scan.total_sums(place) for place in places] if self._tree.layout.sum_words else [],
        )
        return unaffected if unaffected.state == "test" and (kind == NUMERIC or branches) else None

    def _judge(self, pair: NodePair, best: _core.Settled, unaffected: _core.Settled, errors: float) -> None:
        """Keep the test of a node, or take the best one."""
        if errors > CHANCE:
            return super()._follow(pair, best)
        self._errors[pair.kept] = 0.0
        if errors != 0.0:
            said = test_text(_Best(best, self._tree.survey.schema, self._tree.layout), 0, Style())
            self._held_back[pair.kept] = Withheld(said, errors)
        self._go_below(pair, unaffected)

    def _may_miss(self, kept: KeptNode, attribute: int) -> bool:
        return not kept.counted or super()._may_miss(kept, attribute)

    def _forget(self, kept: KeptNode) -> None:
        super()._forget(kept)
        self._listed.pop(kept, None)

    def _worth_a_scan(
        self, found: list[tuple[NodePair, _core.Settled]]
    ) -> list[tuple[NodePair, _core.Settled]]:
        return found  # what is grown anew loses its tests

    def _most_in_doubt(self, kept: KeptNode) -> float:
        return max(super()._most_in_doubt(kept), self._room / _VALUE)

    @property
    def _room(self) -> float:
        return self._tree.task.budget * KEPT_PART / 2

    # ---- rows ----

    def _contest(self) -> None:
        """Compare tests of different attributes, or of different labels, on the rows of their nodes."""
        contested, self._contested = self._contested, []
        if not contested:
            return
        routes = {pair.kept: (pair.kept.route, self._route(pair.kept, best)) for pair, best, _ in contested}
        plan, at = self._probes.plan({kept: partial(compare_tests, *both) for kept, both in routes.items()})
        scan = self._probes.scan(plan, [Want(pair.kept) for pair, *_ in contested])
        for pair, best, unaffected in contested:
            self._judge(pair, best, unaffected, self._comparison.of_tests(scan, plan, at[pair.kept]))

    def _list(self) -> None:
        """Bring all values of as many families as there is room for."""
        self._listed = {}
        taken, room = list[NodePair](), self._room
        while self._unlisted and (room > 0 or not taken):
            taken.append(self._unlisted.pop())
            room -= sum(self._values(kept) for kept in self._to_list(taken[-1].kept)) * _VALUE
        if not taken:
            return
        wanted = [kept for pair in taken for kept in self._to_list(pair.kept)]
        scan, at = self._probes.look({kept: self._every_value() for kept in wanted})
        self._listed = {kept: (scan, at[kept]) for kept in wanted}
        self._pending += taken

    def _every_value(self) -> PlaceRecord:
        """A place that tells all attributes by value; each category has a bucket of its own."""
        kinds = [attribute.kind for attribute in self._tree.survey.schema.attributes]
        return PlaceRecord(
            counted=[i for i, kind in enumerate(kinds) if kind == "nominal"],
            watches=[(i, None) for i, kind in enumerate(kinds) if kind != "nominal"],
        )

    def _to_list(self, top: KeptNode) -> list[KeptNode]:
        """The tests of a family that may have to go."""
        return [kept for kept in top.walk() if kept.route is not None and not self._stays(kept)]

    def _values(self, kept: KeptNode) -> int:
        return int(self._scan.totals(kept.place).sum()) * len(self._tree.survey.schema)


def _middle(low: Any, high: Any, integer: bool) -> Any:
    return (low + high) // 2 if integer else low / 2 + high / 2


class _Best:
    """A settled test as texts are made from it."""

    def __init__(self, settled: _core.Settled, schema: Any, layout: _core.RowLayout) -> None:
        self.schema, self._settled = schema, settled
        kind, middle = (SUBSET if self._several else VALUE), 0
        if settled.numeric:
            low, high = (layout.value(settled.attribute, key) for key in (settled.lo, settled.hi))
            kind, middle = NUMERIC, _middle(low, high, schema.attributes[settled.attribute].is_integer)
        self.arrays: Mapping[str, Any] = {
            "kind": [kind],
            "attribute": [settled.attribute],
            "threshold": [middle],
            "threshold_integer": [middle],
        }

    @property
    def _several(self) -> bool:
        return len(self.branch_codes(0, 0)) > 1

    def branch_codes(self, node: int, child: int, /) -> Any:
        return np.array([code for code, to in self._settled.branches if to == child])
