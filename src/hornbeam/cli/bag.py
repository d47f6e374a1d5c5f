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
    model_option,
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
@model_option
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
    from hornbeam.estimators.store import model_bytes
    from hornbeam.files import write_files

    from .bag_learn import BagRequest, learn_bag
    from .bag_results import tell_bag
    from .output import check_places
    from .request import FitRequest, learn_from
    from .sources import check_source, files_of, is_scanned

    asked_for = {
        "key": key,
        "memory_limit": options["memory_limit"],
        "engine": engine,
        "scheduler": scheduler,
        "algorithm": None if algorithm in ("auto", "serial", "overlapping") else algorithm,
    }
    scanned = is_scanned(data, asked_for)
    check_places(output, sources=files_of(data) if scanned else [data])
    asked = BagRequest(FitRequest.asked(options), trees, max_samples, voting, algorithm)
    if scanned:
        from .bag_source import bag_source

        learned = bag_source(data, sql, asked, key, engine, scheduler)
    else:
        check_source(data)
        learned = learn_from(
            data, sql, f"growing {trees} trees", lambda rows, share: learn_bag(rows, asked, share)
        )
    write_files({output: model_bytes(learned.model)} if output else {})
    tell_bag(learned, output, as_json)
