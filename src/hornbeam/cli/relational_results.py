"""What `hornbeam relational fit` gives out: a small table for people, an object for programs, a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

import hornbeam
from hornbeam.estimators.stored_relational import StoredRelational
from hornbeam.files import write_files
from hornbeam.model.store import document_of
from hornbeam.report.relational import render_relational

from .output import print_json, print_pairs, working
from .relational_learn import RelationalLearned
from .results import estimate_record, score_pairs, score_record, tell_places
from .sources import facts_of


def give_out(learned: RelationalLearned, context: click.Context, given: Mapping[str, Any]) -> None:
    """Write the model and the report, both or neither, then tell the result and where the rest of it is."""
    line, output, report = context.meta.get("hornbeam.line", ""), given["output"], given["report"]
    payload = StoredRelational.of(learned.model).payload() if output or report else {}
    results = {output: document_of(payload)} if output else {}
    if report:
        with working("writing the report"):
            facts: dict[str, Any] = facts_of(line, given["data"])
            study = replace(learned.study, tables=learned.data.describe(), document=payload, **facts)
            results[report] = render_relational(study).encode("utf-8", "replace")
    write_files(results)
    if given["as_json"]:
        print_json(_record(learned) | {"model": output, "report": report})
        return
    _print(learned, given["bias"] is not None)
    tell_places(learned.study.tree, output, report, "hornbeam relational show")


def _print(learned: RelationalLearned, bias_given: bool) -> None:
    """The result in a few aligned lines."""
    model, study = learned.model, learned.study
    tests, literals = study.tree.complexity
    tables = [relation for relation in model._coded.relations.values() if relation.counts is None]
    rows = sum(relation.n_rows for relation in tables)
    pairs = score_pairs(
        study,
        f", {tests} test{'' if tests == 1 else 's'} of {literals} literal{'' if literals == 1 else 's'}",
    )
    if (stability := study.stability) is not None:
        agree = f"{stability.nodes[0].same} of {stability.n_folds} folds agree at the root"
        pairs.append(
            ("stable", f"{agree}, {stability.agreement * 100:.0f}% of the tests that an example meets")
        )
    pairs += [
        ("grown from", f"{study.rows:,} examples, {rows:,} rows of {len(tables)} tables"),
        ("target", f"{study.target} ({study.task})"),
        ("bias", f"{len(model.bias_.modes)} modes, {'given' if bias_given else 'of the data'}"),
    ]
    if dropped := model.forest_.dropped:
        pairs.append(("left out", f"{len(dropped)} tests over the budget, for instance {dropped[0]}"))
    folds = "" if study.estimate is None else " with all folds"
    pairs.append(("time", f"{study.seconds * 1000:.1f} ms to grow{folds}"))
    print_pairs([*pairs, ("digest", study.tree.digest[:16])])


def _record(learned: RelationalLearned) -> dict[str, Any]:
    """The result for programs."""
    study, tree = learned.study, learned.study.tree
    tests, literals = tree.complexity
    folds = estimate_record(study.estimate)
    if folds is not None and study.stability is not None:
        folds["stability"] = study.stability.to_record()
    return {
        "task": study.task,
        "target": study.target,
        "examples": study.rows,
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "tests": tests,
        "literals": literals,
        "score": score_record(study.score, "examples"),
        "cross_validation": folds,
        "bias": study.bias,
        "left_out": [str(test) for test in learned.model.forest_.dropped],
        "parameters": study.parameters,
        "seconds": study.seconds,
        "digest": tree.digest,
        "text": tree.to_text(),
        "version": hornbeam.__version__,
    }
