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
        print_json(_record(learned) | {"model": output})
        return
    _print(learned)
    if output:
        click.echo(f"model saved to {output}; use it with: hornbeam predict {output} new.csv")


def _print(learned: LearnedBag) -> None:
    """The result in a few aligned lines, and the attributes that matter most."""
    importances, growth = learned.model.committee.feature_importances, learned.growth
    measure = "accuracy" if learned.model.is_classifier else "R²"
    attributes = f"{len(learned.schema)} attributes ({np.count_nonzero(importances)} used)"
    pairs = [
        ("trees", style(_trees_text(learned.model), bold=True)),
        (f"{measure} (out of bag)", style(_score_text(learned), bold=True)),
    ]
    if growth is not None:
        pairs += [("grown from", f"{learned.rows:,} rows, {attributes}"), ("target", learned.target)]
    else:
        pairs += [
            ("one tree alone", _alone_text(learned)),
            ("grown from", f"{learned.rows} rows, {attributes}"),
            ("target", f"{learned.target} ({learned.task})"),
            ("time", f"{learned.seconds * 1000:.1f} ms to grow"),
        ]
    print_pairs(pairs)
    if growth is not None:
        click.echo("\n" + growth.stats.to_text())
    _print_importances(learned.schema.names, importances)


def _print_importances(names: Sequence[str], importances: NDArray[np.float64]) -> None:
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


def _trees_text(model: StoredBag) -> str:
    """How many trees there are, and how large."""
    trees = model.trees
    leaves, depths = ([getattr(tree, name) for tree in trees] for name in ("n_leaves", "depth"))
    count = "1 tree" if len(trees) == 1 else f"{len(trees)} trees"
    return f"{count}, {_range(leaves)} leaves (mean {np.mean(leaves):.1f}), depth {_range(depths)}"


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _score_text(learned: LearnedBag) -> str:
    score = learned.score
    if score is None:
        return "unknown: every bag has every row"
    said = f"{score.value:.4f}" if learned.error is None else f"{score.value:.4f} ± {learned.error:.4f}"
    if learned.growth is not None:
        return f"{said} ({score.rows:,} of {learned.rows:,} rows)"
    if score.measure == "accuracy":
        return f"{said} ({score.rows} rows; always the most common class: {score.baseline:.4f})"
    errors = ", ".join(f"{error:.6g}" for error in score.mean_absolute_error)
    return f"{said} ({score.rows} rows; mean absolute error {errors})"


def _alone(learned: LearnedBag) -> NDArray[np.float64]:
    """What the trees score that have rows outside their bags."""
    alone = np.zeros(0) if learned.alone is None else learned.alone
    return alone[~np.isnan(alone)]


def _alone_text(learned: LearnedBag) -> str:
    known = _alone(learned)
    if len(known) == 0:
        return "unknown"
    return f"{known.mean():.4f} ± {known.std():.4f} (mean and deviation of {len(known)} trees)"


def _record(learned: LearnedBag) -> dict[str, Any]:
    """The result for programs."""
    model, growth, known = learned.model, learned.growth, _alone(learned)
    importances = zip(learned.schema.names, model.committee.feature_importances.tolist(), strict=True)
    alone = {"mean": float(known.mean()), "deviation": float(known.std())} if len(known) else None
    how: dict[str, Any] = {
        "parameters": {name: finite(value) for name, value in model.parameters.items()},
        "seed": learned.seed,
        "seconds": learned.seconds,
    }
    return {
        "task": learned.task,
        "target": learned.target,
        "rows": learned.rows,
        "attributes": len(learned.schema),
        "trees": len(model.trees),
        "leaves": [tree.n_leaves for tree in model.trees],
        "depths": [tree.depth for tree in model.trees],
        "score": _score_record(learned),
        **({"tree_alone": alone} if growth is None else {}),
        "importances": {name: share for name, share in importances if share > 0},
        **(how if growth is None else {"scan_stats": growth.stats.to_record()}),
        "digests": [tree.digest for tree in model.trees],
        "version": hornbeam.__version__,
    }


def _score_record(learned: LearnedBag) -> dict[str, Any] | None:
    score = learned.score
    if score is None:
        return None
    found = {"measure": score.measure, "value": score.value, "standard_error": learned.error}
    if learned.growth is not None:
        return found | {"rows": score.rows}
    errors = list(score.mean_absolute_error)
    return found | {"baseline": score.baseline, "rows": score.rows, "mean_absolute_error": errors}
