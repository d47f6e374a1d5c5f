"""States: what a search tells after each of its iterations."""

from __future__ import annotations

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


class State(NamedTuple):
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
        """For JSON."""
        return self._asdict()
