"""The parts of each page: which figures of the paper, from which measurements, with which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hornbeam_experiments import figures, memory
from hornbeam_experiments.cost_model import compare
from hornbeam_experiments.cross_validation import (
    TEN,
    Rounds,
    TenFolds,
    breakdown,
    by_level,
    drawn_bags,
    ten_folds,
)
from hornbeam_experiments.growths import ALGORITHMS, BAGGING, ONE, WORKS, bags_of, folds_of
from hornbeam_experiments.influences import influences
from hornbeam_experiments.paper import expected, paper, said
from hornbeam_experiments.plan import Plan
from hornbeam_experiments.records import Cell, Figure, Part, Sheet
from hornbeam_experiments.redundancy import redundancy
from hornbeam_experiments.sets import Loaded
from hornbeam_experiments.speedups import Contest

TWENTY_FIVE = 25
SHARED = [name for name in ALGORITHMS if name != "S"]


def cross_validation(sets: Sequence[Loaded], plan: Plan) -> list[Part]:
    """Figures 10 to 14, the cost model and the redundancy that is left."""
    all_runs = []
    for place, loaded in enumerate(sets, 1):
        plan.tell(f"figures 10 and 11: {loaded.title} ({place} of {len(sets)})")
        all_runs.append(ten_folds(loaded, plan))
    contest = Contest(sets, plan, folds_of, ALGORITHMS)
    folds = contest.speedups("figure-12", plan.folds)
    sizes = contest.speedups("figure-13", (TEN,), plan.shares)
    return [
        breakdown_part(all_runs),
        levels_part(all_runs),
        speedup_part("12", folds, "sets grown", "folds", "Speedup by number of folds"),
        speedup_part("13", sizes, "share", "% of the rows", "Speedup by number of rows, ten folds", 100),
        influences_part(sets, sizes),
        model_part(all_runs),
        redundancy_part(all_runs),
    ]


def breakdown_part(all_runs: Sequence[TenFolds]) -> Part:
    works, totals = breakdown("figure-11", all_runs)
    gained = gains(all_runs)
    picture = figures.bars_of(
        "figure-11", WORKS, works, totals, title="Ten folds and the tree of all rows", skip=(ONE,)
    )
    hint = "Time of ten folds and the tree of all rows, relative to that tree (dotted), by kind of work."
    sheets = (gained, totals, works)
    return Part("Figure 11: where the time goes", hint, said("figure 11"), (picture,), sheets, (gained.name,))


def gains(all_runs: Sequence[TenFolds]) -> Sheet:
    """Our speedups beside those that the paper's figure 14 expects of such a set."""
    records: list[dict[str, Cell]] = []
    for runs in all_runs:
        loaded, size = runs.loaded, runs.tree.n_nodes
        leaf = expected(loaded.n_rows, size, loaded.numeric, loaded.classes)
        records.append(
            {
                "set": loaded.title,
                "tree size": size,
                "S / OS": runs.ratio("S", "OS").value,
                "paper's OS": leaf["OS"],
                "S / CV": runs.ratio("S", "CV").value,
                "paper's CV": leaf["CV"],
                "S / auto": runs.ratio("S", "auto").value,
                "auto / one tree": runs.ratio("auto", ONE).value,
                "kind of set in figure 14": leaf["kind"],
            }
        )
    return Sheet.of("speedups", records)


def levels_part(all_runs: Sequence[TenFolds]) -> Part:
    sheet = by_level(all_runs)
    seconds, tests = figures.time_and_f(sheet, "nodes of the forest for each node of a tree")
    hint = "Above: time that growth spends on a level. Below: nodes of the forest for each node of a tree."
    return Part("Figure 10: level by level", hint, said("figure 10"), (seconds, tests), (sheet,))


def speedup_part(
    number: str,
    sheet: Sheet,
    x: str,
    x_name: str,
    title: str,
    scale: float = 1.0,
    kinds: Sequence[str] = SHARED,
) -> Part:
    picture = figures.lines_of(sheet.name, sheet, x, kinds, title=title, x_name=x_name, scale=scale)
    hint = f"{title}; the dotted line is S itself, bars are 90 % intervals of the mean."
    return Part(f"Figure {number}: {title.lower()}", hint, said(f"figure {number}"), (picture,), (sheet,))


