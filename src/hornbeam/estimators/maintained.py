"""`MaintainedTree`: rows come and go, and the tree is at all times the one that a rebuild would give."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from hornbeam import arguments
from hornbeam.arguments import one_of
from hornbeam.boat.judging import score_folds
from hornbeam.boat.meter import Listener
from hornbeam.boat.survey import survey
from hornbeam.boat.task import check_cv, check_memory, check_source, check_targets
from hornbeam.errors import DataError, NoRows, SourceChanged, StorageError, UsageError
from hornbeam.growth import Forest, Pair, prune_tree
from hornbeam.maintained.changes import Changes, compare
from hornbeam.maintained.counts import CountsCache
from hornbeam.maintained.incremental import TreesByFold
from hornbeam.maintained.rebuild import fill, grown, has_counts_of
from hornbeam.maintained.rows import stored_schema
from hornbeam.maintained.store import PublishedStore, Store, open_to_read
from hornbeam.model import Tree
from hornbeam.table.schema import list_names
from hornbeam.table.sources import Source, source
from hornbeam.validation import Estimate

from .maintained_settings import (
    Present,
    check_values,
    database_memory,
    estimator_of,
    is_class,
    plain_parameters,
    task_of,
)
from .trees import TreeEstimator

if TYPE_CHECKING:
    from hornbeam.boat.task import SourceTask
    from hornbeam.maintained.show import ChangesView

_KEPT = ("parameters", "classification", "targets", "key", "weight", "memory_limit", "policy", "cv")


class MaintainedTree:
    """A tree in a file, with all rows that it was grown from; made by `create` and `open`.

    Every batch is atomic: after a crash the file has the state before it or after it.
    """

    def __init__(self, store: Store | PublishedStore) -> None:
        self._store = store
        self._load()
        store.limit_memory(database_memory(self._settings["memory_limit"]))

    def _load(self) -> None:
        """The state that the file has."""
        meta = self._store.state.meta()
        self._settings = {name: meta[name] for name in _KEPT}
        self._number, self._rows = int(meta["number"]), int(meta["rows"])
        self._present = Present(self._store, self._settings)
        self._counts = CountsCache(self._store)
        folds = self._settings["cv"] or 0
        self._open([self._store.state.tree(self._number, i) for i in range(1 + folds)])

    def _open(self, trees: Sequence[Tree | None]) -> None:
        folds = self._settings["cv"] or 0
        self._kept = TreesByFold(self._present, trees, key=self.key, folds=folds, stable=self._stable)

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
        progress: Listener | None = None,
        **tree_parameters: Any,
    ) -> Self:
        """Copy all rows of a source to a new file and grow their tree.

        With `cv` so many trees more are kept, each without the rows of a fold, dealt by the `key`: what
        `estimate` and `forest` say follows every batch.

        The policy "exact" has the tree of `fit` at all times; "stable" keeps a test while no other is better
        by more than chance, and tells what exactness would have changed.

        `key` names a column that rows are known by; it is stored, and never an attribute. Of the tree's
        parameters those are taken that `fit_source` takes with bounds: no "c45", no "quest", no multiway
        tests, no competitors, and of pruning "cost_complexity". A `criterion` says whether numbers are
        predicted ("variance") or classes; without one, floats and decimals are predicted as numbers, and
        all else are classes. `progress` hears how far it is, as in `fit_source`.
        """
        one_of("policy", policy, ("exact", "stable"))
        place = arguments.file_path("path", path)
        rows, targets, folds = check_source(src, "create"), check_targets(target), check_cv(cv)
        if folds is not None and key is None:
            raise UsageError(
                f"cv={folds}: folds are dealt by a key; name a column by key=", named=("cv", "key")
            )
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
            place, stored_schema(pa.schema(columns)), database_memory(settings["memory_limit"])
        )
        return cls._begin(store, settings, replace(task, folds=folds, progress=progress))

    @classmethod
    def _begin(cls, store: Store, settings: dict[str, Any], task: SourceTask) -> Self:
        """The first state of a file, which is there when it is whole."""
        try:
            store.tables.set(settings | {"number": 0, "rows": 0})
            made = cls(store)
            made._open(fill(store, task, lambda: made._present(())))
            made._rows = store.rows.count()
            record = Changes(0, None, made._rows, 0, made._rows, None, made.tree.digest)
            made._write(store, record)
            store.commit()
        except BaseException:
            store.remove()
            raise
        return made

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, read_only: bool = False) -> Self:
        """A tree that `create` made, also after a crash; nobody else may write to it meanwhile. Readers of a
        tree that is being written to have the state after its last batch, without the rows."""
        place, read_only = arguments.file_path("path", path), arguments.flag("read_only", read_only)
        store = open_to_read(place) if read_only else Store.open(place)
        try:
            return cls(store)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Give the file free, with what is counted of its rows: whoever opens it next need not count them."""
        self._counts.save(self._number, self._kept.engines)
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
        return self._pruned(self._unpruned)

    @property
    def _unpruned(self) -> Tree:
        if self._kept.whole.tree is None:
            none = "no row that weighs anything" if self._rows else "no rows"
            raise DataError(f"{self._store.path!r} has {none}, so there is no tree; insert some")
        return self._kept.whole.tree

    def estimator(self) -> TreeEstimator:
        """A fitted `TreeClassifier` or `TreeRegressor` of the present rows."""
        model, tree = estimator_of(self._settings), self.tree
        labels = None if tree.classes is None else np.array(tree.classes)
        model._learn(Pair(tree, self._unpruned), labels)
        return model

    @property
    def key(self) -> str | None:
        """The column that rows are known by."""
        key: str | None = self._settings["key"]
        return key

    @property
    def folds(self) -> int:
        """How many trees of folds are kept."""
        return len(self._kept.folds)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows, and the types that they are stored in."""
        return self._store.schema

    def source(self) -> Source:
        """The present rows, in any order, to be read while the tree is open and no batch runs."""
        return self._store.rows.source(weight=self._settings["weight"])

    def warm_up(self) -> None:
        """Count the present rows at the nodes of the tree now, and not when the first batch comes."""
        self._counts.recall(self._number, self._kept.engines)
        self._kept.warm_up()

    def estimate(self) -> Estimate:
        """The score of each fold's tree on the rows of its fold, as `fit_source` with cv has it: accuracy, or
        R². A fold without rows, or with all of them, has none: its score is NaN. Every present row is read
        once."""
        if not self.folds:
            raise UsageError(f"{self._store.path!r} has no folds; give cv= when it is created")
        task = replace(self._present(()), folds=self.folds)
        pruned = [None if tree is None else self._pruned(tree) for tree in self._kept.trees[1:]]
        if any(pruned):
            found = self._kept.whole.known or survey(task.reading, task.sample_rows, task.seed)
            estimate = score_folds(task, found, pruned, lambda _: None)
            if estimate.judged:
                return estimate
        few = "no row" if self._settings["classification"] else "no row, or one alone"
        raise DataError(
            f"{self._store.path!r}: no fold can be judged: each of {self.folds} has {few}, or all rows; "
            "insert rows of more keys"
        )

    def forest(self) -> Forest:
        """The tree and those of the folds, to see where they agree."""
        if not self.folds:
            raise UsageError(f"{self._store.path!r} has no folds; give cv= when it is created")
        trees = [self._unpruned, *self._kept.trees[1:]]
        pairs = [Pair(self._pruned(tree), tree) for tree in trees if tree is not None]
        if len(pairs) < len(trees):
            raise DataError(f"{self._store.path!r}: a fold has all rows, so there is no tree without it")
        return Forest.of(pairs)

    @property
    def stats(self) -> dict[str, Any]:
        """Rows, batches and the size of the tree, as plain numbers and texts."""
        tree = self._kept.whole.tree and self.tree
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
        arguments.whole_or_none("last", last, also="all")
        records = self._store.state.batches()
        first = 0 if last is None else max(0, len(records) - last)
        return [Changes.from_record(record) for record in records[first:]]

    def show_changes(self) -> ChangesView:
        """The tree before and after the last batch: `.save("changes.svg")` or `.save("changes.html")`."""
        from hornbeam.maintained.show import ChangesView

        if self._number == 0:
            raise DataError(f"{self._store.path!r} has had no batch yet, so there is no change to show")
        kept = self._store.state.tree(self._number - 1), self._kept.whole.tree
        before, after = (None if tree is None else self._pruned(tree) for tree in kept)
        return ChangesView(self.changes(1)[0], before, after)

    def verify(self) -> dict[str, Any]:
        """Grow the tree of the present rows anew and compare: both digests, and whether they are equal; with
        folds also those of their trees. By the policy "stable" they need not be: whether the tree is `sound`,
        its leaves having the rows that come there, is told besides. The rows are `intact` if there are as
        many as the batches left, each with the hash that it came with."""
        proof = self._proof(self._rows) | {"intact": self._store.rows.intact(self._rows)}
        if not self._stable:
            return proof
        tree, rows, weight = self._kept.whole.tree, self.source().scan(), self._settings["weight"]
        return proof | {"sound": tree is None or has_counts_of(tree, rows, weight)}

    def _proof(self, rows: int) -> dict[str, Any]:
        """The digest of the tree beside that of one that is grown anew, where so many rows are present."""
        kept = list(map(self._digest, self._kept.trees))
        rebuilt: list[str | None] = [None] * len(kept)
        if rows:
            with suppress(NoRows):  # that weigh anything
                rebuilt = list(map(self._digest, grown(replace(self._present(()), folds=self.folds or None))))
        return {"digest": kept[0], "rebuilt": rebuilt[0], "equal": kept == rebuilt}

    @property
    def _stable(self) -> bool:
        return bool(self._settings["policy"] == "stable")

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
        return self._apply(inserted, deleted, id)

    def _apply(self, inserted: Any, deleted: Any, id: str | None, *, forgetting: bool = False) -> Changes:
        store, done = self._writable(), self._done(id)
        if done is not None:
            return done
        return self._batch(store, self._table(inserted), self._table(deleted), id, forgetting)

    def sync(self, src: Source, *, key: str | None = None, id: str | None = None) -> Changes:
        """Make the present rows those of a source: what is not in it goes, what is new comes. Rows are
        compared as a whole; with a `key` the source is refused where it has two rows of one key."""
        store = self._writable()
        rows, done = check_source(src, "sync"), self._done(id)
        if arguments.text_or_none("key", key) is not None and key not in self._store.schema.names:
            arguments.refuse("key", key, f"rows have {list_names(self._store.schema.names)}")
        if done is not None:
            return done
        with store.transaction():
            more, less = store.rows.difference(self._checked(rows), key)
        return self.apply(inserted=more, deleted=less, id=id)

    def forget(self, keys: Iterable[Any], *, id: str | None = None) -> dict[str, Any]:
        """Delete all rows of some keys. The certificate has the digest before and after, and that of a tree
        grown anew without those rows, before the batch is written.

        The file does not keep the keys: where the `id` was applied before, `absent` is None.
        """
        key, wanted = self.key, _listed(keys)
        if key is None:
            raise UsageError("forget needs a key, and create was given none; delete rows instead")
        store = self._writable()
        changes, absent = self._done(id), None
        if changes is None:
            rows = store.rows.rows_of(key, wanted)
            there = set(rows[key].to_pylist())
            absent = [value for value in wanted if value not in there]
            if not there:
                raise DataError(f"{self._store.path!r}: {key!r} has none of these keys; nothing was changed")
            changes = self._apply(None, rows, id, forgetting=True)
        if changes.proof is None:
            raise UsageError(f"id={id!r} names a batch without a certificate; give another one")
        return changes.certificate(wanted, absent)

    def _writable(self) -> Store:
        """The file, if it was not opened for reading only."""
        if self._store.read_only or isinstance(self._store, PublishedStore):
            raise UsageError(f"{self._store.path!r} is open for reading only; open it without read_only")
        return self._store

    def _done(self, id_: str | None) -> Changes | None:
        """What a batch of this id did, if it was applied before."""
        done = None if id_ is None else self._writable().tables.batch(_checked_id(id_))
        return None if done is None else Changes.from_record(done | {"repeated": True})

    def _batch(
        self, store: Store, more: pa.Table, less: pa.Table, id_: str | None, forgetting: bool
    ) -> Changes:
        before = self._kept.trees[0]
        self._counts.recall(self._number, self._kept.engines)
        try:
            with store.transaction():
                self._counts.drop()
                store.rows.delete(less)
                store.rows.insert(more.to_batches())
                rows = self._rows + more.num_rows - less.num_rows
                # Tests that a stable tree kept may be there because of rows that have to go.
                self._kept.follow(more, less, rows, anew=forgetting and self._stable)
                record = self._record((before, self._kept.whole.tree), more, less, rows, id_)
                if forgetting:
                    record = replace(record, proof=self._proof(rows))
                self._write(store, record)
        except BaseException as error:
            with suppress(StorageError):  # which says what to do already
                self._load()  # a stop may come after the commit too
            if isinstance(error, SourceChanged):  # by nobody that a transaction lets in
                raise StorageError(
                    f"{self._store.path!r} has other rows than its tree was grown from; verify it, and use a "
                    "copy that is whole"
                ) from None
            raise
        self._number, self._rows = record.number, rows
        return record

    def _write(self, store: Store, record: Changes) -> None:
        """Keep what a batch left."""
        store.tables.set_trees(record.number, self._kept.trees)
        store.tables.set({"number": record.number, "rows": record.rows})
        store.tables.add_batch(record.number, record.id, record.to_record())

    def _record(
        self, trees: Sequence[Tree | None], more: pa.Table, less: pa.Table, rows: int, id_: str | None
    ) -> Changes:
        before, after = (None if tree is None else self._pruned(tree) for tree in trees)
        told = self._kept.whole.errors, self._kept.whole.withheld
        return Changes(
            self._number + 1,
            id_,
            more.num_rows,
            less.num_rows,
            rows,
            None if before is None else before.digest,
            None if after is None else after.digest,
            compare(before, after, *(told if after is trees[1] else ())),
        )

    # ---- the present rows ----

    def _pruned(self, tree: Tree) -> Tree:
        model = estimator_of(self._settings)
        parameters, pruning = model._checked()
        return prune_tree(tree, pruning, criterion=parameters.criterion)

    def _digest(self, tree: Tree | None) -> str | None:
        return None if tree is None else self._pruned(tree).digest

    def _checked(self, rows: Source) -> Iterator[pa.RecordBatch]:
        begin = 0
        for chunk in rows.scan():
            checked = self._store.rows.checked(chunk)
            check_values(checked, self._settings, begin)
            begin += chunk.num_rows
            yield checked

    def _table(self, rows: Any) -> pa.Table:
        """Rows of a batch in the stored types."""
        counted = isinstance(rows, pa.Table | pa.RecordBatch) or arguments.is_list(rows)
        if rows is None or (counted and not len(rows)):
            return self._store.schema.empty_table()
        given = rows if isinstance(rows, Source) else source(rows)
        try:
            return pa.Table.from_batches(self._checked(given), schema=self._store.schema)
        except NoRows:
            self._store.rows.check_names(given.schema.names)
            return self._store.schema.empty_table()


def _listed(keys: Any) -> list[Any]:
    """Keys as plain values; a text is one key, and not one for each of its letters."""
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable) or getattr(keys, "shape", None) == ():
        raise UsageError(f"keys={keys!r}: give a list of keys, [{keys!r}]")
    return [key.item() if isinstance(key, np.generic) else key for key in keys]


def _checked_id(id_: Any) -> str:
    if not isinstance(id_, str) or not id_:
        raise UsageError(f"id={id_!r}: give a text that names the batch")
    return id_
