"""What `hornbeam maintain` tells: a few lines for people, an object for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from hornbeam.errors import HornbeamError
from hornbeam.files import write_files
from hornbeam.maintained.changes import Changes
from hornbeam.model.picture import View
from hornbeam.model.text import share_text

from .output import print_json, print_pairs, style


def print_status(stats: Mapping[str, Any], as_json: bool) -> None:
    """The tree and its rows."""
    if as_json:
        print_json(dict(stats))
        return
    leaves = "1 leaf" if stats["leaves"] == 1 else f"{stats['leaves']:,} leaves"
    size = f"{leaves}, depth {stats['depth']}" if stats["leaves"] else "none: there are no rows"
    print_pairs(
        [
            ("tree", style(size, bold=True)),
            ("rows", f"{stats['rows']:,}"),
            ("batches", f"{stats['batch']:,}"),
            ("file", f"{stats['path']} ({stats['bytes']:,} bytes)"),
            ("digest", _short(stats["digest"])),
            *_estimate(stats),
        ]
    )


def _estimate(stats: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the folds say, where there are some."""
    if "estimate" not in stats:
        return []
    found, agreed = stats["estimate"], stats["stability"]
    if found is None:
        told = stats["why"]
    else:
        some, folds = found["judged"] < found["folds"], f"{found['folds']} folds"
        told = f"{found['measure']} {found['mean']:.4f} ± {found['spread']:.4f} over "
        told += f"{found['judged']} of {folds}: the others have too few rows, or all" if some else folds
    lines = [("estimate", told)]
    if agreed is not None:
        shares = share_text(agreed["root_agreement"]), share_text(agreed["agreement"])
        lines.append(("folds agree", "{} at the root, {} of the tests that a row meets".format(*shares)))
    return lines


def print_batch(changes: Changes, as_json: bool) -> None:
    """What a batch did, or that it was applied before."""
    if as_json:
        print_json(changes.to_record())
    elif changes.repeated:
        click.echo(f"batch {changes.number} with the id {changes.id!r} was applied before; nothing was done")
    else:
        click.echo(changes.to_text())
        click.echo(f"digest {_short(changes.digest_before)} -> {_short(changes.digest_after)}")


def save_pictures(view: View, files: Mapping[str, str]) -> None:
    """Write the forms of a picture to their files, all or none."""
    makers = {"svg": view.svg, "html": view.html}
    write_files({file: makers[form]().encode("utf-8", "replace") for form, file in files.items()})


def print_changes(tree: str, batches: Sequence[Changes], pictures: Mapping[str, str], as_json: bool) -> None:
    """What batches did, oldest first, and where the pictures of the last one are."""
    if as_json:
        print_json({"path": tree, "batches": [changes.to_record() for changes in batches], **pictures})
        return
    for changes in batches:
        click.echo(changes.to_text())
    for file in pictures.values():
        click.echo(f"batch {batches[-1].number} is drawn in {file}")


def print_certificate(certificate: Mapping[str, Any], as_json: bool) -> None:
    """That rows are gone, as the digests prove it; an error where they do not."""
    if as_json:
        print_json(dict(certificate))
    else:
        if certificate["repeated"]:
            click.echo("the id was applied before: the certificate is that of its batch, nothing was done")
        absent = certificate["absent"]
        print_pairs(
            [
                ("keys", ", ".join(certificate["keys"])),
                *([("of no row", ", ".join(absent))] if absent else []),
                ("rows deleted", f"{certificate['rows']:,}"),
                ("digest before", certificate["digest_before"]),
                ("digest after", certificate["digest_after"] or "none: there are no rows"),
                ("grown anew", certificate["digest_rebuilt"] or "none: there are no rows"),
            ]
        )
    if not certificate["equal"]:
        raise HornbeamError("the rows are gone, but the tree is not that of a rebuild; report it")


def print_proof(tree: str, proof: Mapping[str, Any], as_json: bool) -> None:
    """Whether the rows are intact and the tree is that of a rebuild, or by the policy "stable" has the right
    counts; an error where not."""
    if as_json:
        print_json(dict(proof))
    if not proof["intact"]:
        raise HornbeamError(
            f"{tree!r} has other rows than its batches left: something else wrote to it; use a copy that is "
            "whole"
        )
    if not proof.get("sound", True):
        raise HornbeamError(f"{tree!r} has other counts than its rows; keep the file and report it")
    if not proof["equal"] and "sound" in proof:
        if not as_json:
            click.echo("the counts are those of the present rows; a rebuild gives another tree, as it may")
        return
    if not proof["equal"]:
        raise HornbeamError(
            f"{tree!r} has the tree {_short(proof['digest'])}, and a rebuild gives "
            f"{_short(proof['rebuilt'])}; keep the file and report it"
        )
    if not as_json:
        click.echo(f"the tree is that of a rebuild, digest {_short(proof['digest'])}")


def print_export(output: str, stats: Mapping[str, Any], as_json: bool) -> None:
    """Where the model is."""
    if as_json:
        print_json({"model": output, "batch": stats["batch"], "digest": stats["digest"]})
    else:
        click.echo(f"model saved to {output}; see it with: hornbeam show {output}")


def _short(digest: str | None) -> str:
    return "none" if digest is None else digest[:16]
