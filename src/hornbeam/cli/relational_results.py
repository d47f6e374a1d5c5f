"""What `hornbeam relational fit` gives out: a small table for people, an object for programs, a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

import hornbeam
from hornbeam.estimators.stored_relational import StoredRelational
from hornbeam.files import write_files
from hornbeam.model.store import document_of
from hornbeam.relational.tree import RelationalTree
from hornbeam.report.records import Score
from hornbeam.report.scores import score_classes, score_numbers

from .output import print_json, print_pairs, style, working
from .relational_learn import RelationalLearned
from .results import estimate_text, score_text
from .sources import data_hash, data_name, safe_line

_MOST_LINES = 60


def give_out(learned: RelationalLearned, line: str, given: Mapping[str, Any]) -> None:
    """Write the model and the report, both or neither, then tell the result."""
    output, report = given["output"], given["report"]
    stored = StoredRelational.of(learned.model)
    results = {output: document_of(stored.payload())} if output else {}
    if report:
        with working("writing the report"):
            seed = None if given["cv"] is None else given["seed"]
            page = _page(learned, stored, safe_line(line, given["data"]), given["data"], seed)
            results[report] = page.encode("utf-8", "replace")
    write_files(results)
    if given["as_json"]:
        print_json(learned_object(learned) | {"model": output, "report": report})
        return
    print_learned(learned)
    _tell_places(learned.model.tree_, output, report)


def _page(
    learned: RelationalLearned, stored: StoredRelational, line: str, data: str, seed: int | None
) -> str:
    from hornbeam.report.relational import RelationalStudy, render_relational

    model = learned.model
    folds = hasattr(model, "estimate_")
    study = RelationalStudy(
        model.tree_,
        model.target_,
        training_score(model),
        model.bias_.to_text(),
        learned.data.describe(),
        model.estimate_ if folds else None,
        model.forest_.stability() if folds else None,
        stored.parameters,
        learned.seconds,
        line,
        data_name(data),
        data_hash(data),
        hornbeam.__version__,
        stored.payload(),
        seed,
    )
    return render_relational(study)


def _tell_places(tree: RelationalTree, output: str | None, report: str | None) -> None:
    if output:
        click.echo(f"model saved to {output}; see it with: hornbeam relational show {output}")
    if report:
        click.echo(f"report written to {report}")
    if output or report:
        return
    if tree.n_nodes <= _MOST_LINES:
        click.echo("\n" + tree.to_text().rstrip("\n"))
    else:
        click.echo("the tree is too large for the screen: keep it with -o, or see it with --report")


def training_score(model: Any) -> Score:
    """How well the tree answers for the examples that it was grown from."""
    import numpy as np

    examples, tree = model._coded.examples, model.tree_
    leaves = model.apply(model._data)
    if tree.task == "regression":
        known = ~np.isnan(examples.target)
        said = np.array([float(tree.answer(i)) for i in range(tree.n_nodes)])[leaves]
        mean = np.array([float(tree.answer(0))])
        return score_numbers(examples.target[known][:, None], said[known][:, None], mean, False)
    known = examples.target >= 0
    codes = np.array([tree.code(i) for i in range(tree.n_nodes)], dtype=np.int32)[leaves]
    return score_classes(examples.target[known].astype(np.int32), codes[known], tree.code(0), False)


def print_learned(learned: RelationalLearned) -> None:
    """The result in a few aligned lines."""
    model, tree = learned.model, learned.model.tree_
    score = training_score(model)
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    tests, literals = tree.complexity
    tables = [relation for relation in model._coded.relations.values() if relation.counts is None]
    rows = sum(relation.n_rows for relation in tables)
    pairs = [
        ("tree", style(f"{leaves}, depth {tree.depth}, {_complexity(tests, literals)}", bold=True)),
        (
            "accuracy (training)" if score.measure == "accuracy" else "R² (training)",
            style(score_text(score), bold=True),
        ),
    ]
    if hasattr(model, "estimate_"):
        pairs.append(("cross-validated", style(estimate_text(model.estimate_), bold=True)))
        pairs.append(("stable", _stable(model)))
    pairs += [
        ("grown from", f"{int(tree.size(0)):,} examples, {rows:,} rows of {len(tables)} tables"),
        ("target", f"{model.target_} ({tree.task})"),
        ("bias", f"{len(model.bias_.modes)} modes, {'given' if learned.bias_given else 'of the data'}"),
        *([("left out", _dropped(model))] if model.forest_.dropped else []),
        (
            "time",
            f"{learned.seconds * 1000:.1f} ms to grow{' with all folds' if model.cv is not None else ''}",
        ),
        ("digest", tree.digest[:16]),
    ]
    print_pairs(pairs)


def _complexity(tests: int, literals: int) -> str:
    return f"{tests} test{'' if tests == 1 else 's'} of {literals} literal{'' if literals == 1 else 's'}"


def _stable(model: Any) -> str:
    stability = model.forest_.stability()
    return (
        f"{stability.nodes[0].same} of {stability.n_folds} folds agree at the root, "
        f"{stability.agreement * 100:.0f}% of the tests that an example meets"
    )


def _dropped(model: Any) -> str:
    dropped = model.forest_.dropped
    return f"{len(dropped)} tests over the budget, for instance {dropped[0]}"


def learned_object(learned: RelationalLearned) -> dict[str, Any]:
    """The result for programs."""
    model, tree = learned.model, learned.model.tree_
    score = training_score(model)
    tests, literals = tree.complexity
    folds = None
    if hasattr(model, "estimate_"):
        estimate = model.estimate_
        folds = {
            "folds": estimate.folds,
            "measure": estimate.measure,
            "mean": estimate.mean,
            "spread": estimate.spread,
            "scores": list(estimate.scores),
            "stability": model.forest_.stability().to_record(),
        }
    return {
        "task": tree.task,
        "target": model.target_,
        "examples": int(tree.size(0)),
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "tests": tests,
        "literals": literals,
        "score": {
            "measure": score.measure,
            "value": score.value,
            "baseline": score.baseline,
            "examples": score.rows,
        },
        "cross_validation": folds,
        "bias": model.bias_.to_text(),
        "left_out": [str(test) for test in model.forest_.dropped],
        "parameters": StoredRelational.of(model).parameters,
        "seconds": learned.seconds,
        "digest": tree.digest,
        "text": tree.to_text(),
        "version": hornbeam.__version__,
    }
