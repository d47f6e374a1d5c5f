"""The survey of a source: all that one scan can say of the rows, and a uniform sample of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hornbeam import _core
from hornbeam.boat.chunks import Encoder
from hornbeam.boat.columns import ClassTally, EncodedColumn, floats, integers, wide
from hornbeam.boat.reading import Reading, Report
from hornbeam.errors import DataError
from hornbeam.growth import ClassTarget, NumericTarget, Target
from hornbeam.growth.grow import check_classes, check_largest
from hornbeam.table import Attribute, Schema, Table, encode_targets
from hornbeam.table.columns import Array
from hornbeam.table.sources import ColumnLabels, Reservoir, fold_of
from hornbeam.table.sources.part import check_count
from hornbeam.table.sources.sampling import joined, plain_rows, sample_rows
from hornbeam.table.targets import no_weight

Exponents = tuple[int, int]

MOST_ROWS = 2**32 - 1  # that the counters of a scan have room for, were all of one value and class
_ALL = 2**64 - 1  # from the lowest whole number of 64 bits to the highest
# Looked for where a column may span all of 64 bits: one that no row has leaves a key for missing cells. They
# are drawn at random, and far from 0, so that few columns ever come near them.
_SELDOM = (
    -9_013_575_983_083_582_177,
    -8_600_405_744_623_634_178,
    -6_194_577_822_182_500_116,
    -5_791_101_265_266_582_867,
    5_941_726_430_473_188_379,
    6_474_288_148_621_412_623,
    6_847_890_449_179_857_595,
    8_574_029_003_687_227_468,
)


@dataclass(frozen=True, slots=True)
class Range:
    """The ends of a numeric attribute's values, exact ones by their codes; None where there is no value."""

    lowest: int | float | None
    highest: int | float | None
    missing: int
    unused: int | None = None
    """Where whole numbers span all of 64 bits: one between the ends that no row has, if one is known."""

    def news(self, encoded: EncodedColumn, attribute: Attribute) -> str | None:
        """What of an encoded column is outside, for people; None where nothing is."""
        kind, values, *masks = encoded
        if not len(values):
            return None
        lowest, highest = values.min().item(), values.max().item()
        if kind == "nominal":
            return "missing cells" if lowest < 0 and not self.missing else None
        gaps = masks[0] is not None if kind == "integer" else lowest != lowest
        if gaps:
            if not self.missing:
                return "missing cells"
            known = values[masks[0] == 0] if masks else values[~np.isnan(values)]
            return self.news((kind, known, None) if masks else (kind, known), attribute)
        for end, wrong in (
            (lowest, self.lowest is None or lowest < self.lowest),
            (highest, self.highest is None or highest > self.highest),
        ):
            if wrong:
                return repr(attribute.format(end))
        if self.unused is not None and (values == self.unused).any():
            return repr(attribute.format(self.unused))
        return None


class RangeTally:
    """The range of the cells of a column that went by; of a nominal one only what is missing."""

    def __init__(self, name: str, nominal: bool) -> None:
        self._name, self._nominal = name, nominal
        self._lowest: int | float | None = None
        self._highest: int | float | None = None
        self._missing = 0
        self._unused = list(_SELDOM)

    def add(self, column: pa.Array) -> None:
        """Take in the cells of a chunk."""
        if self._nominal:
            self._missing += _absent(column)
        elif pa.types.is_floating(column.type):
            self._add_floats(floats(column))
        else:
            values, missing = integers(column, self._name)
            self._missing += column.null_count
            known = values if missing is None else values[missing == 0]
            self._extend(known)
            self._look_for_unused(known)

    def _add_floats(self, values: Array) -> None:
        if len(values) and np.isnan(values.min()):
            known = values[~np.isnan(values)]
            self._missing += len(values) - len(known)
            values = known
        self._extend(values)

    def _extend(self, known: Array) -> None:
        if not len(known):
            return
        lowest, highest = known.min().item(), known.max().item()
        self._lowest = lowest if self._lowest is None else min(self._lowest, lowest)
        self._highest = highest if self._highest is None else max(self._highest, highest)

    def _look_for_unused(self, known: Array) -> None:
        if known.dtype == np.int64 and len(known):
            lowest, highest = known.min(), known.max()
            self._unused = [n for n in self._unused if not lowest <= n <= highest or not (known == n).any()]

    def merge(self, other: RangeTally) -> None:
        """Take in the cells of another part."""
        self._missing += other._missing
        self._unused = [number for number in self._unused if number in other._unused]
        for end in (other._lowest, other._highest):
            if end is not None:
                self._lowest = end if self._lowest is None else min(self._lowest, end)
                self._highest = end if self._highest is None else max(self._highest, end)

    def range(self) -> Range:
        """The range of all cells that were taken in."""
        found = Range(self._lowest, self._highest, self._missing)
        if self._lowest is None or self._highest is None or self._highest - self._lowest != _ALL:
            return found
        return replace(found, unused=next(iter(self._unused), None))


