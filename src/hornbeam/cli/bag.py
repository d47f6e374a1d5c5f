"""`hornbeam bag`: grow trees of bootstrap samples from a file, score them by the rows outside, save them."""

from __future__ import annotations

from typing import Any

import click

from .options import Count, Whole, common_options, source_options, target_options, tree_options


@click.command("bag", short_help="Grow many trees of drawn rows that answer together.")
@click.argument("data")
@target_options
@click.option("-n", "--trees", type=Whole(1), default=25, show_default=True, help="How many bags are drawn.")
@click.option(
    "--max-samples",
    type=Count(),
    help="Rows that each bag draws.  [default: as many as there are]",
)
@click.option(
    "--voting",
    type=click.Choice(["soft", "hard"]),
    default="soft",
    show_default=True,
    help="soft: the mean of the trees' class shares; hard: one vote a tree.",
)
@click.option(
    "--algorithm",
    type=click.Choice(["auto", "serial", "overlapping"]),
    default="auto",
    show_default=True,
    help="How the trees are grown; they do not depend on it.",
)
@tree_options
@source_options
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Seed of the draws.")
@click.option("-o", "--output", metavar="FILE", help="Save the model here (model.hornbeam).")
@common_options
def command(
    data: str,
    sql: str | None,
    trees: int,
    max_samples: int | float | None,
    voting: str,
    algorithm: str,
    output: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Grow trees of bootstrap samples of DATA (as of fit), and score them by the rows that each left out."""
    from .output import check_places
    from .sources import check_source

    check_places(output, sources=[data])
    check_source(data)
    from hornbeam.estimators.store import model_bytes
    from hornbeam.model.store import replace_files

    from .bag_learn import BagPlan, learn_bag
    from .bag_results import tell_bag
    from .plan import Plan, learn_from

    asked = BagPlan(Plan.asked(options), trees, max_samples, voting, algorithm)
    learned = learn_from(
        data, sql, f"growing {trees} trees", lambda rows, share: learn_bag(rows, asked, share)
    )
    replace_files({output: model_bytes(learned.model)} if output else {})
    tell_bag(learned, output, as_json)
