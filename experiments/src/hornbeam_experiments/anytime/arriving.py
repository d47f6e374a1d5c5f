"""Figure 13: rows that come while a search goes on, against greedy trees grown anew and a search of the first
rows alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hornbeam.anytime import Budget, ExpectedError, Lookahead, Sketch, TreeSize
from hornbeam.anytime.states import EXHAUSTED, PROVED, STOPPED
from hornbeam_experiments.anytime.learners import (
    DUST,
    MULTIWAY,
    SEARCHES,
    TS,
    Search,
    c45,
    id3,
    search_of,
)
from hornbeam_experiments.anytime.sets import Fold
from hornbeam_experiments.anytime.trails import (
    Alarm,
    Keeping,
    Moment,
    Trail,
    confirm_consistent,
    confirm_never_grows,
    judged,
)

INITIAL = 0.25
I_TS, I_EE = "I-IIDT-TS(0.1)", "I-IIDT-EE(0.1)"
ID3_R, C45_R, ALONE = "ID3 restarted", "C4.5 restarted", "IIDT-TS(0.1) of the first 25 %"
OTHERS = (ALONE, ID3_R, C45_R)
POINTS = 12


@dataclass(frozen=True, eq=False)
class Stream:
    """The training rows of a fold in a random order: a quarter is there at once, the rest comes in equal
    chunks, evenly over `seconds` of CPU time."""

    fold: Fold
    seconds: float
    ends: tuple[int, ...]
    """Rows that are there after no, one, two, ... chunks."""

    @classmethod
    def of(cls, fold: Fold, seconds: float, chunks: int) -> Stream:
        order = np.random.default_rng(fold.seed).permutation(fold.table.n_rows)
        shuffled = replace(fold, table=fold.table.take(order), target=fold.target.take(order))
        first = round(INITIAL * fold.table.n_rows)
        ends = np.linspace(first, fold.table.n_rows, chunks + 1).round().astype(int)
        return cls(shuffled, seconds, tuple(ends.tolist()))

    def arrived(self, cpu: float) -> int:
        """How many rows are there at a time; a chunk comes when it is complete."""
        chunks = len(self.ends) - 1
        return self.ends[min(chunks, int(chunks * cpu / self.seconds + 1e-9))]

    def until_next(self, cpu: float, known: int) -> float:
        """How long it is until there are more rows than those known; 0 where all have come."""
        chunks = len(self.ends) - 1
        more = [i for i, rows in enumerate(self.ends) if rows > known]
        return max(0.0, self.seconds * more[0] / chunks - cpu) if more else 0.0

    def part(self, rows: int) -> Fold:
        """The fold with the first rows alone."""
        some = np.arange(rows)
        return replace(self.fold, table=self.fold.table.take(some), target=self.fold.target.take(some))


def times_of(seconds: float) -> tuple[float, ...]:
    """Evenly, from the beginning to the end."""
    return tuple(round(seconds * i / POINTS, 9) for i in range(POINTS + 1))


def incremental(how: Search, stream: Stream, times: Sequence[float]) -> Trail:
    """I-IIDT: after each iteration the rows that have come meanwhile are taken in. Where nothing is left to
    try before all have come, it waits for the next."""
    search = how.begin(how.lookahead(stream.part(stream.ends[0])), stream.fold.seed)
    keeping: Keeping[tuple[Lookahead, Sketch]] = Keeping(times)
    values: list[float] = []
    waited = 0.0
    what = f"{stream.fold.title}: with no row between, " + ("the size" if how.by_size else "the error")
    with Alarm(search.stop, times[-1] - search.clock.now[1]) as alarm:
        for state in search.run(Budget()):
            values.append(state.leaves if how.by_size else state.expected_error)
            keeping.take(state.cpu + waited, (search.lookahead, search.now.sketch))
            known = search.lookahead.table.n_rows
            if state.status in (PROVED, EXHAUSTED):
                waited += stream.until_next(state.cpu + waited, known)
            rows = stream.arrived(search.clock.now[1] + waited)
            if state.cpu + waited >= times[-1]:
                break
            if rows > known:
                confirm_never_grows(values, what, DUST)
                search.take_in(how.lookahead(stream.part(rows)), {})
                values = []
                keeping.take(search.clock.now[1] + waited, (search.lookahead, search.now.sketch))
    if search.status == STOPPED and not alarm.rang:
        raise KeyboardInterrupt
    confirm_never_grows(values, what, DUST)
    look = search.lookahead
    if how.by_size:
        confirm_consistent(stream.fold, look.table, look.target.codes, search.handed_out())
    end = f"{look.table.n_rows} of {stream.ends[-1]} rows"
    return keeping.trail(stream.fold, end, lambda kept: kept[0].tree(kept[1]))


def restarted(grow: Callable[[Lookahead], Sketch], stream: Stream, times: Sequence[float]) -> Trail:
    """A greedy tree of all rows that are there, at every time; as in the paper it takes no time."""
    moments: list[Moment] = []
    for seconds in times:
        part = stream.part(stream.arrived(seconds))
        look = Lookahead(part.table, part.target, nominal=MULTIWAY)
        moments.append(judged(stream.fold, seconds, look.tree(grow(look))))
    return Trail(tuple(moments), "restarted")


def trails_of(fold: Fold, seconds: float, chunks: int) -> dict[str, Trail]:
    """All contestants on one fold."""
    stream, times = Stream.of(fold, seconds / 2, chunks), times_of(seconds)
    return {
        I_TS: incremental(Search(TreeSize("searched")), stream, times),
        I_EE: incremental(Search(ExpectedError()), stream, times),
        ALONE: search_of(SEARCHES[TS], stream.part(stream.ends[0]), times),
        ID3_R: restarted(id3, stream, times),
        C45_R: restarted(c45, stream, times),
    }
