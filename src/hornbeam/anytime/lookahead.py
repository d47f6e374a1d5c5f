"""Lookahead: ID3, LSID3 and its pruned forms over one table, as sketches; bounds of what a node can be."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from math import inf
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from hornbeam import _core
from hornbeam.anytime.effort import DRAWS, Effort, Efforts
from hornbeam.anytime.expected import CONFIDENCE
from hornbeam.anytime.sketch import Rows, Sketch
from hornbeam.growth import ClassTarget, Parameters, Pruning, grow_in_order, grow_tree, prune_tree
from hornbeam.growth.grow import check_classes
from hornbeam.model import RoutedTable, Tree
from hornbeam.table import Table

_BITS = 2**64 - 1


def mix(key: int, x: int) -> int:
    """The key of the place x below a key: splitmix64's last steps, modulo 2^64."""
    z = (key + 0x9E3779B97F4A7C15 * (x + 1)) & _BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _BITS
    return z ^ (z >> 31)


def seed_key(seed: int) -> int:
    """The key of a whole search."""
    return mix(seed & _BITS, 0)


def iteration_key(seed: int, iteration: int) -> int:
    """The key of a rebuild."""
    return mix(mix(seed_key(seed), 1), iteration)


def fold_key(seed: int, iteration: int, fold: int) -> int:
    """The key of what a referee grows to judge a rebuild."""
    return mix(mix(mix(seed_key(seed), 2), iteration), fold)


MOST_BYTES: Final = 2**26
_ENTRY: Final = 300  # bytes that an entry takes besides its rows, about

T = TypeVar("T")


