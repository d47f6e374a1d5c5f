"""BOAT (paper 002): a sample guesses the tree, one scan of all rows settles it, families finish in memory.

The rows that a guess leaves in doubt are held, and families on which the bootstrap trees disagree are kept as
packed rows; so an alarm is looked into without another scan, unless rows that seemed to need no more tests
were let go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbeam import _core
from hornbeam.boat.chunks import Chunks
from hornbeam.boat.coarse import HELD, Bootstraps, CoarseNode, CoarseTree, grow_bootstraps
from hornbeam.boat.keeping import Keeping
from hornbeam.boat.layout import bucket_number, grid_of, layout_of, sample_keys
from hornbeam.boat.meter import Meter
from hornbeam.boat.nodes import Nodes
from hornbeam.boat.spill import Spill
from hornbeam.boat.survey import Survey
from hornbeam.boat.task import SourceTask
from hornbeam.errors import SourceChanged
from hornbeam.growth import ClassTarget
from hornbeam.model import Tree

_LEAST_SAMPLED = 2000  # rows of a node that the sample may still speak for
_SURE = 1000  # sampled rows of one class that make a leaf likely
_KEPT_PART = 0.5  # of the memory for rows that are kept and counts; families grow in the rest


@dataclass
class Family:
    """A node whose rows are kept at a place."""

    node: int
    place: int


def grow_boat(task: SourceTask, survey: Survey, meter: Meter) -> list[Tree]:
    """The tree of all rows."""
    with Spill() as spill:
        cleanup = Cleanup(task, survey, meter, spill)
        cleanup.run()
        return [cleanup.nodes.tree()]


class Cleanup:
    """One growth: the guess, the cleanup scan, what it settles, and further scans for what it does not."""

    def __init__(self, task: SourceTask, survey: Survey, meter: Meter, spill: Spill) -> None:
        self.task, self.survey, self.meter, self.spill = task, survey, meter, spill
        self.layout = layout_of(survey, len(survey.labels))
        self.nodes = Nodes(task, survey, self.layout, [survey.class_counts])
        self.settling = self.nodes.settling
        self._attributes = list(range(len(survey.schema)))
        self._nominal = [attribute.kind == "nominal" for attribute in survey.schema.attributes]
        self._keys = sample_keys(self.layout, survey.sample)
        self.grid = grid_of(self.layout, self._keys, self._nominal, bucket_number(len(survey.labels)))
        self._budget = task.budget
        self._guesses: dict[int, CoarseNode] = {}  # by place
        self._children: dict[int, list[int]] = {}  # by place
        self._routes: dict[int, dict[str, Any]] = {}  # of places that are settled
        self._reopened: list[Family] = []
        self.scan: _core.SourceScan | None = None

    def run(self) -> None:
        root = self.settling.open_root(0)
        if root < 0:
            return
        with self.meter.phase("bootstraps"):
            guess = self._guess()
            places = self._plan(guess)
        with self.meter.scan("cleanup scan") as report:
            self._scan(places, report)
        with self.meter.phase("settling"):
            families = self._settle([Family(root, 0)])
        self._finish(families)
        while self._reopened:
            self._scan_again()

    # ---- the guess ----

    def _guess(self) -> CoarseNode:
        survey, task = self.survey, self.task
        how = Bootstraps()
        trees = grow_bootstraps(
            survey.sample, survey.sample_target, task.parameters, survey.rows, how, task.seed, task.threads
        )
        least = max(_LEAST_SAMPLED, survey.sample.n_rows // 100)
        return CoarseTree(trees, self._keys, self.layout, self.grid, least).root

    def _plan(self, guess: CoarseNode) -> list[dict[str, Any]]:
        """Places for the nodes of the guess; where it ends, families or what seem to be leaves."""
        places: list[dict[str, Any]] = []
        most = self.task.parameters.max_depth

        def add(node: CoarseNode, depth: int) -> int:
            at = len(places)
            self._guesses[at] = node
            if node.agreed and (most is None or depth < most):
                places.append(self._place(counted=True))
                children = [add(child, depth + 1) for child in node.children]
                self._children[at] = children
                places[at]["tests"] = [_route(node, children)]
            elif depth == most or self._seems_leaf(node):
                places.append(self._place())
            else:
                places.append(self._place(counted=self._too_large(self._likely_rows(node)), keeps=True))
            return at

        add(guess, 0)
        return places

    def _place(self, counted: bool = False, keeps: bool = False) -> dict[str, Any]:
        return {"counted": self._attributes if counted else [], "keeps": keeps, "watches": [], "tests": []}

    def _seems_leaf(self, node: CoarseNode) -> bool:
        target = self.survey.sample_target
        assert isinstance(target, ClassTarget)
        codes = target.codes[node.rows]
        return len(codes) >= _SURE and bool((codes == codes[0]).all())

    def _likely_rows(self, node: CoarseNode) -> float:
        return len(node.rows) * self.survey.rows / max(1, self.survey.sample.n_rows)

    def _too_large(self, rows: float) -> bool:
        """Whether so many rows are too many for the grower, beside what is kept."""
        kept = self.scan.bytes if self.scan is not None else self._budget * _KEPT_PART
        return rows * self.nodes.family_bytes > self._budget - kept

    # ---- scans ----

    def _scan(self, places: list[dict[str, Any]], report: Callable[[int], None]) -> None:
        self.scan = _core.SourceScan(self.layout, self.grid, places)
        room = int(self._budget * _KEPT_PART)
        self.keeping = Keeping(self.scan, self.layout.stride, self.spill, room, self.meter)
        kept = [i for i, place in enumerate(places) if place["keeps"]]
        for chunk in Chunks(self.task.reading, self.survey, report):
            columns = [(column[1], column[2] if len(column) > 2 else None) for column in chunk.columns]
            self.scan.add(columns, chunk.classes)
            self.keeping.relieve(kept)

    def _scan_again(self) -> None:
        """One more scan that gathers the rows of all nodes that could not be settled."""
        reopened, self._reopened = self._reopened, []
        wanted = {family.place: family for family in reopened}
        places: list[dict[str, Any]] = []
        families: list[Family] = []

        def add(place: int) -> int:
            at = len(places)
            if place in wanted:
                rows = self.settling.counts(wanted[place].node).sum()
                places.append(self._place(counted=self._too_large(float(rows)), keeps=True))
                families.append(Family(wanted[place].node, at))
                return at
            route = self._routes.get(place)
            if route is None:
                return -1
            places.append(self._place())
            children = [add(child) for child in route["children"]]
            if all(child < 0 for child in children):
                del places[at:]
                return -1
            places[at]["tests"] = [route | {"children": children}]
            routes[at] = route | {"children": children}
            return at

        routes: dict[int, dict[str, Any]] = {}
        add(0)
        self._guesses, self._children, self._routes = {}, {}, routes
        with self.meter.scan("further scan") as report:
            self._scan(places, report)
        with self.meter.phase("settling"):
            found = self._settle(families)
        self._finish(found)

    # ---- settling ----

    def _settle(self, begin: list[Family]) -> list[Family]:
        """From the top down: nodes whose counts settle them, and the families that are left."""
        families: list[Family] = []
        pending = list(begin)
        while pending:
            family = pending.pop()
            counts = self.settling.counts(family.node)
            if not np.array_equal(self.scan.totals(family.place), counts.astype(np.uint64)):
                raise SourceChanged(f"{self.task.reading.source.name} has other rows than before; fit it again")
            if family.place in self._children:
                pending += self._settle_guessed(family)
            elif not self._keeps(family.place):
                self._reopened.append(family)
            elif self._too_large(float(counts.sum())):
                pending += self._settle_family(family)
            else:
                families.append(family)
        return families

    def _keeps(self, place: int) -> bool:
        return self.scan.complete(place)

    def _settle_guessed(self, family: Family) -> list[Family]:
        node, place = family.node, family.place
        settled = self.settling.settle(node, self.scan, place)
        if settled.state == "open":
            self.meter.alarms += 1
            if not self.scan.complete(place):
                self._drop(place)
                self._reopened.append(family)
                return []
            settled = self._look_into(node, place, settled)
        if settled.state == "leaf":
            self._drop(place)
            return []
        guess = self._guesses[place]
        if self._confirms(guess, settled):
            children = self._children[place]
            nodes = self.settling.split(node, settled)
            self._decide(place, settled, children)
            return self._below(nodes, children)
        self.meter.alarms += 1
        if not self.scan.complete(place):
            return self._reopen_children(node, place, settled)
        self._gather(place)
        return self._split_family(node, place, settled)

    def _settle_family(self, family: Family) -> list[Family]:
        """A family that is too large for the grower: one more level, from its rows."""
        node, place = family.node, family.place
        if not self.scan.counted(place):
            place = self._count(place)
        settled = self.settling.settle(node, self.scan, place)
        if settled.state == "open":
            settled = self._look_into(node, place, settled)
        if settled.state == "leaf":
            self._drop(place)
            return []
        return self._split_family(node, place, settled)

    def _look_into(self, node: int, place: int, settled: _core.Settled) -> _core.Settled:
        """Find the values in all buckets that leave a node open among the rows kept at and below it."""
        below = list(self._places_below(place))
        while settled.state == "open":
            watches = []
            for attribute in sorted({a for a, _ in settled.alive}):
                wanted = np.zeros(self.grid.size(attribute) + 1, dtype=np.uint8)
                wanted[[bucket for a, bucket in settled.alive if a == attribute]] = 1
                watches.append((attribute, wanted))
            self.scan.look_up(place, watches)
            for block in self.keeping.away(below):
                self.scan.look_on(block, place, len(watches))
            settled = self.settling.settle(node, self.scan, place)
        return settled

    def _confirms(self, guess: CoarseNode, settled: _core.Settled) -> bool:
        """Whether the rows that went on by the guess went where the test sends them."""
        attribute = settled.attribute
        if attribute != guess.attribute:
            return False
        if guess.child_of is not None:
            return all(guess.child_of[code] in (HELD, child) for code, child in settled.branches)
        # No row has a key between lo and hi.
        went_left = guess.first == 0 or self.grid.high(attribute, guess.first - 1) < settled.hi
        last = self.grid.size(attribute) - 1
        return went_left and (guess.last >= last or self.grid.low(attribute, guess.last + 1) > settled.lo)

    def _split_family(self, node: int, place: int, settled: _core.Settled) -> list[Family]:
        """The rows of a place go to new places for its children."""
        nodes = self.settling.split(node, settled)
        children = []
        for i, child in enumerate(nodes):
            rows = float(settled.child_counts(i).sum())
            made = self._place(counted=child >= 0 and self._too_large(rows), keeps=child >= 0)
            children.append(self.scan.add_place(made))
        self._decide(place, settled, children)
        return self._below(nodes, children)

    def _decide(self, place: int, settled: _core.Settled, children: list[int]) -> None:
        self._routes[place] = settled.route(self.layout, children)
        pieces = self.keeping.move_away(place)
        self.scan.decide(place, settled, children)
        kept = [p for child in children for p in self._places_below(child) if self.scan.keeps(p)]
        self.keeping.relieve(kept)
        for block in self.keeping.read(pieces):
            self.scan.send_on([block], place)
            self.keeping.relieve(kept)

    def _gather(self, place: int) -> None:
        """All rows below a place come back to it: its guess was wrong."""
        below = list(self._places_below(place))
        pieces = [piece for p in below for piece in self.keeping.move_away(p)]
        self.scan.put_back(self.scan.gather(place), place)
        self.keeping.put_pieces(place, pieces)

    def _count(self, place: int) -> int:
        """A place like this one, whose rows are counted as well."""
        made = self.scan.add_place(self._place(counted=True, keeps=True))
        pieces = self.keeping.move_away(place)
        self.scan.add_kept(self.scan.take_rows(place), made)
        self.keeping.relieve([made])
        for block in self.keeping.read(pieces):
            self.scan.add_rows(block, made)
            self.keeping.relieve([made])
        return made

    def _below(self, nodes: Sequence[int], children: Sequence[int]) -> list[Family]:
        families = []
        for node, place in zip(nodes, children, strict=True):
            if node < 0:
                self._drop(place)
            else:
                families.append(Family(node, place))
        return families

    def _reopen_children(self, node: int, place: int, settled: _core.Settled) -> list[Family]:
        """The test is known, but rows of the node were let go: another scan brings its children's."""
        nodes = self.settling.split(node, settled)
        self._drop(place)
        children = [self.scan.add_place(self._place()) for _ in nodes]
        self._routes[place] = settled.route(self.layout, children)
        self._reopened += [Family(n, p) for n, p in zip(nodes, children, strict=True) if n >= 0]
        return []

    def _drop(self, place: int) -> None:
        """Nobody needs the rows at and below a place."""
        for p in self._places_below(place):
            self.keeping.forget(p)

    def _places_below(self, place: int) -> Iterator[int]:
        yield place
        route = self._routes.get(place)
        for child in self._children.get(place, ()) if route is None else route["children"]:
            yield from self._places_below(child)

    # ---- families ----

    def _finish(self, families: list[Family]) -> None:
        """Small trees of their own, one family after the other."""
        if not families:
            return
        with self.meter.phase("families") as report:
            for i, family in enumerate(families):
                self.meter.families += 1
                blocks = list(self.keeping.away([family.place]))
                rows = self.scan.take_rows(family.place)
                encoded, classes, _ = rows.encode(blocks)
                self.keeping.forget(family.place)
                del rows, blocks
                self.nodes.finish(family.node, encoded, classes)
                report((i + 1) / len(families))


def _route(node: CoarseNode, children: list[int]) -> dict[str, Any]:
    route: dict[str, Any] = {"attribute": node.attribute, "missing": HELD, "children": children}
    if node.child_of is not None:
        return route | {"kind": "nominal", "child_of": node.child_of.tolist()}
    return route | {"kind": "coarse", "first": node.first, "last": node.last}
