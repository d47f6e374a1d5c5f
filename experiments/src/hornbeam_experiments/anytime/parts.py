"""The parts of the page: which figures of the paper, from which searches, with which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hornbeam_experiments.anytime import arriving, contest, pictures, steps, table
from hornbeam_experiments.anytime.contest import Contest
from hornbeam_experiments.anytime.learners import BINARY, EE, PRINTED, SEARCHES, SEQUENCING, TS, searched
from hornbeam_experiments.anytime.paper import paper, said
from hornbeam_experiments.anytime.pictures import ACCURACY, LEAVES
from hornbeam_experiments.anytime.plan import Plan
from hornbeam_experiments.anytime.sets import PaperSet, read
from hornbeam_experiments.anytime.trails import Trail
from hornbeam_experiments.records import Cell, Part, Sheet

GREEDY = ("ID3", "C4.5")
FIGURE_10 = ("Glass", "XOR-10", "Multiplexer-20", "Tic-tac-toe")
FIGURE_12 = ("XOR-2", "XOR-3", "XOR-5", "XOR-5 large", "XOR-10")
FIGURE_13 = ("XOR-10", "XOR-10 noisy")
SINGLE = (TS, EE, "ID3-k", "Skewing", "Sequential Skewing", "GATree", *GREEDY)
MANY = (TS, "Bagging ID3", "Bagging C4.5", "ADTree")
PRUNED = "IIDT-TS-p(0.1)"


def sources_of(plan: Plan, titles: Sequence[str]) -> list[PaperSet]:
    """Those of some sets that are asked for, in the paper's order."""
    known = {entry.title: entry for entry in plan.sets}
    return [known[title] for title in titles if title in known]


@dataclass(frozen=True)
class Compared:
    """Learners on sets: curves, what they had at the end, t-tests there; and both for people."""

    curves: Sheet
    ends: Sheet
    tests: Sheet
    at_end: Sheet
    ahead: Sheet

    @classmethod
    def of(
        cls,
        name: str,
        found: Mapping[str, contest.Trails],
        times: Mapping[str, Sequence[float]],
        ours: Sequence[str],
        others: Sequence[str],
        told: Sequence[str] | None = None,
    ) -> Compared:
        """`ours` are tested against `others`; for people those of `told`, or all."""
        points: list[dict[str, Cell]] = []
        ends: list[dict[str, Cell]] = []
        tests: list[dict[str, Cell]] = []
        for title, trails in found.items():
            points += contest.curve_records(title, times[title], trails)
            ends += contest.end_records(title, times[title][-1], trails)
            tests += contest.test_records(title, times[title][-1], trails, ours, others)
        shown = [record for record in tests if told is None or record["learner"] in told]
        return cls(
            Sheet.of(name, points),
            Sheet.of(f"{name}-ends", ends),
            Sheet.of(f"{name}-tests", tests),
            contest.ends_matrix(f"{name}-at-end", ends),
            contest.tests_matrix(f"{name}-ahead", shown),
        )

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        return self.at_end, self.ahead, self.ends, self.tests, self.curves

    @property
    def shown(self) -> tuple[str, ...]:
        return self.at_end.name, self.ahead.name

    @property
    def learners(self) -> list[str]:
        return list(dict.fromkeys(str(record["learner"]) for record in self.curves.records()))


BELOW = (
    "Below, what each had at the end: accuracy in % with half its 95 % interval / leaves; then points of "
    "accuracy between learners on the same folds, a star where a t-test (two-sided, 5 %) finds a difference."
)


def figure_3() -> Part:
    known = steps.figure_3()
    return Part(
        "Figure 3: a known answer",
        "All 16 rows of a1 xor a2 among four bits. ID3 sees no gain anywhere and takes a3 and a4 first: 16 "
        "leaves. The search must end with the 4 leaves of the concept and a proof, or no page is written.",
        said("figure 3"),
        (
            pictures.tree("figure-3-first", known.first, "The tree of ID3"),
            pictures.tree("figure-3-last", known.last, "The tree after the search"),
        ),
        (known.steps,),
        (known.steps.name,),
    )


