"""What a study says on stdout: a small table for people, an object for programs; and its page as a file."""

from __future__ import annotations

from typing import Any

from hornbeam.report import Score, Study, questions_of, render_page

from .learn import Learned
from .output import print_pairs, style


def print_study(study: Study) -> None:
    """The result in a few aligned lines."""
    score = study.score
    pairs = [
        ("tree", style(f"{study.n_leaves} leaves, depth {study.depth}", bold=True)),
        (_measure(score), style(_score_text(score), bold=True)),
        ("grown from", f"{study.rows} rows, {len(study.columns)} attributes ({study.attributes_used} used)"),
        ("target", f"{study.target} ({study.task})"),
        ("time", f"{study.seconds * 1000:.1f} ms to grow"),
        ("digest", study.digest[:16]),
    ]
    print_pairs(pairs)


def _measure(score: Score) -> str:
    name = "accuracy" if score.measure == "accuracy" else "R²"
    return f"{name} ({'held-out' if score.held_out else 'training'})"


def _score_text(score: Score) -> str:
    if score.measure == "accuracy":
        right = round(score.value * score.rows)
        guess = f"always the most common class: {score.baseline:.4f}"
        return f"{score.value:.4f} ({right} of {score.rows} rows; {guess})"
    errors = ", ".join(f"{error:.6g}" for error in score.mean_absolute_error)
    return f"{score.value:.4f} ({score.rows} rows; mean absolute error {errors})"


def study_object(study: Study) -> dict[str, Any]:
    """The result for programs."""
    score = study.score
    return {
        "task": study.task,
        "target": study.target,
        "rows": study.rows,
        "attributes": len(study.columns),
        "attributes_used": study.attributes_used,
        "leaves": study.n_leaves,
        "depth": study.depth,
        "score": {
            "measure": score.measure,
            "value": score.value,
            "baseline": score.baseline,
            "rows": score.rows,
            "held_out": score.held_out,
            "mean_absolute_error": list(score.mean_absolute_error),
        },
        "importances": {column.name: column.importance for column in study.columns if column.importance > 0},
        "parameters": dict(study.parameters),
        "seed": study.seed,
        "seconds": study.seconds,
        "digest": study.digest,
        "version": study.version,
    }


def page_of(learned: Learned) -> bytes:
    """The report page of what was learned."""
    study = learned.study
    asked = questions_of(learned.model.tree, study.picture, learned.table)
    return render_page(study, asked).encode("utf-8", "replace")
