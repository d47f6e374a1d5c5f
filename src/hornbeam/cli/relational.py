"""`hornbeam relational`: first-order trees over linked tables, fitted, asked and shown."""

from __future__ import annotations

from typing import Any

import click

from .options import (
    Whole,
    common_options,
    confidence_option,
    cv_option,
    debug_option,
    dialect_option,
    model_option,
    report_option,
    shown_option,
    which_option,
    with_options,
)

_FORMS = ("text", "ace", "rules", "prolog", "sql", "svg", "json", "bias")


@click.group("relational", short_help="Trees over several linked tables.")
@debug_option
def command() -> None:
    """Grow one readable tree over several linked tables, and ask it.

    DATA is a DuckDB or SQLite file, a folder of CSV or Parquet files, or a settings file of ACE (.s).
    """


def _data_options(function: Any) -> Any:
    return with_options(
        function,
        click.option(
            "--tables", metavar="NAMES", multiple=True, help="Only these tables: a,b (may be repeated)."
        ),
        click.option(
            "--key",
            "keys",
            metavar="TABLE.COLUMN",
            multiple=True,
            help="The key of a table that declares none.",
        ),
        click.option(
            "--reference",
            "references",
            metavar="TABLE.COLUMN=TABLE",
            multiple=True,
            help="A column that holds keys of another table.",
        ),
        click.option(
            "--exclude", metavar="TABLE.COLUMN", multiple=True, help="A column that no test may ask about."
        ),
        click.option(
            "--time",
            "times",
            metavar="TABLE.COLUMN",
            multiple=True,
            help="When rows came to be known: those at or after the time of their example are not seen.",
        ),
        click.option(
            "--example-time",
            metavar="COLUMN",
            help="The column of the examples that says their time, or one moment (2024-06-30).",
        ),
        click.option(
            "--prolog-seconds",
            type=click.FloatRange(0, min_open=True),
            metavar="X",
            help="Of a settings file: how long swipl may work on its rules.  [default: 60]",
        ),
    )


@command.command("fit", short_help="Grow a tree over linked tables.")
@click.argument("data")
@click.option(
    "--target", metavar="TABLE.COLUMN", help="What to predict; the rows of its table are the examples."
)
@click.option(
    "--task", type=click.Choice(["classification", "regression"]), help="By default text is classes."
)
@_data_options
@click.option(
    "--bias", metavar="FILE", help="Mode declarations; by default what keys and references suggest."
)
@click.option(
    "--print-bias", is_flag=True, help="Print the mode declarations and stop: edit them for --bias."
)
@click.option(
    "--max-hops", type=Whole(0), metavar="N", help="Of the suggested bias: references that a test follows."
)
@click.option("--criterion", metavar="NAME", help="gain_ratio or entropy; regression: variance.")
@click.option("--min-samples-leaf", type=Whole(1), metavar="N", help="Examples that every branch needs.")
@click.option("--lookahead", type=Whole(0), metavar="N", help="How far tests look ahead.")
@click.option("--max-depth", type=Whole(0), metavar="N", help="The most tests on a path.")
@click.option("--prune", metavar="NAME", help="error_based (the default for classes), safe or none.")
@confidence_option
@click.option(
    "--ftest",
    type=float,
    metavar="X",
    help="Of regression: how significant a test must be, above 0 up to 1.  [default: 0.05]",
)
@cv_option
@click.option(
    "--groups",
    metavar="TABLE",
    help="With --cv: examples that share rows of this table stay in one fold.",
)
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Deals examples to folds.")
@click.option("--budget", type=Whole(1), metavar="N", help="Join steps that a test may take for one example.")
@click.option(
    "--threads", type=Whole(1, 2**15), default=1, show_default=True, help="The tree does not depend on them."
)
@model_option
@report_option
@common_options
@click.pass_context
def fit(context: click.Context, /, **given: Any) -> None:
    """Grow a tree that predicts a column of one of the tables in DATA, from all of them."""
    from .output import check_places
    from .sources import files_of

    output, report = given["output"], given["report"]
    check_places(
        output, report, sources=[*files_of(given["data"]), *([given["bias"]] if given["bias"] else [])]
    )

    from .relational_learn import fitted, print_bias
    from .relational_results import give_out

    if given["print_bias"]:
        print_bias(given)
        return
    give_out(fitted(given), context, given)


@command.command("predict", short_help="Answer for the examples of a database.")
@click.argument("model")
@click.argument("data")
@_data_options
@click.option("--proba", is_flag=True, help="Add the share of each class in the leaf.")
@click.option(
    "--explain",
    "keys_to_explain",
    metavar="KEY",
    multiple=True,
    help="Tell why, for the example with this key.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the answers here instead of stdout (CSV).")
@common_options
def predict(**given: Any) -> None:
    """Answer for every example of DATA with MODEL: the key and the prediction, in the order of the table."""
    from .output import check_places
    from .sources import files_of

    check_places(given["output"], sources=[given["model"], *files_of(given["data"])])

    from .relational_answers import give_answers

    give_answers(given)


@command.command("show", short_help="Show a saved model.")
@click.argument("model")
@click.option(
    "--format", "form", type=click.Choice(_FORMS), default="text", show_default=True, help="How to show it."
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@dialect_option
@which_option
@click.option(
    "--depth", type=Whole(0), metavar="N", help="In text and svg: no more than N levels below the root."
)
@shown_option
@debug_option
def show(**given: Any) -> None:
    """Show MODEL, a file that hornbeam relational fit wrote: in words, as ACE prints trees, as rules, Prolog,
    SQL, picture or JSON, or the bias that it was grown with."""
    from .output import check_places

    check_places(given["output"], sources=[given["model"]])

    from .relational_answers import give_tree

    give_tree(given)
