"""Trees of several training sets under several settings of what admits a test, grown for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hornbeam.errors import UsageError
from hornbeam.growth.forest import Forest, grow_sets
from hornbeam.growth.grow import Target
from hornbeam.growth.parameters import Engine, Parameters
from hornbeam.growth.sets import TrainingSets
from hornbeam.model import Tree
from hornbeam.table import Table


class SettingForest:
    """The unpruned trees of training sets under each setting: `tree(i, s)` is what growing set i alone with
    `parameters[s]` would give."""

    def __init__(self, forests: Sequence[Forest]) -> None:
        self._forests = forests

    def tree(self, i: int, s: int, *, collapse: bool = True) -> Tree:
        """The tree of set i under setting s; without `collapse` as it was before C4.5's last step."""
        return self._forests[s].tree(i)

    def release(self, i: int) -> None:
        """Forget the trees of set i."""


def grow_settings(
    table: Table,
    target: Target,
    parameters: Sequence[Parameters],
    sets: TrainingSets,
    *,
    threads: int = 1,
    engine: Engine | None = None,
    memory_limit: int | None = None,
    report: Callable[[float], None] | None = None,
) -> SettingForest:
    """Grow all sets under parameters that differ in min_samples_leaf and min_objs alone."""
    if not parameters:
        raise UsageError("no settings; give at least one")
    return SettingForest(
        [
            grow_sets(
                table,
                target,
                one,
                sets,
                threads=threads,
                engine=engine,
                memory_limit=memory_limit,
                report=report,
            )
            for one in parameters
        ]
    )
