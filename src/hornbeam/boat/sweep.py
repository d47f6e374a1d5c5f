"""One scan and what it settles, from the top down: nodes by their counts, families by the rows kept of them.

The rows that a guess leaves in doubt are held, and families on which the bootstrap trees disagree are kept as
packed rows; so an alarm is looked into without another scan, unless rows that seemed to need no more tests
were let go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hornbeam import _core
from hornbeam.boat.layout import counts_bytes
from hornbeam.boat.nodes import COUNTS_PART, KEPT_PART, Nodes
from hornbeam.boat.plan import HELD, CoarseNode, PlaceRecord, ScanPlan
from hornbeam.boat.requests import CountRows, Flags, Gather, LookUp, SendOn, Step, take_steps
from hornbeam.boat.scans import ScanContext, scanner_of
from hornbeam.errors import SourceChanged

_LEAST_PART = 16  # of the memory is always there for values that are looked for
_VALUE = 48  # bytes that a value takes while tests are compared
_LEAST_VALUES = 4096  # to look for at a time, whatever the memory: fewer are not worth the way


class Family(NamedTuple):
    """A node, and the place where its rows come to."""

    node: int
    place: int


def roots(nodes: Nodes) -> list[Family]:
    """The root, where all rows come to; nothing if it is a leaf."""
    root = nodes.settling.open_root(0)
    return [] if root < 0 else [Family(root, 0)]


class Sweep:
    """A scan of all rows down a plan."""

    def __init__(self, nodes: Nodes, grid: _core.Grid, context: ScanContext, plan: ScanPlan) -> None:
        self._nodes, self._grid, self._task, self._meter = nodes, grid, context.task, context.meter
        self._guesses, self.routes, places = plan.guesses, plan.routes, plan.places
        self._children = {i: place.tests[0]["children"] for i, place in enumerate(places) if place.tests}
        survey, words = nodes.survey, nodes.layout.sum_words
        self._counts = counts_bytes(grid, len(survey.schema), len(survey.row_counts), words)
        self.buffered = scanner_of(context.task).prepare(context, grid, places)
        self.scan = self.buffered.scan
        self.reopened: list[Family] = []

    @property
    def _settling(self) -> _core.Settling:
        return self._nodes.settling

    def settle_all(self, phase: str, begin: Sequence[Family] | None) -> None:
        """Scan the source, settle what can be from some families on, and let the grower finish the rest; from
        the root on where nothing was known before."""
        with self._meter.scan(phase) as report:
            self.buffered.run(report)
        if begin is None:
            self._nodes.open([self._nodes.survey.row_counts], [self.scan.total_sums(0)])
            begin = roots(self._nodes)
        with self._meter.phase("settling"):
            families = self._settle(begin)
        if families:
            with self._meter.phase("families") as report:
                self._finish(families, report)

    # ---- settling ----

    def _settle(self, begin: Sequence[Family]) -> list[Family]:
        """Settle all nodes that have guesses; the families that are left. Nodes whose rows were let go are
        `reopened`: another scan has to bring them."""
        families: list[Family] = []
        pending = list(begin)
        while pending:
            guessed: list[Family] = []
            for family in self.buffered.take(pending):
                self._check(family)
                if family.place in self._guesses:
                    guessed.append(family)
                elif not self.scan.complete(family.place):
                    self._settle_let_go(*family)
                else:
                    families.append(family)
            pending += self._below([self._settle_guessed(*family) for family in guessed])
        return families

    def _below(self, steps: Sequence[Step[list[Family]]]) -> list[Family]:
        """The families that steps end with."""
        return [family for found in take_steps(steps, self.buffered.serve) for family in found]

    def _check(self, family: Family) -> None:
        """The rows that came to a family are those that its node was opened for."""
        counts = self._settling.counts(family.node)
        if not np.array_equal(self.scan.totals(family.place), counts.astype(np.uint64)):
            name = self._task.reading.source.name
            raise SourceChanged(f"{name} has other rows than before; read from a copy")

    def _settle_guessed(self, node: int, place: int) -> Step[list[Family]]:
        settled = self._settling.settle(node, self.scan, place)
        complete = self.scan.complete(place)
        if settled.state == "open":
            self._meter.alarms += 1
            if not complete:
                self._drop(place)
                self.reopened.append(Family(node, place))
                return []
            settled = yield from self._look_into(node, place, settled)
        if settled.state == "leaf":
            self._drop(place)
            return []
        if self._confirms(self._guesses[place], settled):
            return (yield from self._split(node, place, settled, self._children[place]))
        self._meter.alarms += 1
        if complete:
            yield from self._gather(place)
            return (yield from self._split_family(node, place, settled))
        return self._reopen_children(node, place, settled)

    def _settle_let_go(self, node: int, place: int) -> None:
        """A node that seemed a leaf, so that its rows were let go."""
        self._meter.alarms += 1
        self.reopened.append(Family(node, place))

    def _settle_family(self, node: int, place: int) -> Step[list[Family]]:
        """A family that is too large for the grower: one more level, from its rows."""
        if not self.scan.counted(place):
            place = yield from self._count(place)
        settled = self._settling.settle(node, self.scan, place)
        if settled.state == "open":
            settled = yield from self._look_into(node, place, settled)
        if settled.state == "leaf":
            self._drop(place)
            return []
        families = yield from self._split_family(node, place, settled)
        for family in families:
            self._check(family)
        return families

    def _look_into(self, node: int, place: int, settled: _core.Settled) -> Step[_core.Settled]:
        """Find the values in all buckets that leave a node open among the rows kept at and below it: of as
        many buckets at a time as there is room for, the best test of those before in mind."""
        if self._nodes.by_sums:
            return (yield from self._look_around(node, place, settled))
        seen: dict[int, Flags] = {}
        best: _core.Settled | None = None
        while settled.state == "open":
            watches = self._watches(self._portion(place, settled.alive))
            self.scan.forget_watches(place)
            yield self._look_up(place, watches)
            settled = self._settling.settle(node, self.scan, place, looked_into=list(seen.items()), best=best)
            for attribute, wanted in watches.items():
                seen[attribute] = wanted | seen[attribute] if attribute in seen else wanted
            if settled.exact:
                best = settled
        return settled

    def _look_around(self, node: int, place: int, settled: _core.Settled) -> Step[_core.Settled]:
        """Find the values around the cut that sums tell: those of a few buckets, one after the other."""
        while settled.state == "open":
            yield self._look_up(place, self._watches(settled.alive))
            settled = self._settling.settle(node, self.scan, place)
        return settled

    def _look_up(self, place: int, watches: dict[int, Flags]) -> LookUp:
        return LookUp(place, dict(watches), list(self._places_below(place)))

    def _portion(self, place: int, alive: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        """As many buckets as there is room for the values of; all for C4.5, which compares all attributes
        at once."""
        if self._task.parameters.criterion == "c45":
            return alive
        budget, value = self._task.budget, _VALUE + 3 * 8 * self._nodes.layout.sum_words
        room = max(int(budget * KEPT_PART) - self.scan.bytes, budget // _LEAST_PART) // value
        room = max(room, _LEAST_VALUES)
        rows = int(self.scan.totals(place).sum())
        if rows * len({attribute for attribute, _ in alive}) <= room:
            return alive
        sizes: dict[int, Sequence[int]] = {}
        for attribute, _ in alive:
            if attribute not in sizes:
                cells = self.scan.counts(place, attribute).reshape(self._grid.size(attribute) + 1, -1)
                sizes[attribute] = cells.sum(axis=1, dtype=np.int64).tolist()
        taken = np.cumsum([sizes[attribute][bucket] for attribute, bucket in alive])
        # Both values beside a cut are looked for at once.
        return alive[: max(2, int(np.searchsorted(taken, room, side="right")))]

    def _watches(self, alive: Sequence[tuple[int, int]]) -> dict[int, Flags]:
        """By attribute, which of its buckets."""
        watches: dict[int, Flags] = {}
        for attribute, bucket in alive:
            if attribute not in watches:
                watches[attribute] = np.zeros(self._grid.size(attribute) + 1, dtype=np.uint8)
            watches[attribute][bucket] = 1
        return watches

    def _confirms(self, guess: CoarseNode, settled: _core.Settled) -> bool:
        """Whether the rows that went on by the guess went where the test sends them."""
        attribute = settled.attribute
        if attribute != guess.attribute:
            return False
        if guess.child_of is not None:
            return all(guess.child_of[code] in (HELD, child) for code, child in settled.branches)
        # No row has a key between lo and hi.
        went_left = guess.first == 0 or self._grid.high(attribute, guess.first - 1) < settled.hi
        last = self._grid.size(attribute) - 1
        return went_left and (guess.last >= last or self._grid.low(attribute, guess.last + 1) > settled.lo)

    # ---- rows ----

    def _split_family(self, node: int, place: int, settled: _core.Settled) -> Step[list[Family]]:
        """The rows of a place go to new places for its children."""
        rows = [int(settled.child_counts(i).sum()) for i in range(settled.n_children)]
        large = [self._nodes.too_large(n) for n in rows]
        # Where there is no room to count it yet, its rows are read once more when its turn comes.
        counted = [wanted and self._may_count for wanted in large]
        rest = self._rest(rows, counted)
        if rest is None:
            made = [self._kept_place(counts) for counts in counted]
            return (yield from self._split(node, place, settled, made))
        children = [self._kept_place(i != rest) for i in range(2)]
        of_both = self.scan.take_counts(place)
        nodes = yield from self._send_on(node, place, settled, children)
        self.scan.count_rest(of_both, children[1 - rest], children[rest])
        if not counted[1 - rest]:
            self.scan.take_counts(children[1 - rest])
        return self._open(nodes, children)

    def _rest(self, rows: Sequence[int], counted: Sequence[bool]) -> int | None:
        """The larger of two children, if its counts are better had as the rest than by counting."""
        larger = int(np.argmax(rows))
        return larger if len(rows) == 2 and counted[larger] and not self._nodes.by_sums else None

    def _kept_place(self, counts: bool) -> int:
        """A new place that keeps its rows, and may count them."""
        place = self._nodes.counting(keeps=True) if counts else PlaceRecord(keeps=True)
        return self.buffered.add_place(place)

    @property
    def _may_count(self) -> bool:
        """Whether one place more may have counts: unlike rows they cannot be put away."""
        counts = self.scan.bytes - self.scan.rows_kept * self._nodes.layout.stride
        return bool(counts + self._counts <= self._task.budget * COUNTS_PART)

    def _split(
        self, node: int, place: int, settled: _core.Settled, children: Sequence[int]
    ) -> Step[list[Family]]:
        nodes = yield from self._send_on(node, place, settled, children)
        return self._open(nodes, children)

    def _send_on(
        self, node: int, place: int, settled: _core.Settled, children: Sequence[int]
    ) -> Step[list[int]]:
        """Write a test down, and send the rows that its place holds on their way; the nodes below."""
        nodes = self._settling.split(node, settled)
        self.routes[place] = settled.route(self._nodes.layout, list(children))
        below = [p for child in children for p in self._places_below(child)]
        yield SendOn(place, self.routes[place], below)
        return nodes

    def _open(self, nodes: Sequence[int], children: Sequence[int]) -> list[Family]:
        """The families of nodes; nobody needs the rows of leaves."""
        for below, child in zip(nodes, children, strict=True):
            if below < 0:
                self._drop(child)
        return [Family(n, p) for n, p in zip(nodes, children, strict=True) if n >= 0]

    def _gather(self, place: int) -> Step[None]:
        """All rows below a place come back to it: its guess was wrong."""
        yield Gather(place, list(self._places_below(place)))

    def _count(self, place: int) -> Step[int]:
        """A place like this one, whose rows are counted as well."""
        made = yield CountRows(place, self._nodes.counting(keeps=True))
        assert made is not None
        return made

    def _reopen_children(self, node: int, place: int, settled: _core.Settled) -> list[Family]:
        """The test is known, but rows of the node were let go: another scan brings its children's."""
        nodes = self._settling.split(node, settled)
        self._drop(place)
        children = [self.buffered.add_place(PlaceRecord()) for _ in nodes]
        self.routes[place] = settled.route(self._nodes.layout, children)
        self.reopened += [Family(n, p) for n, p in zip(nodes, children, strict=True) if n >= 0]
        return []

    def _drop(self, place: int) -> None:
        """Nobody needs the rows at and below a place."""
        for p in self._places_below(place):
            self.buffered.drop(p)

    def _places_below(self, place: int) -> Iterator[int]:
        yield place
        route = self.routes.get(place)
        for child in self._children.get(place, ()) if route is None else route["children"]:
            if child >= 0:
                yield from self._places_below(child)

    # ---- families ----

    def _finish(self, families: Sequence[Family], report: Callable[[float], None]) -> None:
        """Let the grower finish families: the small ones first, which make room for the others. What is too
        large for it is split before."""
        waiting = sorted(families, key=self._rows, reverse=True)
        total, done = sum(map(self._rows, waiting)), 0
        while waiting:
            taken = self.buffered.take(waiting)
            large = [family for family in taken if self._nodes.too_large(self._rows(family))]
            parts = self._below([self._settle_family(*family) for family in large])
            waiting += sorted(parts, key=self._rows, reverse=True)
            whole = [family for family in taken if family not in large]
            below = {family.place: {0: family.node} for family in whole}
            self.buffered.finish(self._nodes, below, [other.place for other in waiting])
            done += sum(map(self._rows, whole))
            report(done / total)

    def _rows(self, family: Family) -> int:
        return int(self._settling.counts(family.node).sum())
