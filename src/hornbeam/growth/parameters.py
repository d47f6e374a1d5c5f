"""What a growth is given: the user's parameters, checked, and the switches of the engine."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypedDict

from hornbeam.arguments import is_number, number, one_of, refuse, whole, whole_or_none
from hornbeam.table import MAX_COLUMNS, MAX_ROWS

# The first of a task is its default.
CRITERIA: dict[str, tuple[str, ...]] = {
    "classification": ("gini", "entropy", "gain_ratio", "correlation", "c45", "quest"),
    "regression": ("variance",),
}
ALIASES = {"log_loss": "entropy", "squared_error": "variance"}
NOMINAL = ("subset", "value", "multiway")
TUNABLE = (
    "ccp_alpha",
    "max_depth",
    "min_samples_leaf",
    "min_samples_split",
    "min_impurity_decrease",
    "min_objs",
    "confidence",
    "criterion",
    "nominal",
    "prune",
)
"""What a search may choose."""


@dataclass(frozen=True)
class Parameters:
    """How a tree is grown. Sizes count rows; a float is a fraction of the training set.

    No table has more than MAX_ROWS rows, so no number beyond that says more, and the core is not given it.
    """

    criterion: str = "gini"
    nominal: str = "subset"
    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    min_impurity_decrease: float = 0.0
    min_objs: float | None = None
    competitors: int = 0

    @classmethod
    def of(cls, source: object) -> Parameters:
        """The parameters that an object carries under the same names."""
        return cls(**{entry.name: getattr(source, entry.name) for entry in fields(cls)})

    @property
    def native(self) -> dict[str, Any]:
        """What the core is told once; what admits a test it is told for each setting (`Admission`)."""
        told = {**vars(self), "max_depth": -1 if self.max_depth is None else self.max_depth}
        del told["min_samples_leaf"], told["min_objs"]
        return told

    def checked(self, task: str) -> Parameters:
        """The same parameters in plain types and by their own names; UsageError where one means nothing."""
        criterion = ALIASES.get(str(self.criterion), "")
        if criterion not in CRITERIA[task]:
            criterion = one_of("criterion", self.criterion, CRITERIA[task], f" for {task}")
        nominal = one_of("nominal", self.nominal, NOMINAL)
        if criterion == "quest" and nominal != "subset":
            refuse("nominal", nominal, "the tests of criterion 'quest' are subsets; use 'subset'")
        return replace(
            self,
            criterion=criterion,
            nominal=nominal,
            max_depth=whole_or_none("max_depth", self.max_depth, 1, MAX_ROWS),
            min_samples_split=_size("min_samples_split", self.min_samples_split, 2, 1.0),
            min_samples_leaf=_size("min_samples_leaf", self.min_samples_leaf, 1, 0.5),
            min_impurity_decrease=number(
                "min_impurity_decrease", self.min_impurity_decrease, lambda x: x >= 0, "a number from 0"
            ),
            min_objs=self._checked_objs(),
            competitors=whole(
                "competitors", self.competitors, 0, MAX_COLUMNS, also=", such as 5; 0 keeps none"
            ),
        )

    def _checked_objs(self) -> float | None:
        if self.min_objs is not None and not (
            is_number(self.min_objs, numbers.Real) and 0.0 < self.min_objs < math.inf
        ):
            refuse("min_objs", self.min_objs, "a number above 0 is allowed, or None for no such limit")
        return None if self.min_objs is None else float(self.min_objs)


@dataclass(frozen=True)
class Engine:
    """Switches that never change a tree: which kernels run, whether the fast scans are used at all, whether
    one pass through a list finds the cuts of several training sets, whether subtrees of few rows are grown
    over lists of bytes, when attributes of few values are counted by value ("auto": where it pays, "always",
    "never"), how several training sets are grown ("auto", "serial", "overlapping", "folds"), and whether
    settings that choose alike grow one tree ("together", "apart").

    HORNBEAM_KERNELS names the kernels for a whole process: auto, plain, avx2 or avx512.
    """

    kernels: str = field(default_factory=lambda: os.environ.get("HORNBEAM_KERNELS", "auto"))
    accelerate: bool = True
    joint: bool = True
    twigs: bool = True
    counting: str = "auto"
    algorithm: str = "auto"
    settings: str = "together"


class HowToGrow(TypedDict, total=False):
    """How a growth runs, which no tree depends on."""

    threads: int
    memory_limit: int | None
    report: Callable[[float], None] | None
    """Hears ten times a second which share is done."""


def _size(name: str, value: Any, least: int, most_fraction: float) -> int | float:
    if is_number(value, numbers.Integral) and value >= least:
        return min(int(value), MAX_ROWS + 1)
    allowed = f"a whole number from {least} (rows) or a fraction above 0 up to {most_fraction}"
    return number(
        name, value, lambda x: not isinstance(x, numbers.Integral) and 0.0 < x <= most_fraction, allowed
    )
