"""Trees of rows that change: while they are warm, their counts follow every batch; else rows are counted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.growth import grow_source
from hornbeam.boat.meter import Meter
from hornbeam.boat.reading import Reading
from hornbeam.boat.survey import Survey, survey
from hornbeam.boat.task import SourceTask
from hornbeam.errors import NoRows, SourceChanged
from hornbeam.maintained.conditions import Want
from hornbeam.maintained.counts import from_bytes, to_bytes
from hornbeam.maintained.kept import KeptTree
from hornbeam.maintained.rows import LeftOut
from hornbeam.maintained.stable import StableUpdate, Withheld
from hornbeam.maintained.update import Update
from hornbeam.model import Tree
from hornbeam.table.sources import source
from hornbeam.table.targets import no_weight


class PresentTasks(Protocol):
    """The task of growing from the present rows, or from such a part of them that has all which are wanted
    of a kept tree."""

    def __call__(self, wants: Sequence[Want], *, kept: KeptTree | None = None) -> SourceTask: ...

    def without(self, fold: LeftOut) -> PresentTasks:
        """The same without the rows of a fold."""


class IncrementalTree:
    """The tree, before any pruning, and what is counted at its nodes while it is warm. Whatever stops
    half-way leaves it cold."""

    def __init__(
        self,
        present: PresentTasks,
        tree: Tree | None = None,
        whole: IncrementalTree | None = None,
        *,
        keep_families: bool = True,
        stable: bool = False,
    ) -> None:
        self.present, self.tree, self._keep_families = present, tree, keep_families
        self._stable = stable
        """Whether tests stay while chance may be the reason that others are better."""
        self._whole = whole
        """Of all rows, where this one is of a fold's training set: labels are those of all rows."""
        self.survey: Survey | None = None
        """Of the rows that were counted last; None where counts were recalled."""
        self.counted_anew = False
        """Whether the last batch found labels or numbers that the counts had no room for."""
        self.errors: dict[int, float] = {}
        """By how many standard errors tests of the tree are better than those before the last batch."""
        self.withheld: dict[int, Withheld] = {}
        """The tests that exactness would have taken after the last batch, by node."""
        self._kept: KeptTree | None = None

    @property
    def warm(self) -> bool:
        return self._kept is not None

    @property
    def known(self) -> Survey | None:
        """What all present rows have in common, with room for more, while it is warm."""
        return None if self._kept is None else self._kept.survey

    def counts(self) -> bytes | None:
        """What makes it warm, for `recall`; None where it is cold, or as quickly counted again."""
        return None if self._kept is None else to_bytes(self._kept)

    def recall(self, counts: bytes) -> None:
        """Be warm again with what `counts` gave when these rows were present, if it is that."""
        if self._kept is None and self.tree is not None:
            with suppress(Exception):  # whatever foreign bytes bring: they are not used, then
                kept = from_bytes(counts, self.present(()), self.tree)
                if kept is not None:
                    kept.deep = self._stable
                self._kept = kept

    def grow(self) -> Tree:
        """The tree of all present rows, from nothing."""
        self.tree = grow_source(self.present(())).pairs[0].unpruned
        return self.tree

    def warm_up(self) -> Tree | None:
        """Count the present rows at all nodes of their tree."""
        return self._count_anew(None, None)

    def _count_anew(self, inserted: pa.Table | None, deleted: pa.Table | None) -> Tree | None:
        """Count the present rows at all nodes of the tree before a batch, which becomes theirs."""
        self._kept, self.counted_anew = None, True
        task = self.present(())
        try:
            kept = self._counted(task)
        except NoRows:
            if self._whole is None and task.reading.source.weight is None:
                raise  # a file without rows is not asked for them
            self._forget_tree()
            return None
        before = self._touched_by(kept, inserted, deleted)
        return self._settled(kept, self._update(kept, before, foresee_all=True))

    def _counted(self, task: SourceTask) -> KeptTree:
        """The present rows at all nodes of the tree; NoRows where none of them weighs anything."""
        found = self._surveyed() if self._whole is None else self._whole.survey or self._whole._surveyed()
        kept = KeptTree.over(task, found)
        kept.deep = self._stable
        if self.tree is not None:
            kept.build(kept.root, self.tree)
        for chunk in Chunks(task.reading, kept.survey):
            chunk.add_to(kept.scan)
        if not kept.n_rows:
            raise no_weight()
        return kept

    def _surveyed(self) -> Survey:
        task = self.present(())
        self.survey = survey(task.reading, task.sample_rows, task.seed)
        return self.survey

    def _touched_by(self, kept: KeptTree, inserted: pa.Table | None, deleted: pa.Table | None) -> Tree | None:
        """The tree before a batch, once it is known which of its nodes the batch touched; None where that
        cannot be told."""
        tree = self.tree
        if tree is None or not self._keep_families or not _same_labels(tree, kept.survey):
            return None
        try:
            chunks = [*self._encoded(kept, deleted), *self._encoded(kept, inserted)]
        except SourceChanged:
            return None
        kept.scan.forget_touches()
        for chunk in chunks:  # what is counted already comes and goes again, and leaves its traces
            chunk.add_to(kept.scan)
            chunk.add_to(kept.scan, away=True)
        return tree

    def apply(self, inserted: pa.Table | None, deleted: pa.Table | None) -> Tree | None:
        """The tree after a batch that the present rows have seen already; None where none of them weighs
        anything."""
        kept = self._kept
        if kept is None or (self._whole is not None and self._whole.counted_anew):
            return self._count_anew(inserted, deleted)
        try:
            less, more = self._encoded(kept, deleted), self._encoded(kept, inserted)
        except SourceChanged:  # a label or a number that there is no room for
            return self._count_anew(inserted, deleted)
        self._kept, self.counted_anew = None, False
        kept.make_room()
        kept.scan.forget_touches()
        update = self._update(kept, self.tree if self._keep_families else None)
        update.stream(less, more)
        if not kept.n_rows:
            self._forget_tree()
            return None
        if self._outgrown(kept):
            return self._count_anew(inserted, deleted)
        return self._settled(kept, update)

    def _forget_tree(self) -> None:
        self.tree, self.errors, self.withheld = None, {}, {}

    def _settled(self, kept: KeptTree, update: Update) -> Tree:
        self.tree = update.settle()
        self._kept, self.errors = kept, update.errors
        self.withheld = update.withheld if isinstance(update, StableUpdate) else {}
        return self.tree

    def _update(self, kept: KeptTree, before: Tree | None, *, foresee_all: bool = False) -> Update:
        def rows(wants: Sequence[Want]) -> Reading:
            return self.present(wants, kept=kept).reading

        meter = Meter(kept.task.reading.source)
        if self._stable:
            return StableUpdate(kept, rows, meter, before, tests=self.tree, foresee_all=foresee_all)
        return Update(kept, rows, meter, before, foresee_all=foresee_all)

    def _encoded(self, kept: KeptTree, rows: pa.Table | None) -> list[EncodedChunk]:
        if rows is None or not rows.num_rows:
            return []
        reading = kept.task.reading
        weight = reading.source.weight
        if weight is not None and not pc.all(pc.not_equal(rows[weight], 0)).as_py():
            raise SourceChanged("rows that weigh nothing may bring labels of their own")
        given = replace(reading, source=source(rows, weight=weight))
        return list(Chunks(given, kept.survey))

    def _outgrown(self, kept: KeptTree) -> bool:
        """Whether no row has a label any more that was there before, or there are too many rows."""
        place, scan = kept.root.place, kept.scan
        totals = scan.totals(place)
        if kept.n_rows > kept.room:
            return True
        if self._whole is not None:  # which looks after the labels
            return False
        if not totals.all():
            return True
        for i, attribute in enumerate(kept.survey.schema.attributes):
            if attribute.kind == "nominal" and attribute.labels:
                cells = scan.counts(place, i).reshape(kept.grid.size(i) + 1, -1).sum(axis=1)
                if not cells[: len(attribute.labels)].all():
                    return True
        return False


