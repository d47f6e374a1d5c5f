"""The table of LSID3 (Esmeir and Markovitch 2007): five algorithms, leaves and accuracy, ours and theirs."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hornbeam.anytime import Lookahead, seed_key
from hornbeam.growth import Parameters, Pruning, grow_in_order, prune_tree
from hornbeam.model import Tree
from hornbeam.model.arrays import MULTIWAY as MULTIWAY_TEST
from hornbeam_experiments.anytime.intervals import over_folds, over_seeds
from hornbeam_experiments.anytime.learners import MULTIWAY
from hornbeam_experiments.anytime.paper import paper
from hornbeam_experiments.anytime.plan import Plan
from hornbeam_experiments.anytime.sets import Fold, PaperSet, read
from hornbeam_experiments.anytime.trails import confirm, confirm_consistent
from hornbeam_experiments.baselines import ID3k
from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.records import Cell, Sheet

R = 5
PATIENCE = 10**6  # CPU seconds: ID3-k is let finish its k = 2
ID3, C45, ID3_2, LSID3, LSID3_P = ALGORITHMS = (
    "ID3",
    "C4.5",
    "ID3-k, k=2",
    "LSID3, r=5",
    "LSID3-p, r=5",
)


@dataclass(frozen=True)
class Grown:
    """A tree: its leaves, those that no training row reaches as well, its accuracy on the rows left out."""

    leaves: int
    with_empty: int
    accuracy: float

    @classmethod
    def of(cls, fold: Fold, tree: Tree) -> Grown:
        kinds = tree.arrays["kind"]
        domains = [len(attribute.labels) for attribute in tree.schema.attributes]
        empty = sum(
            domains[tree.arrays["attribute"][node]] - int(tree.arrays["n_children"][node])
            for node in np.flatnonzero(kinds == MULTIWAY_TEST).tolist()
        )
        return cls(tree.n_leaves, tree.n_leaves + empty, fold.accuracy(tree.predict_codes(fold.judge)))


def grown(fold: Fold) -> dict[str, Grown]:
    """All five on one fold."""
    look = Lookahead(fold.table, fold.target, nominal=MULTIWAY)
    greedy = look.id3(look.all_rows)
    ahead = look.lsid3(look.all_rows, seed_key(fold.seed), R)
    assert ahead is not None  # it had all the time
    models: dict[str, Tree] = {
        ID3: look.tree(greedy),
        C45: c45_by_ratio(fold),
        ID3_2: by_two_steps(fold),
        LSID3: look.tree(ahead),
        LSID3_P: look.tree(look.pruned(ahead)),
    }
    for name in (ID3, ID3_2, LSID3):
        confirm_consistent(fold, fold.table, fold.target.codes, models[name])
    confirm(
        models[LSID3_P].n_leaves <= models[LSID3].n_leaves,
        f"{fold.title}: pruning made a tree of LSID3 larger",
    )
    return {name: Grown.of(fold, tree) for name, tree in models.items()}


def c45_by_ratio(fold: Fold) -> Tree:
    """C4.5 as it comes: gain ratio, -m 2, pruned at 25 %."""
    parameters = Parameters("c45", MULTIWAY, min_objs=2.0)
    tree, order = grow_in_order(fold.table, fold.target, parameters)
    pruning = Pruning("error_based")
    return prune_tree(tree, pruning, fold.table, fold.target, criterion="c45", order=order)


def by_two_steps(fold: Fold) -> Tree:
    """The second answer of ID3-k; its first is ID3."""
    answers = ID3k().improve(fold.table, fold.target, PATIENCE, seed=fold.seed)
    second = next(itertools.islice(answers, 1, None))
    confirm(second.setting == "k=2", f"{fold.title}: the second answer of ID3-k is {second.setting}")
    assert isinstance(second.model, Tree)
    return second.model


@dataclass(frozen=True)
class Line:
    """A set and what each algorithm did on it; `over` are folds or seeds."""

    title: str
    leaves: dict[str, Mean]
    with_empty: dict[str, float]
    accuracy: dict[str, Mean]
    many: int
    over: str


def line_of(source: PaperSet, plan: Plan) -> Line:
    many = plan.table_repetitions(source.title)
    found: list[dict[str, Grown]] = []
    for repetition in range(many):
        plan.tell(f"table of LSID3: {source.title}, ten folds {repetition + 1} of {many}")
        found += [grown(fold) for fold in read(source, repetition).folds(repetition)]
    spread: Callable[[Sequence[float]], Mean] = over_seeds if source.is_divided else over_folds
    return Line(
        source.title,
        {name: spread([one[name].leaves for one in found]) for name in ALGORITHMS},
        {name: statistics.fmean(one[name].with_empty for one in found) for name in ALGORITHMS},
        {name: spread([one[name].accuracy for one in found]) for name in ALGORITHMS},
        len(found),
        "seeds" if source.is_divided else "folds",
    )


def long_sheet(lines: Sequence[Line]) -> Sheet:
    """All digits, a line for each set and algorithm."""
    theirs = paper()["lsid3"]
    records: list[dict[str, Cell]] = []
    for line in lines:
        for place, name in enumerate(ALGORITHMS):
            leaves, accuracy = line.leaves[name], line.accuracy[name]
            printed = theirs[line.title][place]
            records.append(
                {
                    "set": line.title,
                    "algorithm": name,
                    "leaves": leaves.value,
                    "± leaves": leaves.half,
                    "with empty leaves": line.with_empty[name],
                    "the paper's leaves": printed[0],
                    "accuracy, %": accuracy.value,
                    "±": accuracy.half,
                    "the paper's accuracy": printed[1],
                    "runs": line.many,
                    "over": line.over,
                }
            )
    return Sheet.of("lsid3", records)


def side_by_side(lines: Sequence[Line], absent: Sequence[tuple[str, str]]) -> Sheet:
    """For people: below each of our lines the paper's; leaves / accuracy. `absent` are sets with a reason."""
    theirs = paper()["lsid3"]
    records: list[dict[str, Cell]] = []
    for line in lines:
        ours = {name: told(line.leaves[name], line.accuracy[name]) for name in ALGORITHMS}
        records.append({"set": line.title, **ours, "runs": f"{line.many} {line.over}"})
        records.append(_printed("the paper", theirs[line.title], ""))
    for title, reason in absent:
        records.append({"set": title, **dict.fromkeys(ALGORITHMS, "–"), "runs": reason})
        records.append(_printed("the paper", theirs[title], ""))
    return Sheet.of("lsid3-beside", records)


def told(leaves: Mean, accuracy: Mean) -> str:
    half = f" ± {accuracy.half:.1f}" if accuracy.half >= 0.05 else ""
    return f"{leaves.value:.1f} / {accuracy.value:.1f}{half}"


def _printed(title: str, cells: Sequence[Sequence[float]], runs: str) -> dict[str, Cell]:
    pairs = {name: f"{leaves:g} / {right:g}" for name, (leaves, right) in zip(ALGORITHMS, cells, strict=True)}
    return {"set": title, **pairs, "runs": runs}


def text_of(sheet: Sheet) -> str:
    """The same for a terminal."""
    rows = [tuple(sheet.columns), *(tuple(str(cell) for cell in row) for row in sheet.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(sheet.columns))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
