"""An experiment from beginning to end: the sets that are at hand, the parts of its page, the setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hornbeam.errors import UsageError
from hornbeam_experiments import anytime, boat, cvc45, relational
from hornbeam_experiments.growths import warm
from hornbeam_experiments.paper import paper
from hornbeam_experiments.parts import bagging, cross_validation, memory_use
from hornbeam_experiments.plan import Plan, Tell
from hornbeam_experiments.records import Cell, Part, Results, Sheet
from hornbeam_experiments.sets import Loaded, PaperSet, read_all
from hornbeam_experiments.setting import machine


def prepare(
    experiment: str,
    sets: Sequence[str] | None = None,
    runs: int | None = None,
    quick: bool = False,
    tell: Tell | None = None,
    scale: float | None = None,
    parts: Sequence[str] | None = None,
) -> Callable[[], Results]:
    """The experiment that a user asks for, ready to be run; what means nothing is refused here."""
    if experiment == "boat":
        return partial(boat.run, boat.Plan.of(sets, runs, quick, tell, scale, parts))
    if scale is not None:
        raise UsageError(f"a scale of {scale:g}: {experiment} has none, it is of boat; use --quick")
    if parts is not None:
        raise UsageError(f"parts {','.join(parts)}: {experiment} has none, they are of boat; leave them out")
    if experiment == "cvc45":
        return partial(cvc45.run, cvc45.Plan.of(sets, runs, quick, tell))
    if experiment == "anytime":
        return partial(anytime.run, anytime.Plan.of(sets, runs, quick, tell))
    if experiment == "relational":
        return partial(relational.run, relational.Plan.of(sets, runs, quick, tell))
    if experiment == "scale":
        from hornbeam_experiments import scale as clusters

        return partial(clusters.run, clusters.Plan.of(sets, runs, quick, tell))
    return partial(run, experiment, Plan.of(sets, runs, quick, tell))


def run(experiment: str, plan: Plan) -> Results:
    """Everything of one experiment of Blockeel and Struyf."""
    plan.tell(f"reading {len(plan.sets)} of the sets of table 1")
    sets, absent = read_all(plan.sets, plan.most_rows)
    headline, make = EXPERIMENTS[experiment]
    if experiment != "memory":
        warm(sets)
    parts = (data_part(sets, absent), *make(sets, plan))
    return Results(experiment, headline, parts, setting_of(plan), notes_of(plan))


def setting_of(plan: Plan) -> dict[str, Any]:
    return {
        **machine(),
        "runs": plan.runs,
        "smallest leaf": 10,
        "rows of a set at most": plan.most_rows or "all",
    }


def notes_of(plan: Plan) -> tuple[str, ...]:
    notes = [
        "Times are CPU seconds of one thread: presorting and growth over a table that is read, without "
        "pruning and scoring. S grows tree after tree but presorts once: a harder S than the paper's.",
        "Gini, or variance for Abalone; subset tests on nominal attributes; no leaf of fewer than 10 rows. "
        "The paper's trees were grown by Clus, in Java. OS is 'overlapping', CV is 'folds'; auto chooses.",
        "Means of runs that deal, draw or sample the rows anew; intervals hold the mean with 90 % confidence "
        "(Student's t). Levels and kinds of work are divided as in the median run.",
    ]
    if plan.most_rows is not None:
        notes.insert(
            0, f"QUICK: at most {plan.most_rows:,} rows of each set; this shows the work, not the figures."
        )
    return tuple(notes)


def data_part(sets: Sequence[Loaded], absent: Sequence[tuple[PaperSet, str]]) -> Part:
    """Table 1, theirs and ours."""
    theirs = {entry["set"]: entry for entry in paper()["table 1"]}
    records: list[dict[str, Cell]] = []
    for loaded in sets:
        entry = theirs[loaded.title]
        records.append(
            {
                "set": loaded.title,
                "rows": loaded.n_rows,
                "rows in the paper": entry["rows"],
                "nominal": loaded.nominal,
                "numeric": loaded.numeric,
                "classes": loaded.classes,
                "remark": loaded.source.remark or ("complete rows" if loaded.source.complete_rows else ""),
            }
        )
    for source, reason in absent:
        entry = theirs[source.title]
        kinds = {name: entry[name] for name in ("nominal", "numeric", "classes")}
        records.append(
            {
                "set": source.title,
                "rows": None,
                "rows in the paper": entry["rows"],
                **kinds,
                "remark": f"ABSENT: {reason}",
            }
        )
    sheet = Sheet.of("table-1", records)
    return Part("Table 1: the sets", "", "", sheets=(sheet,), shown=("table-1",))


Make = Callable[[Sequence[Loaded], Plan], list[Part]]
EXPERIMENTS: dict[str, tuple[str, Make]] = {
    "cross-validation": ("Cross-validation inside induction, run again", cross_validation),
    "bagging": ("Bagging by the same algorithms, run again", bagging),
    "memory": ("The memory of growing folds together, measured again", memory_use),
}
