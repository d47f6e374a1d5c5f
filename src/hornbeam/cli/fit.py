"""`hornbeam fit`: grow a tree from a file, score it, save it, write its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import (
    Whole,
    common_options,
    memory_option,
    report_option,
    scan_options,
    source_options,
    target_options,
    tree_options,
)

if TYPE_CHECKING:
    from .learn import Learned


@click.command("fit", short_help="Grow a tree from a file.")
@click.argument("data")
@target_options
@tree_options
@source_options
@click.option(
    "--test", type=float, metavar="SHARE", help="Hold this share of the rows out and score on them."
)
@click.option(
    "--cv", type=Whole(2), metavar="K", help="Cross-validate by K folds, in the same growth as the tree."
)
@click.option(
    "--seed", type=Whole(0), default=0, show_default=True, help="Seed of the hold-out draw and the folds."
)
@memory_option
@scan_options
@click.option("-o", "--output", metavar="FILE", help="Save the model here (model.hornbeam).")
@report_option
@common_options
@click.pass_context
def command(context: click.Context, /, **given: object) -> None:
    """Grow a tree from DATA: CSV (also .gz), Parquet, ARFF, DuckDB with --sql, or - for CSV on stdin.

    A glob ('data/*.parquet'), an SQLite file or a postgresql:// address with --sql, and whatever comes with
    --algorithm, is a source: it is scanned within --memory-limit and need not fit in memory.
    """
    run(context.meta.get("hornbeam.line", ""), **given)  # type: ignore[arg-type]


def run(
    line: str,
    *,
    data: str,
    sql: str | None,
    output: str | None,
    report: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Everything is computed before anything is written."""
    from .output import check_places
    from .sources import check_source, files_of, is_scanned

    test = options["test"]
    if test is not None and not 0 < test < 1:
        raise click.UsageError(f"--test {test:g}: a share between 0 and 1 is allowed, for instance 0.25")
    scanned = {name: options.pop(name) for name in ("algorithm", "key", "variant", "engine", "scheduler")}
    if is_scanned(data, scanned):
        check_places(output, report, sources=files_of(data))

        from .fit_source import learn_source
        from .request import FitRequest

        give_out(
            learn_source(data, sql, FitRequest.asked(options), **scanned), line, data, output, report, as_json
        )
        return
    check_places(output, report, sources=[data])
    check_source(data)

    from .learn import learn
    from .request import FitRequest, learn_from

    request = FitRequest.asked(options)
    learned = learn_from(data, sql, "growing the tree", lambda rows, share: learn(rows, request, share))
    give_out(learned, line, data, output, report, as_json)


def give_out(
    learned: Learned, line: str, data: str, output: str | None, report: str | None, as_json: bool
) -> None:
    """Write the model and the report, both or neither, then tell the result and where the rest of it is."""
    from hornbeam.estimators.store import model_bytes
    from hornbeam.files import write_files

    from .output import print_json, working
    from .results import learned_record, page_of, print_learned, tell_places
    from .sources import facts_of

    results = {output: model_bytes(learned.model)} if output else {}
    if report:
        with working("writing the report"):
            results[report] = page_of(learned, **facts_of(line, data))
    write_files(results)
    if as_json:
        print_json(learned_record(learned) | {"model": output, "report": report})
        return
    print_learned(learned)
    tell_places(learned.model.tree, output, report, "hornbeam show")
