"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Whole(click.IntRange):
    """A whole number of a range; click calls it an integer range in its errors."""

    name = "whole number"


class Count(click.ParamType):  # type: ignore[type-arg]
    """A whole number of rows, or a share of all rows between 0 and 1."""

    name = "N|SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        try:
            return int(value)
        except ValueError:
            pass
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number of rows (10) nor a share of them (0.01)", param, ctx)


def target_options(function: F) -> F:
    """What is to be predicted, and what rows and classes weigh."""
    return with_options(
        function,
        click.option(
            "--target",
            "targets",
            required=True,
            multiple=True,
            metavar="NAME",
            help="The column to predict (several for a vector of numbers).",
        ),
        click.option(
            "--task",
            type=click.Choice(["classification", "regression"]),
            help="By default text, booleans and at most 20 different integers are classes.",
        ),
        click.option(
            "--weight", metavar="NAME", help="The column that says what each row weighs; never an attribute."
        ),
        click.option(
            "--class-weight",
            metavar="balanced",
            help="balanced: every class weighs the same, however rare it is.",
        ),
    )


def tree_options(function: F) -> F:
    """The parameters of a tree, as options."""
    options = (
        click.option(
            "--criterion",
            metavar="NAME",
            help="gini, entropy, gain_ratio, correlation, c45 or quest; regression: variance.",
        ),
        click.option(
            "--nominal",
            metavar="KIND",
            default="subset",
            show_default=True,
            help="Tests on nominal attributes: subset, value or multiway.",
        ),
        nominal_features_option,
        click.option("--max-depth", type=Whole(1), metavar="N", help="The most tests on a path."),
        _count_option("--min-samples-split", "2", "Rows that a node needs to be split."),
        _count_option("--min-samples-leaf", "1", "Rows that every branch needs."),
        click.option(
            "--min-impurity-decrease",
            type=float,
            default=0.0,
            metavar="X",
            help="The least that a split must gain.",
        ),
        click.option(
            "--min-objs",
            type=float,
            metavar="M",
            help="C4.5's -m: a node below 2 M is a leaf, and a test needs two branches of M.",
        ),
        click.option(
            "--competitors",
            type=Whole(0),
            default=0,
            metavar="N",
            help="Keep the N best tests of other attributes at each node; see them with show --competitors.",
        ),
        *_pruning_options(),
    )
    return with_options(function, *options)


def _pruning_options() -> tuple[Callable[[F], F], ...]:
    return (
        click.option(
            "--prune",
            metavar="NAME",
            help="Cut the tree back: error_based (classes), cost_complexity or reduced_error.",
        ),
        confidence_option,
        click.option("--ccp-alpha", type=float, metavar="X", help="Of cost_complexity: what a leaf costs."),
        click.option(
            "--validation-fraction",
            type=float,
            metavar="SHARE",
            help="Of reduced_error: rows kept out of growing, to judge.  [default: 0.33]",
        ),
    )


def _count_option(name: str, default: str, what: str) -> Callable[[F], F]:
    return click.option(name, type=Count(), default=default, show_default=True, help=what)


def with_options(function: F, *options: Callable[[F], F]) -> F:
    """The function with options that --help lists in this order."""
    for option in reversed(options):
        function = option(function)
    return function


def source_options(function: F) -> F:
    """What a command takes that reads rows."""
    return with_options(
        function,
        sql_option,
        threads_option,
    )


def scan_options(function: F) -> F:
    """How the rows of a source are scanned."""
    return with_options(
        function,
        click.option(
            "--algorithm",
            metavar="NAME",
            help="Scan DATA as a source and grow by auto, boat, rf_hybrid, rf_vertical, rf_write, rf_read or "
            "memory; the tree is the same.",
        ),
        click.option(
            "--key", metavar="NAME", help="The column that deals rows to folds; never an attribute."
        ),
        click.option("--variant", metavar="paper", help="Of boat: as the paper has it."),
        engine_options,
    )


def engine_options(function: F) -> F:
    """Who scans."""
    return with_options(
        function,
        click.option(
            "--engine",
            metavar="NAME",
            help="Who scans: threads of this process, or dask or spark: the workers of --scheduler, or "
            "processes that are started here.",
        ),
        click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="The Dask scheduler or the Spark master to ask: tcp://10.0.0.1:8786, spark://10.0.0.1:7077.",
        ),
    )


def common_options(function: F) -> F:
    """What every command takes."""
    as_json = click.option("--json", "as_json", is_flag=True, help="Write the result as JSON.")
    return with_options(function, as_json, debug_option)


debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)


nominal_features_option = click.option(
    "--nominal-features",
    metavar="NAMES",
    multiple=True,
    help="Columns whose values are labels although they look like numbers: a,b (may be repeated).",
)
confidence_option = click.option(
    "--confidence", type=float, metavar="X", help="Of error_based, above 0 up to 1.  [default: 0.25]"
)
test_option = click.option(
    "--test", type=float, metavar="SHARE", help="Hold this share of the rows out and score on them."
)
cv_option = click.option(
    "--cv", type=Whole(2), metavar="K", help="Cross-validate by K folds, in the same growth as the tree."
)
threads_option = click.option(
    "--threads",
    type=Whole(1, 2**15),
    default=1,
    show_default=True,
    help="The result does not depend on them.",
)
model_option = click.option("-o", "--output", metavar="FILE", help="Save the model here (model.hornbeam).")
shown_option = click.option("-o", "--output", metavar="FILE", help="Write here instead of to stdout.")
which_option = click.option(
    "--tree", "which", type=Whole(0), metavar="N", help="Which tree of a bagged model, from 0."
)
dialect_option = click.option(
    "--dialect",
    type=click.Choice(("duckdb", "postgresql", "sqlite")),
    help="Whose SQL; duckdb if not said otherwise.",
)
sql_option = click.option("--sql", metavar="QUERY", help="The rows to take from a database.")
memory_option = click.option(
    "--memory-limit", metavar="SIZE", help="Bound what growing takes: bytes, or a text such as 500MB or 2GiB."
)
report_option = click.option("--report", metavar="FILE", help="Write a one-file HTML report here.")


_OPTIONS = {"n_estimators": "-n", "time_columns": "--time", "n_samples": ""}


def option_of(parameter: str) -> str:
    """The option of the command that a parameter comes from."""
    name, _, table = parameter.partition("[")
    option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
    return f"{option} {table.strip(chr(39) + ']')}.COLUMN" if table else option


def split_names(given: tuple[str, ...]) -> list[str]:
    """Names from a repeated option, several of them separated by commas."""
    return [name for entry in given for name in entry.split(",") if name]


def split_nominal(given: tuple[str, ...]) -> list[str]:
    """The names of --nominal-features."""
    names = split_names(given)
    if given and not names:
        raise click.UsageError("--nominal-features names no column; name some, or leave it out")
    return names
