"""`RelationalData`: several linked tables, wherever they come from, ready to learn from."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hornbeam import arguments
from hornbeam.arguments import instance, refuse
from hornbeam.errors import UsageError
from hornbeam.relational.bias import Bias
from hornbeam.relational.coding import Task, check_task
from hornbeam.relational.database import Coded
from hornbeam.relational.linked import (
    Found,
    Keys,
    LinkedTables,
    References,
    checked_links,
    declared_over,
    source_tables,
)
from hornbeam.relational.logic import COMPARISONS
from hornbeam.relational.signature import Signature

if TYPE_CHECKING:
    from hornbeam.relational.ace.factbase import FactBase

_OPTIONS = ("target", "nominal", "exclude", "types", "time_columns", "example_time")


class RelationalData:
    """Tables that refer to each other. The rows of the target's table are the examples.

    Make one with `from_frames`, `from_duckdb`, `from_sqlite`, `from_csv_folder` or `from_ace`. `bias` and
    `parameters` are what ACE's settings say, in the words of the estimators; other data has None and {}.
    """

    def __init__(
        self,
        contents: LinkedTables | FactBase,
        *,
        target: str | None = None,
        bias: Bias | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        if not hasattr(contents, "of_target"):
            raise UsageError(
                f"RelationalData is not made of {type(contents).__name__}; use from_frames, from_duckdb, "
                "from_sqlite, from_csv_folder or from_ace"
            )
        self._contents = contents
        self.target = target
        self.bias = bias
        self.parameters: dict[str, Any] = dict(parameters or {})
        name = self._target(target)
        if name is not None and isinstance(contents, LinkedTables):
            contents.check_column(name, "target")
            contents.target_of(name)

    @classmethod
    def from_frames(
        cls,
        frames: Mapping[str, Any],
        keys: Keys | None = None,
        references: References | None = None,
        *,
        target: str | None = None,
        nominal: Mapping[str, Sequence[str]] | None = None,
        exclude: Collection[str] = (),
        types: Mapping[str, str] | None = None,
        time_columns: Mapping[str, str] | None = None,
        example_time: Any = None,
    ) -> RelationalData:
        """Tables in memory: pandas, polars, Arrow, anything with the Arrow C stream, or dicts of columns.

        `keys` names the key column of each table that has one, `references` the columns that hold keys of
        other tables. `target` is the column to predict (`loan.status`), here or later. `nominal` lists
        columns of numbers that are labels, `exclude` columns that no test may ask about. `types`
        lets columns that are no references be joined, by one name for all of them. `time_columns` says when
        rows came to be known: those at or after the time of their example (the time column of its own table,
        or `example_time`) are left out.
        """
        return cls._of_found(
            Found(frames, *checked_links(keys, references)),
            target=target,
            nominal=nominal,
            exclude=exclude,
            types=types,
            time_columns=time_columns,
            example_time=example_time,
        )

    @classmethod
    def from_duckdb(
        cls,
        database: Any,
        *,
        tables: Sequence[str] | None = None,
        keys: Keys | None = None,
        references: References | None = None,
        **options: Any,
    ) -> RelationalData:
        """The tables of a DuckDB file, opened read-only, or of an open connection.

        Keys and references are those of its constraints; `keys` and `references` say it where it does not, or
        otherwise. `tables` chooses some. Other options are those of `from_frames`.
        """
        from hornbeam.relational.loading import read_duckdb

        arguments.refuse_unknown("from_duckdb", options, _OPTIONS)
        return cls._of_found(declared_over(read_duckdb(database, tables), keys, references), **options)

    @classmethod
    def from_sqlite(
        cls,
        database: str | os.PathLike[str],
        *,
        tables: Sequence[str] | None = None,
        keys: Keys | None = None,
        references: References | None = None,
        **options: Any,
    ) -> RelationalData:
        """The tables of a SQLite file, opened read-only, with the keys and references of its schema."""
        from hornbeam.relational.loading import read_sqlite

        arguments.refuse_unknown("from_sqlite", options, _OPTIONS)
        return cls._of_found(declared_over(read_sqlite(database, tables), keys, references), **options)

    @classmethod
    def from_csv_folder(
        cls,
        folder: str | os.PathLike[str],
        *,
        tables: Sequence[str] | None = None,
        keys: Keys | None = None,
        references: References | None = None,
        **options: Any,
    ) -> RelationalData:
        """A table for each CSV (.csv, .csv.gz) or Parquet file of a folder.

        What is not declared follows from names: `loan_id`, or `id`, is the key of table loan, or loans, and
        refers to it from other tables; `describe` says which ones were found so.
        """
        from hornbeam.relational.loading import read_csv_folder

        arguments.refuse_unknown("from_csv_folder", options, _OPTIONS)
        return cls._of_found(declared_over(read_csv_folder(folder, tables), keys, references), **options)

    @classmethod
    def _of_found(cls, found: Found, **options: Any) -> RelationalData:
        """Tables with what was found or declared of their links, and the options of `from_frames`."""
        exclude = () if options.get("exclude") is None else options["exclude"]
        tables = source_tables(found.frames, options.get("nominal"))
        if not arguments.is_list(exclude):
            raise UsageError(f"exclude={exclude!r}; give a list, for instance exclude=[{str(exclude)!r}]")
        contents = LinkedTables(
            tables,
            found.keys,
            found.references,
            tuple(exclude),
            _or_empty(options.get("time_columns")),
            options.get("example_time"),
            _or_empty(options.get("types")),
            found.origins,
        )
        return cls(contents, target=options.get("target"))

    @classmethod
    def from_ace(
        cls,
        settings: str | os.PathLike[str],
        *,
        facts: str | os.PathLike[str] | None = None,
        background: str | os.PathLike[str] | None = None,
        prolog_seconds: float = 60.0,
    ) -> RelationalData:
        """The files of ACE and TILDE: settings `app.s`, facts `app.kb`, background knowledge `app.bg`.

        `facts` and `background` name them where they are called otherwise; each may end with `.gz`. Rules
        that are more than non-recursive Datalog are worked out once by `swipl`, which must be installed,
        within `prolog_seconds`.
        """
        from hornbeam.relational.ace.load import load_ace

        contents, bias, parameters, target = load_ace(settings, facts, background, prolog_seconds)
        return cls(contents, target=target, bias=bias, parameters=parameters)

    def coded(
        self,
        bias: Bias | None = None,
        task: Task | None = None,
        target: str | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
    ) -> Coded:
        """What the engine reads: the relations that the bias names (without one: all), and the examples.

        `columns` are those of each relation that were there when a model was made; others are left out.
        Examples without labels, or a table without the target's column, are fine: there is nothing to learn
        from them, but something to predict.
        """
        check_task(task)
        if columns is not None:
            columns = arguments.mapping("columns", columns, "{'orders': ['city']}")
        bias = self.bias if bias is None else bias
        if bias is not None:
            instance("bias", bias, Bias, "a Bias, such as Bias.from_text makes,")
        name = self._target(bias.target if target is None and bias is not None else target)
        if name is None:
            raise UsageError("no target: give target='table.column' to the data or to default_bias")
        wanted = None
        if bias is not None:
            wanted = [predicate for predicate in bias.types if predicate not in COMPARISONS]
        data = self._contents.of_target(name).typed(wanted)
        if columns is not None:
            data = data.narrowed(columns)
        return (data if bias is None else data.typed_by(bias)).coded(task)

    def _target(self, given: str | None) -> str | None:
        """The column to predict that is given, or that of the data."""
        name = self.target if given is None else given
        if name is not None and not isinstance(name, str):
            refuse("target", name, "a column to predict is allowed, as text: 'loan.status'")
        return name

    def signature(self, coded: Coded, target: str | None = None) -> Signature:
        """What relations are called in the tables they come from, for words and for SQL."""
        instance("coded", coded, Coded, "what `coded` gives")
        name = self._target(coded.examples.target_name if target is None else target)
        assert name is not None
        return self._contents.of_target(name).signature(coded)

    def default_bias(
        self,
        target: str | None = None,
        *,
        max_hops: int = 2,
        top: int = 10,
        counts: bool = True,
        self_join: bool = False,
    ) -> Bias:
        """A language bias made from keys and references alone; print it, edit it, `Bias.from_text` it.

        `max_hops` is how many references a test may follow, `top` how many constants a nominal column brings
        (the most frequent ones), `counts` whether to ask how many rows refer to one, `self_join` whether a
        reference may be followed straight back.
        """
        from hornbeam.relational.default_bias import default_bias

        arguments.flag("counts", counts)
        arguments.flag("self_join", self_join)
        name = self._target(target)
        if name is None:
            raise UsageError("default_bias needs a target: give target='table.column'")
        if not isinstance(self._contents, LinkedTables):
            raise UsageError("these facts have the bias of their settings file; use its .bias")
        tables = self._contents.of_target(name)
        return default_bias(tables, max_hops=max_hops, top=top, counts=counts, self_join=self_join)

    def to_ace(
        self,
        settings: str | os.PathLike[str],
        bias: Bias | None = None,
        *,
        target: str | None = None,
        **parameters: Any,
    ) -> None:
        """Write the examples and a bias as files of ACE: `app.s`, and the facts `app.kb` beside it.

        `parameters` are those of the estimators that ACE knows (criterion, min_samples_leaf, prune,
        confidence, max_depth). NULL has no place among facts and is refused.
        """
        from hornbeam.relational.ace.export import EXPORTED, export_ace

        arguments.refuse_unknown("to_ace", parameters, EXPORTED)
        used = bias if bias is not None else self.bias or self.default_bias(target)
        export_ace(settings, self.coded(used, target=target), used, {**self.parameters, **parameters})

    def groups(self, table: str, target: str | None = None) -> npt.NDArray[np.int64]:
        """A group for each example, equal for those that rows of `table` connect: `groups=` of a splitter."""
        arguments.text("table", table)
        name = self._target(target)
        if name is None or not isinstance(self._contents, LinkedTables):
            raise UsageError("groups need linked tables and a target; give target='table.column'")
        return self._contents.of_target(name).groups(table)

    def describe(self) -> str:
        """Tables, rows, keys and references as text; with a target also whose rows are whose."""
        return self._contents.describe(self.target)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<RelationalData, target {self.target!r}>"


def _or_empty(given: Any) -> Any:
    return {} if given is None else given