class Known:
    """Answers by question and set of rows, the longest unused forgotten first. A question must have one
    answer for a set of rows, whoever asks and whenever: then it does not matter what is still known.

    Sets are told apart by the rows themselves and not by a hash of them. `most_bytes` of 0 remembers nothing.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = self.hits = self.misses = 0
        self._answers: OrderedDict[tuple[str, bytes], Any] = OrderedDict()

    def answer(self, question: str, rows: npt.NDArray[Any], find: Callable[[npt.NDArray[Any]], T]) -> T:
        """What is known, or what is found now. Rows ascend. An interrupt leaves nothing half known."""
        if not self.most_bytes:
            return find(rows)
        place = question, rows.astype(np.int32).tobytes()
        if place in self._answers:
            self.hits += 1
            self._answers.move_to_end(place)
            known: T = self._answers[place]
            return known
        self.misses += 1
        found = find(rows)
        self._answers[place] = found
        self.bytes += _ENTRY + len(place[1])
        while self.bytes > self.most_bytes:
            (_, forgotten), _ = self._answers.popitem(last=False)
            self.bytes -= _ENTRY + len(forgotten)
        return found

    def __len__(self) -> int:
        return len(self._answers)


CRITERION: Final = "entropy"
MIN_OBJS: Final = 2.0  # C4.5's -m
PRUNING: Final = Pruning("error_based", CONFIDENCE)


class Proof(NamedTuple):
    """What no tree of some rows is below, and a smallest tree, where one smaller than known was found."""

    lower: int
    sketch: Sketch | None


class Lookahead:
    """A table and its classes, encoded once, in which trees of any of its rows are sought.

    The switches `endings`, `aborts` and `fast` are the engine's; the last two never change a tree. Nor does
    `known_bytes`, the room for what is known of sets of rows; 0 remembers nothing.
    """

    def __init__(
        self,
        table: Table,
        target: ClassTarget,
        *,
        nominal: str = "value",
        threads: int = 1,
        known_bytes: int = MOST_BYTES,
        **switches: Any,
    ) -> None:
        check_classes(table.schema, len(target.labels))
        self.table, self.target, self.nominal, self.threads = table, target, nominal, threads
        self.known_bytes, self._switches = known_bytes, switches

    @cached_property
    def engine(self) -> _core.Lookahead:
        encoded = _core.encode(self.table.native(), self.table.n_rows, self.threads)
        return _core.Lookahead(
            encoded,
            self.target.codes.astype(np.uint16),
            len(self.target.labels),
            nominal=self.nominal,
            threads=self.threads,
            **self._switches,
        )

    @cached_property
    def _routed(self) -> RoutedTable:
        return RoutedTable(self.table)

    @cached_property
    def _efforts(self) -> Efforts:
        return Efforts(self.table, self.nominal)

    @cached_property
    def known(self) -> Known:
        return Known(self.known_bytes)

    @property
    def all_rows(self) -> Rows:
        return np.arange(self.table.n_rows)

    def id3(self, rows: Rows) -> Sketch:
        """The greedy tree: LSID3(0), which is that of the grower."""
        table, target = self.table.take(rows), self.target.take(rows)
        return self.sketch(grow_tree(table, target, self._greedy(), threads=self.threads), rows)

    def lsid3(
        self,
        rows: Rows,
        key: int,
        r: int,
        *,
        sample_fraction: float | None = None,
        draws: int | None = None,
        seconds: float = inf,
    ) -> Sketch | None:
        """The tree of LSID3(r); None where the seconds did not suffice."""
        found = self.engine.build(
            rows.astype(np.int32), key, r, sample_fraction=sample_fraction, draws=draws, seconds=seconds
        )
        return None if found is None else Sketch.of_native(cast(dict[str, npt.NDArray[Any]], found))

    def rebuilt(self, rows: Rows, key: int, r: int, seconds: float = inf) -> Sketch | None:
        """What an iteration puts in the place of a node: LSID3(r), many cuts sampled."""
        return self.lsid3(rows, key, r, draws=DRAWS * r, seconds=seconds)

    def pruned(self, sketch: Sketch) -> Sketch:
        """What C4.5's pruning leaves of a tree."""
        grown = self.tree(sketch)
        order = sketch.order.astype(np.uint32)
        tree = prune_tree(grown, PRUNING, self.table, self.target, criterion=CRITERION, order=order)
        return sketch if tree.n_nodes == grown.n_nodes else self.sketch(tree, np.sort(sketch.order))

    def c45(self, rows: Rows) -> Sketch:
        """C4.5's tree by information gain, pruned."""
        table, target = self.table.take(rows), self.target.take(rows)
        grown, order = grow_in_order(table, target, self._greedy(MIN_OBJS), threads=self.threads)
        tree = prune_tree(grown, PRUNING, table, target, criterion=CRITERION, order=order)
        return self.sketch(tree, rows)

    def _greedy(self, min_objs: float | None = None) -> Parameters:
        return Parameters(CRITERION, self.nominal, min_objs=min_objs)

    def leaves(self, sketch: Sketch, rows: Rows) -> Rows:
        """The node of a sketch in which each of some rows ends."""
        return sketch.by_level[self._routed.leaves(self.tree(sketch), rows, self.threads)]

    def answers(self, sketch: Sketch, rows: Rows) -> npt.NDArray[np.int32]:
        """The class codes that a sketch says of some rows."""
        return self._routed.classes(self.tree(sketch), rows, self.threads)

    def sketch(self, tree: Tree, rows: Rows) -> Sketch:
        """The sketch of a tree of this table and the rows that it was grown from, ascending."""
        return Sketch.of(tree, rows, self._routed.leaves(tree, rows, self.threads))

    def tree(self, sketch: Sketch) -> Tree:
        """A sketch as a tree of this table."""
        labels: list[Any] = self.target.labels.tolist()
        return sketch.to_tree(self.table.schema, labels)

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle keeps; the engine is made again when it is needed."""
        made = ("engine", "known", "_routed", "_efforts")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def effort(self, rows: Rows) -> Effort:
        """The effort of a rebuild at the node of these rows."""
        return self.known.answer("effort", rows, self._efforts.of)

    def can_part(self, rows: Rows) -> bool:
        """Whether some attribute has different values in a few rows; the rest of the table is not read."""
        return Efforts(self.table.take(rows), self.nominal).of(np.arange(len(rows))).usable > 0

    def prove(self, rows: Rows, most_nodes: int, upper: int | None = None, seconds: float = inf) -> Proof:
        """What branch and bound says of the fewest leaves; it remembers so many sets of rows at most."""
        found = self.engine.prove(rows.astype(np.int32), most_nodes=most_nodes, upper=upper, seconds=seconds)
        sketch = found["sketch"]
        return Proof(int(found["lower"]), None if sketch is None else Sketch.of_native(sketch))

    def searched_bound(self, rows: Rows, most_nodes: int) -> int:
        """What no tree of these rows is below, as a search that remembers so many sets of rows shows."""
        return self.known.answer(
            f"searched {most_nodes}", rows, lambda rows: self.prove(rows, most_nodes).lower
        )

    def bound(self, rows: Rows) -> int:
        """The number of leaves that no tree of these rows falls below."""
        return self.known.answer("bound", rows, lambda rows: self.engine.bound(rows.astype(np.int32)))
