"""The frozen records that a report is made of: what was asked, what was learned, how well it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hornbeam.anytime.course import SearchCourse
from hornbeam.boat.stats import SourceStats
from hornbeam.drawing import Picture
from hornbeam.validation import Estimate
from hornbeam.validation.search_record import SearchRecord


@dataclass(frozen=True)
class Score:
    """How well the tree answers on one set of rows, beside the best constant answer."""

    measure: str
    """"accuracy" or "r2"."""
    value: float
    baseline: float
    rows: int
    held_out: bool
    mean_absolute_error: tuple[float, ...] = ()
    """Of each target; none where only the tree was asked."""
    by_weight: bool = False
    """Whether rows count by what they weigh."""


@dataclass(frozen=True)
class Errors:
    """Classification: counts[i][j] rows of class i answered as class j, over the scored rows."""

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Points:
    """Regression: (actual, predicted) of the first target, at most a few hundred of the scored rows."""

    target: str
    pairs: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class ColumnSummary:
    """One attribute of the training rows."""

    name: str
    kind: str
    missing: int
    values: str
    importance: float


@dataclass(frozen=True)
class Study:
    """One tree, the rows it came from, and everything needed to grow it again."""

    title: str
    target: str
    task: str
    picture: Picture
    text: str
    n_leaves: int
    depth: int
    rows: int
    columns: tuple[ColumnSummary, ...]
    score: Score
    errors: Errors | None = None
    points: Points | None = None
    estimate: Estimate | None = None
    """What folds promise for new rows, where there were any."""
    search: SearchRecord | None = None
    """What the tree was chosen from, where it was."""
    course: SearchCourse | None = None
    """How the tree became what it is, where it was improved."""
    scans: SourceStats | None = None
    """What reading took, where the rows came from a source."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    command: str = ""
    seed: int | None = None
    version: str = ""
    data_name: str = ""
    data_hash: str = ""
    digest: str = ""
    seconds: float = 0.0
    document: Mapping[str, object] = field(default_factory=dict)
    """The stored form of the model, embedded so that the page can be read by programs."""

    @property
    def attributes_used(self) -> int:
        return sum(1 for column in self.columns if column.importance > 0)
