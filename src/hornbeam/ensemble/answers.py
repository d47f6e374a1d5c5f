"""What trees answer: as tables of predictions, chunk by chunk of a source, in files that appear whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from hornbeam.arguments import refuse
from hornbeam.ensemble.committee import Committee
from hornbeam.errors import DataError, UsageError
from hornbeam.files import new_file
from hornbeam.model import Tree
from hornbeam.table import Schema, Table, conform
from hornbeam.table.schema import list_names
from hornbeam.table.sources import Part, Source, Tally
from hornbeam.table.sources.types import plain_schema

PREDICTION = "prediction"


@dataclass(frozen=True, eq=False)
class Answering:
    """Trees that answer together by their `voting`, or, where that is None, the only one alone."""

    trees: Sequence[Tree]
    voting: str | None = None
    proba: bool = False
    """Whether the share of each class is given as well."""

    @property
    def schema(self) -> Schema:
        """The schema of the rows that are asked about."""
        return self.trees[0].schema

    @property
    def names(self) -> list[str]:
        """The columns of answers."""
        tree = self.trees[0]
        if tree.classes is None:
            several = [f"{PREDICTION}:{name}" for name in tree.targets or ()]
            return [PREDICTION] if tree.n_targets == 1 else several
        shares = [f"probability:{label}" for label in tree.classes] if self.proba else []
        return [PREDICTION, *shares]

    def answers(self, table: Table, threads: int = 1) -> pa.Table:
        """A column of predictions (one for each target), and with `proba` one of shares for each class."""
        codes, numbers = (
            self._of_tree(table, threads) if self.voting is None else self._of_all(table, threads)
        )
        columns: list[Any] = []
        classes = self.trees[0].classes
        if classes is not None:
            columns.append(pa.array(list(classes)).take(pa.array(codes)))
        if classes is None or self.proba:
            columns += [pa.array(column) for column in np.ascontiguousarray(numbers.T)]
        return pa.table(columns, names=self.names)

    def _of_tree(self, table: Table, threads: int) -> tuple[Any, Any]:
        tree = self.trees[0]
        if tree.classes is None:
            return None, tree.predict_means(table, threads)
        leaves = tree.apply(table, threads)
        return tree.leaf_class[leaves], tree.probabilities(leaves) if self.proba else None

    def _of_all(self, table: Table, threads: int) -> tuple[Any, Any]:
        committee = Committee(self.trees, self.voting or "soft")
        numbers = committee.answers(table, threads)
        return committee.codes(numbers) if self.trees[0].classes is not None else None, numbers


KINDS = ("parquet", "csv")


@dataclass(frozen=True, eq=False)
class AnswerRequest:
    """Whom to ask about the rows of a source, and which of its columns stay beside the answers. Refuses a
    source without the columns that the trees were grown with."""

    answering: Answering
    source: Source
    keep: Sequence[str] = ()
    model: str = "the model"

    def __post_init__(self) -> None:
        names = self.source.schema.names
        unknown = [name for name in self.keep if name not in names]
        if unknown:
            raise UsageError(
                f"keep={unknown[0]!r} is not a column of {self.source.name}; it has {list_names(names)}",
                parameter="keep",
            )
        both = [name for name in self.keep if name in self.answering.names]
        if both:
            refuse("keep", both[0], "answers have that name; give the column another")
        self._table(self.source.schema.empty_table().select(self.asked))

    @property
    def asked(self) -> list[str]:
        """The columns that trees are asked by; without names, all but those that are kept."""
        schema, names = self.answering.schema, self.source.schema.names
        if schema.named:
            return [name for name in names if name in set(schema.names)]
        return [name for name in names if name not in self.keep]

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are read."""
        wanted = {*self.asked, *self.keep}
        return [name for name in self.source.schema.names if name in wanted]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the answers: the kept columns, then what the trees say."""
        source = self.source.schema
        kept = plain_schema(pa.schema([source.field(name) for name in self.keep]))
        empty = self._table(source.empty_table().select(self.asked))
        return pa.schema([*kept, *self.answering.answers(empty).schema])

    def batches(self, chunks: Iterable[pa.RecordBatch], where: str, threads: int = 1) -> Iterator[pa.Table]:
        """The answers to each chunk."""
        schema, rows = self.schema, 0
        for chunk in chunks:
            try:
                table = self._table(chunk.select(self.asked))
            except DataError as error:
                raise DataError(f"{where}, rows from {rows:,}: {error}") from None
            answers = self.answering.answers(table, threads)
            kept = [chunk.column(name) for name in self.keep]
            yield pa.table([*kept, *answers.columns], names=schema.names).cast(schema)
            rows += chunk.num_rows

    def _table(self, rows: Any) -> Any:
        return conform(rows, self.answering.schema, estimator=self.model, what=self.source.name)

    def write_part(self, part: Part, folder: str, kind: str, threads: int = 1) -> Tally:
        """Answer for a part in a file of its own. Whoever does it again writes the same file."""
        chunks = part.scan(self.columns, checksum=False)
        path = os.path.join(folder, file_name(part.index, kind))
        write_answers(path, kind, self.schema, self.batches(chunks, part.shown, threads))
        return chunks.tally


def file_name(index: int, kind: str) -> str:
    """The name of the file with the answers for a part."""
    return f"part-{index:05}.{kind}"


def kind_of(path: str) -> str | None:
    """What the name of a file says that it holds; None: it is the name of a folder."""
    ending = os.path.splitext(path)[1].lower()
    if ending == "":
        return None
    if ending in (".parquet", ".pq"):
        return "parquet"
    if ending == ".csv":
        return "csv"
    refuse("output", path, "answers are written to a file that ends with .parquet or .csv, or to a folder")


def write_answers(path: str, kind: str, schema: pa.Schema, answers: Iterable[pa.Table]) -> int:
    """Write a file that takes its place when it is whole; the number of rows."""
    rows = 0
    with new_file(path) as file, _writer(file, kind, schema) as writer:
        for table in answers:
            writer.write_table(table)
            rows += table.num_rows
    return rows


def _writer(file: Any, kind: str, schema: pa.Schema) -> Any:
    from pyarrow import csv, parquet  # only who writes answers needs them

    if kind == "csv":
        return csv.CSVWriter(file, schema)
    return parquet.ParquetWriter(file, schema, write_page_checksum=True)
