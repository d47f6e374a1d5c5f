"""Linked tables as the examples of one target see them: owners of rows, counts, columns to test.

`LinkedTables.of_target("customers.churn")` makes one; coding, signatures, the default bias, groups read it.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hornbeam.errors import DataError
from hornbeam.relational.coding import TypedData
from hornbeam.relational.database import Coded, Relation
from hornbeam.relational.linked import LinkedTables
from hornbeam.relational.ownership import (
    JoinStep,
    RowOwners,
    are_shared,
    example_times,
    groups_by,
    row_owners,
)
from hornbeam.relational.signature import Counted, Predicate, Route, Signature
from hornbeam.table.columns import Cells
from hornbeam.table.schema import list_names


@dataclass(frozen=True)
class CountColumn:
    """The relation `name(parent, count)`: how many rows of `child` refer by `column` to a row of `parent`."""

    name: str
    parent: str
    child: str
    column: str


class TargetTables:
    """The rows of the target's table are the examples; each row of another belongs to one, some or all."""

    def __init__(self, data: LinkedTables, target: str) -> None:
        self.data, self.target = data, target
        self.table, self.label = data.target_of(target)
        self.key = data.keys[self.table]

    @cached_property
    def owners(self) -> dict[str, RowOwners]:
        """Whose the rows of each table are."""
        data = self.data
        times = example_times(data.tables, self.table, data.time_columns, data.example_time)
        return row_owners(data, self.table, times)

    def columns_of(self, table: str) -> tuple[str, ...]:
        """The columns of a table that tests may ask about: neither excluded nor the target."""
        names = {column: f"{table}.{column}" for column in self.data.tables[table].columns}
        return tuple(c for c, name in names.items() if name not in self.data.exclude and name != self.target)

    @cached_property
    def counts(self) -> tuple[CountColumn, ...]:
        """A count for each reference to a table whose rows have owners, nearest to the examples first."""
        data, hops = self.data, {table: owners.hops for table, owners in self.owners.items()}
        found: list[CountColumn] = []
        for parent in sorted((table for table in data.tables if hops[table] >= 0), key=hops.__getitem__):
            children = [(child, column) for child, column in data.children(parent) if child != parent]
            tables = [child for child, _ in children]
            for child, column in children:
                if hops[child] != hops[parent] + 1:
                    continue
                name = f"count_{child}" if tables.count(child) == 1 else f"count_{child}_{column}"
                while name in {*data.tables, *(count.name for count in found)}:
                    name += "_"
                found.append(CountColumn(name, parent, child, column))
        return tuple(count for count in found if f"{count.child}.{count.column}" not in data.exclude)

    # what is coded

    def typed(self, wanted: Collection[str] | None) -> TypedData:
        """The relations that are wanted (None: all tables, and what can be counted) with the types of
        columns."""
        counts = {count.name: count for count in self.counts}
        relations: list[Relation[Cells]] = []
        for name in [*self.data.tables, *counts] if wanted is None else wanted:
            if name in self.data.tables:
                relations.append(self._relation(name))
            elif name in counts:
                relations.append(self._counted(counts[name]))
            else:
                known = list_names([*self.data.tables, *counts])
                raise DataError(f"the bias names {name!r}, which is no table of this data; there are {known}")
        self._warn_of_sharing({relation.name for relation in relations})
        source = self.data.tables[self.table]
        if source.n_rows == 0:
            raise DataError(f"table {self.table!r} has no rows, and its rows are the examples")
        return TypedData(
            self.data.type_of(self.table, self.key),
            (f"{self.table}.{self.key}", source.cells(self.key)),
            self.target,
            None if self.label is None else source.cells(self.label),
            tuple(relations),
        )

    def _relation(self, name: str) -> Relation[Cells]:
        source, of = self.data.tables[name], self.predicates[name]
        if not of.columns:
            raise DataError(f"table {name!r} has no column that may be asked about; all are excluded")
        cells = tuple(source.cells(column) for column in of.columns)
        owners = self.owners[name]
        return Relation(
            name, of.columns, of.types, cells, owners.owner, of.key, of.identity, None, owners.rows
        )

    def _counted(self, count: CountColumn) -> Relation[Cells]:
        """How many rows refer to each row of the parent, of those that examples see."""
        source, rows = self.data.tables[count.parent], self.owners[count.child].rows
        parents = self.data.parents[count.child, count.column]
        seen = parents if rows is None else parents[rows]
        numbers = np.bincount(seen[seen >= 0], minlength=source.n_rows).astype(np.int64)
        of, owners = self.predicates[count.name], self.owners[count.parent]
        cells = source.cells(self.data.keys[count.parent]), Cells("int64", numbers)
        counts = count.child, count.column
        return Relation(
            of.name, of.columns, of.types, cells, owners.owner, of.key, of.identity, counts, owners.rows
        )

    def _warn_of_sharing(self, used: Collection[str]) -> None:
        owners = {name: self.owners[name] for name in self.data.tables if name in used}
        torn = [name for name, of in owners.items() if of.torn]
        below = [name for name, of in owners.items() if of.hops < 0 and not of.torn]
        shared = [name for name in below if are_shared(self.data, self.table, name)]
        for names, why in ((torn, "refer to several examples"), (shared, "are seen by several examples")):
            if names:
                warnings.warn(
                    f"rows of {list_names(names)} {why}, so folds share them; cross-validate with "
                    f"groups=db.groups({names[0]!r}) to keep such examples together",
                    stacklevel=5,
                )

    def groups(self, by: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """A number for each example: equal where rows of a table are shared, directly or through others."""
        return groups_by(self.data, self.table, by)

    # what predicates are called

    @cached_property
    def predicates(self) -> dict[str, Predicate]:
        """All tables and counts, also those that the bias leaves out: routes may lead through them."""
        tables = {name: self._predicate(name) for name in self.data.tables}
        return tables | {count.name: self._count_predicate(count) for count in self.counts}

    def signature(self, coded: Coded) -> Signature:
        """What predicates are called, with the types that the columns of coded relations have."""
        predicates = dict(self.predicates)
        for name, relation in coded.relations.items():
            predicates[name] = replace(predicates[name], types=relation.types)
        data = self.data
        time = data.example_time if isinstance(data.example_time, str) else data.time_columns.get(self.table)
        return replace(
            Signature.of(coded),
            predicates=predicates,
            key_type=data.type_of(self.table, self.key),
            examples=self.table,
            key_field=self.key,
            time_field=time if time in data.tables[self.table].columns else None,
        )

    def _predicate(self, name: str) -> Predicate:
        columns, owners = self.columns_of(name), self.owners[name]
        key = _place(owners.key, columns)
        routes = () if key is not None else self._routes(name, owners)
        return Predicate(
            name,
            columns,
            tuple(self.data.type_of(name, column) for column in columns),
            key,
            _place(self.data.keys.get(name), columns),
            routes,
            table=name,
            time=None if owners.hops == 0 else self.data.time_columns.get(name),
            hidden=owners.owner is not None and key is None and not routes,
        )

    def _routes(self, name: str, owners: RowOwners) -> tuple[Route, ...]:
        """The steps by which rows that do not name their example belong to it: one where all agree, every one
        of those of divided tables; none where a column of one may not be asked about."""
        steps = owners.steps
        if owners.hops > 0:
            near = (
                JoinStep(column, to, self.data.keys[to])
                for column, to in self.data.references[name].items()
                if self.owners[to].hops == owners.hops - 1
            )
            steps = tuple(step for step in near if self._may_be_asked(name, step))[:1]
        if not all(self._may_be_asked(name, step) for step in steps):
            return ()
        columns = self.columns_of(name)
        return tuple(
            Route(columns.index(step.column), step.table, self.columns_of(step.table).index(step.target))
            for step in steps
        )

    def _may_be_asked(self, name: str, step: JoinStep) -> bool:
        return step.column in self.columns_of(name) and step.target in self.columns_of(step.table)

    def _count_predicate(self, count: CountColumn) -> Predicate:
        data, key, columns = self.data, self.data.keys[count.parent], self.columns_of(count.parent)
        of_example = self.owners[count.parent].hops == 0
        routes = () if of_example or key not in columns else (Route(0, count.parent, columns.index(key)),)
        return Predicate(
            count.name,
            (key, "count"),
            (data.type_of(count.parent, key), count.name),
            0 if of_example else None,
            0,
            routes,
            table=count.parent,
            fields=(key, "count"),
            counts=Counted(count.child, count.column, data.time_columns.get(count.child)),
            time=None if of_example else data.time_columns.get(count.parent),
            hidden=not of_example and not routes,
        )


def _place(column: str | None, columns: tuple[str, ...]) -> int | None:
    """The place of a column, None where it is not among them."""
    return columns.index(column) if column in columns else None
