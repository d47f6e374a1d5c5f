"""Bags over a source: drawn row by row, by a rule that needs no other row (`table.sources.draws`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.ensemble.bags import Bags, Rows, check_bags, whole_number
from hornbeam.errors import UsageError
from hornbeam.table import MAX_ROWS
from hornbeam.table.sources.draws import MOST_RATE, RowDraws, numbered_row_words


@dataclass(frozen=True, eq=False)
class DealtBags(Bags):
    """Bags of `draws` rows on the mean, each row by its number, or by its key, which is not kept."""

    rate: float = 1.0
    keyed: bool = False

    def rows(self, i: int) -> Rows:
        """The rows of a bag, in the order of the source."""
        return np.repeat(np.arange(self.n_rows), self.times(i))

    def times(self, i: int) -> Rows:
        """How often a bag has each row of the source."""
        if self.keyed:
            raise UsageError(
                "the bags were drawn by a key, which is not kept; use the draws on the keys: bags_.row_draws"
            )
        return self.row_draws.times(self._words, i).astype(np.int64)

    @cached_property
    def _words(self) -> npt.NDArray[np.uint64]:
        return numbered_row_words(0, self.n_rows)

    @property
    def row_draws(self) -> RowDraws:
        """The rule: `times(row_words(keys), bag)` says how often a bag has rows of such keys."""
        return RowDraws(tuple(self.seeds.tolist()), self.rate, self.replace)


def deal_bags(
    n_rows: int | None,
    n_bags: Any,
    random: np.random.RandomState,
    *,
    max_samples: Any = None,
    bootstrap: Any = True,
) -> RowDraws:
    """The rule of bags over a source. `n_rows` is None where nobody knows it yet; a number of rows to draw
    means nothing then."""
    count = check_bags(n_bags, bootstrap)
    seeds = random.randint(2**31 - 1, size=count)
    return RowDraws(tuple(seeds.tolist()), _rate(max_samples, n_rows, bool(bootstrap)), bool(bootstrap))


def _rate(max_samples: Any, n_rows: int | None, bootstrap: bool) -> float:
    if max_samples is None:
        return 1.0
    if isinstance(max_samples, float) and 0.0 < max_samples <= 1.0:
        return max_samples
    drawn = whole_number(
        "max_samples", max_samples, "a share above 0 up to 1.0, or a whole number of rows", MAX_ROWS
    )
    if n_rows is None:
        raise UsageError(
            f"max_samples={drawn}: how many rows the source has is not known before they are read; give a "
            "share, such as 0.5",
            parameter="max_samples",
        )
    rate = drawn / n_rows
    if rate > (MOST_RATE if bootstrap else 1.0):
        most = int(n_rows * (MOST_RATE if bootstrap else 1.0))
        raise UsageError(
            f"max_samples={drawn}: at most {most:,} of {n_rows:,} rows are drawn over a source",
            parameter="max_samples",
        )
    return rate
