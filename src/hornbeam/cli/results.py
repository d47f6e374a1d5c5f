"""What was learned, given out: a small table for people, an object for programs, a page to keep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

import hornbeam
from hornbeam.boat.stats import seconds_text
from hornbeam.estimators.store import payload_of
from hornbeam.report import Score, Study, render_page
from hornbeam.validation import Estimate
from hornbeam.validation.search_record import SearchRecord

from .learn import Learned
from .output import print_pairs, style

_MOST_LINES = 60


def print_learned(learned: Learned) -> None:
    """The result in a few aligned lines."""
    study = learned.study
    if study.search is not None:
        print_search(study.search)
    attributes = f"{len(study.tree.schema)} attributes ({study.attributes_used} used)"
    print_pairs(
        [
            *score_pairs(study),
            *_course_pairs(study),
            ("grown from", f"{study.rows:,} rows, {attributes}"),
            ("target", f"{study.target} ({study.task})"),
            *_scan_pairs(study),
            ("time", _time(study)),
            ("digest", study.tree.digest[:16]),
        ]
    )


def score_pairs(study: Study, more: str = "") -> list[tuple[str, str]]:
    """The size of the tree, how well it answers, and what folds say of it."""
    tree, score = study.tree, study.score
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    name = "accuracy" if score.measure == "accuracy" else "R²"
    pairs = [
        ("tree", style(f"{leaves}, depth {tree.depth}{more}", bold=True)),
        (f"{name} ({'held-out' if score.held_out else 'training'})", style(_score_text(score), bold=True)),
    ]
    if study.estimate is not None:
        pairs.append(("cross-validated", style(_estimate_text(study.estimate), bold=True)))
    return pairs


def _course_pairs(study: Study) -> list[tuple[str, str]]:
    """What the search came to, and why it ended."""
    course = study.course
    if course is None:
        return []
    last, first = course.last, course.states[0]
    leaves = "1 leaf" if first.leaves == 1 else f"{first.leaves:,} leaves"
    many = "1 rebuild" if last.iteration == 1 else f"{last.iteration:,} rebuilds"
    better = len(course.states) - 1
    pairs = [
        ("improved", f"from {leaves}, {better:,} times in {many}; {course.why}"),
        ("expected errors", f"{last.expected_error:.2f}, from {first.expected_error:.2f}"),
    ]
    if last.cv_error is not None:
        pairs.append(("inner folds", f"{last.cv_error:.4f} wrong"))
    return pairs


def _scan_pairs(study: Study) -> list[tuple[str, str]]:
    """What reading a source took."""
    pairs = [] if study.growth is None else study.growth.stats.to_pairs()
    return [(name, value) for name, value in pairs if name != "seconds"]


def _time(study: Study) -> str:
    if study.growth is not None:
        phases = dict(study.growth.stats.to_pairs())["seconds"]
        return f"{seconds_text(study.seconds)} in all: {phases}"
    what = "to grow with all folds" if study.estimate else "to grow"
    if study.search is not None:
        what = "to grow all trees and choose"
    if study.course is not None:
        what = "of searching"
    return f"{study.seconds * 1000:.1f} ms {what}"


def print_search(search: SearchRecord) -> None:
    """The table of sizes and errors with the chosen row set off, and why it was chosen."""
    for line in search.to_text().splitlines():
        click.echo(style(line, bold=True) if line.endswith(("  chosen", "  chosen, the best")) else line)
    click.echo()


def _estimate_text(estimate: Estimate) -> str:
    name = "accuracy" if estimate.measure == "accuracy" else "R²"
    return f"{name} {estimate.mean:.3f} ± {estimate.spread:.3f} ({estimate.folds} folds)"


def score_record(score: Score, rows: str = "rows") -> dict[str, Any]:
    return {"measure": score.measure, "value": score.value, "baseline": score.baseline, rows: score.rows}


def estimate_record(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {
        "folds": estimate.folds,
        "measure": estimate.measure,
        "mean": estimate.mean,
        "spread": estimate.spread,
        "scores": list(estimate.scores),
    }


def _score_text(score: Score) -> str:
    if score.measure == "accuracy":
        right = round(score.value * score.rows)
        guess = f"always the most common class: {score.baseline:.4f}"
        what = f"{score.rows:,} rows by weight" if score.by_weight else f"{right:,} of {score.rows:,} rows"
        return f"{score.value:.4f} ({what}; {guess})"
    if not score.mean_absolute_error:
        return f"{score.value:.4f} ({score.rows:,} rows)"
    errors = ", ".join(f"{error:.6g}" for error in score.mean_absolute_error)
    return f"{score.value:.4f} ({score.rows} rows; mean absolute error {errors})"


def learned_record(learned: Learned) -> dict[str, Any]:
    """The result for programs."""
    study, tree, score = learned.study, learned.model.tree, learned.study.score
    importances = zip(tree.schema.names, tree.feature_importances.tolist(), strict=True)
    errors = list(score.mean_absolute_error)
    return {
        "task": study.task,
        "target": study.target,
        "rows": study.rows,
        "attributes": len(tree.schema),
        "attributes_used": study.attributes_used,
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "score": score_record(score) | {"held_out": score.held_out, "mean_absolute_error": errors},
        "cross_validation": estimate_record(study.estimate),
        **({} if study.search is None else {"search": study.search.to_record()}),
        **({} if study.course is None else {"course": study.course.to_record()}),
        **({} if study.growth is None else {"scan_stats": study.growth.stats.to_record()}),
        "importances": {name: share for name, share in importances if share > 0},
        "parameters": payload_of(learned.model)["parameters"],
        "seed": study.seed,
        "seconds": study.seconds,
        "digest": tree.digest,
        "version": hornbeam.__version__,
    }


def tell_places(tree: Any, output: str | None, report: str | None, show: str) -> None:
    """Where the model and the report are; without either the tree itself, where a screen has room for it."""
    if output:
        click.echo(f"model saved to {output}; see it with: {show} {output}")
    if report:
        click.echo(f"report written to {report}")
    if output or report:
        return
    if tree.n_nodes <= _MOST_LINES:
        click.echo("\n" + tree.to_text().rstrip("\n"))
    else:
        click.echo("the tree is too large for the screen: keep it with -o, or see it with --report")


def page_of(learned: Learned, **facts: str) -> bytes:
    """The report page; `facts` are the texts of the study that only the command knows."""
    document = payload_of(replace(learned.model, search=None))  # a page has no rows in it
    known: dict[str, Any] = {"title": f"A tree for {learned.study.target}", "document": document, **facts}
    return render_page(replace(learned.study, **known)).encode("utf-8", "replace")