def _absent(column: pa.Array) -> int:
    """How many cells of a nominal column have no label."""
    count: int = column.null_count
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        count = column.dictionary_decode().null_count
    if pa.types.is_floating(column.type):
        count = int(np.isnan(floats(column)).sum())
    return count


@dataclass(frozen=True, eq=False)
class Survey:
    """What all rows of a source have in common, and some of them.

    `schema` and `labels` (the class labels, sorted; none for regression) are those of a table of all rows.
    Everything else is of the rows that weigh something: their number, the rows of each class, the range of
    each attribute, and a sample. `weighted`: some row weighs neither 0 nor 1. Exponents are (a, b), where all
    numbers are whole multiples of 2^a and below 2^b in size; None without weights, without numeric targets,
    and where all are 0.
    """

    rows: int
    schema: Schema
    labels: Array
    class_counts: npt.NDArray[np.int64]
    ranges: tuple[Range, ...]
    weighted: bool
    weight_exponents: Exponents | None
    target_exponents: Exponents | None
    sample: Table
    sample_target: Target

    @property
    def row_counts(self) -> npt.NDArray[np.int64]:
        """The rows of each class; where numbers are predicted, there is one."""
        return self.class_counts if len(self.labels) else np.array([self.rows])

    @property
    def numbers(self) -> int:
        """How many a row has beside its attributes: targets, and a weight."""
        target = self.sample_target
        return int(self.weighted) + (len(target.names) if isinstance(target, NumericTarget) else 0)


def survey(reading: Reading, sample: int, seed: int, report: Report | None = None) -> Survey:
    """Scan the source once. The sample has that many rows, or all, and does not depend on chunks and formats;
    `report` hears after each chunk how many rows were read."""
    gathering = SurveyBuilder(reading, _sampler(reading, sample, seed))
    for first, chunk in reading.scan(report):
        with reading.naming(first):
            gathering.add(chunk)
    with reading.naming():
        return gathering.survey()


class SurveyBuilder:
    """What is known after some chunks. Those of parts merge, in the order of the parts."""

    def __init__(self, reading: Reading, sampler: _Numbered | Reservoir) -> None:
        self._reading, self._rows = reading, 0
        self._categories = ColumnLabels(reading.schema, reading.nominal, reading.memory_limit)
        self._ranges = [RangeTally(name, self._categories.is_nominal(name)) for name in reading.attributes]
        self._classes = ClassTally(reading.source.schema.field(reading.targets[0]).type)
        self._weights, self._targets = _Magnitudes(), _Magnitudes()
        self._sampler = sampler

    def add(self, chunk: pa.RecordBatch) -> None:
        """Take in the next rows. Labels are those of all rows, whatever they weigh, as in a table."""
        reading = self._reading
        self._categories.add(chunk)
        weights = reading.weights(chunk)
        counted = chunk
        if weights is not None:
            self._weights.add(weights)
            if not weights.all():
                counted = chunk.filter(pa.array(weights != 0))
        if reading.classification:
            target = reading.targets[0]
            self._classes.add(chunk.column(target), None if counted is chunk else counted.column(target))
        else:
            self._targets.add(encode_targets(chunk.select(list(reading.targets))))
        if reading.key is not None and chunk.column(reading.key).null_count:
            fold_of(chunk.column(reading.key), 2)  # refuses it
        for name, tally in zip(reading.attributes, self._ranges, strict=True):
            tally.add(counted.column(name))
        self._sampler.add(counted)
        self._rows += counted.num_rows

    def merge(self, later: SurveyBuilder) -> None:
        """Take in what is known of a later part."""
        self._rows += later._rows
        self._categories.merge(later._categories)
        for tally, other in zip(self._ranges, later._ranges, strict=True):
            tally.merge(other)
        self._classes.merge(later._classes)
        self._weights.merge(later._weights)
        self._targets.merge(later._targets)
        assert isinstance(self._sampler, Reservoir)
        assert isinstance(later._sampler, Reservoir)
        self._sampler.merge(later._sampler)

    def survey(self) -> Survey:
        """The survey of all rows that were taken in."""
        reading, schema = self._reading, self._categories.schema()
        if not self._rows:
            raise no_weight()
        if self._rows > MOST_ROWS:
            raise DataError(f"{self._rows:,} rows; a scan counts up to {MOST_ROWS:,}: use a sample of them")
        labels, counts = np.empty(0, dtype=object), np.empty(0, dtype=np.int64)
        if reading.classification:
            labels, counts = self._classes.settle()
            check_classes(schema, len(labels))
        else:
            check_largest(self._targets.greatest)
        table, target = _decoded(reading, schema, labels, self._sampler.table())
        return Survey(
            rows=self._rows,
            schema=schema,
            labels=labels,
            class_counts=counts,
            ranges=tuple(tally.range() for tally in self._ranges),
            weighted=not {self._weights.least, self._weights.greatest} <= {0.0, 1.0, math.inf},
            weight_exponents=self._weights.exponents,
            target_exponents=self._targets.exponents,
            sample=table,
            sample_target=target,
        )


