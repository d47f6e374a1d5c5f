"""From rows, or from a saved search, to a tree that was improved until a limit or Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
import pyarrow as pa

from hornbeam import AnytimeTreeClassifier
from hornbeam.anytime.course import SearchCourse, state_text
from hornbeam.errors import DataError, UsageError
from hornbeam.estimators.model_parameters import ANYTIME, plain
from hornbeam.estimators.store import StoredModel, load
from hornbeam.growth import ClassTarget, Pair
from hornbeam.report import judge
from hornbeam.table import Table, conform, read_path

from .learn import Learned, learned_of, notes_of, rows_for
from .options import split_nominal
from .output import working
from .request import FitRequest, check_nominal
from .sources import data_name, naming
from .targets import check_targets, read_classes

_SETTINGS = ("objective", "granularity", "referee", "prune", "nominal", "nominal_features", "test", "seed")
_LIMITS = ("seconds", "iterations", "work")


def learn_improved(options: Mapping[str, Any]) -> Learned:
    """A first tree of the rows, improved."""
    data, target = options["data"], options["target"]
    if target is None:
        raise UsageError("--target is missing; name the column to predict")
    share, seed, threads = options["test"], options["seed"], options["threads"]
    nominal = tuple(split_nominal(options["nominal_features"]))
    request = FitRequest((target,), nominal_features=nominal, test=share, seed=seed, threads=threads)
    if share is not None and not 0 < share < 1:
        raise UsageError(f"--test {share:g}: a share between 0 and 1 is allowed, for instance 0.25")
    rows = _read(data, options["sql"])
    with naming(data):
        attributes, classes = _parts(rows, request)
        grown, held = rows_for(classes, share, seed)
        model = AnytimeTreeClassifier(
            objective=options["objective"],
            granularity=options["granularity"],
            nominal=options["nominal"],
            nominal_features=request.nominal,
            max_time=None,
            referee=options["referee"],
            prune=options["prune"],
            random_state=seed,
            n_jobs=threads,
        )
        with working("growing the first tree"):
            labels = classes.labels[classes.codes[grown]]
            model.partial_fit(attributes.take(grown), labels, classes=classes.labels)
    seconds = improved(model, options)
    scored = (conform(attributes.take(held), model.schema_), classes.take(held)) if len(held) else None
    return _learned(model, request, seconds, scored)


def learn_resumed(path: str, options: Mapping[str, Any]) -> Learned:
    """A saved search, gone on with, perhaps with further rows."""
    model = load(path)
    if not isinstance(model, AnytimeTreeClassifier):
        raise UsageError(f"--resume {path!r} is a {type(model).__name__}; only models of improve can go on")
    model.set_params(n_jobs=options["threads"])
    target, data = options["target"] or noted_target(path), options["data"]
    if data is not None:
        rows = _read(data, options["sql"])
        with naming(data):
            attributes, classes = _parts(rows, FitRequest((target,)))
            model.partial_fit(attributes, classes.labels[classes.codes])
    request = FitRequest((target,), seed=model._searched().seed, threads=options["threads"])
    return _learned(model, request, improved(model, options), None)


def noted_target(path: str) -> str:
    """What the rows of a saved model were asked for."""
    from hornbeam.estimators.store import read_model

    return str(read_model(path).notes.get("target", "class"))


def refuse_settings(context: click.Context) -> None:
    """A search goes on as it began: what was settled then cannot be said again."""
    for name in _SETTINGS:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(
                f"{option} with --resume: the model has its own; leave it out, or begin anew"
            )


def _read(data: str, sql: str | None) -> pa.Table:
    with working(f"reading {data_name(data)}"):
        return read_path(data, sql=sql)


def _parts(rows: pa.Table, request: FitRequest) -> tuple[pa.Table, ClassTarget]:
    """Attributes and classes."""
    check_targets(rows, request.targets)
    check_nominal(rows, request)
    target = request.targets[0]
    kind = rows.column(target).type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_temporal(kind):
        raise DataError(f"target {target!r} has numbers ({kind}); improve predicts classes: use hornbeam fit")
    return rows.drop_columns([target]), ClassTarget(*read_classes(rows, target))


def improved(model: AnytimeTreeClassifier, options: Mapping[str, Any]) -> float:
    """Improve the model until a limit or Ctrl-C; the seconds that this took."""
    begin = time.perf_counter()
    with stopping(model.stop), _live() as say:
        for state in model.improve(**{name: options[name] for name in _LIMITS}):
            if say is not None:
                say(state_text(state))
    return time.perf_counter() - begin


@contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C asks for what there is; the second is an interrupt as ever."""

    def first(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()
        if sys.stderr is not None:
            gap = "\n" if sys.stderr.isatty() else ""  # after the terminal's own ^C
            print(
                f"{gap}hornbeam: stopped; the best tree so far is kept (Ctrl-C again aborts)", file=sys.stderr
            )

    before = signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _live() -> Iterator[Callable[[str], None] | None]:
    """A line on stderr that follows the search; nothing unless a person watches."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task("improving", total=None)
        yield lambda text: progress.update(line, description=text)


def _learned(
    model: AnytimeTreeClassifier,
    request: FitRequest,
    seconds: float,
    scored: tuple[Table, ClassTarget] | None,
) -> Learned:
    search, pair = model._searched(), Pair(model.tree_, model.unpruned_tree_)
    given = {key: value for key, value in model.get_params(deep=False).items() if key != "callback"}
    parameters, record = {key: plain(key, value) for key, value in given.items()}, model._search_record()
    stored = StoredModel(ANYTIME, parameters, pair.tree, notes_of(request), pair.unpruned_alone, record)
    table, target = search.lookahead.table, search.lookahead.target
    judged = judge(pair.tree, *(scored or (table, target)), target, scored is not None, request.threads)
    return learned_of(stored, request, seconds, table=table, course=SearchCourse.of(search), **judged)
