"""What bagging learned, given out: a small table for people, an object for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import hornbeam
from hornbeam.estimators.model_parameters import finite
from hornbeam.estimators.stored_bags import StoredBag

from .bag_learn import LearnedBag
from .output import print_json, print_pairs, style

_MOST_IMPORTANT = 10
_BAR = 24


def tell_bag(learned: LearnedBag, output: str | None, as_json: bool) -> None:
    """The result on stdout, and where the rest of it is."""
    if as_json:
        print_json(bag_object(learned) | {"model": output})
        return
    print_bag(learned)
    if output:
        click.echo(f"model saved to {output}; use it with: hornbeam predict {output} new.csv")


def print_bag(learned: LearnedBag) -> None:
    """The result in a few aligned lines, and the attributes that matter most."""
    importances = learned.model.committee.feature_importances
    columns = len(learned.table.columns)
    used = int(np.count_nonzero(importances))
    print_pairs(
        [
            ("trees", style(trees_text(learned.model), bold=True)),
            (f"{_measure(learned)} (out of bag)", style(_score_text(learned), bold=True)),
            ("one tree alone", _alone_text(learned)),
            ("grown from", f"{learned.table.n_rows} rows, {columns} attributes ({used} used)"),
            ("target", f"{learned.target} ({learned.task})"),
            ("time", f"{learned.seconds * 1000:.1f} ms to grow"),
        ]
    )
    importances_text(learned.table.schema.names, importances)


def importances_text(names: Sequence[str], importances: NDArray[np.float64]) -> None:
    """The attributes that matter most, with bars; nothing where none is used."""
    used = int(np.count_nonzero(importances))
    if used == 0:
        return
    order = np.argsort(-importances, kind="stable")[:_MOST_IMPORTANT]
    shown = [i for i in order.tolist() if importances[i] > 0]
    width = min(max(len(names[i]) for i in shown), 40)
    click.echo("\nimportance of attributes, mean over the trees")
    for i in shown:
        name = names[i] if len(names[i]) <= width else names[i][: width - 1] + "…"
        bar = "█" * max(1, round(_BAR * importances[i] / importances[shown[0]]))
        click.echo(f"  {name.ljust(width)}  {importances[i]:.4f}  {style(bar, fg='green')}")
    if used > len(shown):
        click.echo(
            style(f"  and {used - len(shown)} more, together {1 - importances[shown].sum():.4f}", dim=True)
        )


def trees_text(model: StoredBag) -> str:
    """How many trees there are, and how large."""
    trees = model.trees
    leaves, depths = ([getattr(tree, name) for tree in trees] for name in ("n_leaves", "depth"))
    count = "1 tree" if len(trees) == 1 else f"{len(trees)} trees"
    return f"{count}, {_range(leaves)} leaves (mean {np.mean(leaves):.1f}), depth {_range(depths)}"


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _measure(learned: LearnedBag) -> str:
    return "accuracy" if learned.model.is_classifier else "R²"


def _score_text(learned: LearnedBag) -> str:
    score = learned.score
    if score is None:
        return "unknown: every bag has every row"
    said = f"{score.value:.4f} ± {learned.error:.4f}"
    if score.measure == "accuracy":
        return f"{said} ({score.rows} rows; always the most common class: {score.baseline:.4f})"
    errors = ", ".join(f"{error:.6g}" for error in score.mean_absolute_error)
    return f"{said} ({score.rows} rows; mean absolute error {errors})"


def _alone_text(learned: LearnedBag) -> str:
    known = learned.alone[~np.isnan(learned.alone)]
    if len(known) == 0:
        return "unknown"
    return f"{known.mean():.4f} ± {known.std():.4f} (mean and deviation of {len(known)} trees)"


def bag_object(learned: LearnedBag) -> dict[str, Any]:
    """The result for programs."""
    model, score = learned.model, learned.score
    importances = zip(learned.table.schema.names, model.committee.feature_importances.tolist(), strict=True)
    known = learned.alone[~np.isnan(learned.alone)]
    return {
        "task": learned.task,
        "target": learned.target,
        "rows": learned.table.n_rows,
        "attributes": len(learned.table.columns),
        "trees": len(model.trees),
        "leaves": [tree.n_leaves for tree in model.trees],
        "depths": [tree.depth for tree in model.trees],
        "score": None
        if score is None
        else {
            "measure": score.measure,
            "value": score.value,
            "standard_error": learned.error,
            "baseline": score.baseline,
            "rows": score.rows,
            "mean_absolute_error": list(score.mean_absolute_error),
        },
        "tree_alone": {"mean": float(known.mean()), "deviation": float(known.std())} if len(known) else None,
        "importances": {name: share for name, share in importances if share > 0},
        "parameters": {name: finite(value) for name, value in model.parameters.items()},
        "seed": learned.plan.seed,
        "seconds": learned.seconds,
        "digests": [tree.digest for tree in model.trees],
        "version": hornbeam.__version__,
    }
