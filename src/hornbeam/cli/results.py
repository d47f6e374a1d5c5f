"""What was learned, given out: a small table for people, an object for programs, a page to keep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
import numpy as np

import hornbeam
from hornbeam.boat.stats import seconds_text
from hornbeam.estimators.store import payload_of
from hornbeam.report import (
    ColumnSummary,
    Score,
    Study,
    describe_columns,
    describe_source,
    picture_of,
    questions_of,
    render_page,
)
from hornbeam.validation import Estimate
from hornbeam.validation.search_record import SearchRecord

from .learn import Learned
from .output import print_pairs, style


def print_learned(learned: Learned) -> None:
    """The result in a few aligned lines."""
    tree, score = learned.tree, learned.score
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    columns = len(learned.table.columns)
    if learned.search is not None:
        print_search(learned.search)
    pairs = [
        ("tree", style(f"{leaves}, depth {tree.depth}", bold=True)),
        (_measure(score), style(score_text(score), bold=True)),
        *(
            [("cross-validated", style(estimate_text(learned.estimate), bold=True))]
            if learned.estimate
            else []
        ),
        *_course_pairs(learned),
        ("grown from", f"{learned.n_rows:,} rows, {columns} attributes ({_used(learned)} used)"),
        ("target", f"{learned.target} ({learned.task})"),
        *_scan_pairs(learned),
        ("time", _time(learned)),
        ("digest", tree.digest[:16]),
    ]
    print_pairs(pairs)


def _course_pairs(learned: Learned) -> list[tuple[str, str]]:
    """What the search came to, and why it ended."""
    course = learned.course
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


def _scan_pairs(learned: Learned) -> list[tuple[str, str]]:
    """What reading a source took."""
    pairs = [] if learned.growth is None else learned.growth.stats.to_pairs()
    return [(name, value) for name, value in pairs if name != "seconds"]


def _time(learned: Learned) -> str:
    if learned.growth is None:
        return f"{learned.seconds * 1000:.1f} ms {_done(learned)}"
    phases = dict(learned.growth.stats.to_pairs())["seconds"]
    return f"{seconds_text(learned.seconds)} in all: {phases}"


def print_search(search: SearchRecord) -> None:
    """The table of sizes and errors with the chosen row set off, and why it was chosen."""
    for line in search.to_text().splitlines():
        click.echo(style(line, bold=True) if line.endswith(("  chosen", "  chosen, the best")) else line)
    click.echo()


def _done(learned: Learned) -> str:
    """What took the time."""
    if learned.search is not None:
        return "to grow all trees and choose"
    if learned.course is not None:
        return "of searching"
    return "to grow with all folds" if learned.estimate else "to grow"


def estimate_text(estimate: Estimate) -> str:
    name = "accuracy" if estimate.measure == "accuracy" else "R²"
    return f"{name} {estimate.mean:.3f} ± {estimate.spread:.3f} ({estimate.folds} folds)"


def _estimate_object(learned: Learned) -> dict[str, Any] | None:
    estimate = learned.estimate
    if estimate is None:
        return None
    return {
        "folds": estimate.folds,
        "measure": estimate.measure,
        "mean": estimate.mean,
        "spread": estimate.spread,
        "scores": list(estimate.scores),
    }


def _used(learned: Learned) -> int:
    return int(np.count_nonzero(learned.tree.feature_importances))


def _measure(score: Score) -> str:
    name = "accuracy" if score.measure == "accuracy" else "R²"
    return f"{name} ({'held-out' if score.held_out else 'training'})"


def score_text(score: Score) -> str:
    if score.measure == "accuracy":
        right = round(score.value * score.rows)
        guess = f"always the most common class: {score.baseline:.4f}"
        what = f"{score.rows:,} rows by weight" if score.by_weight else f"{right:,} of {score.rows:,} rows"
        return f"{score.value:.4f} ({what}; {guess})"
    if not score.mean_absolute_error:
        return f"{score.value:.4f} ({score.rows:,} rows)"
    errors = ", ".join(f"{error:.6g}" for error in score.mean_absolute_error)
    return f"{score.value:.4f} ({score.rows} rows; mean absolute error {errors})"


def learned_object(learned: Learned) -> dict[str, Any]:
    """The result for programs."""
    tree, score = learned.tree, learned.score
    importances = zip(tree.schema.names, tree.feature_importances.tolist(), strict=True)
    return {
        "task": learned.task,
        "target": learned.target,
        "rows": learned.n_rows,
        "attributes": len(learned.table.columns),
        "attributes_used": _used(learned),
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "score": {
            "measure": score.measure,
            "value": score.value,
            "baseline": score.baseline,
            "rows": score.rows,
            "held_out": score.held_out,
            "mean_absolute_error": list(score.mean_absolute_error),
        },
        "cross_validation": _estimate_object(learned),
        **({} if learned.search is None else {"search": learned.search.to_record()}),
        **({} if learned.course is None else {"course": learned.course.to_record()}),
        **({} if learned.growth is None else {"scan_stats": learned.growth.stats.to_record()}),
        "importances": {name: share for name, share in importances if share > 0},
        "parameters": payload_of(learned.model)["parameters"],
        "seed": learned.seed,
        "seconds": learned.seconds,
        "digest": tree.digest,
        "version": hornbeam.__version__,
    }


def page_of(learned: Learned, **facts: str) -> bytes:
    """The report page; `facts` are the texts of the study that only the command knows."""
    tree, table = learned.tree, learned.table
    known: dict[str, Any] = {"title": f"A tree for {learned.target}", **facts}
    study = Study(
        **known,
        target=learned.target,
        task=learned.task,
        picture=picture_of(tree),
        text=tree.to_text(),
        n_leaves=tree.n_leaves,
        depth=tree.depth,
        rows=learned.n_rows,
        columns=_columns(learned),
        score=learned.score,
        errors=learned.errors,
        points=learned.points,
        estimate=learned.estimate,
        search=learned.search,
        course=learned.course,
        scans=None if learned.growth is None else learned.growth.stats,
        parameters=learned.model.parameters,
        seed=learned.seed,
        version=hornbeam.__version__,
        digest=tree.digest,
        seconds=learned.seconds,
        document=payload_of(replace(learned.model, search=None)),  # a page has no rows in it
    )
    return render_page(study, questions_of(tree, study.picture, table)).encode("utf-8", "replace")


def _columns(learned: Learned) -> tuple[ColumnSummary, ...]:
    importances = learned.tree.feature_importances
    if learned.growth is None:
        return describe_columns(learned.table, importances)
    return describe_source(learned.table, learned.growth.ranges, importances)
