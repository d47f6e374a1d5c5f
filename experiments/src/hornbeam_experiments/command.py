"""`hornbeam reproduce`: the papers' experiments on this machine, set beside the papers' figures."""

from __future__ import annotations

from pathlib import Path

import click

from hornbeam.cli.options import Whole, common_options

_EXPERIMENTS = ("cross-validation", "bagging", "memory", "cvc45", "boat", "anytime", "relational", "scale")


@click.command("reproduce", short_help="Run the papers' experiments again.")
@click.argument("experiment", type=click.Choice(_EXPERIMENTS))
@click.option(
    "--out",
    default="hornbeam-reproduce",
    show_default=True,
    metavar="DIR",
    help="Where to write CSV, JSON, SVG and the page; made if need be.",
)
@click.option(
    "--runs",
    type=Whole(1, 1000),
    metavar="N",
    help="Runs to average; divisions of the rows in cvc45; how often ten folds are dealt in anytime.  "
    "[default: 10, cvc45: 20, quick: 3, boat: 1, anytime: 1 to 5]",
)
@click.option(
    "--sets",
    metavar="NAMES",
    help="Some sets of table 1, such as Letter,Mushroom; in cvc45 Pima; in boat F1,F7; in anytime XOR-5; in "
    "relational CB.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="At most 3000 rows of each set, 3 runs or divisions, in boat 0.02 of the rows, in anytime 0.03 of "
    "the seconds: minutes, and no figures to quote.",
)
@click.option(
    "--scale",
    type=float,
    metavar="X",
    help="In boat: this share of the paper's 2 to 10 million rows.  [default: 1]",
)
@click.option(
    "--parts",
    metavar="NAMES",
    help="In boat: some of 4-6, 7-9, 10-11, 12, quest, 13, 14, 15 (figures) and deletions.  [default: all]",
)
@common_options
def command(
    experiment: str,
    out: str,
    runs: int | None,
    sets: str | None,
    quick: bool,
    scale: float | None,
    parts: str | None,
    as_json: bool,
) -> None:
    """Run EXPERIMENT on the sets of its paper's table 1 and set the figures beside the paper's.

    cross-validation, bagging and memory are of Blockeel and Struyf's paper on cross-validation, cvc45 is of
    John's on choosing C4.5's m by it, boat of Gehrke, Ganti, Ramakrishnan and Loh's on growing from scans,
    anytime of Esmeir and Markovitch's on trees that get better for as long as they may, relational the
    first-order half of Blockeel and Struyf's; scale measures what a cluster costs and simulates clusters.

    The sets come from the directory that HORNBEAM_DATA names; those of boat and most of anytime are
    generated. Progress goes to stderr; files are written when all is measured, so that an interruption leaves
    what was there.
    """
    from hornbeam.cli.output import print_json, style
    from hornbeam.errors import StorageError
    from hornbeam.files import reason, write_files
    from hornbeam_experiments.run import prepare
    from hornbeam_experiments.write import files_of

    start = prepare(
        experiment,
        sets.split(",") if sets is not None else None,
        runs,
        quick,
        tell=lambda line: click.echo(f"{experiment}: {line}", err=True),
        scale=scale,
        parts=parts.split(",") if parts is not None else None,
    )
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the directory {out!r}: {reason(error)}") from None
    results = start()
    files = files_of(results)
    write_files({str(folder / name): content for name, content in files.items()})
    if as_json:
        print_json({"experiment": experiment, "out": out, "files": sorted(files)})
        return
    if results.summary:
        click.echo(results.summary + "\n")
    for part in results.parts:
        click.echo(
            f"{style(part.title, bold=True)}: {', '.join(f'{sheet.name}.csv' for sheet in part.sheets)}"
        )
    click.echo(f"\nThe page is {style(str(folder / f'{experiment}.html'), bold=True)}: open it in a browser.")
