"""`hornbeam demo`: the main job on built-in data, with a report page, in about a second."""

from __future__ import annotations

import click

from .options import Whole, common_options

_DEPTH_ON_SCREEN = 4
_FOLDS, _ROWS_FOR_FOLDS = 10, 100


def _least_leaf(task: str, rows: int) -> int:
    """Leaves large enough for a tree that generalises; the mean of few noisy numbers says little."""
    return 5 if task == "classification" else max(5, rows // 20)


@click.command("demo", short_help="See the main job on built-in data.")
@click.option(
    "--data",
    "name",
    default="breast_cancer",
    show_default=True,
    metavar="NAME",
    help="breast_cancer, wine, iris, digits, diabetes, linnerud, a set of HORNBEAM_DATA, or openml:NAME.",
)
@click.option("--seed", type=Whole(0), default=7, show_default=True, help="Seed of the hold-out draw.")
@click.option(
    "--report",
    default="hornbeam-demo.html",
    show_default=True,
    metavar="FILE",
    help="Where to write the page.",
)
@common_options
@click.pass_context
def command(context: click.Context, name: str, seed: int, report: str, as_json: bool) -> None:
    """Grow a tree from built-in data, score it on held-out rows, print it and write a page to keep."""
    from hornbeam.files import write_file

    from .output import check_places, print_json, style, working

    check_places(report)
    from hornbeam.datasets import load

    from .learn import learn
    from .request import FitRequest
    from .results import learned_record, page_of, print_learned

    with working(f"reading {name}"):
        dataset = load(name)
    request = FitRequest(
        dataset.targets,
        task=dataset.task,
        nominal_features=dataset.nominal,
        parameters={"min_samples_leaf": _least_leaf(dataset.task, dataset.rows.num_rows)},
        test=0.25,
        cv=_FOLDS if dataset.rows.num_rows >= _ROWS_FOR_FOLDS else None,
        seed=seed,
    )
    with working("growing the tree") as report_share:
        learned = learn(dataset.rows, request, report_share)
    line = context.meta.get("hornbeam.line", "")
    facts = {"command": line, "title": dataset.title, "data_name": dataset.name, "data_hash": dataset.hash}
    write_file(report, page_of(learned, **facts))
    if as_json:
        print_json(learned_record(learned) | {"data": name, "report": report})
        return
    click.echo(style(dataset.title, bold=True))
    print_learned(learned)
    click.echo("\n" + learned.model.tree.to_text(_DEPTH_ON_SCREEN).rstrip("\n"))
    click.echo(f"\nThe page is in {style(report, bold=True)}: open it in a browser.")
    click.echo('Next: hornbeam fit data.csv --target y --report report.html, or "hornbeam --help".')