def figure_10(plan: Plan, runs: Contest) -> Part | None:
    sources = sources_of(plan, FIGURE_10)
    if not sources:
        return None
    found = {}
    for source in sources:
        more = (BINARY,) if source.title == "Tic-tac-toe" else ()
        names = (TS, SEQUENCING, EE, PRINTED, *GREEDY, *more)
        found[source.title] = runs.trails("figure 10", source, names)
    times = {title: plan.times(title) for title in found}
    ours = (TS, SEQUENCING, EE, BINARY)
    seen = Compared.of("figure-10", found, times, ours, (*GREEDY, SEQUENCING))
    known = [title for title in found if paper()["significant"][title]]
    claims = f" The paper has stars for IIDT-TS on {', '.join(known)}." if known else ""
    learners = [name for name in (TS, SEQUENCING, EE, PRINTED, *GREEDY, BINARY) if name in seen.learners]
    title = "Over CPU seconds"
    return Part(
        "Figure 10: size and accuracy over time",
        "Means over folds with bands of 95 %. ID3 and C4.5 (with information gain) are there from the "
        "beginning. IIDT-TS(1) is the sequencing of LSID3. IIDT-EE is not in the paper's figure; 'as "
        f"printed' leaves out what is ours: exact endings, bounds, the prover. {BELOW}{claims}",
        said("figure 10"),
        (
            pictures.curves("figure-10-leaves", seen.curves, (LEAVES,), learners, title, 2),
            pictures.curves("figure-10-accuracy", seen.curves, (ACCURACY,), learners, title, 2),
        ),
        seen.sheets,
        seen.shown,
    )


def figure_11_left(plan: Plan, runs: Contest) -> Part | None:
    sources = sources_of(plan, ("XOR-10",))
    if not sources:
        return None
    plan.tell("figure 11: one run on XOR-10, step by step")
    seconds = plan.seconds("XOR-10")
    sheet = steps.figure_11_left(runs.folds(sources[0])[0], seconds)
    many = {name: sum(record["learner"] == name for record in sheet.records()) for name in (TS, SEQUENCING)}
    return Part(
        "Figure 11, left: one run, step by step",
        f"The first fold of XOR-10: every improvement of a single run. IIDT-TS(0.1) had {many[TS]} trees in "
        f"{seconds:g} CPU seconds, IIDT-TS(1) {many[SEQUENCING]}.",
        said("figure 11 left"),
        (pictures.steps("figure-11-steps", sheet, seconds),),
        (sheet,),
    )


def figure_11_right(plan: Plan, runs: Contest) -> Part | None:
    sources = sources_of(plan, ("XOR-5 noisy",))
    if not sources:
        return None
    source, title = sources[0], sources[0].title
    trails = pruned_trails(plan, runs, source) | runs.trails("figure 11", source, (EE, *GREEDY))
    times = {title: plan.times(title)}
    seen = Compared.of("figure-11", {title: trails}, times, (EE, PRUNED, TS), (PRUNED, TS, *GREEDY))
    return Part(
        "Figure 11, right: pruning on noisy XOR-5",
        "200 rows, 10 % of them with the wrong label, test rows as well: 90 % is what can be had. IIDT-TS-p "
        f"is the tree of IIDT-TS pruned when it is handed out; pruning is not on the clock. {BELOW}",
        said("figure 11 right"),
        (pictures.curves("figure-11", seen.curves, (ACCURACY, LEAVES), seen.learners, "Pruning", 2),),
        seen.sheets,
        seen.shown,
    )


def pruned_trails(plan: Plan, runs: Contest, source: PaperSet) -> dict[str, list[Trail]]:
    """The trees of the same searches, whole and pruned."""
    times = plan.times(source.title)
    plan.tell(f"figure 11: {source.title}, IIDT-TS and its pruned trees")
    found = [searched(SEARCHES[TS], fold, times) for fold in runs.folds(source)]
    return {TS: [one.trail() for one in found], PRUNED: [one.trail(pruned=True) for one in found]}


