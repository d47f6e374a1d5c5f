"""`hornbeam show`: a saved model as text, rules, SQL, picture, graph or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from .options import Whole, debug_option, dialect_option, shown_option, which_option

if TYPE_CHECKING:
    from hornbeam.estimators.store import StoredModel

_FORMS = ("text", "rules", "sql", "dot", "svg", "json")
_CUT = ("text", "dot", "svg")  # the forms that can end at a depth
Depth = int | Literal["all"] | None


class Levels(Whole):
    """A number of levels, or all of them."""

    name = "number of levels or 'all'"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "all" else super().convert(value, param, ctx)


@click.command("show", short_help="Show a saved model.")
@click.argument("model")
@click.option(
    "--format", "form", type=click.Choice(_FORMS), help="How to show it; text if not said otherwise."
)
@click.option("--text", is_flag=True, help="Short for --format text.")
@click.option("--svg", is_flag=True, help="Short for --format svg.")
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@dialect_option
@click.option("--table", metavar="NAME", help="SQL as a query of this table, with every answer.")
@click.option("--depth", type=Levels(0), metavar="N|all", help="Show no more than N levels below the root.")
@which_option
@click.option("--competitors", is_flag=True, help="In text, the tests that each node kept beside its own.")
@shown_option
@debug_option
def command(
    model: str,
    form: str | None,
    text: bool,
    svg: bool,
    as_json: bool,
    dialect: str | None,
    table: str | None,
    depth: Depth,
    which: int | None,
    competitors: bool,
    output: str | None,
) -> None:
    """Show MODEL, a file that hornbeam fit wrote, or a tree of one that hornbeam bag wrote."""
    chosen = _chosen_form(form, text, svg, as_json)
    if depth is not None and chosen not in _CUT:
        raise click.UsageError(
            f"--depth: {_title(chosen)} always the whole tree; leave it out, or show text, svg or dot"
        )
    if competitors and chosen != "text":
        raise click.UsageError("--competitors is for text; JSON always has them")
    for name, given in (("--dialect", dialect), ("--table", table)):
        if given is not None and chosen != "sql":
            raise click.UsageError(f"{name} is for SQL only; add --format sql, or leave it out")
    from hornbeam.files import write_file

    from .output import check_places

    check_places(output, sources=[model])
    stored = _stored(model, which)
    if competitors and stored.tree.kept_competitors is None:
        raise click.UsageError("--competitors: the model kept none; fit it with --competitors 5, for example")
    if chosen == "sql":
        content = _sql(stored, dialect or "duckdb", table)
    else:
        content = _shown(stored, chosen, depth, competitors)
    if output:
        write_file(output, content.encode("utf-8", "replace"))
    else:
        click.echo(content, nl=False)


def _stored(model: str, which: int | None) -> StoredModel:
    """The model with the tree that is to be shown."""
    from hornbeam.estimators.store import StoredModel, read_model

    stored = read_model(model)
    if isinstance(stored, StoredModel):
        if which is not None:
            raise click.UsageError(f"--tree {which}: the model has one tree; leave it out")
        return stored
    if which is None or which >= len(stored.trees):
        given, last = "" if which is None else f"--tree {which}: ", len(stored.trees) - 1
        raise click.UsageError(f"{given}the model has {last + 1} trees; name one with --tree, 0 to {last}")
    return StoredModel(stored.estimator, stored.parameters, stored.trees[which], stored.notes)


def _chosen_form(form: str | None, text: bool, svg: bool, as_json: bool) -> str:
    chosen = [name for name, given in (("text", text), ("svg", svg), ("json", as_json)) if given]
    chosen += [form] if form else []
    if len(chosen) > 1:
        raise click.UsageError("--format, --text, --svg and --json exclude each other; give one of them")
    return chosen[0] if chosen else "text"


def _title(form: str) -> str:
    return {"json": "JSON is", "sql": "SQL is", "rules": "rules are"}[form]


def _shown(stored: StoredModel, form: str, depth: Depth, competitors: bool) -> str:
    tree = stored.tree
    if form == "json":
        return tree.to_json() + "\n"
    if form == "rules":
        return tree.rules().to_text()
    levels = None if depth == "all" else depth
    if form == "dot":
        return tree.to_dot(levels)
    if form == "svg":
        of = f" for {stored.notes['target']}" if "target" in stored.notes else ""
        return tree.to_svg("auto" if depth is None else levels, title=f"Decision tree{of}")
    return tree.to_text(levels, competitors=competitors)


def _sql(stored: StoredModel, dialect: str, table: str | None) -> str:
    """An expression that gives the prediction, or a query with every answer."""
    if table is not None:
        return stored.tree.to_sql(dialect, "all", table=table) + ";\n"
    if stored.tree.n_targets > 1:
        raise click.UsageError("--format sql: the model has several targets; give --table for all of them")
    return stored.tree.to_sql(dialect) + "\n"
