"""`hornbeam improve`: a tree that gets better for as long as it is let; Ctrl-C keeps the best so far."""

from __future__ import annotations

import re
from typing import Any

import click

from .options import (
    Whole,
    common_options,
    nominal_features_option,
    report_option,
    source_options,
    test_option,
)

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DEFAULT_SECONDS = 10.0


class Duration(click.ParamType):  # type: ignore[type-arg]
    """Seconds, or a number with a unit: 90, 60s, 5min, 2h."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|min|m|h)?\s*", str(value))
        if found is None or float(found[1]) <= 0:
            self.fail(
                f"{value!r} is no time above 0; give seconds, or for instance 60s, 5min or 2h", param, ctx
            )
        return float(found[1]) * _UNITS[found[2] or "s"]


@click.command("improve", short_help="Improve a tree for as long as you let it.")
@click.argument("data", required=False)
@click.option("--target", metavar="NAME", help="The column to predict: a class.")
@click.option(
    "--time",
    "seconds",
    type=Duration(),
    metavar="TIME",
    help="Stop after this time: 60s, 5min, 2h.  [default: 10s, if there is no other limit]",
)
@click.option("--iterations", type=Whole(1), metavar="N", help="Stop after N rebuilt subtrees.")
@click.option("--work", type=Whole(1), metavar="N", help="Stop before more than N units of counted work.")
@click.option(
    "--objective",
    type=click.Choice(["error", "size"]),
    default="error",
    show_default=True,
    help="error: fewest expected errors, pruned; size: fewest leaves of a consistent tree.",
)
@click.option(
    "--granularity",
    type=click.FloatRange(0.0, 1.0),
    default=0.1,
    show_default=True,
    metavar="G",
    help="Rebuild no subtree that costs less than this share of the whole.",
)
@click.option(
    "--referee", type=click.Choice(["cv"]), help="cv: inner folds must agree with a rebuilt subtree."
)
@click.option("--prune", type=click.Choice(["error_based"]), help="With size: hand the tree out pruned.")
@click.option(
    "--nominal",
    type=click.Choice(["value", "subset", "multiway"]),
    default="value",
    show_default=True,
    help="Tests on nominal attributes.",
)
@nominal_features_option
@test_option
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Seed of the search.")
@click.option(
    "--resume",
    metavar="MODEL",
    help="Go on with a model that improve saved; rows of DATA, if given, are added first.",
)
@source_options
@click.option("-o", "--output", metavar="FILE", help="Save the model, and how to go on, here.")
@report_option
@common_options
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Improve a tree for DATA (as of fit) until a limit is reached or Ctrl-C, which keeps the best so far.

    It begins with a greedy tree and rebuilds subtrees by looking ahead, so that it finds what no single test
    shows. A second Ctrl-C aborts.
    """
    from .output import check_places
    from .sources import check_source

    data, resume = given["data"], given["resume"]
    if data is None and resume is None:
        raise click.UsageError("DATA is missing; name a file, or a model to go on with by --resume")
    check_places(given["output"], given["report"], sources=[] if data is None else [data])
    if data is not None:
        check_source(data)
    if given["seconds"] is given["iterations"] is given["work"] is None:
        given["seconds"] = _DEFAULT_SECONDS

    from .fit import give_out
    from .improve_learn import learn_improved, learn_resumed, refuse_settings

    if resume is None:
        learned = learn_improved(given)
    else:
        refuse_settings(context)
        learned = learn_resumed(resume, given)
    give_out(learned, context, given | {"data": data or resume})
