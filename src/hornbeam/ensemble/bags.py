"""Bags: which rows each of many training sets draws (Breiman 1996), of a table or row by row of a source."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hornbeam.arguments import is_number, refuse
from hornbeam.errors import DataError, UsageError
from hornbeam.table import MAX_ROWS
from hornbeam.table.sources.draws import MOST_RATE, RowDraws, numbered_row_words

Rows = npt.NDArray[np.int64]

MAX_BAGS = 2**20
# Draws of a bag, where the table has fewer rows: they take 5 GB while they are put in order. Weights that
# count a population ask for more than a machine has.
MAX_DRAWS = 10**8
_SEEDS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Bags:
    """Training sets of `draws` rows each. Only their seeds are kept: a bag is drawn again when asked for, so
    a thousand bags of a million rows take no memory."""

    n_rows: int
    draws: int
    seeds: npt.NDArray[np.int64]
    replace: bool = True
    weights: npt.NDArray[np.float64] | None = None
    """What rows weigh: the probability that a row is drawn is its share of their sum."""
    lost: bool = False
    """Whether there were weights that were not kept; the rows cannot be drawn again then."""

    def __len__(self) -> int:
        return len(self.seeds)

    def rows(self, i: int) -> Rows:
        """The rows of a bag, in the order in which they were drawn."""
        if self.lost:
            raise UsageError(
                "the bags were drawn by weights, which a model file does not keep; fit again for their rows"
            )
        random = np.random.RandomState(int(self.seeds[i]))
        if self.weights is not None:
            shares = self.weights / self.weights.sum()
            drawn = random.choice(self.n_rows, self.draws, replace=self.replace, p=shares)
        elif self.replace:
            drawn = random.randint(0, self.n_rows, self.draws)
        else:
            drawn = random.permutation(self.n_rows)[: self.draws]
        return np.asarray(drawn, dtype=np.int64)

    def times(self, i: int) -> Rows:
        """How often a bag has each row of the table."""
        return np.bincount(self.rows(i), minlength=self.n_rows)


def draw_bags(
    n_rows: int,
    n_bags: Any,
    random: np.random.RandomState,
    *,
    max_samples: Any = None,
    bootstrap: Any = True,
    weights: npt.NDArray[np.float64] | None = None,
) -> Bags:
    """Bags as scikit-learn's bagging draws them: the same generator gives the same bootstrap samples.

    A share is one of all rows, or of the sum of their weights; without replacement of the rows that can be
    drawn at all. The first bags do not depend on how many follow.
    """
    count = check_bags(n_bags, bootstrap)
    drawable = n_rows if weights is None else int(np.count_nonzero(weights))
    if bootstrap:
        draws = _draws(max_samples, n_rows, float(n_rows) if weights is None else float(weights.sum()))
    else:
        draws = _draws(max_samples, drawable, drawable)
    if bootstrap and draws > max(n_rows, MAX_DRAWS):
        raise DataError(
            f"{draws:,} rows of n_samples={n_rows:,} would be drawn into every bag, and at most "
            f"{MAX_DRAWS:,} are"
            f"{'' if weights is None else '; max_samples is a share of the sum of weights'}; "
            "give max_samples as a whole number of rows",
            parameter="max_samples",
        )
    if not bootstrap and draws > drawable:
        raise DataError(
            f"{draws} rows cannot be drawn without replacement from n_samples={drawable}"
            f"{'' if weights is None else ' of weight above 0'}; "
            "give a smaller max_samples, or bootstrap=True",
            parameter="n_samples",
        )
    seeds = np.asarray(random.randint(_SEEDS, size=count), dtype=np.int64)
    return Bags(n_rows, draws, seeds, bool(bootstrap), weights)


def check_bags(n_bags: Any, bootstrap: Any) -> int:
    """How many bags there are; refuses what means nothing."""
    count = whole_number("n_estimators", n_bags, "a whole number of trees", MAX_BAGS)
    if not isinstance(bootstrap, (bool, np.bool_)):
        refuse("bootstrap", bootstrap, "True (with replacement) or False is allowed")
    return count


def _draws(max_samples: Any, all_of_them: int, whole: float) -> int:
    """How many rows a bag draws; a float is a share of the whole."""
    if max_samples is None:
        return all_of_them
    if isinstance(max_samples, numbers.Integral):
        return whole_number("max_samples", max_samples, "a whole number of rows", MAX_ROWS)
    if not isinstance(max_samples, numbers.Real) or not 0.0 < float(max_samples) <= 1.0:
        refuse(
            "max_samples",
            max_samples,
            "a whole number of rows from 1, a share above 0 up to 1.0, or None for as many as there are is "
            "allowed",
        )
    return min(max(int(float(max_samples) * whole), 1), MAX_ROWS)


def whole_number(name: str, value: Any, what: str, most: int) -> int:
    """The value of a parameter that has to be a whole number from 1 on."""
    if not is_number(value, numbers.Integral) or not 1 <= value <= most:
        refuse(name, value, f"{what} from 1 to {most} is allowed")
    return int(value)


@dataclass(frozen=True, eq=False)
class SourceBags(Bags):
    """Bags of `draws` rows on the mean, each row by its number, or by its key, which is not kept."""

    rate: float = 1.0
    keyed: bool = False

    @classmethod
    def of(cls, draws: RowDraws, n_rows: int, keyed: bool) -> SourceBags:
        """What a rule has drawn of a source that turned out to have so many rows."""
        seeds, expected = np.array(draws.seeds, dtype=np.int64), draws.expected(n_rows)
        return cls(n_rows, expected, seeds, draws.replace, rate=draws.rate, keyed=keyed)

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


def draw_source_bags(
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
        refuse(
            "max_samples",
            drawn,
            "how many rows the source has is not known before they are read; give a share, such as 0.5",
        )
    rate = drawn / n_rows
    if rate > (MOST_RATE if bootstrap else 1.0):
        most = int(n_rows * (MOST_RATE if bootstrap else 1.0))
        refuse("max_samples", drawn, f"at most {most:,} of {n_rows:,} rows are drawn over a source")
    return rate
