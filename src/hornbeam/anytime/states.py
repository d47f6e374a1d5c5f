"""States: what a search says after each of its iterations; and what a model file claims was proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

RUNNING: Final = "running"
PROVED: Final = "proved"
CLAIMED: Final = "claimed"
EXHAUSTED: Final = "exhausted"
STOPPED: Final = "stopped"
TIME: Final = "time"
ITERATIONS: Final = "iterations"
WORK: Final = "work"

WHY: Final = {
    RUNNING: "it goes on",
    PROVED: "no tree of these rows has fewer leaves",
    CLAIMED: "its file says that no tree has fewer leaves, which was not shown again yet",
    EXHAUSTED: "no rebuild could be better",
    STOPPED: "it was stopped",
    TIME: "the time is up",
    ITERATIONS: "the iterations are done",
    WORK: "the next iteration would exceed the work",
}


class SearchState(NamedTuple):
    """A search after some iterations. `elapsed` and `cpu` are seconds of searching, `cv_error` is what inner
    folds got wrong, where a referee asked them, `bound` what no tree can be below: leaves, or expected
    errors. `improved` tells whether the last iteration found a better tree, `status` whether it goes on."""

    iteration: int
    elapsed: float
    cpu: float
    work: int
    leaves: int
    expected_error: float
    cv_error: float | None
    bound: float | None
    improved: bool
    status: str

    def to_record(self) -> dict[str, Any]:
        """The state as plain values for JSON."""
        return self._asdict()


@dataclass(frozen=True)
class Claim:
    """What a file says of proofs: the bound of all rows, and the profile with the bounds in it."""

    floor: int
    profile: tuple[SearchState, ...]

    def believed(self, bound: float | None) -> list[SearchState]:
        """The profile, with what must be true in it because this bound is; without one nothing must."""
        return [state if _follows(state, bound) else _unproved(state) for state in self.profile]


def _follows(state: SearchState, bound: float | None) -> bool:
    """Whether a state of a profile can be true beside this bound: fewer rows, or fewer remembered sets of
    them, have no higher bound."""
    if state.status == PROVED and state.leaves != bound:
        return False
    return state.bound is None or (bound is not None and state.bound <= bound)


def _unproved(state: SearchState) -> SearchState:
    status = CLAIMED if state.status == PROVED else state.status
    return state._replace(bound=None, status=status)
