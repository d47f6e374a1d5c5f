"""From rows, or from a saved search, to a tree that was improved until a limit or Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
import numpy as np
import pyarrow as pa

import hornbeam
from hornbeam import AnytimeTreeClassifier
from hornbeam.anytime.course import SearchCourse, state_text
from hornbeam.errors import DataError, UsageError
from hornbeam.estimators.model_parameters import plain
from hornbeam.estimators.store import StoredModel, load
from hornbeam.estimators.stored_search import ANYTIME
from hornbeam.report import count_errors, score_classes
from hornbeam.table import conform, read_path

from .learn import Learned, rows_for
from .options import split_names
from .output import working
from .plan import Plan, check_nominal
from .sources import data_name, naming
from .targets import check_targets, read_classes

_SETTINGS = ("objective", "granularity", "referee", "prune", "nominal", "nominal_features", "test", "seed")
_LIMITS = ("seconds", "iterations", "work")


def learn_improved(data: str, sql: str | None, *, target: str | None, **options: Any) -> Learned:
    """A first tree of the rows, improved."""
    if target is None:
        raise UsageError("--target is missing; name the column to predict")
    share, seed, threads = options["test"], options["seed"], options["threads"]
    nominal = tuple(split_names(options["nominal_features"]))
    plan = Plan((target,), nominal_features=nominal, test=share, seed=seed, threads=threads)
    if share is not None and not 0 < share < 1:
        raise UsageError(f"--test {share:g}: a share between 0 and 1 is allowed, for instance 0.25")
    rows = _read(data, sql)
    with naming(data):
        attributes, codes, classes = _parts(rows, plan)
        grown, held = rows_for(codes, share, seed)
        model = AnytimeTreeClassifier(
            objective=options["objective"],
            granularity=options["granularity"],
            nominal=options["nominal"],
            nominal_features=list(nominal) or "from_dtype",
            max_time=None,
            referee=options["referee"],
            prune=options["prune"],
            random_state=seed,
            n_jobs=threads,
        )
        with working("growing the first tree"):
            model.partial_fit(attributes.take(grown), classes[codes[grown]], classes=classes)
    seconds = improved(model, options)
    scored = (attributes.take(held), codes[held]) if len(held) else None
    return _learned(model, plan, seconds, scored)


def learn_resumed(
    path: str, data: str | None, sql: str | None, *, target: str | None, **options: Any
) -> Learned:
    """A saved search, gone on with, perhaps with further rows."""
    model = load(path)
    if not isinstance(model, AnytimeTreeClassifier):
        raise UsageError(f"--resume {path!r} is a {type(model).__name__}; only models of improve can go on")
    model.set_params(n_jobs=options["threads"])
    target = target or noted_target(path)
    if data is not None:
        rows = _read(data, sql)
        with naming(data):
            attributes, codes, classes = _parts(rows, Plan((target,)))
            model.partial_fit(attributes, classes[codes])
    plan = Plan((target,), seed=model._searched().seed, threads=options["threads"])
    seconds = improved(model, options)
    return _learned(model, plan, seconds, None)


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


def _parts(rows: pa.Table, plan: Plan) -> tuple[pa.Table, Any, Any]:
    """Attributes, class codes and classes."""
    check_targets(rows, plan.targets)
    check_nominal(rows, plan)
    target = plan.targets[0]
    kind = rows.column(target).type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_temporal(kind):
        raise DataError(f"target {target!r} has numbers ({kind}); improve predicts classes: use hornbeam fit")
    codes, classes = read_classes(rows, target)
    return rows.drop_columns([target]), codes, classes


def improved(model: AnytimeTreeClassifier, options: dict[str, Any]) -> float:
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


def _learned(model: AnytimeTreeClassifier, plan: Plan, seconds: float, scored: Any) -> Learned:
    search, tree = model._searched(), model.tree_
    table, codes = search.lookahead.table, search.lookahead.target.codes
    most_common = int(np.bincount(codes).argmax())
    judged, actual = (table, codes) if scored is None else (conform(scored[0], tree.schema), scored[1])
    answered = tree.predict_codes(judged, plan.threads)
    unpruned = model.unpruned_tree_
    given = {key: value for key, value in model.get_params(deep=False).items() if key != "callback"}
    stored = StoredModel(
        ANYTIME,
        {key: plain(key, value) for key, value in given.items()},
        tree,
        {"target": plan.targets[0], "version": hornbeam.__version__},
        None if unpruned is tree else unpruned,
        model._search_record(),
    )
    return Learned(
        stored,
        table,
        plan,
        score_classes(actual, answered, most_common, scored is not None),
        seconds,
        True,
        errors=count_errors(actual, answered, tuple(str(label) for label in model.classes_.tolist())),
        course=SearchCourse.of(search),
    )