def _same_labels(tree: Tree, survey: Survey) -> bool:
    """Whether codes of labels and classes mean the same in both."""
    classes = None if tree.classes is None else list(tree.classes)
    return tree.schema == survey.schema and classes in (None, survey.labels.tolist())


class TreesByFold:
    """Trees, cold: of all rows, and of those without each of so many folds, dealt by a `key`."""

    def __init__(
        self,
        present: PresentTasks,
        trees: Sequence[Tree | None],
        *,
        key: str | None,
        folds: int,
        stable: bool,
    ) -> None:
        self._present, self._stable = present, stable
        self._left_out = [] if key is None else [LeftOut(key, folds, i) for i in range(folds)]
        self._open(trees)

    def _open(self, trees: Sequence[Tree | None]) -> None:
        tree, *of_folds = trees
        self.whole = IncrementalTree(self._present, tree, stable=self._stable)
        self.folds = [
            IncrementalTree(
                self._present.without(left_out),
                of_folds[left_out.fold] if of_folds else None,
                self.whole,
                stable=self._stable,
            )
            for left_out in self._left_out
        ]

    @property
    def engines(self) -> list[IncrementalTree]:
        return [self.whole, *self.folds]

    @property
    def trees(self) -> list[Tree | None]:
        """Before any pruning; None: there is no row for it that weighs anything."""
        return [engine.tree for engine in self.engines]

    def warm_up(self) -> None:
        """Count the present rows at the nodes of all trees."""
        for engine in self.engines:
            if engine.tree is not None and not engine.warm:
                engine.warm_up()

    def follow(self, more: pa.Table, less: pa.Table, rows: int, *, anew: bool = False) -> None:
        """All trees after a batch that leaves so many rows; `anew`: as if there had been none before."""
        if anew or not rows:
            self._open([None])
        if not rows:
            return
        if self.whole.apply(more, less) is None:
            self._open([None])
        else:
            for fold, left_out in zip(self.folds, self._left_out, strict=True):
                fold.apply(left_out.filter(more), left_out.filter(less))
