"""Claims: what a model file says was proved. It is kept aside until the search has shown it again."""

from __future__ import annotations

from dataclasses import dataclass

from hornbeam.anytime.states import CLAIMED, PROVED, State


@dataclass(frozen=True)
class Claim:
    """What a file says of proofs: the bound of all rows, and the profile with the bounds in it."""

    floor: int
    profile: tuple[State, ...]

    def believed(self, bound: float | None) -> list[State]:
        """The profile, with what must be true in it because this bound is; without one nothing must."""
        return [state if _follows(state, bound) else _unproved(state) for state in self.profile]


def _follows(state: State, bound: float | None) -> bool:
    """Fewer rows, or fewer remembered sets of them, have no higher bound."""
    if state.status == PROVED and state.leaves != bound:
        return False
    return state.bound is None or (bound is not None and state.bound <= bound)


def _unproved(state: State) -> State:
    status = CLAIMED if state.status == PROVED else state.status
    return state._replace(bound=None, status=status)
