"""The learners of the experiments, each as a function of a fold and the times at which it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from hornbeam.anytime import (
    Budget,
    ExpectedError,
    Improvement,
    Lookahead,
    Objective,
    SearchState,
    Sketch,
    TreeSize,
)
from hornbeam.anytime.states import STOPPED
from hornbeam_experiments.anytime.sets import Fold
from hornbeam_experiments.anytime.trails import (
    Alarm,
    Keeping,
    Trail,
    confirm,
    confirm_consistent,
    confirm_never_grows,
)
from hornbeam_experiments.baselines import BASELINES, Baseline, Model

MULTIWAY = "multiway"
"""A branch for each value of a nominal attribute, as in the paper."""
DUST = 1e-6  # of expected errors, which are sums of doubles

Learn = Callable[[Fold, Sequence[float]], Trail]
Note = Callable[[SearchState, Sketch], None]


@dataclass(frozen=True)
class Search:
    """A form of IIDT. `endings` False leaves out the exact endings, which are not the paper's."""

    objective: Objective
    granularity: float = 0.1
    nominal: str = MULTIWAY
    endings: bool = True

    def lookahead(self, fold: Fold) -> Lookahead:
        return Lookahead(fold.table, fold.target, nominal=self.nominal, endings=self.endings)

    def begin(self, lookahead: Lookahead, seed: int) -> Improvement:
        return Improvement.begin(lookahead, self.objective, granularity=self.granularity, seed=seed)

    @property
    def by_size(self) -> bool:
        return isinstance(self.objective, TreeSize)


@dataclass(frozen=True, eq=False)
class Searched:
    """A search that ended: all its states, and the trees at the times that matter."""

    fold: Fold
    search: Improvement
    states: tuple[SearchState, ...]
    keeping: Keeping[Sketch]

    def trail(self, pruned: bool = False) -> Trail:
        """Its trees, or what C4.5's pruning leaves of them; pruning is not on the clock."""
        look = self.search.lookahead

        def model_of(sketch: Sketch) -> Model:
            return look.tree(look.pruned(sketch) if pruned else sketch)

        return self.keeping.trail(self.fold, self.search.status, model_of)


def searched(how: Search, fold: Fold, times: Sequence[float], note: Note | None = None) -> Searched:
    """A search until the last of the times, and what must hold of every search; `note` is told of every
    improvement."""
    search = how.begin(how.lookahead(fold), fold.seed)
    keeping: Keeping[Sketch] = Keeping(times)
    states: list[SearchState] = []
    with Alarm(search.stop, times[-1] - search.clock.now[1]) as alarm:
        for state in search.run(Budget()):
            states.append(state)
            if state.improved:
                keeping.take(state.cpu, search.now.sketch)
                if note is not None:
                    note(state, search.now.sketch)
    if search.status == STOPPED and not alarm.rang:
        raise KeyboardInterrupt
    confirm_search(how, fold, search, states)
    return Searched(fold, search, tuple(states), keeping)


def confirm_search(how: Search, fold: Fold, search: Improvement, states: Sequence[SearchState]) -> None:
    """Sizes never grow and the tree is consistent; or expected errors never grow."""
    if not how.by_size:
        errors = [state.expected_error for state in states]
        confirm_never_grows(errors, f"{fold.title}: the expected error of IIDT-EE", DUST)
        return
    leaves = [state.leaves for state in states]
    confirm_never_grows(leaves, f"{fold.title}: the size of IIDT-TS")
    confirm_consistent(fold, fold.table, fold.target.codes, search.handed_out())
    bound = states[-1].bound
    confirm(bound is None or bound <= leaves[-1], f"{fold.title}: {leaves[-1]} leaves, at least {bound}")


def search_of(how: Search, fold: Fold, times: Sequence[float]) -> Trail:
    return searched(how, fold, times).trail()


def greedy(grow: Callable[[Lookahead], Sketch], fold: Fold, times: Sequence[float]) -> Trail:
    """A tree that takes no further time: as in the paper, it is there from the beginning."""
    look = Lookahead(fold.table, fold.target, nominal=MULTIWAY)
    keeping: Keeping[Sketch] = Keeping(times)
    keeping.take(0.0, grow(look))
    return keeping.trail(fold, "one tree", look.tree)


def id3(look: Lookahead) -> Sketch:
    return look.id3(look.all_rows)


def c45(look: Lookahead) -> Sketch:
    """With information gain, as the paper's footnote says."""
    return look.c45(look.all_rows)


def baseline(kind: type[Baseline], fold: Fold, times: Sequence[float]) -> Trail:
    keeping: Keeping[Model] = Keeping(times)
    end = ""
    for answer in kind().improve(fold.table, fold.target, times[-1], seed=fold.seed):
        keeping.take(answer.cpu, answer.model)
        end = answer.setting
    return keeping.trail(fold, end, lambda model: model)


TS, SEQUENCING, EE = "IIDT-TS(0.1)", "IIDT-TS(1)", "IIDT-EE(0.1)"
PRINTED, BINARY = "IIDT-TS(0.1) as printed", "IIDT-TS(0.1), binary tests"
SEARCHES = {
    TS: Search(TreeSize("searched")),
    SEQUENCING: Search(TreeSize("searched"), granularity=1.0),
    EE: Search(ExpectedError()),
    PRINTED: Search(TreeSize("paper"), endings=False),
    BINARY: Search(TreeSize("searched"), nominal="value"),
}
LEARNERS: dict[str, Learn] = {
    "ID3": partial(greedy, id3),
    "C4.5": partial(greedy, c45),
    **{name: partial(search_of, how) for name, how in SEARCHES.items()},
    **{name: partial(baseline, kind) for name, kind in BASELINES.items()},
}