def influences_part(sets: Sequence[Loaded], sizes: Sheet) -> Part:
    found = influences(sets, sizes)
    theirs, ours = paper()["figure 14"]["text"], found.tree.to_text()
    svg = found.tree.to_svg(None, title="What the speedup depends on")
    return Part(
        "Figure 14: what the speedup depends on",
        "A regression tree for the speedups of OS and of CV together, grown by Hornbeam from the points of "
        "figure 13; as the paper says, to be read for its tests, not for its predictions.",
        said("figure 14"),
        (Figure("figure-14", svg, svg),),
        (found.points,),
        text=(("The paper: [OS, CV]", theirs), ("Hornbeam: OS, CV", ours)),
    )


def model_part(all_runs: Sequence[TenFolds]) -> Part:
    sheet = compare(all_runs)
    hint = (
        "t_e, t_u and t_p in nanoseconds: reading an entry, counting it for one set, sending a row to its "
        "child; a is the number of lists that the root looks through. Predicted from them and f(i) by sect. "
        "3.2; measured is growth without presorting. 'entries saved' is how many fewer entries are read, the "
        "limit of sharing; the bound is that of section 2.3, where all folds choose different tests."
    )
    return Part("Section 2.3: the model of cost", hint, said("section 2.3"), (), (sheet,), (sheet.name,))


def redundancy_part(all_runs: Sequence[TenFolds]) -> Part:
    sheet = redundancy(all_runs)
    hint = (
        "Inner nodes of all eleven trees whose rows are exactly those of a node behind another test: the "
        "share of the nodes, and of their rows, that a memory of training sets could save."
    )
    return Part(
        "Section 3.5: redundancy after a bifurcation", hint, said("section 3.5"), (), (sheet,), (sheet.name,)
    )


def bagging(sets: Sequence[Loaded], plan: Plan) -> list[Part]:
    """Figures 16 and 17."""
    all_runs = []
    for place, loaded in enumerate(sets, 1):
        plan.tell(f"figure 16: {loaded.title} ({place} of {len(sets)})")
        all_runs.append(drawn_bags(loaded, plan, TWENTY_FIVE))
    contest = Contest(sets, plan, bags_of, BAGGING)
    kinds = [name for name in BAGGING if name != "S"]
    bags = contest.speedups("figure-17-bags", plan.bags)
    sizes = contest.speedups("figure-17-sizes", (TWENTY_FIVE,), plan.shares)
    by_rows = ("17", sizes, "share", "% of the rows", "Speedup by number of rows, 25 bags", 100, kinds)
    return [
        bags_part(all_runs),
        speedup_part("17", bags, "sets grown", "bags", "Speedup by number of bags", kinds=kinds),
        replace(speedup_part(*by_rows), paper=""),
    ]


def bags_part(all_runs: Sequence[Rounds]) -> Part:
    works, totals = breakdown("figure-16", all_runs)
    gained = Sheet.of(
        "bagging-speedups",
        [
            {
                "set": runs.loaded.title,
                **{
                    f"S / {name}{bound}": getattr(runs.ratio("S", name), field)
                    for name in ("OS", "auto")
                    for bound, field in (("", "value"), (", low", "low"), (", high", "high"))
                },
                "auto / one tree": runs.ratio("auto", ONE).value,
            }
            for runs in all_runs
        ],
    )
    picture = figures.bars_of("figure-16", WORKS, works, totals, title="25 bags", skip=(ONE,))
    hint = "Time of 25 bags relative to the tree of all rows (dotted), by kind of work."
    return Part(
        "Figure 16: 25 bags", hint, said("figure 16"), (picture,), (gained, totals, works), (gained.name,)
    )


def memory_use(sets: Sequence[Loaded], plan: Plan) -> list[Part]:
    """Figures 19 and 20."""
    at_points, by_folds = memory.measure([loaded.source for loaded in sets], plan)
    bars = figures.memory_bars("figure-19", at_points, memory.POINTS, title="Memory of ten folds")
    lines = figures.memory_lines("figure-20", by_folds, list(ALGORITHMS), title="Memory by folds")
    first = (
        "A process of its own for each set: megabytes after loading the system, what the data adds, and what "
        "growth adds at its peak; 'one tree' is what growing the tree of all rows alone adds. Means of runs "
        "that deal the folds anew, with 90 % intervals."
    )
    second = "What growth adds at its peak, by number of folds."
    lined = memory.side_by_side(at_points)
    sheets = (lined, at_points)
    return [
        Part("Figure 19: ten folds", first, said("figure 19"), (bars,), sheets, (lined.name,)),
        Part("Figure 20: by number of folds", second, said("figure 20"), (lines,), (by_folds,)),
    ]
