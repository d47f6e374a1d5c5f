"""`MaintainedTree`: rows come and go, and the tree is at all times the one that a rebuild would give."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from hornbeam.boat.growth import grow_source
from hornbeam.boat.maintained.changes import Changes, compare
from hornbeam.boat.maintained.engine import Engine
from hornbeam.boat.maintained.ordering import by_leaf
from hornbeam.boat.maintained.store import Store, stored_schema
from hornbeam.boat.maintained.where import Conditions
from hornbeam.boat.task import check_memory, check_source, check_targets
from hornbeam.errors import DataError, UsageError
from hornbeam.growth import Pair, prune_tree
from hornbeam.growth.parameters import one_of
from hornbeam.model import Tree
from hornbeam.table.sources import Source, source

from .base import TreeEstimator
from .classifier import TreeClassifier
from .regressor import TreeRegressor

if TYPE_CHECKING:
    from hornbeam.boat.maintained.kept import KeptTree
    from hornbeam.boat.maintained.show import ChangesView
    from hornbeam.boat.maintained.update import Want
    from hornbeam.boat.task import SourceTask

_DATABASE_PART = 4  # of the memory, one such part is the database's
_KEPT = ("parameters", "classification", "targets", "key", "weight", "memory_limit", "policy")


class MaintainedTree:
    """A tree in a file, with all rows that it was grown from; made by `create` and `open`.

    Every batch is atomic: after a crash the file has the state before it or after it.
    """

    def __init__(self, store: Store) -> None:
        self._store, meta = store, store.meta()
        self._settings = {name: meta[name] for name in _KEPT}
        self._number, self._rows = int(meta["number"]), int(meta["rows"])
        store.limit_memory(_database_memory(self._settings["memory_limit"]))
        found = meta["tree"]
        self._engine = Engine(self._present, None if found is None else Tree.from_json(found))

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
        policy: str = "exact",
        **tree_parameters: Any,
    ) -> Self:
        """Copy all rows of a source to a new file and grow their tree.

        `key` names a column that rows are known by; it is stored, and never an attribute. Of the tree's
        parameters those are taken that `fit_source` takes with bounds: no "c45", no "quest", no multiway
        tests, no competitors, and of pruning "cost_complexity". Numbers with a fraction are predicted, and
        whole ones by criterion="variance"; all else are classes.
        """
        one_of("policy", policy, ("exact",))
        rows, targets = check_source(src), check_targets(target)
        classification = _is_class(rows, targets, tree_parameters.get("criterion"))
        settings: dict[str, Any] = {
            "parameters": _plain_parameters(tree_parameters),
            "classification": classification,
            "targets": list(targets),
            "key": key,
            "weight": rows.weight,
            "memory_limit": check_memory(memory_limit),
            "policy": policy,
        }
        task = _task(_estimator(settings), rows, settings, algorithm)
        columns = [rows.schema.field(name) for name in task.reading.columns]
        store = Store.create(
            os.fspath(path), stored_schema(pa.schema(columns)), _database_memory(settings["memory_limit"])
        )
        try:
            for name, value in (settings | {"number": 0, "rows": 0, "tree": None}).items():
                store.set_meta(name, value)
            made = cls(store)
            tree = made._fill(task)
            made._rows = store.count()
            record = Changes(0, None, made._rows, 0, made._rows, None, made._pruned(tree).digest)
            made._write(record, tree)
            store.commit()
        except BaseException:
            store.remove()
            raise
        made._engine = Engine(made._present, tree)
        return made

    def _fill(self, task: SourceTask) -> Tree:
        """Copy the rows of a source, and grow their tree: first, where they can be read again, so that those
        of a leaf lie together."""
        chunks = (self._store.checked(chunk) for _, chunk in task.reading.scan())
        if not task.reading.source.repeatable:
            self._store.insert(chunks)
            return Engine(partial(self._present, algorithm=task.algorithm)).grow()
        tree = grow_source(task).pairs[0].unpruned
        self._store.insert(by_leaf(tree, chunks, task.budget))
        return tree

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
        model, tree = _estimator(self._settings), self.tree
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
    def schema(self) -> pa.Schema:
        """The columns of the rows, and the types that they are stored in."""
        return self._store.schema

    def source(self) -> Source:
        """The present rows, in any order, to be read while the tree is open and no batch runs."""
        return self._store.source(weight=self._settings["weight"])

    def warm_up(self) -> None:
        """Count the present rows at the nodes of the tree now, and not when the first batch comes."""
        if self._rows and not self._engine.warm:
            self._engine.warm_up()

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
        """Grow the tree of the present rows anew and compare: both digests, and whether they are equal."""
        kept = None if self._engine.tree is None else self.tree.digest
        rebuilt = self._pruned(Engine(self._present).grow()).digest if self._rows else None
        return {"digest": kept, "rebuilt": rebuilt, "equal": kept == rebuilt}

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
        before = self._engine.tree
        try:
            with self._store.transaction():
                change()
                rows = self._rows + more.num_rows - less.num_rows
                after = self._engine.apply(more, less) if rows else None
                record = self._record((before, after), more, less, rows, id_)
                self._store.copy_meta("tree", "tree_before")
                self._write(record, after)
        except BaseException:
            self._engine = Engine(self._present, before)
            raise
        self._number, self._rows = record.number, rows
        if after is None:
            self._engine = Engine(self._present)
        return record

    def _write(self, record: Changes, tree: Tree | None) -> None:
        """Keep what a batch left."""
        kept = {
            "tree": None if tree is None else tree.to_json(),
            "number": record.number,
            "rows": record.rows,
        }
        for name, value in kept.items():
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

    def _present(
        self, wants: Sequence[Want], *, algorithm: str = "auto", kept: KeptTree | None = None
    ) -> SourceTask:
        where = [""] if kept is None else Conditions(kept, self._store.schema).where(wants)
        rows = self._store.source(where, self._settings["weight"])
        return _task(_estimator(self._settings), rows, self._settings, algorithm)

    def _pruned(self, tree: Tree) -> Tree:
        model = _estimator(self._settings)
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


def _is_class(rows: Source, targets: tuple[str, ...], criterion: Any) -> bool:
    if len(targets) > 1 or criterion == "variance" or targets[0] not in rows.schema.names:
        return criterion != "variance" and len(targets) == 1
    type_ = rows.schema.field(targets[0]).type
    return not pa.types.is_floating(type_) and not pa.types.is_decimal(type_)


def _plain_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON has them; a dict of class weights as pairs."""
    refused = {"cv": "a maintained tree has no folds yet", "random_state": "nothing is drawn", "n_jobs": ""}
    for name in given:
        if name in refused:
            raise UsageError(f"{name}= is not for a maintained tree: {refused[name] or 'it has one thread'}")
    plain: dict[str, Any] = {}
    for name, value in given.items():
        if name == "class_weight" and isinstance(value, Mapping):
            value = {"pairs": [[_number(k), _number(v)] for k, v in value.items()]}
        elif isinstance(value, np.ndarray) or name == "cost_matrix":
            value = None if value is None else np.asarray(value).tolist()
        plain[name] = _number(value)
    return plain


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _estimator(settings: Mapping[str, Any]) -> TreeEstimator:
    parameters = dict(settings["parameters"])
    weights = parameters.get("class_weight")
    if isinstance(weights, Mapping):
        parameters["class_weight"] = {label: weight for label, weight in weights["pairs"]}
    kind = TreeClassifier if settings["classification"] else TreeRegressor
    try:
        return kind(**parameters)
    except TypeError as error:
        raise UsageError(f"{str(error).split(') ')[-1]}; see {kind.__name__} for its parameters") from None


def _task(model: TreeEstimator, rows: Source, settings: Mapping[str, Any], algorithm: str) -> SourceTask:
    task = model._source_task(
        rows, settings["targets"], settings["memory_limit"], key=settings["key"], algorithm=algorithm
    )
    if task.needs_rows is not None:
        raise UsageError(f"{task.needs_rows} asks for the rows of each node, which no maintained tree keeps")
    chosen = task.parameters
    if not task.verifiable or chosen.criterion == "quest":
        raise UsageError(
            f"criterion={chosen.criterion!r}, nominal={chosen.nominal!r}: a tree is kept by bounds, which "
            "c45, quest and multiway tests do not have"
        )
    return task


def _database_memory(limit: int | None) -> int | None:
    return None if limit is None else limit // _DATABASE_PART


def _checked_id(id_: Any) -> str:
    if not isinstance(id_, str) or not id_:
        raise UsageError(f"id={id_!r}: give a text that names the batch")
    return id_
