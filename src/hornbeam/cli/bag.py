"""`hornbeam bag`: grow trees of bootstrap samples from a file, score them by the rows outside, save them."""

from __future__ import annotations

from typing import Any

import click

from .options import (
    Count,
    Whole,
    common_options,
    engine_options,
    memory_option,
    source_options,
    target_options,
    tree_options,
)


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
    type=click.Choice(
        ["auto", "serial", "overlapping", "memory", "rf_hybrid", "rf_vertical", "rf_write", "rf_read"]
    ),
    default="auto",
    show_default=True,
    help="How the trees are grown, which do not depend on it; from memory on DATA is scanned as a source.",
)
@click.option(
    "--key", metavar="NAME", help="Of a source: the column that bags draw rows by; never an attribute."
)
@memory_option
@engine_options
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
    key: str | None,
    engine: str | None,
    scheduler: str | None,
    output: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Grow trees of bootstrap samples of DATA (as of fit), and score them by the rows that each left out.

    A glob, a database, or DATA with --key, --memory-limit, an engine or an algorithm of sources is scanned in
    bounded memory, and its bags are drawn row by row.
    """
    from .output import check_places
    from .sources import check_source, files_of, is_scanned

    asked_for = {
        "key": key,
        "memory_limit": options["memory_limit"],
        "engine": engine,
        "scheduler": scheduler,
        "algorithm": None if algorithm in ("auto", "serial", "overlapping") else algorithm,
    }
    if is_scanned(data, asked_for):
        from hornbeam.estimators.store import model_bytes
        from hornbeam.files import write_files

        from .bag_learn import BagPlan
        from .bag_source import bag_source, tell_bagged_source
        from .plan import Plan

        check_places(output, sources=files_of(data))
        wanted = BagPlan(Plan.asked(options), trees, max_samples, voting, algorithm)
        found = bag_source(data, sql, wanted, key, engine, scheduler)
        write_files({output: model_bytes(found.model)} if output else {})
        tell_bagged_source(found, output, as_json)
        return
    check_places(output, sources=[data])
    check_source(data)
    from hornbeam.estimators.store import model_bytes
    from hornbeam.files import write_files

    from .bag_learn import BagPlan, learn_bag
    from .bag_results import tell_bag
    from .plan import Plan, learn_from

    asked = BagPlan(Plan.asked(options), trees, max_samples, voting, algorithm)
    learned = learn_from(
        data, sql, f"growing {trees} trees", lambda rows, share: learn_bag(rows, asked, share)
    )
    write_files({output: model_bytes(learned.model)} if output else {})
    tell_bag(learned, output, as_json)