class _Magnitudes:
    """The least magnitude beside 0, and the greatest; the exponents that all span."""

    def __init__(self) -> None:
        self.least, self.greatest = math.inf, 0.0
        self.exponents: Exponents | None = None

    def add(self, values: Array) -> None:
        self._span(_core.exponent_span(np.ascontiguousarray(values, dtype=np.float64)))
        sizes = np.abs(values)
        self.greatest = max(self.greatest, float(sizes.max(initial=0.0)))
        self.least = min(self.least, float(sizes.min(initial=math.inf, where=sizes > 0)))

    def merge(self, other: _Magnitudes) -> None:
        self._span(other.exponents)
        self.greatest, self.least = max(self.greatest, other.greatest), min(self.least, other.least)

    def _span(self, found: Exponents | None) -> None:
        if found is not None:
            known = self.exponents or found
            self.exponents = min(known[0], found[0]), max(known[1], found[1])


class _Numbered:
    """The sample of rows whose total is known beforehand, and so the numbers of those that are in it."""

    def __init__(self, n: int, seed: int, total: int, schema: pa.Schema) -> None:
        self._rows, self._schema, self._seen = sample_rows(n, seed, total), schema, 0
        self._held: list[pa.Table] = []

    def add(self, chunk: pa.RecordBatch) -> None:
        first, self._seen = self._seen, self._seen + chunk.num_rows
        begin, end = np.searchsorted(self._rows, [first, self._seen])
        if begin < end:
            self._held.append(plain_rows(chunk, self._rows[begin:end] - first))

    def table(self) -> pa.Table:
        return joined(self._held, self._schema)


def _sampler(reading: Reading, n: int, seed: int) -> _Numbered | Reservoir:
    """Both draw the same rows; only rows that weigh something have a number, and how many do is not known."""
    schema = pa.schema([reading.source.schema.field(name) for name in reading.columns])
    if n == 0:
        return _Numbered(0, seed, 0, schema)
    check_count("sample", n)
    total = reading.source.rows
    if total is None or reading.source.weight is not None:
        return Reservoir(n, seed, schema)
    return _Numbered(n, seed, total, schema)


def without_sample(survey: Survey) -> Survey:
    """The same for those who only encode by it."""
    none = np.empty(0, dtype=np.int64)
    return replace(survey, sample=survey.sample.take(none), sample_target=survey.sample_target.take(none))


def _decoded(reading: Reading, schema: Schema, labels: Array, rows: pa.Table) -> tuple[Table, Target]:
    """The sample as a table of the survey's schema, and its target."""
    batches = rows.combine_chunks().to_batches()
    empty = [pa.array([], field.type) for field in rows.schema]
    batch = batches[0] if batches else pa.RecordBatch.from_arrays(empty, schema=rows.schema)
    encoded = Encoder(reading, schema.attributes, labels).encode(batch)
    table = Table(schema, tuple(map(wide, encoded.columns)), rows.num_rows)
    if encoded.classes is not None:
        return table, ClassTarget(encoded.classes.astype(np.int32), labels, encoded.weights)
    assert encoded.values is not None
    return table, NumericTarget(encoded.values, reading.targets, encoded.weights)
