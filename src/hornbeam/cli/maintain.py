"""`hornbeam maintain`: a tree in a file, exact at all times while rows come and go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from .options import Whole, common_options, memory_option, sql_option, target_options, tree_options

_tree = click.argument("tree")
_data = click.argument("data", nargs=-1, required=True)
_id = click.option(
    "--id", "id_", metavar="TEXT", help="Names the batch; one that was applied before is not applied again."
)


@click.group("maintain", short_help="Keep a tree exact while its rows change.")
def command() -> None:
    """Keep a tree in a file with all of its rows: rows come and go, and the tree is at all times the one that
    fit would grow from those that are present.

    TREE is the file. DATA are CSV or Parquet files, a glob, a folder, or a database with --sql.
    """


@command.command("create", short_help="Make the file of a tree from rows.")
@_tree
@_data
@target_options
@tree_options
@sql_option
@click.option(
    "--key", metavar="NAME", help="The column that rows are known by, for forget; never an attribute."
)
@click.option(
    "--cv",
    type=Whole(2),
    metavar="K",
    help="Keep the trees of K folds, dealt by --key, and the estimate that they give.",
)
@click.option(
    "--policy",
    type=click.Choice(["exact", "stable"]),
    default="exact",
    show_default=True,
    help="Have the tree of fit at all times, or keep a test while no other is better by more than chance.",
)
@click.option(
    "--algorithm",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="How to grow the first tree, as in fit; the tree is the same.",
)
@memory_option
@common_options
def create(tree: str, data: tuple[str, ...], as_json: bool, **asked: Any) -> None:
    """Copy the rows of DATA to the new file TREE and grow their tree."""
    from .maintain_results import print_status
    from .maintain_rows import create_tree

    print_status(create_tree(tree, data, **asked), as_json)


def _batch(name: str, doing: str, text: str, own: Callable[[Any], Any] = lambda run: run) -> None:
    """Add the command of a method that takes rows, and an option of its `own`."""

    @command.command(name, help=text, short_help=text)
    @_tree
    @_data
    @_id
    @own
    @sql_option
    @common_options
    def run(
        tree: str, data: tuple[str, ...], id_: str | None, sql: str | None, as_json: bool, **more: Any
    ) -> None:
        from .maintain_results import print_batch
        from .maintain_rows import change_tree

        print_batch(change_tree(tree, data, sql, name, doing, id=id_, **more), as_json)


_batch("insert", "inserting", "Insert the rows of DATA.")
_batch("delete", "deleting", "Delete the rows of DATA; all are refused where one is not there.")
_batch(
    "sync",
    "comparing",
    "Make the rows of TREE those of DATA: insert what is new, delete what is gone.",
    click.option("--key", metavar="COLUMN", help="Refuse DATA that has two rows of one key."),
)


@command.command("forget", short_help="Delete the rows of some keys, with a certificate.")
@_tree
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@_id
@common_options
def forget(tree: str, keys: tuple[str, ...], id_: str | None, as_json: bool) -> None:
    """Delete all rows that have one of the KEYs, grow the tree anew without them and compare."""
    from .maintain_results import print_certificate
    from .maintain_rows import forget_keys

    print_certificate(forget_keys(tree, keys, id_), as_json)


@command.command("status", short_help="Tell the size of the tree, its rows and its digest.")
@_tree
@common_options
def status(tree: str, as_json: bool) -> None:
    """Tell how many rows and batches TREE has, how large the tree is, and its digest; with folds also what
    they say of it, for which all rows are read once."""
    from .maintain_results import print_status
    from .maintain_rows import judged, opened

    with opened(tree) as kept:
        print_status(kept.stats | judged(kept), as_json)


@command.command("changes", short_help="Tell what the batches did.")
@_tree
@click.option("--last", type=Whole(1), metavar="N", help="The last N batches only.")
@click.option("--svg", metavar="FILE", help="Draw the trees before and after the last batch.")
@click.option("--html", metavar="FILE", help="The same as a page, with a list of what changed.")
@common_options
def changes(tree: str, last: int | None, svg: str | None, html: str | None, as_json: bool) -> None:
    """Tell what each batch did to TREE: tests that were kept, that moved and that were grown anew."""
    from .output import check_places

    check_places(svg, html, sources=[tree])

    from .maintain_results import print_changes, save_pictures
    from .maintain_rows import opened

    with opened(tree) as kept:
        pictures = {name: file for name, file in (("svg", svg), ("html", html)) if file is not None}
        if pictures:
            save_pictures(kept.show_changes(), pictures)
        print_changes(tree, kept.changes(last), pictures, as_json)


@command.command("verify", short_help="Grow the tree anew and compare.")
@_tree
@common_options
def verify(tree: str, as_json: bool) -> None:
    """Grow the tree of all present rows anew and compare the digests; exit code 1 where they differ."""
    from .maintain_results import print_proof
    from .maintain_rows import opened
    from .output import working

    with opened(tree) as kept, working("growing the tree anew"):
        proof = kept.verify()
    print_proof(tree, proof, as_json)


@command.command("export", short_help="Save the tree as a model.")
@_tree
@click.argument("output")
@common_options
def export(tree: str, output: str, as_json: bool) -> None:
    """Save the tree of the present rows as a model file OUTPUT, for show, predict and hornbeam.load."""
    from .output import check_places

    check_places(output, sources=[tree])

    from hornbeam.estimators.store import save

    from .maintain_results import print_export
    from .maintain_rows import opened

    with opened(tree) as kept:
        save(kept.estimator(), output)
        print_export(output, kept.stats, as_json)
