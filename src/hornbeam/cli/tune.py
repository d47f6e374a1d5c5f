"""`hornbeam tune`: choose the size or other parameters of a tree by cross-validation, and say why."""

from __future__ import annotations

from typing import Any

import click

from .options import (
    Whole,
    common_options,
    memory_option,
    report_option,
    source_options,
    target_options,
    tree_options,
)


@click.command("tune", short_help="Choose a tree's size or parameters by cross-validation.")
@click.argument("data")
@target_options
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=V1,V2,...",
    help="Values of a parameter to try, such as max_depth=2,4,8,none (may be repeated: all combinations). "
    "Without it: ccp_alpha=path, every tree on the cost-complexity path, from the whole tree to its root.",
)
@click.option("--cv", type=Whole(2), default=10, show_default=True, metavar="K", help="Folds.")
@click.option(
    "--repeats",
    type=Whole(1),
    default=1,
    show_default=True,
    metavar="R",
    help="Deal the folds so many times.",
)
@click.option(
    "--mean",
    type=click.Choice(["mean", "trimmed"]),
    default="mean",
    show_default=True,
    help="Compare by the mean of all folds, or without the highest and lowest fifth of the repeats.",
)
@click.option(
    "--select",
    type=click.Choice(["1se", "best", "smallest"]),
    default="1se",
    show_default=True,
    help="1se: the smallest tree within one standard error of the best, so that it stays readable; "
    "best: the best; smallest: the smallest of the repeats' bests.",
)
@click.option(
    "--scoring",
    metavar="NAME",
    help="A score of scikit-learn, such as roc_auc.  [default: accuracy; regression: r2]",
)
@click.option(
    "--nested",
    type=Whole(3),
    metavar="K",
    help="Judge the whole choice by K outer folds, whose rows have no part in it.",
)
@tree_options
@source_options
@click.option(
    "--seed",
    type=Whole(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of the folds.",
)
@memory_option
@click.option("-o", "--output", metavar="FILE", help="Save the chosen tree, grown from all rows, here.")
@report_option
@common_options
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Choose a tree for DATA (as of fit): how large it should be, or what other parameters it should have.

    Every setting is cross-validated; the table shows the size of each tree beside its error. The tree of all
    rows under the chosen setting is the result.
    """
    from .output import check_places
    from .sources import check_source
    from .tune_grid import grid_of

    data, said = given["data"], context.get_parameter_source
    options = {name: given[name] for name in given if said(name) is click.core.ParameterSource.COMMANDLINE}
    grid = grid_of(given["params"], options)
    context.meta.setdefault("hornbeam.options", {}).update({name: f"--param {name}=" for name in grid})
    check_places(given["output"], given["report"], sources=[data])
    check_source(data)

    from .fit import give_out
    from .request import FitRequest, learn_from
    from .tune_learn import SearchRequest, learn_search

    own = {name: given[name] for name in ("repeats", "mean", "select", "scoring", "nested")}
    asked = SearchRequest(FitRequest.asked(given), grid, **own)
    learned = learn_from(
        data, given["sql"], "growing and choosing", lambda rows, share: learn_search(rows, asked, share)
    )
    give_out(learned, context, given)
