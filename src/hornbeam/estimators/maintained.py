"""`MaintainedTree`: rows come and go, and the tree is at all times the one that a rebuild would give."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from hornbeam.boat.fold_scan import score_folds
from hornbeam.boat.grown import check_folds
from hornbeam.boat.maintained.changes import Changes, compare
from hornbeam.boat.maintained.engine import Engine
from hornbeam.boat.maintained.ordering import by_leaf
from hornbeam.boat.maintained.store import LeftOut, Store, stored_schema
from hornbeam.boat.survey import survey
from hornbeam.boat.task import check_cv, check_memory, check_source, check_targets
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import Forest, Pair, prune_tree
from hornbeam.growth.parameters import one_of
from hornbeam.model import Tree
from hornbeam.table.sources import Source, fold_of, source
from hornbeam.validation import Estimate

from .base import TreeEstimator
from .maintained_settings import (
    Present,
    database_memory,
    estimator_of,
    grown,
    is_class,
    plain_parameters,
    task_of,
)

if TYPE_CHECKING:
    from hornbeam.boat.maintained.show import ChangesView
    from hornbeam.boat.task import SourceTask

_KEPT = ("parameters", "classification", "targets", "key", "weight", "memory_limit", "policy", "cv")


class MaintainedTree:
    """A tree in a file, with all rows that it was grown from; made by `create` and `open`.

    Every batch is atomic: after a crash the file has the state before it or after it.
    """

    def __init__(self, store: Store) -> None:
        self._store, meta = store, store.meta()
        self._settings = {name: meta[name] for name in _KEPT}
        self._number, self._rows = int(meta["number"]), int(meta["rows"])
        store.limit_memory(database_memory(self._settings["memory_limit"]))
        self._fold_rows: list[int] = meta["fold_rows"]
        self._open_engines(*(text and Tree.from_json(text) for text in (meta["tree"], *meta["fold_trees"])))

    # ---- making and opening ----

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        src: Source,
        *,
        target: Any,
        key: str | None = None,
        memory_limit: str | int | None = None,
        algorithm: str = "auto",
        cv: int | None = None,
        policy: str = "exact",
        **tree_parameters: Any,
    ) -> Self:
        """Copy all rows of a source to a new file and grow their tree.

        With `cv` so many trees more are kept, each without the rows of a fold, dealt by the `key`: what
        `estimate` and `forest` say follows every batch.

        `key` names a column that rows are known by; it is stored, and never an attribute. Of the tree's
        parameters those are taken that `fit_source` takes with bounds: no "c45", no "quest", no multiway
        tests, no competitors, and of pruning "cost_complexity". Numbers with a fraction are predicted, and
        whole ones by criterion="variance"; all else are classes.
        """
        one_of("policy", policy, ("exact",))
        rows, targets, folds = check_source(src), check_targets(target), check_cv(cv)
        if folds is not None and key is None:
            raise UsageError(f"cv={folds}: folds are dealt by a key; name a column by key=")
        classification = is_class(rows, targets, tree_parameters.get("criterion"))
        settings: dict[str, Any] = {
            "parameters": plain_parameters(tree_parameters),
            "classification": classification,
            "targets": list(targets),
            "key": key,
            "weight": rows.weight,
            "memory_limit": check_memory(memory_limit),
            "policy": policy,
            "cv": folds,
        }
        task = task_of(estimator_of(settings), rows, settings, algorithm)
        columns = [rows.schema.field(name) for name in task.reading.columns]
        store = Store.create(
            os.fspath(path), stored_schema(pa.schema(columns)), database_memory(settings["memory_limit"])
        )
        try:
            empty = {"number": 0, "rows": 0, "fold_rows": [0] * (folds or 0)}
            for name, value in (settings | empty | {"tree": None, "fold_trees": []}).items():
                store.set_meta(name, value)
            made = cls(store)
            trees = made._fill(replace(task, folds=folds))
            made._open_engines(*trees)
            made._rows = store.count()
            record = Changes(0, None, made._rows, 0, made._rows, None, made._pruned(trees[0]).digest)
            made._write(record)
            store.commit()
        except BaseException:
            store.remove()
            raise
        return made

    def _fill(self, task: SourceTask) -> list[Tree]:
        """Copy the rows of a source, and grow their trees: first, where they can be read again, so that those
        of a leaf lie together."""
        chunks = (self._counted(self._store.checked(chunk)) for _, chunk in task.reading.scan())
        if task.reading.source.repeatable:
            trees = grown(task)
            self._store.insert(by_leaf(trees[0], chunks, task.budget))
            return trees
        self._store.insert(chunks)
        return grown(replace(self._present((), algorithm=task.algorithm), folds=task.folds))

    def _open_engines(self, tree: Tree | None, *of_folds: Tree | None) -> None:
        """One engine for the tree of all rows, and one for that of each fold; cold."""
        self._present = Present(self._store, self._settings)
        self._engine = Engine(self._present, tree)
        trees = of_folds or [None] * len(self._fold_rows)
        self._folds = [
            Engine(replace(self._present, left_out=self._left_out(i)), fold_tree, self._engine)
            for i, fold_tree in enumerate(trees)
        ]

    def _left_out(self, fold: int) -> LeftOut:
        assert self.key is not None
        return LeftOut(self.key, len(self._fold_rows), fold)

    def _counted(self, rows: Any, times: int = 1) -> Any:
        """Rows whose folds are counted."""
        if self._fold_rows:
            dealt = fold_of(rows.column(self.key), len(self._fold_rows))
            more = times * np.bincount(dealt, minlength=len(self._fold_rows))
            self._fold_rows = (np.array(self._fold_rows) + more).tolist()
        return rows

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, read_only: bool = False) -> Self:
        """A tree that `create` made, also after a crash; nobody else may write to it meanwhile."""
        return cls(Store.open(os.fspath(path), read_only=read_only))

    def close(self) -> None:
        """Give the file free."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<MaintainedTree {self._store.path!r}, batch {self._number}>"

    # ---- what it is ----

    @property
    def tree(self) -> Tree:
        """The tree of the present rows."""
        if self._engine.tree is None:
            raise DataError(f"{self._store.path!r} has no rows, so there is no tree; insert some")
        return self._pruned(self._engine.tree)

    def estimator(self) -> TreeEstimator:
        """A fitted `TreeClassifier` or `TreeRegressor` of the present rows."""
        model, tree = estimator_of(self._settings), self.tree
        assert self._engine.tree is not None
        labels = None if tree.classes is None else np.array(tree.classes)
        model._learn(Pair(tree, self._engine.tree), labels)
        return model

    @property
    def key(self) -> str | None:
        """The column that rows are known by."""
        key: str | None = self._settings["key"]
        return key

    @property
    def folds(self) -> int:
        """How many trees of folds are kept."""
        return len(self._folds)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows, and the types that they are stored in."""
        return self._store.schema

    def source(self) -> Source:
        """The present rows, in any order, to be read while the tree is open and no batch runs."""
        return self._store.source(weight=self._settings["weight"])

    def warm_up(self) -> None:
        """Count the present rows at the nodes of the tree now, and not when the first batch comes."""
        for engine in (self._engine, *self._folds):
            if engine.tree is not None and not engine.warm:
                engine.warm_up()

    def estimate(self) -> Estimate:
        """The score of each fold's tree on the rows of its fold, as `fit_source` with cv has it: accuracy, or
        R². Every present row is read once."""
        if not self._folds:
            raise UsageError(f"{self._store.path!r} has no folds; give cv= when it is created")
        task = replace(self._present(()), folds=len(self._folds))
        check_folds(task, self._fold_rows)
        trees = [engine.tree for engine in self._folds]
        pruned = [self._pruned(tree) for tree in trees if tree is not None]
        found = self._engine.survey or survey(task.reading, task.sample_rows, task.seed)
        return score_folds(task, found, pruned, lambda _: None)

    def forest(self) -> Forest:
        """The tree and those of the folds, to see where they agree."""
        if not self._folds:
            raise UsageError(f"{self._store.path!r} has no folds; give cv= when it is created")
        trees = [engine.tree for engine in (self._engine, *self._folds)]
        pairs = [Pair(self._pruned(tree), tree) for tree in trees if tree is not None]
        if len(pairs) < len(trees):
            raise DataError(f"{self._store.path!r}: a fold has all rows, so there is no tree without it")
        return Forest(None, len(pairs)).settled(tuple(pairs))

    @property
    def stats(self) -> dict[str, Any]:
        """Rows, batches and the size of the tree, as plain numbers and texts."""
        tree = self._engine.tree and self.tree
        return {
            "path": self._store.path,
            "rows": self._rows,
            "batch": self._number,
            "leaves": tree.n_leaves if tree else 0,
            "depth": tree.depth if tree else 0,
            "digest": tree.digest if tree else None,
            "bytes": self._store.bytes,
        }

    def changes(self, last: int | None = None) -> list[Changes]:
        """What the batches did, oldest first; the last so many of them, or all."""
        records = self._store.batches()
        first = 0 if last is None else max(0, len(records) - last)
        return [Changes.from_record(record) for record in records[first:]]

    def show_changes(self) -> ChangesView:
        """The tree before and after the last batch: `.save("changes.svg")` or `.save("changes.html")`."""
        from hornbeam.boat.maintained.show import ChangesView

        meta = self._store.meta()
        if "tree_before" not in meta:
            raise DataError(f"{self._store.path!r} has had no batch yet, so there is no change to show")
        kept = (
            None if text is None else Tree.from_json(text) for text in (meta["tree_before"], meta["tree"])
        )
        before, after = (None if tree is None else self._pruned(tree) for tree in kept)
        return ChangesView(self.changes(1)[0], before, after)

    def verify(self) -> dict[str, Any]:
        """Grow the tree of the present rows anew and compare: both digests, and whether they are equal; with
        folds also those of their trees."""
        trees = self._trees if None not in self._trees else self._trees[:1]
        kept = [None if tree is None else self._pruned(tree).digest for tree in trees]
        rebuilt: list[str | None] = [None]
        if self._rows:
            task = replace(self._present(()), folds=len(trees) - 1 or None)
            rebuilt = [self._pruned(tree).digest for tree in grown(task)]
        return {"digest": kept[0], "rebuilt": rebuilt[0], "equal": kept == rebuilt}

    @property
    def _trees(self) -> list[Tree | None]:
        return [engine.tree for engine in (self._engine, *self._folds)]

    # ---- batches ----

    def insert(self, rows: Any, *, id: str | None = None) -> Changes:
        """Rows come: a table, a frame or a source with the columns of `create`'s."""
        return self.apply(inserted=rows, id=id)

    def delete(self, rows: Any, *, id: str | None = None) -> Changes:
        """Rows go, each once for every time that it is given. Refused as a whole where one is not there."""
        return self.apply(deleted=rows, id=id)

    def apply(self, *, inserted: Any = None, deleted: Any = None, id: str | None = None) -> Changes:
        """Rows go and come in one batch; those that go were there before it. A batch whose `id` was applied
        before is a no-op."""
        if self._store.read_only:
            raise UsageError(f"{self._store.path!r} is open for reading only; open it without read_only")
        done = self._done(id)
        if done is not None:
            return done
        more, less = self._table(inserted), self._table(deleted)

        def change() -> None:
            if less.num_rows:
                self._store.delete(less)
            if more.num_rows:
                self._store.insert(more.to_batches())

        return self._batch(change, more, less, id)

    def sync(self, src: Source, *, id: str | None = None) -> Changes:
        """Make the present rows those of a source: what is not in it goes, what is new comes."""
        rows, done = check_source(src), self._done(id)
        if done is not None:
            return done
        with self._store.transaction():
            more, less = self._store.difference(self._checked(rows))
        return self.apply(inserted=more, deleted=less, id=id)

    def forget(self, keys: Iterable[Any], *, id: str | None = None) -> dict[str, Any]:
        """Delete all rows of some keys. The certificate has the digest before and after, and that of a tree
        grown anew without those rows."""
        key, wanted = self.key, list(keys)
        if key is None:
            raise UsageError("forget needs a key, and create was given none; delete rows instead")
        changes, absent = self._done(id), list[Any]()
        if changes is None:
            rows = self._store.rows_of(key, wanted)
            there = set(rows[key].to_pylist())
            absent = [value for value in wanted if value not in there]
            if not there:
                raise DataError(f"{self._store.path!r}: no row has such a {key!r}; nothing was changed")
            changes = self.apply(deleted=rows, id=id)
        proof = self.verify()
        return {
            "keys": wanted,
            "absent": absent,
            "rows": changes.deleted,
            "digest_before": changes.digest_before,
            "digest_after": changes.digest_after,
            "digest_rebuilt": proof["rebuilt"],
            "equal": proof["equal"],
            "repeated": changes.repeated,
        }

    def _done(self, id_: str | None) -> Changes | None:
        """What a batch of this id did, if it was applied before."""
        done = None if id_ is None else self._store.batch(_checked_id(id_))
        return None if done is None else Changes.from_record(done | {"repeated": True})

    def _batch(self, change: Callable[[], None], more: pa.Table, less: pa.Table, id_: str | None) -> Changes:
        before, fold_rows = self._trees, self._fold_rows
        try:
            with self._store.transaction():
                change()
                rows = self._rows + more.num_rows - less.num_rows
                self._follow(more, less, rows)
                record = self._record((before[0], self._engine.tree), more, less, rows, id_)
                self._store.copy_meta("tree", "tree_before")
                self._write(record)
        except BaseException:
            self._fold_rows = fold_rows
            self._open_engines(*before)
            raise
        self._number, self._rows = record.number, rows
        return record

    def _follow(self, more: pa.Table, less: pa.Table, rows: int) -> None:
        """All trees after a batch."""
        self._counted(more)
        self._counted(less, -1)
        if not rows:
            return self._open_engines(None)
        self._engine.apply(more, less)
        for i, engine in enumerate(self._folds):
            if rows == self._fold_rows[i]:
                self._folds[i] = Engine(engine.present, None, self._engine)
            else:
                left_out = self._left_out(i)
                engine.apply(left_out.rest(more), left_out.rest(less))

    def _write(self, record: Changes) -> None:
        """Keep what a batch left."""
        tree, *of_folds = [None if tree is None else tree.to_json() for tree in self._trees]
        kept = {"tree": tree, "fold_trees": of_folds, "fold_rows": self._fold_rows}
        for name, value in (kept | {"number": record.number, "rows": record.rows}).items():
            self._store.set_meta(name, value)
        self._store.add_batch(record.number, record.id, record.to_record())

    def _record(
        self, trees: Sequence[Tree | None], more: pa.Table, less: pa.Table, rows: int, id_: str | None
    ) -> Changes:
        before, after = (None if tree is None else self._pruned(tree) for tree in trees)
        return Changes(
            self._number + 1,
            id_,
            more.num_rows,
            less.num_rows,
            rows,
            None if before is None else before.digest,
            None if after is None else after.digest,
            compare(before, after, self._engine.errors if after is trees[1] else None),
        )

    # ---- the present rows ----

    def _pruned(self, tree: Tree) -> Tree:
        model = estimator_of(self._settings)
        parameters, pruning = model._checked()
        return prune_tree(tree, pruning, criterion=parameters.criterion)

    def _checked(self, rows: Source) -> Iterator[pa.RecordBatch]:
        return (self._store.checked(chunk) for chunk in rows.scan())

    def _table(self, rows: Any) -> pa.Table:
        """Rows of a batch in the stored types."""
        if rows is None or (hasattr(rows, "__len__") and not len(rows)):
            return self._store.schema.empty_table()
        given = rows if isinstance(rows, Source) else source(rows)
        return pa.Table.from_batches(self._checked(given), schema=self._store.schema)


def _checked_id(id_: Any) -> str:
    if not isinstance(id_, str) or not id_:
        raise UsageError(f"id={id_!r}: give a text that names the batch")
    return id_