def figure_12(plan: Plan, runs: Contest) -> Part | None:
    sources = sources_of(plan, FIGURE_12)
    if not sources:
        return None
    names = (*SINGLE, *MANY[1:])
    found = {source.title: runs.trails("figure 12", source, names) for source in sources}
    times = {title: plan.times(title) for title in found}
    seen = Compared.of("figure-12", found, times, (TS, EE), names, told=(TS,))
    return Part(
        "Figure 12: all learners on parities",
        "Means over folds with bands of 95 %, single trees first, then committees beside IIDT-TS. The "
        f"leaves of a committee are those of all its trees, of ADTree its prediction nodes. {BELOW} In "
        "brackets what the paper's text says of the accuracy.",
        said("figure 12"),
        (
            pictures.curves("figure-12-single", seen.curves, (ACCURACY,), SINGLE, "Single trees", 3),
            pictures.curves("figure-12-committees", seen.curves, (ACCURACY,), MANY, "Committees", 3),
            pictures.curves("figure-12-leaves", seen.curves, (LEAVES,), SINGLE, "Size of single trees", 3),
        ),
        seen.sheets,
        seen.shown,
    )


def figure_13(plan: Plan) -> Part | None:
    sources = sources_of(plan, FIGURE_13)
    if not sources:
        return None
    found: dict[str, dict[str, list[Trail]]] = {}
    for source in sources:
        trails = found.setdefault(source.title, {})
        for repetition in range(plan.repetitions(source.title)):
            for number, fold in enumerate(read(source, repetition).folds(repetition), 1):
                plan.tell(f"figure 13: {source.title}, {plan.arriving:g} s a search, fold {number} of 10")
                for name, trail in arriving.trails_of(fold, plan.arriving, plan.chunks).items():
                    trails.setdefault(name, []).append(trail)
    times = {title: arriving.times_of(plan.arriving) for title in found}
    ours, others = (arriving.I_TS, arriving.I_EE), (arriving.I_EE, *arriving.OTHERS)
    seen = Compared.of("figure-13", found, times, ours, others)
    return Part(
        "Figure 13: rows that come while it searches",
        f"A quarter of the training rows is there at once; the rest comes in {plan.chunks} chunks, evenly "
        f"over the first half of the {plan.arriving:g} CPU seconds (the pace is ours). ID3 and C4.5 are "
        f"grown anew from what is there and cost nothing; IIDT-TS alone has the first quarter only. {BELOW}",
        said("figure 13"),
        (pictures.curves("figure-13", seen.curves, (ACCURACY, LEAVES), seen.learners, "Rows come", 2),),
        seen.sheets,
        seen.shown,
    )


def lsid3_part(plan: Plan, absent: Mapping[str, str]) -> Part | None:
    order = list(paper()["lsid3"])
    known = sources_of(plan, order)
    run = [entry for entry in known if entry.title not in absent and entry.title not in plan.passed]
    lines = [table.line_of(source, plan) for source in run]
    gone = [(entry.title, f"absent: {absent[entry.title]}") for entry in known if entry.title in absent]
    gone += [(entry.title, "left out of a quick run") for entry in known if entry.title in plan.passed]
    if not known:
        return None
    beside = table.side_by_side(lines, gone)
    return Part(
        "The table of LSID3",
        "Leaves / accuracy in % on the rows left out, with half the 95 % interval; of the Monk's problems "
        "over seeds on the given division. C4.5 is C4.5 as it comes, with gain ratio; LSID3-p is LSID3 "
        "pruned as C4.5 prunes. All cuts of numbers are tried, nominal attributes have a branch for each "
        "value, and leaves are those that training rows reach (all numbers has the empty ones too).",
        said("table"),
        (),
        (beside, table.long_sheet(lines)) if lines else (beside,),
        (beside.name,),
    )
