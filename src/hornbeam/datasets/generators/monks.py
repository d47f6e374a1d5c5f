"""The three Monk's problems (Thrun and others 1991): 432 robots, and samples of them.

The published training sets are selections of 124, 169 and 122 robots. They are data, not a rule: ours are
seeded samples of the same sizes, with the same noise.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .family import GeneratedColumn, TableFamily, choice, labelled, share
from .hidden_columns import bit_class
from .streams import Integers, Rows, Truths, Values, draw_order

# In the published order: value 1 of a1 is "round", and so on.
ROBOTS = {
    "head_shape": ("round", "square", "octagon"),
    "body_shape": ("round", "square", "octagon"),
    "is_smiling": ("yes", "no"),
    "holding": ("sword", "balloon", "flag"),
    "jacket_color": ("red", "yellow", "green", "blue"),
    "has_tie": ("yes", "no"),
}
RELEVANT = {
    1: ("head_shape", "body_shape", "jacket_color"),
    2: tuple(ROBOTS),
    3: ("body_shape", "holding", "jacket_color"),
}
TRAINING_ROWS = {1: 124, 2: 169, 3: 122}
TRAINING_NOISE = {1: 0.0, 2: 0.0, 3: 0.05}


@dataclass(frozen=True)
class Monks(TableFamily):
    """`subset`: all robots, or a random training set; `noise` None: as published (5 % in training set 3)."""

    name: ClassVar[str] = "monks"
    asks: ClassVar[str] = "Which robots are meant in Monk's problem {0.problem}?"

    problem: int = choice(1, (1, 2, 3))
    subset: str = choice("all", ("all", "training"))
    noise: float | None = share(None)

    @property
    def size(self) -> int:
        return len(_robots()) if self.subset == "all" else TRAINING_ROWS[self.problem]

    def columns(self) -> tuple[GeneratedColumn, ...]:
        return (*(labelled(name, labels) for name, labels in ROBOTS.items()), bit_class())

    def relevant(self, seed: int) -> tuple[str, ...]:
        return RELEVANT[self.problem]

    def draw(self, rows: Rows) -> list[Values]:
        order = rows.numbers
        if self.subset == "training":
            order = draw_order(rows.seed, "monks/order", len(_robots()))[order]
        robots = _robots()[order]
        usual = TRAINING_NOISE[self.problem] if self.subset == "training" else 0.0
        wrong = rows.chance("monks/noise", usual if self.noise is None else self.noise)
        return [*robots.T, _is_meant(self.problem, robots) ^ wrong]


@functools.cache
def _robots() -> Integers:
    """Every robot as codes, the last attribute changing fastest."""
    return np.array(
        list(itertools.product(*(range(len(labels)) for labels in ROBOTS.values()))), dtype=np.int64
    )


def _is_meant(problem: int, robots: Integers) -> Truths:
    head, body, _, holding, jacket, _ = robots.T
    if problem == 1:
        return np.asarray((head == body) | (jacket == 0))
    if problem == 2:
        return np.asarray((robots == 0).sum(axis=1) == 2)
    return np.asarray(((jacket == 2) & (holding == 0)) | ((jacket != 3) & (body != 2)))
