"""`hornbeam show`: a saved model as text, picture or JSON."""

from __future__ import annotations

import click

from .options import debug_option


@click.command("show", short_help="Show a saved model.")
@click.argument("model")
@click.option("--text", "form", flag_value="text", default="text", help="As indented text (the default).")
@click.option("--svg", "form", flag_value="svg", help="As a picture.")
@click.option("--json", "form", flag_value="json", help="As exact JSON.")
@click.option(
    "--depth", type=click.IntRange(min=0), metavar="N", help="Show no more than N levels below the root."
)
@click.option("-o", "--output", metavar="FILE", help="Write here instead of to stdout.")
@debug_option
def command(model: str, form: str, depth: int | None, output: str | None) -> None:
    """Show MODEL, a file that hornbeam fit wrote."""
    from .output import check_places, write_file

    check_places(output, sources=[model])
    from hornbeam.estimators.store import StoredModel, read_model

    def render(stored: StoredModel) -> str:
        if form == "json":
            return stored.tree.to_json() + "\n"
        if form == "svg":
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
