"""Anytime induction: trees by looking ahead (LSID3), improved for as long as they may take (IIDT)."""

from hornbeam.anytime.budget import Budget, Stop
from hornbeam.anytime.choosing import Chooser
from hornbeam.anytime.improve import Improvement, Iteration
from hornbeam.anytime.incremental import extended_by
from hornbeam.anytime.lookahead import Lookahead, seed_key
from hornbeam.anytime.objectives import OBJECTIVES, ExpectedError, Objective, TreeSize
from hornbeam.anytime.sketch import Sketch
from hornbeam.anytime.states import WHY, SearchState

__all__ = [
    "OBJECTIVES",
    "WHY",
    "Budget",
    "Chooser",
    "ExpectedError",
    "Improvement",
    "Iteration",
    "Lookahead",
    "Objective",
    "SearchState",
    "Sketch",
    "Stop",
    "TreeSize",
    "extended_by",
    "seed_key",
]
