"""`hornbeam show`: a saved model as text, picture or JSON."""

from __future__ import annotations

import click

from .options import Whole, debug_option


@click.command("show", short_help="Show a saved model.")
@click.argument("model")
@click.option("--text", is_flag=True, help="As indented text (the default).")
@click.option("--svg", is_flag=True, help="As a picture.")
@click.option("--json", "as_json", is_flag=True, help="As exact JSON, always the whole tree.")
@click.option("--depth", type=Whole(0), metavar="N", help="Show no more than N levels below the root.")
@click.option("-o", "--output", metavar="FILE", help="Write here instead of to stdout.")
@debug_option
def command(model: str, text: bool, svg: bool, as_json: bool, depth: int | None, output: str | None) -> None:
    """Show MODEL, a file that hornbeam fit wrote."""
    if text + svg + as_json > 1:
        raise click.UsageError("--text, --svg and --json exclude each other; give one of them")
    if as_json and depth is not None:
        raise click.UsageError("--depth: JSON is always the whole tree; leave it out, or use --text or --svg")
    from .output import check_places, write_file

    check_places(output, sources=[model])
    from hornbeam.estimators.store import StoredModel, read_model

    def render(stored: StoredModel) -> str:
        if as_json:
            return stored.tree.to_json() + "\n"
        if svg:
            from hornbeam.drawing import draw_tree
            from hornbeam.report import picture_of

            title = (
                f"Decision tree for {stored.notes['target']}" if "target" in stored.notes else "Decision tree"
            )
            return draw_tree(picture_of(stored.tree), 4 if depth is None else depth, title=title) + "\n"
        return stored.tree.to_text(depth)

    content = render(read_model(model))
    if output:
        write_file(output, content.encode("utf-8", "replace"))
    else:
        click.echo(content, nl=False)
