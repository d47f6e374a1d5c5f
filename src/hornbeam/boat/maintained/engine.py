"""The exact tree of rows that change: warm, its counts follow every batch; else they are counted first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.boat.chunks import Chunks, EncodedChunk
from hornbeam.boat.growth import grow_source
from hornbeam.boat.maintained.kept import KeptTree
from hornbeam.boat.maintained.update import Update, Want
from hornbeam.boat.meter import Meter
from hornbeam.boat.reading import Reading
from hornbeam.boat.survey import Survey, survey
from hornbeam.boat.task import SourceTask
from hornbeam.errors import SourceChanged
from hornbeam.model import Tree
from hornbeam.table.sources import source


class Present(Protocol):
    """The task of growing from the present rows, or from such a part of them that has all which are wanted
    of a kept tree."""

    def __call__(self, wants: Sequence[Want], *, kept: KeptTree | None = None) -> SourceTask: ...


class Engine:
    """The tree, before any pruning, and what is counted at its nodes while it is warm. Whatever stops
    half-way leaves it cold."""

    def __init__(self, present: Present, tree: Tree | None = None, whole: Engine | None = None) -> None:
        self.present, self.tree = present, tree
        self._whole = whole
        """Of all rows, where this one is of a fold's training set: labels are those of all rows."""
        self.survey: Survey | None = None
        self.counted_anew = False
        """Whether the last batch found labels or numbers that the counts had no room for."""
        self.errors: dict[int, float] = {}
        """By how many standard errors tests of the tree are better than those before the last batch."""
        self._kept: KeptTree | None = None

    @property
    def warm(self) -> bool:
        return self._kept is not None

    def grow(self) -> Tree:
        """The tree of all present rows, from nothing."""
        self.tree = grow_source(self.present(())).pairs[0].unpruned
        return self.tree

    def warm_up(self) -> Tree:
        """Count the present rows at all nodes of the tree, which need not be theirs: it becomes so."""
        self._kept, self.counted_anew = None, True
        task = self.present(())
        found = self._whole.survey if self._whole is not None else None
        if found is None:
            found = survey(task.reading, task.sample_rows, task.seed)
        self.survey = found
        kept = KeptTree(task, found)
        kept.root = kept.open(0, found.rows)
        if self.tree is not None:
            kept.build(kept.root, self.tree)
        for chunk in Chunks(task.reading, kept.survey):
            chunk.add_to(kept.scan)
        return self._settled(kept, self._update(kept))

    def apply(self, inserted: pa.Table | None, deleted: pa.Table | None) -> Tree:
        """The tree after a batch that the present rows have seen already."""
        kept = self._kept
        if kept is None or (self._whole is not None and self._whole.counted_anew):
            return self.warm_up()
        try:
            less, more = self._encoded(kept, deleted), self._encoded(kept, inserted)
        except SourceChanged:  # a label or a number that there is no room for
            return self.warm_up()
        self._kept, self.counted_anew = None, False
        kept.make_room()
        update = self._update(kept)
        update.stream(less, more)
        if self._outgrown(kept):
            return self.warm_up()
        return self._settled(kept, update)

    def _settled(self, kept: KeptTree, update: Update) -> Tree:
        self.tree = update.settle()
        self._kept, self.errors = kept, update.errors
        return self.tree

    def _update(self, kept: KeptTree) -> Update:
        def rows(wants: Sequence[Want]) -> Reading:
            return self.present(wants, kept=kept).reading

        return Update(kept, rows, Meter(kept.task.reading.source))

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
        assert kept.root is not None
        place, scan = kept.root.place, kept.scan
        totals = scan.totals(place)
        if int(totals.sum()) > kept.room:
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
