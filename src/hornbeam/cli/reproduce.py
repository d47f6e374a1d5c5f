"""`hornbeam reproduce`: the papers' experiments on this machine, set beside the papers' figures."""

from __future__ import annotations

from pathlib import Path

import click

from .options import Whole, common_options

_EXPERIMENTS = ("cross-validation", "bagging", "memory")


@click.command("reproduce", short_help="Run the papers' experiments again.")
@click.argument("experiment", type=click.Choice(_EXPERIMENTS))
@click.option(
    "--out",
    default="hornbeam-reproduce",
    show_default=True,
    metavar="DIR",
    help="Where to write CSV, JSON, SVG and the page; made if need be.",
)
@click.option("--runs", type=Whole(1, 1000), metavar="N", help="Runs to average.  [default: 10, quick: 3]")
@click.option("--sets", metavar="NAMES", help="Some sets of table 1, such as Letter,Mushroom.")
@click.option(
    "--quick", is_flag=True, help="At most 3000 rows of each set: minutes, and no figures to quote."
)
@common_options
def command(
    experiment: str, out: str, runs: int | None, sets: str | None, quick: bool, as_json: bool
) -> None:
    """Measure EXPERIMENT of Blockeel and Struyf's paper on cross-validation on the sets of its table 1.

    The sets come from the directory that HORNBEAM_DATA names. Progress goes to stderr; files are written when
    all is measured, so that an interruption leaves what was there.
    """
    from hornbeam.errors import StorageError
    from hornbeam.model.store import reason, replace_files
    from hornbeam.reproduce import Plan, files_of, run

    from .output import print_json, style

    plan = Plan.of(
        sets.split(",") if sets is not None else None,
        runs,
        quick,
        tell=lambda line: click.echo(f"{experiment}: {line}", err=True),
    )
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the directory {out!r}: {reason(error)}") from None
    results = run(experiment, plan)
    files = files_of(results)
    replace_files({str(folder / name): content for name, content in files.items()})
    if as_json:
        print_json({"experiment": experiment, "out": out, "files": sorted(files)})
        return
    for part in results.parts:
        click.echo(
            f"{style(part.title, bold=True)}: {', '.join(f'{sheet.name}.csv' for sheet in part.sheets)}"
        )
    click.echo(f"\nThe page is {style(str(folder / f'{experiment}.html'), bold=True)}: open it in a browser.")
