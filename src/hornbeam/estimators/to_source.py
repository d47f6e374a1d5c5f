"""What a fitted estimator answers for a source: rows that need not fit in memory, here or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hornbeam import arguments
from hornbeam.errors import StorageError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from hornbeam.ensemble.answers import AnswerRequest
    from hornbeam.model import Tree
    from hornbeam.table.sources import Source, Tally

    from .table_estimator import TableEstimator


@dataclass(frozen=True)
class Predictions:
    """What `predict_source` wrote: how many answers, and the files that have them, in the order of the rows
    of the source."""

    rows: int
    files: tuple[str, ...]


def answer_source(
    model: TableEstimator,
    src: Source,
    output: str | os.PathLike[str] | None,
    proba: bool,
    keep: Sequence[str],
    format: str,
) -> Predictions | Iterator[pa.RecordBatch]:
    """`predict_source` of a model."""
    from hornbeam.boat.task import check_source
    from hornbeam.ensemble.answers import KINDS, AnswerRequest

    arguments.one_of("format", format, KINDS)
    source = check_source(src, "predict_source")
    names = arguments.texts("keep", keep)
    place = None if output is None else arguments.file_path("output", output)
    arguments.flag("proba", proba)
    asking = AnswerRequest(model._answering(proba), source, names, type(model).__name__)
    threads = arguments.threads_of(model.n_jobs)
    return _batches(asking, threads) if place is None else answer(asking, place, format, threads)


def answer(asking: AnswerRequest, place: str, format: str, threads: int) -> Predictions:
    """Write the answers to a file, or to a folder in files of that format."""
    from hornbeam.ensemble.answers import kind_of

    kind = None if place.endswith(("/", os.sep)) else kind_of(place)
    if kind is None:
        return _to_folder(asking, place, format, threads)
    return _to_file(asking, place, kind, threads)


def check_proba(proba: bool, tree: Tree) -> None:
    """Refuse shares of classes where there are none."""
    if proba and tree.classes is None:
        raise UsageError("proba=True: the model predicts numbers and has no classes; leave it out")


def _batches(asking: AnswerRequest, threads: int) -> Iterator[pa.RecordBatch]:
    _refuse_engine(asking.source, "give a folder by output=, to which they write")
    scan = asking.source.scan(asking.columns, checksum=False)
    return (
        batch
        for table in asking.batches(scan, asking.source.name, threads)
        for batch in table.combine_chunks().to_batches()
    )


def _to_file(asking: AnswerRequest, place: str, kind: str, threads: int) -> Predictions:
    from hornbeam.ensemble.answers import write_answers

    _refuse_engine(asking.source, "give a folder instead of a file, for a file from each part")
    scan = asking.source.scan(asking.columns, checksum=False)
    rows = write_answers(place, kind, asking.schema, asking.batches(scan, asking.source.name, threads))
    return Predictions(rows, (place,))


def _refuse_engine(source: Source, instead: str) -> None:
    if source.engine is not None:
        raise UsageError(f"the workers of a cluster answer for {source.name}; {instead}")


def _to_folder(asking: AnswerRequest, place: str, kind: str, threads: int) -> Predictions:
    """A file for each part, first in a folder beside the place, which then takes its name."""
    from hornbeam.ensemble.answers import file_name
    from hornbeam.files import new_folder

    folder = os.path.abspath(place)
    if os.path.exists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise StorageError(f"output={place!r} is there already and not an empty folder; name a new one")
    with new_folder(place) as unfinished:
        tallies = _answered(asking, unfinished, kind, threads)
        asking.source.close_scan(tallies)
    parts = {tally.part: tally.rows for tally in tallies}
    files = tuple(os.path.join(place, file_name(part, kind)) for part in sorted(parts))
    return Predictions(sum(parts.values()), files)


def _answered(asking: AnswerRequest, folder: str, kind: str, threads: int) -> list[Tally]:
    source = asking.source
    if source.engine is not None:
        from hornbeam.distributed.kernels import PredictState
        from hornbeam.distributed.scanner import predict_by_engine

        elsewhere = replace(asking, source=source.elsewhere())
        return predict_by_engine(source.engine, source, PredictState(elsewhere, folder, kind))
    parts = source.parts()
    if threads == 1 or len(parts) == 1:
        return [asking.write_part(part, folder, kind, threads) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        try:
            return list(pool.map(lambda part: asking.write_part(part, folder, kind), parts))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
