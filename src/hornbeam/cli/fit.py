"""`hornbeam fit`: grow a tree from a file, score it, save it, write its report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from .options import (
    Whole,
    common_options,
    cv_option,
    memory_option,
    model_option,
    report_option,
    scan_options,
    source_options,
    target_options,
    test_option,
    tree_options,
)

if TYPE_CHECKING:
    from .learn import Learned


@click.command("fit", short_help="Grow a tree from a file.")
@click.argument("data")
@target_options
@tree_options
@source_options
@test_option
@cv_option
@click.option(
    "--seed", type=Whole(0), default=0, show_default=True, help="Seed of the hold-out draw and the folds."
)
@memory_option
@scan_options
@model_option
@report_option
@common_options
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Grow a tree from DATA: CSV (also .gz), Parquet, ARFF, DuckDB with --sql, or - for CSV on stdin.

    A glob ('data/*.parquet'), an SQLite file or a postgresql:// address with --sql, and whatever comes with
    --algorithm, is a source: it is scanned within --memory-limit and need not fit in memory.
    """
    from .output import check_places
    from .request import FitRequest, learn_from
    from .sources import check_source, files_of, is_scanned

    data, sql, test = given["data"], given["sql"], given["test"]
    if test is not None and not 0 < test < 1:
        raise click.UsageError(f"--test {test:g}: a share between 0 and 1 is allowed, for instance 0.25")
    how = {name: given[name] for name in ("algorithm", "key", "variant", "engine", "scheduler")}
    scanned = is_scanned(data, how)
    check_places(given["output"], given["report"], sources=files_of(data) if scanned else [data])
    request = FitRequest.asked(given)
    if scanned:
        from .fit_source import learn_source

        learned = learn_source(data, sql, request, **how)
    else:
        check_source(data)
        from .learn import learn

        learned = learn_from(data, sql, "growing the tree", lambda rows, share: learn(rows, request, share))
    give_out(learned, context, given)


def give_out(learned: Learned, context: click.Context, given: Mapping[str, Any]) -> None:
    """Write the model and the report, both or neither, then tell the result and where the rest of it is."""
    from hornbeam.estimators.store import model_bytes
    from hornbeam.files import write_files

    from .output import print_json, working
    from .results import learned_record, page_of, print_learned, tell_places
    from .sources import facts_of

    line, output, report = context.meta.get("hornbeam.line", ""), given["output"], given["report"]
    results = {output: model_bytes(learned.model)} if output else {}
    if report:
        with working("writing the report"):
            results[report] = page_of(learned, **facts_of(line, given["data"]))
    write_files(results)
    if given["as_json"]:
        print_json(learned_record(learned) | {"model": output, "report": report})
        return
    print_learned(learned)
    tell_places(learned.model.tree, output, report, "hornbeam show")
