"""The values that `--param` gives, read; names and values are judged before any work."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import click

from hornbeam.growth.parameters import TUNABLE

PATH = "path"


def grid_of(given: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Names to lists of values; `options` are those that were given too, and may not say something else."""
    grid: dict[str, Any] = {}
    for entry in given:
        name, values = _read(entry)
        if name in grid:
            raise click.UsageError(
                f"--param {name} is given twice; give all its values at once: {name}=a,b,c"
            )
        if name in options:
            raise click.UsageError(
                f"--param {name} and --{name.replace('_', '-')} are both given; leave one of them out"
            )
        grid[name] = values
    if "confidence" in grid and "prune" not in grid and options.get("prune") != "error_based":
        raise click.UsageError("--param confidence is of error-based pruning; add --prune error_based")
    return grid or _path(options)


def _path(options: Mapping[str, Any]) -> dict[str, Any]:
    """What is searched where nothing is named: the sizes that cost-complexity pruning gives."""
    if options.get("prune") not in (None, "cost_complexity"):
        raise click.UsageError(
            f"--prune {options['prune']}: without --param the cost-complexity path is searched; "
            "give for instance --param confidence=0.05,0.1,0.25, or leave --prune out"
        )
    for name in ("ccp_alpha", "confidence", "validation_fraction"):
        if name in options:
            option = f"--{name.replace('_', '-')} {options[name]:g}"
            raise click.UsageError(
                f"{option}: without --param the cost-complexity path is searched; leave it out"
            )
    return {"ccp_alpha": PATH}


def _read(entry: str) -> tuple[str, Any]:
    name, equals, listed = entry.partition("=")
    name = name.strip().lstrip("-").replace("-", "_")
    if name not in TUNABLE:
        near = difflib.get_close_matches(name, TUNABLE, n=1)
        meant = f"did you mean {near[0]}?" if near else f"use {', '.join(TUNABLE[:-1])} or {TUNABLE[-1]}"
        raise click.UsageError(f"--param {name!r} is no parameter to choose; {meant}")
    texts = [text.strip() for text in listed.split(",")]
    if not equals or not all(texts):
        raise click.UsageError(f"--param {entry!r}: give a name and values, for instance {_instance(name)}")
    values = [_value(text) for text in texts]
    if len({repr(value) for value in values}) < len(values):
        raise click.UsageError(f"--param {entry!r} has a value twice; give each once")
    if name == "ccp_alpha" and values == [PATH]:
        return name, PATH
    return name, values


def _instance(name: str) -> str:
    values = {
        "criterion": "gini,entropy",
        "nominal": "subset,value",
        "prune": "none,error_based",
        "ccp_alpha": "path",
        "confidence": "0.05,0.1,0.25",
        "min_impurity_decrease": "0,0.001,0.01",
    }
    return f"{name}={values.get(name, '2,5,10')}"


def _value(text: str) -> int | float | str | None:
    """A number where it is one, None for none, else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None if text.lower() == "none" else text
